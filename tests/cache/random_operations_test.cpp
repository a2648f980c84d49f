// SPDX-License-Identifier: Apache-2.0
// Compares the cache with a list of (token, position) per sequence that follows the definitions of cache.h, over
// thousands of random operations. Keys are rotated here by the formula; nothing is shared with the library's
// rotation.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>

#include "locus/cache.h"
#include "locus/error.h"

namespace locus {
namespace {

using Int = std::int64_t;

constexpr Int random_dim = 6, capacity = 400;

struct Slot {
  Int token = 0;
  Position stored_at = 0;
};
struct Entry {
  std::shared_ptr<Slot> slot;  // as many users as there are entries
  Position position = 0;
};
using Model = std::map<SequenceId, std::vector<Entry>>;

float number(Int token, Int j, bool value) {
  return static_cast<float>(std::sin(static_cast<double>(token * 31 + j * 7 + (value ? 1000 : 0))));
}

std::vector<double> key_at(Int token, Position position) {
  std::vector<double> key;
  for (Int j = 0; j < random_dim; ++j) key.push_back(static_cast<double>(number(token, j, false)));
  for (std::size_t i = 0; i < random_dim / 2; ++i) {
    const double angle = static_cast<double>(position) * std::pow(10000.0, -2.0 * static_cast<double>(i) / random_dim);
    const double x = key[i], y = key[i + random_dim / 2];
    key[i] = x * std::cos(angle) - y * std::sin(angle);
    key[i + random_dim / 2] = x * std::sin(angle) + y * std::cos(angle);
  }
  return key;
}

class RandomOperations : public ::testing::TestWithParam<KeyForm> {
 protected:
  Int upto(Int most) { return static_cast<Int>(random_() % static_cast<std::uint64_t>(most + 1)); }
  SequenceId any() {
    auto found = model_.begin();
    std::advance(found, upto(std::ssize(model_) - 1));
    return found->first;
  }

  void append(SequenceId sequence) {
    std::vector<Entry>& entries = model_[sequence];
    const Int count = upto(4);
    std::vector<float> keys, values;
    std::vector<Position> ids;
    Position next = entries.empty() ? upto(60) - 30 : entries.back().position + 1;
    for (Int t = 0; t < count; ++t, next += 1 + upto(2)) {
      for (Int j = 0; j < random_dim; ++j) {
        keys.push_back(number(tokens_, j, false));
        values.push_back(number(tokens_, j, true));
      }
      ids.push_back(next);
      entries.push_back({std::make_shared<Slot>(Slot{tokens_++, next}), next});
    }
    const auto view = [&](std::vector<float>& data) {
      return heads_view(data.data(), ElementType::float32, "thd", std::vector<Int>{count, 1, random_dim});
    };
    cache_.append(sequence, view(keys), view(values), ids);
  }

  // Positions by definition; only shift refuses a move after which they would decrease.
  void step() {
    const SequenceId s = any();
    std::vector<Entry>& entries = model_[s];
    const Int size = std::ssize(entries), begin = upto(size), end = begin + upto(size - begin);
    switch (upto(10)) {
      case 0:
        model_[cache_.create()] = {};
        break;
      case 1: {
        const SequenceId child = cache_.fork(s);
        model_[child] = model_[s];
        break;
      }
      case 2:
        if (model_.size() < 2) break;
        cache_.free(s);
        model_.erase(s);
        break;
      case 3: {
        const Int length = upto(size);
        cache_.truncate(s, length);
        entries.resize(static_cast<std::size_t>(length));
        break;
      }
      case 4: {
        const Int sinks = upto(3), window = 1 + upto(6);
        const bool renumber = upto(1) == 0;
        cache_.slide(s, sinks, window, renumber);
        std::vector<Entry> kept;
        for (Int t = 0; t < size; ++t) {
          if (t < sinks || size - t <= window) kept.push_back(entries[static_cast<std::size_t>(t)]);
        }
        if (renumber) {
          for (std::size_t t = 0; t < kept.size(); ++t) kept[t].position = static_cast<Position>(t);
        }
        entries = kept;
        break;
      }
      case 5: {
        const Position delta = upto(40) - 20;
        bool falls = false;
        for (std::size_t t = 1; t < entries.size(); ++t) falls |= entries[t].position < entries[t - 1].position;
        if (falls) {
          EXPECT_THROW(cache_.shift(s, delta), Error);
          break;
        }
        cache_.shift(s, delta);
        for (Entry& entry : entries) entry.position += delta;
        break;
      }
      case 6: {
        const Position position = upto(50) - 10;
        cache_.relocate(s, begin, end, position);
        for (Int t = begin; t < end; ++t) entries[static_cast<std::size_t>(t)].position = position + t - begin;
        break;
      }
      case 7: {
        const Int group = 1 + upto(3);
        cache_.divide(s, begin, end, group);
        for (Int t = begin; t < end; ++t) {
          Position& position = entries[static_cast<std::size_t>(t)].position;
          position = static_cast<Position>(std::floor(static_cast<double>(position) / static_cast<double>(group)));
        }
        break;
      }
      case 8:
        cache_.settle(s);
        for (Entry& entry : entries) {
          if (GetParam() == KeyForm::raw || entry.position == entry.slot->stored_at) continue;
          if (entry.slot.use_count() > 1) entry.slot = std::make_shared<Slot>(*entry.slot);
          entry.slot->stored_at = entry.position;
        }
        break;
      default:
        append(s);
    }
  }

  void compare() {
    std::map<Slot*, int> slots;
    for (const auto& [sequence, entries] : model_) {
      ASSERT_EQ(cache_.length(sequence), std::ssize(entries));
      const std::vector<Position> positions = cache_.positions(sequence);
      const CachedSequence gathered = cache_.gather(sequence);
      for (std::size_t t = 0; t < entries.size(); ++t) {
        ++slots[entries[t].slot.get()];
        ASSERT_EQ(positions[t], entries[t].position);
        ASSERT_EQ(gathered.ids[t], entries[t].position);
        const std::vector<double> key = key_at(entries[t].slot->token, entries[t].position);
        const auto at = [&](const HeadsView& view, Int j) {
          return static_cast<const float*>(view.data)[static_cast<Int>(t) * view.token_stride + j];
        };
        for (Int j = 0; j < random_dim; ++j) {
          ASSERT_NEAR(at(gathered.keys, j), key[static_cast<std::size_t>(j)], 1e-5) << "token " << t;
          ASSERT_EQ(at(gathered.values, j), number(entries[t].slot->token, j, true)) << "token " << t;
        }
      }
    }
    ASSERT_EQ(cache_.free_tokens(), capacity - std::ssize(slots));  // shared slots count once
  }

  std::mt19937_64 random_{3};
  Int tokens_ = 0;
  Model model_;
  KvCache cache_{Encoding("rope", {{"head_dim", random_dim}, {"pairing", "half"}}),
                 CacheShape{.capacity = capacity, .heads = 1, .head_dim = random_dim, .form = GetParam()}};
};

TEST_P(RandomOperations, KeepTheDefinition) {
  for (int round = 0; round < 40 && !HasFatalFailure(); ++round) {
    model_.clear();
    cache_ = KvCache(cache_.encoding(), {.capacity = capacity, .heads = 1, .head_dim = random_dim, .form = GetParam()});
    model_[cache_.create()] = {};
    for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
      try {
        step();
      } catch (const Error& error) {
        FAIL() << error.what();
      }
      compare();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(KvCache, RandomOperations, ::testing::Values(KeyForm::rotated, KeyForm::raw),
                         [](const auto& info) { return info.param == KeyForm::raw ? "Raw" : "Rotated"; });

}  // namespace
}  // namespace locus
