// SPDX-License-Identifier: Apache-2.0
// Options, the resulting plan, and what makes two trials the same.
#include "run/plan.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "locus/error.h"
#include "locus/registry.h"
#include "run/presets.h"
#include "run/spec.h"
#include "support/command.h"
#include "support/error_of.h"

namespace locus::lab {
namespace {

using locus::testing::TemporaryFolder;

std::string refusal(const PlanRequest& request) {
  return locus::testing::error_of([&] { make_plan(request); });
}

TEST(Presets, FollowTheDocumentation) {
  const Preset& quick = find_preset("quick");
  EXPECT_EQ(quick.tasks, (std::vector<std::string>{"verbs", "back"}));
  EXPECT_EQ(quick.schemes.size(), 6u);
  EXPECT_EQ(quick.seeds, 1);
  const Preset& standard = find_preset("standard");
  EXPECT_EQ(standard.tasks, (std::vector<std::string>{"verbs", "passkey", "back", "first"}));
  EXPECT_EQ(standard.schemes.size(), 8u);
  EXPECT_EQ(standard.seeds, 3);
  const Preset& full = find_preset("full");
  std::set<std::string> every;
  for (const Scheme* scheme : schemes()) {
    if (scheme->compared != ComparedIn::never) every.emplace(scheme->name);
  }
  EXPECT_EQ(std::set<std::string>(full.schemes.begin(), full.schemes.end()), every);
  EXPECT_GE(full.seeds, 3);
}

// Every scheme and every task of `full`, more seeds, and every rule that stretches RoPE by a factor alone.
TEST(Presets, ReferenceIsFullWithMoreSeedsAndEveryRule) {
  const Preset& reference = find_preset("reference");
  const Preset& full = find_preset("full");
  EXPECT_EQ(reference.tasks, full.tasks);
  EXPECT_EQ(reference.schemes, full.schemes);
  EXPECT_GE(reference.seeds, 5);
  const Plan plan = make_plan({.preset = "reference", .schemes = {"rope"}});
  EXPECT_TRUE(plan.trials.front().every_rule);
  const TrialSpec again = spec_from_json(to_json(plan.trials.front()));
  EXPECT_TRUE(again.every_rule);
  EXPECT_EQ(key_of(again), key_of(plan.trials.front()));
}

TEST(Presets, HaveABudgetForEveryTask) {
  for (const Preset& preset : presets()) {
    for (const char* task : {"verbs", "passkey", "back", "first", "order", "text"}) {
      const Budget& budget = find_budget(preset.name, task);
      EXPECT_GT(budget.steps, 0) << preset.name << ' ' << task;
      EXPECT_EQ(budget.multiples.front(), 1);
      EXPECT_EQ(budget.model.width % budget.model.heads, 0);
      // Only verbs and text are fine-tuned.
      EXPECT_TRUE(budget.tune_steps == 0 || budget.task == "verbs" || budget.task == "text");
    }
  }
}

TEST(Plan, IsEveryTaskWithEverySchemeAndSeed) {
  const Plan plan = make_plan({.preset = "standard"});
  ASSERT_EQ(plan.trials.size(), 4u * 8 * 3);
  std::set<std::string> keys;
  for (const TrialSpec& spec : plan.trials) {
    keys.insert(key_of(spec));
    EXPECT_EQ(spec.lengths.front(), spec.trained_length);
    EXPECT_EQ(spec.lengths.back(), 8 * spec.trained_length);
  }
  EXPECT_EQ(keys.size(), plan.trials.size());
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(plan.trials[i].seed, 1);  // seed by seed
}

// Seed by seed, and in each seed the task with the least work first: its last trial gives the first answer.
TEST(Plan, PutsTheShortestTaskOfTheFirstSeedFirst) {
  for (const char* preset : {"quick", "standard", "full", "reference"}) {
    const Plan plan = make_plan({.preset = preset, .seeds = "2"});
    const std::size_t schemes = plan.schemes.size(), tasks = plan.tasks.size();
    ASSERT_EQ(plan.trials.size(), 2 * schemes * tasks);
    for (std::size_t i = 0; i < plan.trials.size(); ++i) {
      const TrialSpec& spec = plan.trials[i];
      EXPECT_EQ(spec.seed, i < schemes * tasks ? 1 : 2);
      EXPECT_EQ(spec.scheme, plan.schemes[i % schemes]);
      if (i % schemes > 0) {
        EXPECT_EQ(spec.task, plan.trials[i - 1].task);
      } else if (i % (schemes * tasks) > 0) {
        EXPECT_GE(training_work(spec), training_work(plan.trials[i - 1])) << preset << ' ' << spec.task;
      }
    }
  }
  EXPECT_EQ(make_plan({.preset = "standard"}).trials.front().task, "first");
  EXPECT_EQ(make_plan({.preset = "standard"}).tasks.front(), "verbs") << "results keep the order of the preset";
}

TEST(Plan, FollowsTheOptions) {
  PlanRequest request{.preset = "quick", .tasks = {"first", "first"}, .schemes = {"none", "rope:base=500000"}};
  request.seeds = "9,4";
  request.lengths = "2x,100,64";
  request.trained_length = 16;
  request.steps = 7;
  const Plan plan = make_plan(request);
  EXPECT_EQ(plan.tasks, (std::vector<std::string>{"first"}));
  EXPECT_EQ(plan.schemes, (std::vector<std::string>{"nope", "rope:base=500000"}));
  EXPECT_EQ(plan.seeds, (std::vector<std::int64_t>{4, 9}));
  ASSERT_EQ(plan.trials.size(), 4u);
  EXPECT_EQ(plan.trials[0].lengths, (std::vector<std::int64_t>{16, 32, 64, 100}));
  EXPECT_EQ(plan.trials[0].steps, 7);
  EXPECT_EQ(plan.trials[3].scheme, "rope:base=500000");
  EXPECT_EQ(plan.trials[3].seed, 9);
}

TEST(Plan, TakesSchemesInEverySpelling) {
  const auto planned = [](std::vector<std::string> schemes) {
    return make_plan({.preset = "quick", .tasks = {"first"}, .schemes = std::move(schemes)}).schemes;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(planned({"none,rope,alibi"}), (Texts{"nope", "rope", "alibi"}));
  EXPECT_EQ(planned({"rope:rule=yarn,factor=8,original_length=32;alibi", "yarn:4"}),
            (Texts{"rope:rule=yarn,factor=8,original_length=32", "alibi", "yarn:4"}));
  EXPECT_EQ(planned({"rope:base=500000,alibi"}), (Texts{"rope:base=500000", "alibi"}));
}

TEST(Plan, RefusesWithTheNameOfTheFault) {
  const auto asks = [](const auto& change) {
    PlanRequest request{.preset = "quick"};
    change(request);
    return refusal(request);
  };
  EXPECT_NE(asks([](PlanRequest& r) { r.preset = "slow"; }).find("'slow'"), std::string::npos);
  EXPECT_NE(asks([](PlanRequest& r) { r.tasks = {"verb"}; }).find("did you mean 'verbs'"), std::string::npos);
  EXPECT_NE(asks([](PlanRequest& r) { r.schemes = {"rop"}; }).find("rop"), std::string::npos);
  EXPECT_NE(asks([](PlanRequest& r) { r.schemes = {"rope+yarn"}; }).find("rope+yarn"), std::string::npos);
  for (const char* seeds : {"0", "-1", "x", "1,1", "1,x", ",", "1001", "2.5"}) {
    EXPECT_NE(asks([&](PlanRequest& r) { r.seeds = seeds; }).find("--seeds"), std::string::npos) << seeds;
  }
  for (const char* lengths : {"8", "0x", "x", "64,", "1e3", "99999999x", "-64"}) {
    const std::string said = asks([&](PlanRequest& r) { r.lengths = lengths; });
    EXPECT_EQ(said.find("--lengths") != std::string::npos, std::string(lengths) != "64,") << lengths << ": " << said;
  }
  EXPECT_NE(asks([](PlanRequest& r) { r.steps = 0; }).find("--steps"), std::string::npos);
  EXPECT_NE(asks([](PlanRequest& r) { r.trained_length = 1; }).find("--train-length"), std::string::npos);
  EXPECT_NE(asks([](PlanRequest& r) { r.tasks = {"text"}; }).find("--text"), std::string::npos);
  EXPECT_NE(asks([](PlanRequest& r) { r.text_file = "/no/such/file"; }).find("/no/such/file"), std::string::npos);
}

TEST(Spec, RoundTripsThroughText) {
  TrialSpec spec = make_plan({.preset = "full"}).trials.back();
  spec.learning_rate = 0.1 + 0.2;
  spec.seed = 1'000'000'000;
  EXPECT_EQ(to_json(spec_from_json(Json::parse(to_json(spec).dump()))), to_json(spec));
  Json unknown = to_json(spec), missing = to_json(spec);
  unknown["dropout"] = 0.5;
  missing.erase("batch");
  EXPECT_THROW(spec_from_json(unknown), Error);
  EXPECT_THROW(spec_from_json(missing), Error);
}

TEST(Spec, HasADifferentKeyForEveryField) {
  const TrialSpec spec = make_plan({.preset = "quick"}).trials.front();
  const Json fields = to_json(spec);
  for (const auto& [name, value] : fields.items()) {
    if (name == "text_file") continue;
    Json changed = fields;
    if (value.is_string()) {
      changed[name] = value.get<std::string>() + "2";
    } else if (value.is_array()) {
      changed[name].push_back(4096);
    } else {
      changed[name] = value.get<double>() + (value.is_number_float() ? 0.001 : 1);
      if (!value.is_number_float()) changed[name] = value.get<std::int64_t>() + 1;
    }
    EXPECT_NE(key_of(spec_from_json(changed)), key_of(spec)) << name;
  }
}

TEST(Spec, IdentifiesATextByItsContent) {
  const TemporaryFolder folder;
  folder.write("a.txt", "one text");
  folder.write("b.txt", "one text");
  folder.write("c.txt", "another");
  TrialSpec a = make_plan({.preset = "quick"}).trials.front(), b = a, c = a;
  a.text_file = folder / "a.txt";
  b.text_file = folder / "b.txt";
  c.text_file = folder / "c.txt";
  EXPECT_EQ(key_of(a), key_of(b));
  EXPECT_NE(key_of(a), key_of(c));
  c.text_file = folder / "none.txt";
  EXPECT_THROW(key_of(c), Error);
}

}  // namespace
}  // namespace locus::lab
