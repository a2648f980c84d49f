// SPDX-License-Identifier: Apache-2.0
// Whole trials: lines, determinism, learning, refusals.
#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>
#include <cstring>
#include <set>

#include "lab_model/small_trial.h"
#include "locus/attention.h"
#include "model/lines.h"
#include "model/testing.h"

namespace locus::lab {
namespace {

bool is_cost(const Measurement& m) { return m.name == "seconds_per_step" || m.name == "peak_bytes"; }

double find(const std::vector<Measurement>& all, const std::string& line, const std::string& name, std::int64_t length,
            std::int64_t place = -1) {
  for (const Measurement& m : all) {
    if (m.line == line && m.name == name && m.length == length && m.place == place) return m.value;
  }
  ADD_FAILURE() << "no " << line << " " << name << " " << length;
  return NAN;
}

TEST(Lines, OfEachScheme) {
  TrialSpec spec = small_trial("rope");
  EXPECT_EQ(lines_of(spec),
            (std::vector<std::string>{"rope", "rope+linear", "rope+ntk", "rope+dynamic_ntk", "rope+yarn"}));
  spec.tune_steps = 3;
  EXPECT_EQ(lines_of(spec).size(), 10u);
  EXPECT_EQ(lines_of(spec).back(), "rope+yarn+tuned");
  spec.every_rule = true;  // no fine-tune for the added ones, and none of a rule that needs more than a factor
  const std::vector<std::string> every = lines_of(spec);
  EXPECT_EQ(every.size(), 13u);
  for (const char* added : {"rope+ntk_mixed", "rope+ntk_by_parts", "rope+llama3"}) {
    EXPECT_EQ(std::count(every.begin(), every.end(), added), 1) << added;
  }
  spec.every_rule = false;
  spec.scheme = "rope:base=500";
  EXPECT_EQ(lines_of(spec)[1], "rope:base=500+linear");
  spec.scheme = "rope:rule=linear,factor=2";
  EXPECT_EQ(lines_of(spec).size(), 1u);
  spec.scheme = "learned";
  EXPECT_EQ(lines_of(spec), (std::vector<std::string>{"learned", "learned+resized"}));
  spec.scheme = "alibi";
  EXPECT_EQ(lines_of(spec), std::vector<std::string>{"alibi"});
  spec.scheme = "offset_map";  // stretches without a rule
  EXPECT_EQ(lines_of(spec), std::vector<std::string>{"offset_map"});
}

TEST(Lines, StretchedByTheFactorOfTheLength) {
  TrialSpec spec = small_trial("rope");
  spec.lengths = {16, 64};
  Questioner questioner(spec);
  const Transformer model(model_spec(spec, questioner.description()), 1);
  const auto frequency = [&](const char* rule, std::int64_t length, bool tuned, std::size_t pair) {
    return encoding_of({"", rule, tuned}, spec, model, length).rotation().inv_freq[pair];
  };
  const double plain = std::pow(10000.0, -2.0 / 8);  // pair 1 of a head of 8
  EXPECT_NEAR(frequency("", 64, false, 1), plain, 1e-15);
  EXPECT_NEAR(frequency("linear", 16, false, 1), plain, 1e-15);
  EXPECT_NEAR(frequency("linear", 32, false, 1), plain / 2, 1e-15);
  EXPECT_NEAR(frequency("linear", 64, false, 1), plain / 4, 1e-15);
  EXPECT_NEAR(frequency("linear", 16, true, 1), plain / 4, 1e-15);  // as it was tuned
  EXPECT_NEAR(frequency("ntk", 64, false, 1), std::pow(10000 * std::pow(4.0, 8.0 / 6), -2.0 / 8), 1e-15);
  // Dynamic: factor 4 = 64 / 16 throughout, the base from the current length, 4 x 2 - 3 = 5 at length 32.
  EXPECT_NEAR(frequency("dynamic_ntk", 32, false, 1), std::pow(10000 * std::pow(5.0, 8.0 / 6), -2.0 / 8), 1e-15);
  EXPECT_NEAR(frequency("dynamic_ntk", 16, true, 1), plain, 1e-15);
  // 0.1 ln 4 + 1 on cos and sin.
  EXPECT_NEAR(encoding_of({"", "yarn", false}, spec, model, 64).rotation().magnitude, 0.1 * std::log(4.0) + 1, 1e-15);
}

TEST(Lines, LearnedRowsBeyondTheTrainedOnesStayAsTheyWere) {
  TrialSpec spec = small_trial("learned");
  Questioner questioner(spec);
  Transformer model(model_spec(spec, questioner.description()), 1);
  const Encoding table = model.encoding();
  EXPECT_EQ(table.hidden().table.dim(0), 32);
  model.loss(questioner.next(), table).backward();
  const at::Tensor gradient = model.weights().at("positions.table").grad();
  EXPECT_GT(gradient.narrow(0, 0, 16).abs().sum().item<double>(), 0);
  EXPECT_EQ(gradient.narrow(0, 16, 16).abs().sum().item<double>(), 0);
  // Half-pixel centres: row 0 of 32 lies at -0.25 of 16, beyond the first; row 2 at 0.75, between rows 0 and 1.
  const Encoding resized = encoding_of({"", "resized", false}, spec, model, 32);
  const auto row = [](const Encoding& of, std::int64_t i) { return of.hidden().table.row(i); };
  EXPECT_EQ(row(resized, 0)[5], row(table, 0)[5]);
  const double between = 0.25 * static_cast<double>(row(table, 0)[5]) + 0.75 * static_cast<double>(row(table, 1)[5]);
  EXPECT_NEAR(static_cast<double>(row(resized, 2)[5]), between, 0x1p-22);
  EXPECT_EQ(encoding_of({"", "resized", false}, spec, model, 16).hidden().table.dim(0), 32);
}

TEST(TrialTest, TheSameSpecGivesTheSameNumbers) {
  for (const char* scheme : {"rope", "t5", "learned"}) {
    SCOPED_TRACE(scheme);
    TrialSpec spec = small_trial(scheme, "verbs");
    spec.trained_length = 24;
    spec.lengths = {24, 48};
    spec.tune_steps = 2;
    double last = -1;
    const auto first = run_trial(spec, [&](double done) {
      EXPECT_GE(done, last);
      EXPECT_LE(done, 1);
      last = done;
    });
    EXPECT_GT(last, 0.9);
    const auto second = run_trial(spec, {});
    ASSERT_EQ(first.size(), second.size());
    std::set<std::string> lines;
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].line + first[i].name, second[i].line + second[i].name);
      EXPECT_TRUE(std::isfinite(first[i].value)) << first[i].name;
      if (!is_cost(first[i])) {
        EXPECT_EQ(first[i].value, second[i].value) << first[i].name;
      }
      lines.insert(first[i].line);
    }
    const auto expected = lines_of(spec);
    EXPECT_EQ(lines, std::set<std::string>(expected.begin(), expected.end()));
    spec.seed = 2;
    EXPECT_NE(find(run_trial(spec, {}), scheme, "loss", 24), find(first, scheme, "loss", 24));
  }
}

// RoPE learns to find the token five steps back in a hundred steps of a few milliseconds; without positions it is
// impossible.
TEST(TrialTest, RopeLearnsWhatNeedsPositions) {
  TrialSpec spec = small_trial("rope");
  spec.steps = 150;
  spec.batch = 16;
  spec.test_rows = 32;
  spec.lengths = {16};
  const TaskDescription task = make_task("back")->description();
  const auto with = run_trial(spec, {});
  EXPECT_GT(find(with, "rope", task.main, 16), task.learned_at);
  // Every rule is RoPE itself at the trained length.
  EXPECT_EQ(find(with, "rope+yarn", task.main, 16), find(with, "rope", task.main, 16));
  EXPECT_LT(find(with, "rope", "train_loss", 0, 150), find(with, "rope", "train_loss", 0, 10));
  spec.scheme = "none";
  EXPECT_LT(find(run_trial(spec, {}), "none", task.main, 16), task.learned_at);
}

TEST(TrialTest, CountsParametersAndMemory) {
  TrialSpec spec = small_trial("learned");
  const std::int64_t vocabulary = make_task("back")->description().vocabulary;
  const auto results = run_trial(spec, {});
  // Embedding and head; per layer 3 + 1 + 4 + 4 matrices of width^2 and 2 gains; the last gain; 16 trained rows.
  const std::int64_t expected = 2 * vocabulary * 32 + 2 * (12 * 32 * 32 + 2 * 32) + 32 + 16 * 32;
  EXPECT_EQ(find(results, "learned", "parameters", 0), static_cast<double>(expected));
  // Weights, gradients and two moments, and at least the hidden activations [tokens, 4 width] of both layers.
  EXPECT_GT(find(results, "learned", "peak_bytes", 0), static_cast<double>(4 * (4 * expected + 2 * 64 * 128)));
  EXPECT_LT(find(results, "learned", "peak_bytes", 0), 64e6);
}

TEST(TestSetTest, AnswersAndBuckets) {
  const TrialSpec spec = small_trial("none");
  Questioner questioner(spec);
  const TaskDescription& task = questioner.description();
  const Transformer model(model_spec(spec, task), 1);
  TestSet test{.name = "accuracy", .metric = Metric::accuracy, .place = 25, .by_position = true, .batch = {}};
  test.batch = {.rows = 2, .length = 4, .tokens = {1, 2, 3, 4, 2, 2, 1, 1}, .targets = {}, .answers = {}};
  // The answers of the model are computed first, so that the test can choose right and wrong targets.
  test.batch.targets.assign(8, 0);
  const NoGradGuard no_gradients;
  const at::Tensor best = model.logits(questions_of(test.batch, task, 0, 2), model.encoding()).argmax(1);
  for (std::size_t i = 0; i < 8; ++i) {
    test.batch.targets[i] = static_cast<std::int32_t>(best[static_cast<std::int64_t>(i)].item<std::int64_t>());
  }
  test.batch.targets[1] = (test.batch.targets[1] + 1) % 2;  // wrong, unless best by accident
  if (test.batch.targets[1] == best[1].item<std::int64_t>()) test.batch.targets[1] = 2;
  test.batch.targets[0] = -1;  // no target
  auto got = test_model(model, model.encoding(), task, test, 2);
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].place, 25);
  EXPECT_DOUBLE_EQ(got[0].value, 6.0 / 7);
  EXPECT_EQ(got[1].name, "accuracy_by_position");
  EXPECT_EQ(got[1].place, 0);
  EXPECT_DOUBLE_EQ(got[1].value, 2.0 / 3);  // 1 wrong; 4 and 5 right; 0 not asked
  EXPECT_EQ(got[2].place, 2);
  EXPECT_DOUBLE_EQ(got[2].value, 1);
  // Answers of two symbols: row 0 has {1, 2} wrong and {3} right, row 1 has {0, 1} and {2, 3} right.
  test.batch.answers = {-1, 0, 0, 1, 0, 0, 1, 1};
  EXPECT_DOUBLE_EQ(test_model(model, model.encoding(), task, test, 2)[0].value, 3.0 / 4);
}

TEST(CheckTest, SeesAWrongNumberInAttention) {
  for (const char* scheme : {"none", "rope", "alibi", "t5", "shaw:values=true", "transformer_xl", "shaw:meets_key=true",
                             "pope", "cope", "forget_gate", "offset_map:map=dual_chunk,chunk_size=6,local_size=2"}) {
    SCOPED_TRACE(scheme);
    const TrialSpec spec = small_trial(scheme);
    Questioner questioner(spec);
    Transformer model(model_spec(spec, questioner.description()), 1);
    EXPECT_NO_THROW(check_against_torch(model, model.encoding(), 16, 1));
    model.observe([](const AttentionCall& call) {
      float* output = static_cast<float*>(call.output.data);
      output[3] += 0x1p-9f;
      EXPECT_THROW(check_attention(call), Error);
      output[3] -= 0x1p-9f;
    });
    const NoGradGuard no_gradients;
    model.logits(questioner.next(), model.encoding());
  }
}

TEST(TrialTest, Refuses) {
  TrialSpec spec = small_trial("rope");
  spec.model.width = 30;
  EXPECT_THROW(run_trial(spec, {}), Error);
  spec = small_trial("rope", "nothing");
  EXPECT_THROW(run_trial(spec, {}), Error);
  spec = small_trial("rope");
  spec.batch = 0;
  EXPECT_THROW(run_trial(spec, {}), Error);
  spec = small_trial("rope");
  spec.lengths = {0};
  EXPECT_THROW(run_trial(spec, {}), Error);
  Batch batch{.rows = 1, .length = 2, .tokens = {0, 99}, .targets = {0, 0}, .answers = {}};
  EXPECT_THROW(questions_of(batch, make_task("back")->description(), 0, 1), Error);
}

TEST(BlasTest, IsNamedAndFastEnough) {
  EXPECT_NO_THROW(require_fast_blas());
  EXPECT_FALSE(blas_name().empty());
  EXPECT_EQ(libtorch_version().find('.'), 1u);
}

}  // namespace
}  // namespace locus::lab
