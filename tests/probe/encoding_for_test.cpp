// SPDX-License-Identifier: Apache-2.0
// The encodings of spellings for a model.
#include <gtest/gtest.h>

#include "locus/error.h"
#include "probe/measure/loss_run.h"
#include "probe/small_llama.h"
#include "support/error_of.h"

namespace locus::probe {
namespace {

std::string refusal(const Model& model, const std::string& spelling) {
  return testing::error_of([&] { (void)encoding_for(model, spelling); });
}

TEST(EncodingFor, TakesWidthBaseAndPairingFromTheModel) {
  const Model model = small_llama();
  const Arguments& own = model.encoding().arguments();
  EXPECT_EQ(encoding_for(model, "own").arguments().all().size(), own.all().size());
  const Encoding yarn = encoding_for(model, "rope:rule=yarn,factor=2,truncate=false");
  EXPECT_EQ(yarn.arguments().integer("head_dim"), own.integer("head_dim"));
  EXPECT_EQ(yarn.arguments().text("pairing"), own.text("pairing"));
  EXPECT_EQ(yarn.arguments().integer("original_length"), model.config().trained_length);
  EXPECT_FALSE(yarn.arguments().boolean("truncate"));
  EXPECT_EQ(encoding_for(model, "yarn:2").arguments().real("factor"), 2);
  EXPECT_EQ(encoding_for(model, "none").arguments().text("rule"), "none");
  EXPECT_EQ(encoding_for(model, "rope:base=500").arguments().real("base"), 500);
}

TEST(EncodingFor, SizesOtherSchemesByTheModel) {
  const Model model = small_llama();
  EXPECT_EQ(encoding_for(model, "alibi").score().heads, model.config().heads);
  EXPECT_EQ(encoding_for(model, "nope").site(), Site::none);
  EXPECT_EQ(encoding_for(model, "sinusoidal").hidden().dim, model.config().dim);
}

TEST(EncodingFor, RefusesWhatDoesNotFit) {
  const Model model = small_llama();
  EXPECT_NE(refusal(model, "alibi:heads=4").find("is for a model with a head count of 4, this one has 2"),
            std::string::npos);
  EXPECT_NE(refusal(model, "xpos:head_dim=8,pairing=half").find("head width of 8, this one has 4"), std::string::npos);
  EXPECT_NE(refusal(model, "yran:2").find("did you mean 'yarn'?"), std::string::npos);
  EXPECT_NE(refusal(model, "@no-such-config.json").find("does not exist"), std::string::npos);
}

TEST(LossPlan, ChecksItsOptionsBeforeTheWork) {
  const Model model = small_llama();
  EXPECT_THROW(plan_losses(model, {.edges = {4, 2}}), Error);
  EXPECT_THROW(plan_losses(model, {.stride = 0}), Error);
  EXPECT_THROW(plan_losses(model, {.stride = 9}), Error);
  EXPECT_THROW(plan_losses(model, {.rules = {"none", "two"}}), Error);
  const LossPlan plan = plan_losses(model, {.rules = {"own", "dynamic_ntk:2"}, .edges = {0, 8, 16}});
  ASSERT_EQ(plan.curves.size(), 4u);
  EXPECT_EQ(plan.curves[0].name, "own");
  EXPECT_EQ(plan.curves[3].name, "dynamic_ntk:2 mixed");
  EXPECT_EQ(plan.stride, 2);
  EXPECT_EQ(plan.most_tokens(), 17);
  EXPECT_EQ(default_rules(model).front(), "none");
}

TEST(LossRun, ReportsItsStagesAndStopsWhenInterrupted) {
  const Model model = small_llama();
  const LossPlan plan = plan_losses(model, {.rules = {"none", "linear:2"}, .edges = {0, 8, 16}});
  const std::vector<Token> tokens = random_tokens(17, 20);
  std::vector<std::string> stages;
  RunControl control;
  control.on_stage = [&](const std::string& stage, std::int64_t) { stages.push_back(stage); };
  const LossRun whole = measure_losses(model, plan, {.tokens = tokens, .source = "made"}, control);
  EXPECT_EQ(stages, (std::vector<std::string>{"the sliding window", "none", "linear:2"}));
  ASSERT_EQ(whole.curves.size(), 3u);
  EXPECT_FALSE(whole.interrupted);
  EXPECT_EQ(whole.curves[1].losses.size(), 16u);

  control.interrupted = [&] { return stages.size() > 3 && stages.back() == "linear:2"; };
  const LossRun part = measure_losses(model, plan, {.tokens = tokens, .source = "made"}, control);
  EXPECT_TRUE(part.interrupted);
  ASSERT_EQ(part.curves.size(), 2u);  // the last measured nothing
  EXPECT_EQ(part.curves[1].losses, whole.curves[1].losses);
}

}  // namespace
}  // namespace locus::probe
