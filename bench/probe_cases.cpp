// SPDX-License-Identifier: Apache-2.0
// Times whole models: one token against reading the weights once, a prompt against the same products by sgemm.
#include <algorithm>
#include <array>
#include <thread>

#include "cases.h"
#include "locus/executor.h"
#include "machine_limits.h"
#include "random_llama.h"
#include "simd_targets.h"
#ifdef LOCUS_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace locus::bench {
namespace {

using probe::WeightType;

constexpr std::int64_t weight_bytes = 160'000'000;  // several times the largest cache
constexpr std::int64_t cached_tokens = 32;

int threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

class Session {
 public:
  Session(WeightType type, std::int64_t layers, std::int64_t room)
      : llama_(type, layers), pool_(threads()), cache_(llama_.model(), room), sequence_(cache_.create()) {}

  Buffer& weights() { return llama_.weights(); }
  ThreadPool& pool() { return pool_; }

  /// Reads `tokens`, then keeps only the first `kept` of the sequence in the cache.
  void read(const std::vector<probe::Token>& tokens, std::int64_t kept) {
    (void)llama_.model().forward(tokens, sequence_, cache_, &pool_);
    cache_.truncate(sequence_, kept);
  }

 private:
  RandomLlama llama_;
  ThreadPool pool_;
  probe::Cache cache_;
  SequenceId sequence_;
};

Case decode(WeightType type, const Pairs& pairs) {
  Session session(type, RandomLlama::layers_for(type, weight_bytes), cached_tokens + 1);
  session.read(std::vector<probe::Token>(cached_tokens, 1), cached_tokens);
  Buffer& weights = session.weights();
  // Many pieces, so that a thread that finishes early takes more of them.
  constexpr std::int64_t pieces = 32;
  const auto read_weights = [&] {
    session.pool().run(pieces, [&](std::int64_t piece) {
      const std::size_t share = weights.count() / pieces;
      read_stream(weights.floats() + static_cast<std::size_t>(piece) * share, share);
    });
  };
  const std::vector<probe::Token> token = {1};
  return {.group = {},
          .name = {},
          .limit = "reading the weights",
          .result = compare([&] { session.read(token, cached_tokens); }, at_best_width({read_weights}, pairs), pairs),
          .bar = 0.70,
          .amount = static_cast<double>(weights.bytes())};
}

#ifdef LOCUS_HAS_OPENBLAS
constexpr std::int64_t prompt_tokens = 256, prompt_layers = 4;

// Only the matrix products of a prompt, in float32; each thread computes a part of the rows of every matrix.
class Products {
 public:
  Products() {
    std::int64_t widest = 0, all = 0;
    for (const MatrixShape& shape : shapes_) {
      widest = std::max({widest, shape.rows, shape.columns});
      all += shape.rows * shape.columns;
    }
    in_.resize(static_cast<std::size_t>(prompt_tokens * widest), 0.5f);
    out_.resize(in_.size());
    weights_.resize(static_cast<std::size_t>(all * prompt_layers), 0.25f);
  }
  void run(ThreadPool& pool) {
    const float* matrix = weights_.data();
    for (std::int64_t layer = 0; layer < prompt_layers; ++layer) {
      for (const MatrixShape& shape : shapes_) {
        pool.run(threads(), [&](std::int64_t part) { multiply(matrix, shape, part); });
        matrix += shape.rows * shape.columns;
      }
    }
  }
  double flops() const { return 2.0 * static_cast<double>(prompt_tokens) * static_cast<double>(weights_.size()); }

 private:
  void multiply(const float* matrix, const MatrixShape& shape, std::int64_t part) {
    const std::int64_t first = shape.rows * part / threads(), rows = shape.rows * (part + 1) / threads() - first;
    const auto columns = static_cast<blasint>(shape.columns);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(prompt_tokens),
                static_cast<blasint>(rows), columns, 1, in_.data(), columns, matrix + first * shape.columns, columns, 0,
                out_.data() + first, static_cast<blasint>(shape.rows));
  }

  std::vector<MatrixShape> shapes_ = RandomLlama::matrices_of_layer();
  std::vector<float> in_, out_, weights_;
};

Case prefill(WeightType type, const Pairs& pairs) {
  Session session(type, prompt_layers, prompt_tokens);
  Products products;
  const std::vector<probe::Token> prompt(prompt_tokens, 1);
  return {.group = {},
          .name = {},
          .limit = "the same products by sgemm",
          .result = compare([&] { session.read(prompt, 0); }, [&] { products.run(session.pool()); }, pairs),
          .bar = 0.50,
          .amount = products.flops(),
          .unit = "GFLOP/s"};
}
#endif

}  // namespace

std::vector<PlannedCase> plan_probe_cases() {
  constexpr std::array all = {WeightType::f32,  WeightType::f16,  WeightType::bf16, WeightType::q8_0,
                              WeightType::q4_0, WeightType::q4_k, WeightType::q6_k};
  std::vector<PlannedCase> cases;
  const auto add = [&](const std::string& what, WeightType type, Case (*measure)(WeightType, const Pairs&)) {
    cases.push_back({"probe", what + " " + std::string(io::name_of(type)),
                     [type, measure](const Pairs& pairs) { return measure(type, pairs); }});
  };
  for (const WeightType type : all) add("decode", type, decode);
#ifdef LOCUS_HAS_OPENBLAS
  for (const WeightType type : all) add("prefill of 256 tokens", type, prefill);
#endif
  return cases;
}

}  // namespace locus::bench
