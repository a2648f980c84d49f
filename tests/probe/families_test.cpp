// SPDX-License-Identifier: Apache-2.0
// Compares every family, format and weight type with plain loops in double (plain_forward.h).
//
// Tolerances: the same plain loops in float show the error of float32 arithmetic on this model. The probe sums in
// another order, in blocks, with a smaller error; the test allows eight times the worst error of the plain loops, or
// eight roundings of the largest logit if that is larger.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "locus/error.h"
#include "probe/measure/model_check.h"
#include "probe/model.h"
#include "probe/plain_forward.h"
#include "support/command.h"
#include "support/tiny_model.h"

namespace locus::probe {
namespace {

using locus::testing::make_tiny;
using locus::testing::PlainForward;
using locus::testing::TemporaryFolder;
using locus::testing::TinyModel;
using locus::testing::TinySizes;

const std::vector<Token> text = {3, 1, 4, 1, 5, 9, 2, 6, 5, 35, 8, 49};

/// The logits of every token of `text`, in one call.
std::vector<float> prefilled(const Model& model) {
  Cache cache(model, 32);
  std::vector<std::int64_t> all(text.size());
  std::iota(all.begin(), all.end(), 0);
  const Segment segment{.sequence = cache.create(), .tokens = text};
  return model.forward({.segments = std::span(&segment, 1), .logits_wanted = std::span<const std::int64_t>(all)},
                       cache);
}

/// The same, one token at a time.
std::vector<float> decoded(const Model& model) {
  Cache cache(model, 32);
  const SequenceId sequence = cache.create();
  std::vector<float> logits;
  for (const Token& token : text) {
    const std::vector<float> row = model.forward(std::span(&token, 1), sequence, cache);
    logits.insert(logits.end(), row.begin(), row.end());
  }
  return logits;
}

template <class Real>
std::vector<double> flat(const std::vector<std::vector<Real>>& rows) {
  std::vector<double> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  return values;
}

template <class A, class B>
double worst(const A& a, const B& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return most;
}

struct Truth {
  std::vector<double> logits;
  double tolerance;
};

Truth truth_of(const TinyModel& tiny) {
  const std::vector<double> exact = flat(PlainForward<double>(tiny).logits(text));
  const std::vector<double> single = flat(PlainForward<float>(tiny).logits(text));
  double largest = 0;
  for (const double logit : exact) largest = std::max(largest, std::abs(logit));
  return {exact, 8 * std::max(worst(exact, single), largest * 0x1p-24)};
}

struct Case {
  std::string architecture;
  std::int64_t kv_heads;
  bool tied;
};

class Family : public ::testing::TestWithParam<Case> {
 protected:
  TinyModel make() const {
    const Case& c = GetParam();
    return make_tiny(c.architecture, {.kv_heads = c.kv_heads}, c.tied);
  }
};

TEST_P(Family, FollowsItsPaper) {
  TinyModel tiny = make();
  const TemporaryFolder folder;
  write_hf_folder(tiny, folder / "model");
  const Model model = load(folder / "model");
  const Truth truth = truth_of(tiny);
  EXPECT_LE(worst(prefilled(model), truth.logits), truth.tolerance);
  EXPECT_LE(worst(decoded(model), truth.logits), truth.tolerance);
  EXPECT_EQ(model.config().trained_length, tiny.sizes.length);
}

TEST_P(Family, GivesTheSameThroughGguf) {
  TinyModel tiny = make();
  const TemporaryFolder folder;
  write_hf_folder(tiny, folder / "model");
  write_gguf_file(tiny, folder / "model.gguf");
  const Model hf = load(folder / "model"), gguf = load(folder / "model.gguf");
  const Truth truth = truth_of(tiny);
  EXPECT_LE(worst(prefilled(gguf), truth.logits), truth.tolerance);
  // Rows of matrices may be permuted, but each has its own sum. Llama's queries and keys are summed in another order.
  const bool reordered = hf.config().architecture == "llama" || hf.config().architecture == "mistral";
  if (!reordered) {
    EXPECT_EQ(decoded(gguf), decoded(hf));
  } else {
    EXPECT_LE(worst(decoded(gguf), truth.logits), truth.tolerance);
  }
}

TEST_P(Family, KeepsHalfPrecisionWeights) {
  for (const auto type : {io::SafetensorsType::f16, io::SafetensorsType::bf16}) {
    TinyModel tiny = make();
    const TemporaryFolder folder;
    write_hf_folder(tiny, folder / "model", type);
    const Model model = load(folder / "model");
    const Truth truth = truth_of(tiny);
    EXPECT_LE(worst(prefilled(model), truth.logits), truth.tolerance) << io::name_of(type);
    EXPECT_LE(worst(decoded(model), truth.logits), truth.tolerance) << io::name_of(type);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Family,
                         ::testing::Values(Case{"llama", 4, false}, Case{"llama", 2, true}, Case{"mistral", 1, false},
                                           Case{"qwen2", 2, true}, Case{"qwen3", 2, false}, Case{"gpt2", 4, true},
                                           Case{"gpt_neox", 4, false}, Case{"bloom", 4, true}),
                         [](const auto& given) {
                           return given.param.architecture + "_" + std::to_string(given.param.kv_heads) +
                                  (given.param.tied ? "_tied" : "");
                         });

TEST(Families, NeoxWithoutTheParallelResidual) {
  TinyModel tiny = make_tiny("gpt_neox");
  tiny.config["use_parallel_residual"] = false;
  const TemporaryFolder folder;
  write_hf_folder(tiny, folder / "model");
  const Truth truth = truth_of(tiny);
  EXPECT_LE(worst(prefilled(load(folder / "model")), truth.logits), truth.tolerance);
}

// One token at a time, rows are multiplied with quantised weights in 16-bit integers, 32 columns per scale
// (product_simd.h): the plain loops with every row rounded that way show the error, and the test allows eight times
// that, as above.
std::vector<double> rounded_row(std::vector<double> row) {
  for (std::size_t begin = 0; begin < row.size(); begin += 32) {
    double most = 0;
    for (std::size_t k = begin; k < begin + 32; ++k) most = std::max(most, std::abs(row[k]));
    for (std::size_t k = begin; k < begin + 32 && most > 0; ++k) {
      row[k] = std::nearbyint(row[k] / most * 32767) * most / 32767;
    }
  }
  return row;
}

void expect_decoded_numbers(io::GgufTensorType type, const TinySizes& sizes) {
  TinyModel tiny = make_tiny("qwen2", sizes);
  const TemporaryFolder folder;
  write_gguf_file(tiny, folder / "model.gguf", type);
  const Model model = load(folder / "model.gguf");
  const Truth truth = truth_of(tiny);
  PlainForward<double> rounding(tiny);
  rounding.before_product = rounded_row;
  const double cost = worst(flat(rounding.logits(text)), truth.logits);
  EXPECT_LE(worst(prefilled(model), truth.logits), truth.tolerance) << io::name_of(type);
  EXPECT_LE(worst(decoded(model), truth.logits), truth.tolerance + 8 * cost) << io::name_of(type);
}

TEST(Families, QuantisedWeightsAreTheirDecodedNumbers) {
  using Type = io::GgufTensorType;
  const TinySizes wide{.layers = 1, .kv_heads = 2, .head_dim = 64, .dim = 256, .feed_forward = 256};
  for (const Type type : {Type::q8_0, Type::q4_0, Type::q4_k, Type::q6_k}) expect_decoded_numbers(type, wide);
  const TinySizes narrow{.layers = 1, .kv_heads = 2, .head_dim = 24, .dim = 96, .feed_forward = 160};
  for (const Type type : {Type::q8_0, Type::q4_0}) expect_decoded_numbers(type, narrow);
}

TEST(Families, QuantisedWeightsPassTheModelsOwnCheck) {
  using Type = io::GgufTensorType;
  const TinySizes sizes{.layers = 3, .kv_heads = 2, .head_dim = 64, .dim = 256, .feed_forward = 512};
  for (const Type type : {Type::q8_0, Type::q4_0, Type::q4_k, Type::q6_k}) {
    TinyModel tiny = make_tiny("qwen2", sizes);
    const TemporaryFolder folder;
    write_gguf_file(tiny, folder / "model.gguf", type);
    const Model model = load(folder / "model.gguf");
    EXPECT_TRUE(model.config().quantised);
    for (const Check& check : check_model(model, text)) {
      EXPECT_TRUE(check.pass) << io::name_of(type) << ", " << check.name << ": " << check.value << " > " << check.bound;
    }
  }
}

TEST(Families, TestsDetectOneWrongWeight) {
  for (const char* architecture : {"llama", "gpt2", "gpt_neox", "bloom"}) {
    TinyModel tiny = make_tiny(architecture);
    const TemporaryFolder folder;
    write_hf_folder(tiny, folder / "model");
    for (auto& [name, tensor] : tiny.tensors) {
      if (name.find("layers.1.") == std::string::npos && name.find("h.1.") == std::string::npos) continue;
      tensor.values[3] += 0.05f;
      break;
    }
    const Truth truth = truth_of(tiny);
    EXPECT_GT(worst(prefilled(load(folder / "model")), truth.logits), truth.tolerance) << architecture;
  }
}

}  // namespace
}  // namespace locus::probe
