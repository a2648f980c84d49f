// SPDX-License-Identifier: Apache-2.0
// Random histories on a cache that is nearly always full. A call either does what it says or is refused for want of
// pages, and then nothing has changed.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>

#include "cache_tokens.h"
#include "locus/error.h"

namespace locus::testing {
namespace {

using Int = std::int64_t;
using Numbers = std::map<SequenceId, std::vector<Int>>;  // which tokens a sequence has

Int below(Int end) { return *rc::gen::inRange<Int>(0, std::max<Int>(end, 1)); }

struct Contents {
  std::vector<std::byte> keys_and_values;
  std::vector<Position> ids;
  friend bool operator==(const Contents&, const Contents&) = default;
};

class FullCache {
 public:
  explicit FullCache(const CacheShape& shape) : cache_(rope(), shape), pages_(cache_.free_pages()) {}

  void step() {
    if (numbers_.empty()) return create();
    const Numbers::iterator some = std::next(numbers_.begin(), below(std::ssize(numbers_)));
    const SequenceId sequence = some->first;
    std::vector<Int> tokens = some->second;
    const Int length = std::ssize(tokens), begin = below(length + 1);
    switch (below(9)) {
      case 0:
        return create();
      case 1:
        if (numbers_.size() < 6) numbers_[cache_.fork(sequence)] = tokens;
        return;
      case 2:
        if (below(3) > 0) return;
        cache_.free(sequence);
        numbers_.erase(sequence);
        return;
      case 3: {
        tokens.resize(static_cast<std::size_t>(begin));
        change(sequence, tokens, [&] { cache_.truncate(sequence, begin); });
        return;
      }
      case 4: {
        std::vector<Int> kept;
        for (Int i = begin; i < length; i += 1 + below(3)) kept.push_back(i);
        std::vector<Int> after(tokens.begin(), tokens.begin() + begin);
        for (const Int i : kept) after.push_back(tokens[static_cast<std::size_t>(i)]);
        change(sequence, after, [&] { cache_.keep(sequence, begin, kept); });
        return;
      }
      case 5: {
        const Int sinks = below(5), window = 1 + below(30);
        std::vector<Int> after;
        for (Int t = 0; t < length; ++t) {
          if (t < sinks || length - t <= window) after.push_back(tokens[static_cast<std::size_t>(t)]);
        }
        change(sequence, after, [&] { cache_.slide(sequence, sinks, window, true); });
        return;
      }
      case 6:
        cache_.shift(sequence, begin, length, std::vector<Position>{1 + below(3)});
        change(sequence, tokens, [&] { cache_.settle(sequence); });
        return;
      default: {
        const Int count = below(24);
        const std::vector<Position> last = cache_.last_position(sequence);
        for (Int t = 0; t < count; ++t) tokens.push_back(next_ + t);
        const bool fits = cache_.pages_for(sequence, count) <= cache_.free_pages();
        const bool done = change(
            sequence, tokens, [&] { append(cache_, sequence, range(last.empty() ? 0 : last[0] + 1, count), next_); });
        RC_ASSERT(done == fits);
        next_ += count;
      }
    }
  }

  void check() const {
    for (const auto& [sequence, tokens] : numbers_) {
      const CachedSequence gathered = cache_.gather(sequence);
      RC_ASSERT(gathered.values.tokens == std::ssize(tokens));
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        // append() takes the values of a token from 1,000 tokens further on.
        RC_ASSERT(number_at(gathered.values, static_cast<Int>(t), 1, 5) ==
                  tokens_of<float>(1000 + tokens[t], 1)[dim + 5]);
      }
    }
  }

  void free_all() {
    for (const auto& [sequence, tokens] : numbers_) cache_.free(sequence);
    RC_ASSERT(cache_.free_pages() == pages_);
  }

 private:
  void create() {
    if (numbers_.size() < 6) numbers_[cache_.create()];
  }

  std::map<SequenceId, Contents> contents() const {
    std::map<SequenceId, Contents> all;
    for (const auto& [sequence, tokens] : numbers_) {
      CachedSequence gathered = cache_.gather(sequence);
      all[sequence] = {std::move(gathered.storage), std::move(gathered.ids)};
    }
    return all;
  }

  // Returns whether the change was made.
  template <class Change>
  bool change(SequenceId sequence, const std::vector<Int>& after, const Change& make) {
    const std::map<SequenceId, Contents> before = contents();
    const Int free = cache_.free_pages();
    try {
      make();
      numbers_[sequence] = after;
      return true;
    } catch (const Error& error) {
      RC_ASSERT(std::string(error.what()).find("no free page") != std::string::npos);
      RC_ASSERT(contents() == before);
      RC_ASSERT(cache_.free_pages() == free);
      return false;
    }
  }

  KvCache cache_;
  Int pages_, next_ = 0;
  Numbers numbers_;
};

class FullCaches : public ::testing::TestWithParam<bool> {};

TEST_P(FullCaches, RefuseForWantOfPagesAndStayAsTheyAre) {
  const CacheShape shape{
      .capacity = 96, .heads = heads, .head_dim = dim, .page_size = 16, .share_equal_pages = GetParam()};
  EXPECT_TRUE(rc::check("a full cache", [&] {
    FullCache cache(shape);
    for (Int steps = below(60); steps > 0; --steps) {
      cache.step();
      cache.check();
    }
    cache.free_all();
  }));
}
INSTANTIATE_TEST_SUITE_P(SharingOrNot, FullCaches, ::testing::Bool());

// Tokens that are kept need pages of their own where other sequences use those they are in.
TEST(FullCache, KeepsTokensOnlyIfThereArePagesForThem) {
  KvCache cache(rope(), {.capacity = 48, .heads = heads, .head_dim = dim, .page_size = 16});
  const SequenceId first = cache.create();
  append(cache, first, range(0, 48), 0);
  const SequenceId fork = cache.fork(first);
  std::vector<Int> odd(16);
  for (Int i = 0; i < 16; ++i) odd[static_cast<std::size_t>(i)] = 2 * i + 1;
  EXPECT_THROW(cache.keep(fork, 0, odd), Error) << "the fork owns no page";
  EXPECT_EQ(cache.length(fork), 48);
  cache.free(first);
  cache.keep(fork, 0, odd);  // its pages become free before the tokens are stored again
  EXPECT_EQ(cache.free_pages(), 2);
  EXPECT_EQ(number_at(cache.gather(fork).values, 3, 1, 5), tokens_of<float>(1007, 1)[dim + 5]);
}

}  // namespace
}  // namespace locus::testing
