// SPDX-License-Identifier: Apache-2.0
// A model of the lab, saved in both formats and read by the probe, gives the lab's logits, for every scheme of the
// registry, at once and token by token; the two formats agree bit for bit.
#include "probe/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "lab_model/small_trial.h"
#include "locus/registry.h"
#include "locus/stretch.h"
#include "model/save.h"
#include "probe/measure/model_check.h"
#include "probe/measure/retrieval.h"
#include "probe/tokenizers/tokenizer.h"
#include "support/command.h"

namespace locus::lab {
namespace {

using locus::testing::TemporaryFolder;
using Logits = std::vector<float>;

constexpr std::int64_t length = 24;  // beyond the trained length of 16

std::vector<std::string> schemes_and_variants() {
  std::vector<std::string> all;
  for (const Scheme* scheme : schemes()) {
    if (scheme->compared != ComparedIn::never) all.emplace_back(scheme->name);
  }
  for (const char* more :
       {"rope:rotary_dim=4,pairing=interleaved", "rope:rule=yarn,factor=4,original_length=16",
        "rope:rule=dynamic_ntk,factor=4,max_length=16", "kerple:form=power,r1=0.5,r2=0.7",
        "shaw:clip_left=2,values=true", "relative_bias:clip_left=3", "alibi:form=symmetric", "pope:channels=3",
        "conv_position:kernel=4,groups=1", "offset_map:map=self_extend,window=6,group=3"}) {
    all.emplace_back(more);
  }
  return all;
}

/// Weights as after training: no gain is 1, and the learned weights of the encoding are large enough for their loss
/// to be noticed.
void disturb(Transformer& model) {
  const NoGradGuard no_gradients;
  for (const Weights::Entry& entry : model.weights().entries()) {
    const bool gain = entry.name.ends_with("norm"), position = entry.name.starts_with("positions");
    if (!gain && !position) continue;
    const Weights noise({{.name = entry.name, .shape = entry.shape, .deviation = gain ? 0.2 : 0.5}}, 77);
    model.weights().at(entry.name).add_(noise.at(entry.name));
  }
}

class SavedModel {
 public:
  explicit SavedModel(const std::string& scheme, const std::string& task = "back")
      : spec_(small_trial(scheme, task)), task_(make_task(task)), model_(model_spec(spec_, task_->description()), 3) {
    use_one_thread();
    disturb(model_);
    save_model(model_, task_->description(), spec_, files());
  }
  ModelFiles files() const { return {(folder_ / "model").string(), true, true, "a trial"}; }
  probe::Model from_safetensors() const { return probe::load(folder_ / "model"); }
  probe::Model from_gguf() const { return probe::load(folder_ / "model.gguf"); }
  const Transformer& model() const { return model_; }
  const TaskDescription& task() const { return task_->description(); }

  std::vector<std::int32_t> tokens() const {
    std::vector<std::int32_t> tokens;
    for (std::int32_t i = 0; i < length; ++i) {
      tokens.push_back(i * i * 7 % static_cast<std::int32_t>(task().vocabulary));
    }
    return tokens;
  }

  Logits by_the_lab() const {
    const NoGradGuard no_gradients;
    const std::vector<std::int32_t> ids = tokens();
    const Questions questions{1, length, at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end()), at::kLong),
                              at::arange(length, at::kLong), at::zeros({length}, at::kLong)};
    const at::Tensor logits = model_.logits(questions, model_.encoding().at_length(length)).contiguous();
    return {logits.data_ptr<float>(), logits.data_ptr<float>() + logits.numel()};
  }

 private:
  TemporaryFolder folder_;
  TrialSpec spec_;
  std::unique_ptr<Task> task_;
  Transformer model_;
};

/// Logits of all tokens, `chunk` at a time through the cache.
Logits by_the_probe(const probe::Model& model, const std::vector<std::int32_t>& tokens, std::size_t chunk) {
  probe::Cache cache(model, std::ssize(tokens), model.encoding().at_length(std::ssize(tokens)));
  const SequenceId sequence = cache.create();
  Logits all;
  for (std::size_t at = 0; at < tokens.size(); at += chunk) {
    const probe::Segment segment{.sequence = sequence,
                                 .tokens = std::span(tokens).subspan(at, std::min(chunk, tokens.size() - at))};
    std::vector<std::int64_t> wanted(segment.tokens.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    probe::ForwardCall call;
    call.segments = std::span(&segment, 1);
    call.logits_wanted = wanted;
    const Logits some = model.forward(call, cache);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

double largest_difference(const Logits& a, const Logits& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double apart = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(apart <= largest)) largest = apart;  // NaN is the largest
  }
  return largest;
}

// The bound is that of two orders of the same float32 sums, derived at probe::logit_bound.
TEST(Save, EverySchemeGivesTheLabsLogitsInBothFormats) {
  for (const std::string& scheme : schemes_and_variants()) {
    SCOPED_TRACE(scheme);
    const SavedModel saved(scheme);
    const probe::Model folder = saved.from_safetensors(), gguf = saved.from_gguf();
    EXPECT_EQ(folder.notes(), std::vector<std::string>());
    EXPECT_EQ(gguf.notes(), std::vector<std::string>());
    EXPECT_EQ(folder.config().trained_length, 16);
    EXPECT_EQ(gguf.config().trained_length, 16);
    const Logits expected = saved.by_the_lab();
    const double bound = probe::logit_bound(folder.config(), length, expected);
    for (const std::size_t chunk : {std::size_t{length}, std::size_t{1}}) {
      const Logits got = by_the_probe(folder, saved.tokens(), chunk);
      EXPECT_LE(largest_difference(got, expected), bound) << "in chunks of " << chunk;
      EXPECT_EQ(got, by_the_probe(gguf, saved.tokens(), chunk)) << "in chunks of " << chunk;
    }
    for (const Check& check : probe::check_model(folder, saved.tokens())) EXPECT_TRUE(check.pass) << check.name;
  }
}

// The test can fail: the logits of another encoding are far outside the bound.
TEST(Save, TheBoundTellsEncodingsApart) {
  const SavedModel saved("kerple");
  const probe::Model model = saved.from_gguf();
  const Logits expected = saved.by_the_lab();
  Arguments arguments = model.encoding().arguments();
  std::vector<double> changed = arguments.list("r1");
  changed[0] *= 1.01;
  arguments.set("r1", changed);
  probe::Cache cache(model, length, Encoding("kerple", arguments));
  const Logits last = model.forward(saved.tokens(), cache.create(), cache);
  const Logits lab_last(expected.end() - std::ssize(last), expected.end());
  EXPECT_GT(largest_difference(last, lab_last), 4 * probe::logit_bound(model.config(), length, expected));
}

TEST(Save, TokenizersAndKeysComeAlong) {
  const SavedModel passkey("rope", "passkey");
  for (const probe::Model& model : {passkey.from_safetensors(), passkey.from_gguf()}) {
    ASSERT_TRUE(model.config().passkey.has_value());
    EXPECT_EQ(model.config().passkey->keys, passkey.task().keys->keys);
    EXPECT_EQ(model.config().passkey->noise, (std::vector<std::int32_t>{12, 13, 14, 15}));
  }
  const auto message_of = [](const std::string& path) {
    try {
      (void)probe::read_tokenizer(path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message_of(passkey.files().path).find("are not text"), std::string::npos);
  EXPECT_NE(message_of(passkey.files().path + ".gguf").find("are not text"), std::string::npos);
}

TEST(Save, AnEncoderIsRefused) {
  const TrialSpec spec = small_trial("rope", "order");
  const auto task = make_task("order");
  const Transformer model(model_spec(spec, task->description()), 1);
  EXPECT_THROW(save_model(model, task->description(), spec, {"unused", true, true, ""}), Error);
}

// An unfinished trial saves no model; a finished one saves the model of its numbers.
TEST(Save, ATrialLeavesItsTrainedModel) {
  const TemporaryFolder folder;
  TrialSpec spec = small_trial("learned");
  const ModelFiles files{(folder / "m").string(), true, false, "mine"};
  (void)run_trial(spec, {}, files);
  const std::string first = folder.read("m/model.safetensors");
  EXPECT_NE(folder.read("m/config.json").find("\"mine\""), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "m.gguf"));
  spec.seed = 2;
  (void)run_trial(spec, {}, files);  // overwrites it
  EXPECT_NE(folder.read("m/model.safetensors"), first);
  EXPECT_EQ(probe::load(folder / "m").encoding().hidden().table.shape, (std::vector<std::int64_t>{32, 32}));
}

/// The share of keys that the lab found, over all depths.
double accuracy(const std::vector<Measurement>& all, const std::string& line, std::int64_t at) {
  double sum = 0;
  int depths = 0;
  for (const Measurement& m : all) {
    if (m.line != line || m.name != "accuracy" || m.length != at) continue;
    sum += m.value;
    ++depths;
  }
  EXPECT_EQ(depths, 5) << line;
  return sum / depths;
}

// A model that can do the task. The lab and the probe draw different keys and noise, 160 each: two shares of the same
// probability p differ by a standard error of sqrt(2 p (1 - p) / 160) <= 0.056; the test allows four of them.
TEST(Save, TheProbeFindsAsManyKeysAsTheLab) {
  const TemporaryFolder folder;
  TrialSpec spec = small_trial("rope", "passkey");
  spec.steps = 200;
  spec.batch = spec.test_rows = 32;
  spec.learning_rate = 5e-3;
  spec.model = {.layers = 2, .heads = 4, .width = 64};
  const auto measured = run_trial(spec, {}, {(folder / "m").string(), false, true, ""});
  const probe::Model model = probe::load(folder / "m.gguf");
  const auto found = [&](const Encoding& encoding, std::int64_t at) {
    probe::PasskeyGrid grid;
    grid.lengths = {at};
    grid.trials = 32;
    double sum = 0;
    for (const auto& cell : measure_passkeys(model, encoding, probe::prompts_in_ids(*model.config().passkey), grid)) {
      sum += static_cast<double>(cell.found) / static_cast<double>(cell.trials) / 5;
    }
    return sum;
  };
  constexpr double granted = 4 * 0.056;
  EXPECT_GT(found(model.encoding(), 16), 0.9);  // nearly all
  EXPECT_NEAR(found(model.encoding(), 16), accuracy(measured, "rope", 16), granted);
  EXPECT_NEAR(found(model.encoding(), 32), accuracy(measured, "rope", 32), granted);
  EXPECT_NEAR(
      found(with_rule(model.encoding(), "yarn", {.trained = model.config().trained_length}, {{"factor", 2.0}}), 32),
      accuracy(measured, "rope+yarn", 32), granted);
  // The grid can fail: a rule that does not suit the model loses keys.
  EXPECT_LT(
      found(with_rule(model.encoding(), "linear", {.trained = model.config().trained_length}, {{"factor", 64.0}}), 16),
      0.5);
}

}  // namespace
}  // namespace locus::lab
