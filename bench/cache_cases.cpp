// SPDX-License-Identifier: Apache-2.0
// Times attention over a paged cache: a batch of sequences against reading their distinct pages once, and a step after
// each operation against the same step of a fresh cache.
#include <algorithm>
#include <thread>

#include "attention_problem.h"
#include "cases.h"
#include "locus/locus.h"
#include "machine_limits.h"
#include "simd_targets.h"

namespace locus::bench {
namespace {

constexpr std::int64_t query_heads = 8, cached_heads = 2, cache_dim = 128;
constexpr std::int64_t token_bytes = 2 * cached_heads * cache_dim * static_cast<std::int64_t>(sizeof(float));

Encoding cache_rope() { return Encoding("rope", {{"head_dim", cache_dim}, {"pairing", "half"}, {"base", 5e5}}); }

std::size_t whole_pages(std::int64_t bytes) { return static_cast<std::size_t>((bytes + 4095) / 4096 * 4096); }

/// Tokens, queries and outputs for a cache.
class CacheWork {
 public:
  CacheWork(std::int64_t capacity, std::int64_t users, int threads)
      : pool_(threads),
        cache_(cache_rope(), {.capacity = capacity, .heads = cached_heads, .head_dim = cache_dim}),
        numbers_(whole_pages(most_new * cached_heads * cache_dim * 4)),
        query_(whole_pages(users * query_heads * cache_dim * 4)),
        output_(whole_pages(users * query_heads * cache_dim * 4)) {
    fill_normal(numbers_, 1);
    fill_normal(query_, 2);
  }

  KvCache& cache() { return cache_; }
  ThreadPool& pool() { return pool_; }

  void append(SequenceId sequence, std::int64_t count) {
    for (; count > 0; count -= most_new) {
      const std::int64_t now = std::min(count, most_new);
      const HeadsView view = view_of(numbers_, 0, now, cached_heads);
      const std::vector<Position> last = cache_.last_position(sequence);
      cache_.append(sequence, view, view, positions::prefill(now, last.empty() ? 0 : last[0] + 1).ids, &pool_);
    }
  }

  /// One query of each sequence.
  void attend(std::span<const SequenceId> sequences) {
    std::vector<CachedQueries> batch;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const auto user = static_cast<std::int64_t>(i);
      batch.push_back({.sequence = sequences[i],
                       .query = view_of(query_, user, 1, query_heads),
                       .output = view_of(output_, user, 1, query_heads)});
    }
    cache_.attend({.queries = batch, .executor = &pool_});
  }

  /// A whole step: rotated queries, one more token of each sequence, attention. The token is dropped again, so that
  /// every step does the same.
  void step(std::span<const SequenceId> sequences) {
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      lengths.push_back(cache_.length(sequences[i]));
      const PositionIds ids = positions::prefill(1, cache_.last_position(sequences[i])[0] + 1);
      rotate(cache_.encoding(), view_of(query_, static_cast<std::int64_t>(i), 1, query_heads), ids);
      append(sequences[i], 1);
    }
    attend(sequences);
    for (std::size_t i = 0; i < sequences.size(); ++i) cache_.truncate(sequences[i], lengths[i]);
  }

 private:
  static constexpr std::int64_t most_new = 512;
  static HeadsView view_of(Buffer& buffer, std::int64_t first, std::int64_t tokens, std::int64_t heads) {
    return heads_view(buffer.floats() + first * heads * cache_dim, ElementType::float32, "thd",
                      {{tokens, heads, cache_dim}});
  }

  ThreadPool pool_;
  KvCache cache_;
  Buffer numbers_, query_, output_;
};

/// 32 sequences of 500 to 8,000 tokens: eight forks of each of four prompts; every fourth one has slid to sinks and a
/// window of its own tokens, and every fifth one was shifted.
struct ManyUsers {
  ManyUsers(bool quick, int threads) : work(quick ? 20'000 : 120'000, 32, threads) {
    const std::int64_t longest = quick ? 1'000 : 8'000, shortest = quick ? 100 : 500;
    KvCache& cache = work.cache();
    for (std::int64_t prompt = 0; prompt < 4; ++prompt) {
      const SequenceId parent = cache.create();
      const std::int64_t shared = shortest - 60;
      work.append(parent, shared);
      distinct += shared;
      for (std::int64_t i = 0; i < 8; ++i) {
        const std::int64_t user = prompt * 8 + i, length = shortest + (longest - shortest) * user / 31;
        const SequenceId fork = cache.fork(parent);
        work.append(fork, length - shared);
        const std::int64_t window = (length - shared) / 2;
        if (user % 4 == 3) cache.slide(fork, 4, window, true);
        if (user % 5 == 4) cache.shift(fork, 100);
        distinct += user % 4 == 3 ? window : length - shared;
        sequences.push_back(fork);
      }
      cache.free(parent);
    }
  }
  CacheWork work;
  std::vector<SequenceId> sequences;
  std::int64_t distinct = 0;
};

int all_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// Reads as many bytes as the distinct tokens have, with the same threads.
std::function<void()> reading(ThreadPool& pool, Buffer& buffer) {
  return [&] {
    constexpr std::int64_t pieces = 64;
    pool.run(pieces, [&](std::int64_t piece) {
      const std::size_t share = buffer.count() / pieces;
      read_stream(buffer.floats() + static_cast<std::size_t>(piece) * share, share);
    });
  };
}

Case many_users(bool quick, const Pairs& pairs) {
  ManyUsers users(quick, all_threads());
  Buffer buffer(whole_pages(users.distinct * token_bytes));
  return {.group = {},
          .name = {},
          .limit = "reading the distinct tokens once",
          .result = compare([&] { users.work.attend(users.sequences); },
                            at_best_width({reading(users.work.pool(), buffer)}, pairs), pairs),
          .bar = 0.90,
          .amount = static_cast<double>(users.distinct * token_bytes)};
}

Case decode_loop(bool quick, const Pairs& pairs) {
  ManyUsers users(quick, all_threads());
  Buffer buffer(whole_pages(users.distinct * token_bytes));
  return {.group = {},
          .name = {},
          .limit = "reading the distinct tokens once",
          .result = compare([&] { users.work.step(users.sequences); },
                            at_best_width({reading(users.work.pool(), buffer)}, pairs), pairs),
          .amount = static_cast<double>(users.sequences.size()),
          .unit = "tokens/s",
          .unit_size = 1};
}

using Operation = std::function<std::vector<SequenceId>(CacheWork&, SequenceId)>;

// The step of a sequence after an operation, against that of as many tokens in a fresh cache; one thread.
Case after(bool quick, const Operation& change, const Pairs& pairs) {
  const std::int64_t tokens = quick ? 4'096 : 32'768;
  CacheWork changed(2 * tokens + 256, 2, 1), fresh(2 * tokens + 256, 2, 1);
  const SequenceId own = changed.cache().create();
  changed.append(own, tokens);
  const std::vector<SequenceId> sequences = change(changed, own);
  std::vector<SequenceId> others;
  std::int64_t read = 0;
  for (const SequenceId sequence : sequences) {
    others.push_back(fresh.cache().create());
    fresh.append(others.back(), changed.cache().length(sequence));
    read += changed.cache().length(sequence);
  }
  return {.group = {},
          .name = {},
          .limit = "a fresh cache",
          .result = compare([&] { changed.step(sequences); }, [&] { fresh.step(others); }, pairs),
          .bar = 1 / 1.2,
          .beatable = true,
          .amount = static_cast<double>(read * token_bytes)};
}

struct NamedOperation {
  const char* name;
  Operation change;
};

std::vector<NamedOperation> operations() {
  const auto same = [](const std::function<void(KvCache&, SequenceId)>& change) {
    return [change](CacheWork& work, SequenceId sequence) {
      change(work.cache(), sequence);
      return std::vector<SequenceId>{sequence};
    };
  };
  return {{"a fork", [](CacheWork& work, SequenceId s) { return std::vector<SequenceId>{work.cache().fork(s)}; }},
          {"a slide", same([](KvCache& cache, SequenceId s) { cache.slide(s, 4, cache.length(s) / 2 + 3, true); })},
          {"a shift", same([](KvCache& cache, SequenceId s) { cache.shift(s, 1000); })},
          {"a relocation of half", same([](KvCache& cache, SequenceId s) {
             cache.relocate(s, cache.length(s) / 2 + 5, cache.length(s), 100'000);
           })},
          {"a division", same([](KvCache& cache, SequenceId s) { cache.divide(s, 0, cache.length(s) - 512, 4); })},
          {"a truncation", same([](KvCache& cache, SequenceId s) { cache.truncate(s, cache.length(s) - 1003); })},
          {"two sequences that grew in turn", [](CacheWork& work, SequenceId s) {
             const SequenceId other = work.cache().create();
             const std::int64_t tokens = work.cache().length(s);
             work.cache().truncate(s, 1);
             work.append(other, 1);
             for (std::int64_t t = 1; t < tokens / 2; ++t) work.append(s, 1), work.append(other, 1);
             return std::vector<SequenceId>{s, other};
           }}};
}

}  // namespace

std::vector<PlannedCase> plan_cache_cases(bool quick) {
  std::vector<PlannedCase> cases;
  cases.push_back({"cache", "32 sequences, one token each", [quick](const Pairs& p) { return many_users(quick, p); }});
  cases.push_back({"cache", "decode loop of 32 sequences", [quick](const Pairs& p) { return decode_loop(quick, p); }});
  for (const NamedOperation& operation : operations()) {
    cases.push_back({"cache", std::string("step after ") + operation.name,
                     [quick, change = operation.change](const Pairs& p) { return after(quick, change, p); }});
  }
  return cases;
}

}  // namespace locus::bench
