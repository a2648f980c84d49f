// SPDX-License-Identifier: Apache-2.0
// Parses a scheme's text into an encoding, and tests its learned weights.
#include <gtest/gtest.h>

#include <cmath>

#include "lab_model/small_trial.h"
#include "locus/registry.h"

namespace locus::lab {
namespace {

TEST(SchemeText, NameAndArguments) {
  const SchemeText scheme = parse_scheme("rope:base=500000,rotary_dim=8");
  EXPECT_EQ(scheme.name, "rope");
  EXPECT_EQ(scheme.arguments.real("base"), 500000);
  EXPECT_EQ(scheme.arguments.integer("rotary_dim"), 8);
  EXPECT_EQ(parse_scheme("none").name, "nope");
  const SchemeText listed = parse_scheme("kerple:r1=1,2,3,4,form=power");
  EXPECT_EQ(listed.arguments.list("r1"), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(listed.arguments.text("form"), "power");
  EXPECT_EQ(parse_scheme("rope:rule=linear,factor=4").arguments.real("factor"), 4);
}

TEST(SchemeText, RefusesWhatItCannotRead) {
  EXPECT_THROW(parse_scheme("ropes"), Error);
  EXPECT_THROW(parse_scheme("rope:base"), Error);
  EXPECT_THROW(parse_scheme("rope:bass=3"), Error);
  EXPECT_THROW(parse_scheme("rope:factor=4"), Error);  // a parameter without its rule
  EXPECT_THROW(parse_scheme("rope:base=much"), Error);
}

TEST(SchemeText, TheModelDeterminesTheRest) {
  const EncodingSize size{.model = {.layers = 2, .heads = 4, .width = 32}, .causal = true, .positions = 40};
  const auto made = [&](const char* text, bool causal = true) {
    EncodingSize with = size;
    with.causal = causal;
    const SchemeText scheme = parse_scheme(text);
    return Encoding(scheme.name, complete_arguments(scheme, with));
  };
  EXPECT_EQ(made("rope").rotation().head_dim, 8);
  EXPECT_EQ(made("rope:rotary_dim=4").rotation().rotary_dim, 4);
  EXPECT_EQ(made("learned").hidden().table.shape, (std::vector<std::int64_t>{40, 32}));
  EXPECT_EQ(made("alibi").score().heads, 4);
  EXPECT_EQ(made("t5").score().bucket(0, 5), 0);  // a decoder has no buckets for later keys
  EXPECT_NE(made("t5", false).score().bucket(0, 5), made("t5", false).score().bucket(5, 0));
  EXPECT_LT(made("alibi", false).score().value(0, 0, 5), 0);
  EXPECT_EQ(made("sinusoidal").hidden().dim, 32);
}

// Central differences of the loss with respect to every learned number of the encoding. The loss is summed in double,
// so its noise is that of float32 logits, about 2^-23 each and less in the mean; over a step of 2 x 2^-8 that is
// 2^-16. ReLU's kinks change the difference by a fraction of the gradient that falls with the step; the test allows a
// sixteenth.
void expect_slopes(const std::string& scheme, const std::string& name, const std::string& task = "back") {
  SCOPED_TRACE(scheme + " on " + task + ": " + name);
  constexpr double h = 0x1p-8;
  TrialSpec spec = small_trial(scheme, task);
  spec.model = {.layers = 2, .heads = 2, .width = 8};
  Questioner questioner(spec);
  Transformer model(model_spec(spec, questioner.description()), 3);
  const Questions questions = questioner.next();
  model.loss(questions, model.encoding()).backward();
  const at::Tensor weights = model.weights().at(name).detach().view({-1});
  const at::Tensor gradient = model.weights().at(name).grad().clone().view({-1});
  const double largest = gradient.abs().max().item<double>();
  EXPECT_GT(largest, 0x1p-12) << "nothing to see";
  const NoGradGuard no_gradients;
  for (std::int64_t i = 0; i < weights.numel(); ++i) {
    const float kept = weights.data_ptr<float>()[i];
    const auto loss_at = [&](double value) {
      weights.data_ptr<float>()[i] = static_cast<float>(value);
      const at::Tensor logits = model.logits(questions, model.encoding()).to(at::kDouble);
      return at::cross_entropy_loss(logits, questions.targets).item<double>();
    };
    const double slope = (loss_at(static_cast<double>(kept) + h) - loss_at(static_cast<double>(kept) - h)) / (2 * h);
    weights.data_ptr<float>()[i] = kept;
    EXPECT_NEAR(gradient[i].item<double>(), slope, 0x1p-16 + largest / 16) << i;
  }
}

TEST(Learned, GradientsAreSlopesOfTheLoss) {
  for (const char* scheme :
       {"kerple", "kerple:form=power,r1=0.5,r2=0.7", "relative_bias:clip_left=3", "t5", "shaw:clip_left=2,values=true",
        "transformer_xl", "pope", "pope:channels=2", "cope", "conv_position:kernel=4"}) {
    expect_slopes(scheme, "positions");
  }
  expect_slopes("conv_position", "positions", "order");  // of an encoder, with neighbours on both sides
}

// The weights before a scheme that has none, or few, of its own.
TEST(Learned, GradientsPassThroughTheScheme) {
  expect_slopes("forget_gate", "0.attention.gate");
  expect_slopes("forget_gate", "0.attention.gate", "order");  // two gates per head
  for (const char* scheme : {"pope:channels=2", "cope", "offset_map"}) expect_slopes(scheme, "1.attention.qkv");
  expect_slopes("conv_position", "embedding");
}

TEST(SchemeText, ADecoderSeesNoLaterTokens) {
  const auto made = [](const char* scheme, const char* task) {
    const TrialSpec spec = small_trial(scheme, task);
    return initial_encoding(model_spec(spec, make_task(task)->description()));
  };
  EXPECT_EQ(made("conv_position", "back").hidden().neighbours->before, 4);
  EXPECT_EQ(made("conv_position", "order").hidden().neighbours->before, 2);
  EXPECT_THROW(made("conv_position:causal=false", "back"), Error);
}

TEST(Learned, EverySchemeOfTheRegistryTakesAStep) {
  for (const Scheme* scheme : schemes()) {
    if (scheme->compared == ComparedIn::never) continue;  // not for plain sequences
    SCOPED_TRACE(std::string(scheme->name));
    const TrialSpec spec = small_trial(std::string(scheme->name));
    Questioner questioner(spec);
    Transformer model(model_spec(spec, questioner.description()), 3);
    model.loss(questioner.next(), model.encoding()).backward();
    EXPECT_TRUE(std::isfinite(model.weights().gradients().sum().item<double>()));
    const bool learns = model.weights().has("positions") || model.weights().has("positions.table");
    EXPECT_EQ(model.weights().has("1.attention.gate"), scheme->name == "forget_gate");
    EXPECT_EQ(learns, scheme->claims.has(Claim::learned));
  }
}

TEST(Weights, DependOnSeedAndNameAlone) {
  const Weights two({{.name = "a", .shape = {3}, .deviation = 1}, {.name = "b", .shape = {2}, .deviation = 1}}, 7);
  const Weights one({{.name = "b", .shape = {2}, .deviation = 1}}, 7);
  const Weights other({{.name = "b", .shape = {2}, .deviation = 1}}, 8);
  EXPECT_TRUE(two.at("b").equal(one.at("b")));
  EXPECT_FALSE(one.at("b").equal(other.at("b")));
  EXPECT_THROW(one.at("a"), Error);
}

}  // namespace
}  // namespace locus::lab
