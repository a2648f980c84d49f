// SPDX-License-Identifier: Apache-2.0
// Every reference model is read correctly, or is listed below with the sentence that refuses it. The table contains
// only encodings that Locus cannot express and models without attention.
#include <gtest/gtest.h>

#include <iostream>
#include <map>

#include "model_check.h"
#include "support/paths.h"

namespace locus::testing {
namespace {

/// Reviewed: the model and what its refusal must contain.
const std::map<std::string, std::string> refusals = {
    {"beit-base", "beit adds a learned number per head and offset on the grid of patches to the scores"},
    {"falcon-mamba-7b", "falcon_mamba has no attention (it is a state-space model)"},
    {"mamba-130m", "mamba has no attention (it is a state-space model)"},
    {"reformer-enwik8", "reformer adds axial learned tables of 128 x 512"},
    {"rwkv-4-430m", "rwkv has no attention (it is a recurrent model with time decay)"},
    {"vjepa2-vitl", "vjepa2 turns three parts of the head by frame, row and column"},
    {"wavlm-base", "wavlm gets positions from a convolution over 128 neighbouring frames"},
};

/// Read correctly, with something not applied: the model and what the note must contain.
const std::map<std::string, std::string> named = {
    {"deepseek-v4-pro", "pools several tokens into one key (compress_ratios)"},
    {"nanochat-d20", "turns queries and keys the other way"},
    {"swinv2-tiny", "this model's scores are cosines"},
};

const std::vector<Json>& golden_models() {
  static const std::vector<Json> models = unpacked_models();
  return models;
}

struct Counts {
  int right = 0, named = 0, refused = 0, wrong = 0;
};

void judge(const Json& model, Counts& counts) {
  const std::string name = model.at("name");
  const ModelVerdict verdict = ModelCheck(model).run();
  const auto said = [&](const std::map<std::string, std::string>& table) {
    const auto row = table.find(name);
    return row != table.end() && verdict.text.find(row->second) != std::string::npos;
  };
  switch (verdict.kind) {
    case ModelVerdict::Kind::right:
      ++counts.right;
      return;
    case ModelVerdict::Kind::named:
      EXPECT_TRUE(said(named)) << name << " names something that is not reviewed: " << verdict.text;
      ++counts.named;
      return;
    case ModelVerdict::Kind::refused:
      EXPECT_TRUE(said(refusals)) << name << " is refused: " << verdict.text;
      ++(said(refusals) ? counts.refused : counts.wrong);
      return;
    case ModelVerdict::Kind::wrong:
      ADD_FAILURE() << name << ": " << verdict.text;
      ++counts.wrong;
  }
}

void report(const char* title, const Counts& counts) {
  std::cout << title << ": right " << counts.right << ", right with something named as not applied " << counts.named
            << ", refused with a reviewed sentence " << counts.refused << ", wrong " << counts.wrong << '\n';
}

TEST(Models, EveryReferenceModelIsReadRightOrRefusedInOneSentence) {
  Counts counts;
  for (const std::string& name : oracle_cases("models")) judge(oracle_json("models/" + name + ".json"), counts);
  report("models of the oracle", counts);
  EXPECT_EQ(counts.wrong, 0);
  EXPECT_LE(counts.refused, 25);
}

TEST(Models, TheCopyInTheRepositoryGivesTheSame) {
  Counts counts;
  for (const Json& model : golden_models()) judge(model, counts);
  report("models of the repository", counts);
  EXPECT_EQ(counts.wrong, 0);
  EXPECT_GE(golden_models().size(), 172U);
}

TEST(Models, EveryModelOfTheRepositoryNamesItsSource) {
  for (const Json& model : golden_models()) {
    EXPECT_FALSE(model.at("source").empty()) << model.at("name");
    EXPECT_FALSE(model.at("commit").empty()) << model.at("name");
  }
}

TEST(Models, SentencesHaveTheRightEnding) {
  for (const Json& model : golden_models()) {
    const ModelVerdict verdict = ModelCheck(model).run();
    if (verdict.kind != ModelVerdict::Kind::refused) continue;
    EXPECT_TRUE(verdict.text.ends_with("; Locus does not express that yet") ||
                verdict.text.ends_with("): there are no positions to encode"))
        << verdict.text;
  }
}

}  // namespace
}  // namespace locus::testing
