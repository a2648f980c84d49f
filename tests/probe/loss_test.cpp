// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "io/bytes.h"
#include "locus/stretch.h"
#include "probe/measure/model_check.h"
#include "probe/measure/sampled_text.h"
#include "probe/small_llama.h"

namespace locus::probe {
namespace {

/// The definition: the loss of `next` after this text alone, read at once with this encoding.
double loss_after(const Model& model, const Encoding& encoding, std::span<const Token> text, Token next) {
  Cache cache(model, std::ssize(text), encoding);
  return loss_of(model.forward(text, cache.create(), cache), next);
}

/// A loss changes by at most twice the change of the logits; logits of this size change by at most the model's bound.
double tolerance(const Model& model, std::int64_t tokens) {
  const std::vector<float> typical = {4.0F};
  return 2 * logit_bound(model.config(), tokens, typical);
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double within) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], within) << "position " << i;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b, std::size_t from) {
  double largest = 0;
  for (std::size_t i = from; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

constexpr std::int32_t vocab = 20;
constexpr std::int64_t trained = 8;

TEST(Loss, OfLogits) {
  const std::vector<float> even(4, 7.5F);
  EXPECT_NEAR(loss_of(even, 2), std::log(4.0), 1e-15);
  const std::vector<float> uneven = {0, std::log(3.0F), -200, 0.0F - INFINITY};
  EXPECT_NEAR(loss_of(uneven, 1), std::log(4.0 / 3), 1e-7);  // log 3 is rounded to float32
  EXPECT_NEAR(loss_of(uneven, 0), std::log(4.0), 1e-7);
  const std::vector<float> large = {1000, 0};
  EXPECT_NEAR(loss_of(large, 1), 1000, 1e-12);
  EXPECT_NE(io::error_of([&] { (void)loss_of(even, 4); }), "no error");
}

TEST(Loss, EachPositionEqualsThatOfItsPrefix) {
  const Model model = small_llama();
  const auto tokens = random_tokens(30, vocab);
  const Encoding ntk =
      with_rule(model.encoding(), "ntk", {.trained = model.config().trained_length}, {{"factor", 2.0}});
  std::vector<double> expected;
  for (std::size_t p = 0; p + 1 < tokens.size(); ++p) {
    expected.push_back(loss_after(model, ntk, std::span(tokens).first(p + 1), tokens[p + 1]));
  }
  RunControl control;
  std::int64_t read = 0;
  control.on_tokens = [&](std::int64_t count) { read += count; };
  for (const std::int64_t chunk : {1, 7, 100}) {
    control.chunk = chunk;
    read = 0;
    expect_near(sequence_losses(model, ntk, LengthForm::whole, tokens, control), expected, tolerance(model, 30));
    EXPECT_EQ(read, 29);
  }
  // A rule that does not depend on the length has one form.
  expect_near(sequence_losses(model, ntk, LengthForm::mixed, tokens), expected, tolerance(model, 30));
}

// One layer: with more, the values of a cached token depend on the table of its time.
TEST(Loss, LengthDependentRulesComeInThreeForms) {
  const Model model = small_llama({.layers = 1});
  const auto tokens = random_tokens(30, vocab);
  const Encoding dynamic =
      with_rule(model.encoding(), "dynamic_ntk", {.trained = model.config().trained_length}, {{"factor", 2.0}});
  ASSERT_TRUE(dynamic.length_dependent());
  std::vector<double> whole, rerotated;
  for (std::size_t p = 0; p + 1 < tokens.size(); ++p) {
    const auto prefix = std::span(tokens).first(p + 1);
    whole.push_back(loss_after(model, dynamic.at_length(29), prefix, tokens[p + 1]));
    rerotated.push_back(loss_after(model, dynamic.at_length(std::ssize(prefix)), prefix, tokens[p + 1]));
  }
  const double within = tolerance(model, 30);
  RunControl control;
  control.chunk = 5;
  expect_near(sequence_losses(model, dynamic, LengthForm::whole, tokens, control), whole, within);
  expect_near(sequence_losses(model, dynamic, LengthForm::rerotated, tokens, control), rerotated, within);

  // Up to the trained length there is one table, so a naive cache is correct; beyond it is not.
  const auto mixed = sequence_losses(model, dynamic, LengthForm::mixed, tokens, control);
  ASSERT_EQ(mixed.size(), rerotated.size());
  for (std::size_t p = 0; p < static_cast<std::size_t>(trained); ++p) EXPECT_NEAR(mixed[p], rerotated[p], within);
  EXPECT_GT(largest_difference(mixed, rerotated, trained), 100 * within);
  EXPECT_GT(largest_difference(whole, rerotated, 0), 100 * within);
}

TEST(Loss, RestartsAtEachBeginning) {
  const Model model = small_llama();
  std::vector<Token> tokens = random_tokens(20, vocab - 1, 9);  // none is 19
  constexpr Token start = vocab - 1;
  tokens[0] = tokens[6] = tokens[7] = tokens[15] = start;
  std::vector<double> expected;
  for (std::size_t p = 0; p + 1 < tokens.size(); ++p) {
    std::size_t begin = p;
    while (tokens[begin] != start) --begin;
    expected.push_back(
        loss_after(model, model.encoding(), std::span(tokens).subspan(begin, p + 1 - begin), tokens[p + 1]));
  }
  RunControl control;
  control.chunk = 3;
  expect_near(restarted_losses(model, tokens, start, control), expected, tolerance(model, 20));
}

TEST(Loss, SlidingWindow) {
  const Model model = small_llama();
  const auto tokens = random_tokens(27, vocab);
  RunControl control;
  control.chunk = 3;
  std::int64_t read = 0;
  control.on_tokens = [&](std::int64_t count) { read += count; };
  for (const std::int64_t stride : {1, 3, 8}) {
    std::vector<double> expected;
    for (std::int64_t p = 0; p < 26; ++p) {
      // Windows end at 8, 8 + stride, ..., the last at 26; the first one that holds p counts.
      std::int64_t end = 8;
      while (end <= p) end = std::min<std::int64_t>(end + stride, 26);
      const std::int64_t begin = end - 8;
      expected.push_back(loss_after(
          model, model.encoding(),
          std::span(tokens).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(p + 1 - begin)),
          tokens[static_cast<std::size_t>(p) + 1]));
    }
    read = 0;
    expect_near(windowed_losses(model, tokens, 8, stride, control), expected, tolerance(model, 8));
    EXPECT_EQ(read, windowed_tokens(27, 8, stride));
  }
  EXPECT_EQ(windowed_tokens(27, 8, 8), 8 + 8 + 8 + 8);  // ends at 8, 16, 24, 26
  // A window over everything is the sequence itself.
  expect_near(windowed_losses(model, tokens, 40, 10),
              sequence_losses(model, model.encoding(), LengthForm::whole, tokens), tolerance(model, 27));
  EXPECT_NE(io::error_of([&] { (void)windowed_losses(model, tokens, 8, 9); }), "no error");
}

TEST(Loss, AnInterruptedRunReturnsWhatItHas) {
  const Model model = small_llama();
  const auto tokens = random_tokens(30, vocab);
  const auto all = sequence_losses(model, model.encoding(), LengthForm::whole, tokens);
  RunControl control;
  control.chunk = 4;
  int calls = 0;
  control.interrupted = [&] { return ++calls > 3; };
  const auto some = sequence_losses(model, model.encoding(), LengthForm::whole, tokens, control);
  EXPECT_EQ(some.size(), 12u);
  for (std::size_t i = 0; i < some.size(); ++i) EXPECT_NEAR(some[i], all[i], tolerance(model, 30));
}

TEST(SampledText, PiecesAreIndependentAndFitTheTrainedLength) {
  const Model model = small_llama();
  const SampledText wanted{.start = 3, .stops = {3, 4}, .tokens = 50, .seed = 7};
  const auto text = sample_text(model, wanted);
  ASSERT_EQ(text.size(), 50u);
  EXPECT_EQ(text[0], 3);
  EXPECT_EQ(std::count(text.begin(), text.end(), 4), 0);
  std::int64_t piece = 0;
  for (const Token token : text) {
    piece = token == 3 ? 1 : piece + 1;
    EXPECT_LE(piece, trained);
  }
  EXPECT_EQ(sample_text(model, wanted), text);
  EXPECT_NE(sample_text(model, {.start = 3, .stops = {3, 4}, .tokens = 50, .seed = 70}), text);
}

}  // namespace
}  // namespace locus::probe
