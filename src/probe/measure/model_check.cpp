// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/model_check.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "locus/error.h"

namespace locus::probe {
namespace {

using Logits = std::vector<float>;  // [tokens, vocab]

class Readings {
 public:
  Readings(const Model& model, std::span<const Token> tokens, Executor* executor)
      : model_(model),
        encoding_(model.encoding().at_length(std::ssize(tokens))),
        tokens_(tokens.begin(), tokens.end()),
        executor_(executor) {}

  Logits at_once() const {
    Cache cache = new_cache();
    return read(cache, cache.create(), 0, size());
  }

  Logits in_chunks(std::size_t chunk) const {
    Cache cache = new_cache();
    const SequenceId sequence = cache.create();
    Logits all;
    for (std::size_t at = 0; at < size(); at += chunk)
      append(all, read(cache, sequence, at, std::min(at + chunk, size())));
    return all;
  }

  /// As in a batch with a longer text: three masked padding tokens first.
  Logits left_padded() const {
    constexpr std::int64_t padding = 3;
    std::vector<Token> padded(padding, tokens_.front());
    padded.insert(padded.end(), tokens_.begin(), tokens_.end());
    Cache cache = new_cache();
    const Segment segment{.sequence = cache.create(), .tokens = padded, .padding = padding};
    return forward(cache, std::span(&segment, 1), padding, padded.size());
  }

  /// Two sequences in one call, another text first.
  Logits packed() const {
    const std::vector<Token> other(tokens_.rbegin(), tokens_.rend() - 2);
    Cache cache = new_cache();
    const Segment segments[2] = {{.sequence = cache.create(), .tokens = other},
                                 {.sequence = cache.create(), .tokens = tokens_}};
    return forward(cache, segments, other.size(), other.size() + size());
  }

  /// Forks after half the text; the other branch continues differently before this one does.
  Logits forked() const {
    Cache cache = new_cache();
    const SequenceId trunk = cache.create();
    const std::size_t half = size() / 2;
    Logits all = read(cache, trunk, 0, half);
    const SequenceId branch = cache.fork(trunk);
    const std::vector<Token> other(tokens_.rbegin(), tokens_.rbegin() + 3);
    (void)model_.forward(other, branch, cache, executor_);
    append(all, read(cache, trunk, half, size()));
    return all;
  }

 private:
  std::size_t size() const { return tokens_.size(); }
  Cache new_cache() const { return Cache(model_, 3 * std::ssize(tokens_) + 64, encoding_); }
  static void append(Logits& all, const Logits& more) { all.insert(all.end(), more.begin(), more.end()); }

  Logits read(Cache& cache, SequenceId sequence, std::size_t begin, std::size_t end) const {
    const Segment segment{.sequence = sequence, .tokens = std::span(tokens_).subspan(begin, end - begin)};
    return forward(cache, std::span(&segment, 1), 0, end - begin);
  }

  Logits forward(Cache& cache, std::span<const Segment> segments, std::size_t begin, std::size_t end) const {
    std::vector<std::int64_t> wanted(end - begin);
    std::iota(wanted.begin(), wanted.end(), static_cast<std::int64_t>(begin));
    ForwardCall call;
    call.segments = segments;
    call.logits_wanted = wanted;
    call.executor = executor_;
    return model_.forward(call, cache);
  }

  const Model& model_;
  Encoding encoding_;
  std::vector<Token> tokens_;
  Executor* executor_;
};

struct Difference {
  double largest = 0;
  std::size_t at = 0;
};

Difference difference(const Logits& expected, const Logits& got) {
  Difference found;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double apart = std::fabs(static_cast<double>(expected[i]) - static_cast<double>(got.at(i)));
    if (!(apart <= found.largest)) found = {apart, i};  // NaN is the largest
  }
  return found;
}

}  // namespace

double logit_bound(const ModelConfig& config, std::int64_t tokens, std::span<const float> logits) {
  double squares = 0;
  for (const float logit : logits) squares += static_cast<double>(logit) * static_cast<double>(logit);
  const double typical = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(logits.size(), 1)));
  const auto longest = static_cast<double>(std::max({config.dim, config.feed_forward, tokens}));
  const double sums = 8.0 * static_cast<double>(config.layers) + 1;
  const double of_a_sum = std::sqrt(longest) * 0x1p-24 + (config.quantised ? 0x1p-15 : 0);
  return 2 * sums * of_a_sum * std::sqrt(static_cast<double>(config.dim)) * typical;
}

std::vector<Check> check_model(const Model& model, std::span<const Token> tokens, Executor* executor) {
  require(tokens.size() >= 8, "a check needs at least 8 tokens, got ", tokens.size());
  const Readings readings(model, tokens, executor);
  const Logits expected = readings.at_once();
  const double bound = logit_bound(model.config(), std::ssize(tokens), expected);
  const std::string scheme(model.encoding().scheme().name);
  const auto vocab = static_cast<std::size_t>(model.config().vocab);
  std::vector<Check> checks;
  const auto add = [&](const char* name, const Logits& got) {
    require(got.size() == expected.size(), "a reading gave ", got.size(), " logits instead of ", expected.size());
    const Difference d = difference(expected, got);
    checks.push_back(
        at_most(name, scheme, d.largest, bound,
                "largest at token " + std::to_string(d.at / vocab) + " of " + std::to_string(tokens.size())));
  };
  add("one token at a time = all at once", readings.in_chunks(1));
  add("in chunks of 7 = all at once", readings.in_chunks(7));
  add("left padded = alone", readings.left_padded());
  add("packed after another sequence = alone", readings.packed());
  add("through a forked cache = alone", readings.forked());
  return checks;
}

}  // namespace locus::probe
