// SPDX-License-Identifier: Apache-2.0
// `locus probe loss`, `retrieve`, `attention` and `check` on trained models.
#include <map>

#include "cli/locus_command.h"
#include "support/story_model.h"

namespace locus::testing {
namespace {

class ProbeMeasure : public ::testing::TestWithParam<StoryModel> {
 protected:
  TemporaryFolder folder_;
  const std::string model_ = GetParam().model.string() + " --tokenizer " + GetParam().tokenizer.string();
  const std::string story_ = GetParam().told.string();
};

TEST_P(ProbeMeasure, LossHasACurvePerRuleAndThreePerLengthDependentOne) {
  const Json json = json_of(folder_, "probe loss " + model_ + " --text " + story_ +
                                         " --rules none,linear:2,dynamic_ntk:2 --buckets 0,64,128,512");
  std::vector<std::string> names;
  for (const Json& curve : json["curves"]) names.push_back(curve["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"sliding window", "none", "linear:2", "dynamic_ntk:2 whole",
                                             "dynamic_ntk:2 rerotated", "dynamic_ntk:2 mixed"}));
  EXPECT_EQ(json["trained_length"], GetParam().trained_length);
  EXPECT_EQ(json["bos_added"], true);
  EXPECT_EQ(json["caveat"], "");
  const Json& none = json["curves"][1];
  EXPECT_EQ(none["buckets"].size(), 3u);
  EXPECT_EQ(none["buckets"][0]["count"], 64);
  EXPECT_EQ(none["buckets"][2]["end"], json["tokens"].get<int>() - 1);
  EXPECT_TRUE(none["breaks_at"].is_null());
  // The model's own greedy text within its trained length: it is certain of nearly every token, and only the curve of
  // linear differs.
  EXPECT_LT(none["buckets"][1]["mean"], 1.0);
  for (const std::size_t same : {0U, 3U, 4U, 5U}) {
    EXPECT_NEAR(json["curves"][same]["buckets"][1]["mean"].get<double>(), none["buckets"][1]["mean"].get<double>(),
                1e-4);
  }
  EXPECT_GT(json["curves"][2]["buckets"][1]["mean"].get<double>(), none["buckets"][1]["mean"].get<double>() + 0.1);
}

TEST_P(ProbeMeasure, WithoutATextSamplesFromTheModelAndPrintsTheCaveat) {
  const Json json = json_of(folder_, "probe loss " + model_ + " --rules none --buckets 0,100 --seed 3");
  EXPECT_EQ(json["tokens"], 101);
  EXPECT_NE(json["caveat"].get<std::string>().find("sampled from the model itself"), std::string::npos);
  const std::string text = output_of(folder_, "probe loss " + model_ + " --rules none --buckets 0,100 --seed 3");
  EXPECT_NE(text.find("Where they break"), std::string::npos);
}

// Offset maps stretch the model without training: far keys are seen at offsets that it knows.
TEST_P(ProbeMeasure, OffsetMapsHoldWhereRopeBreaks) {
  const std::int64_t trained = GetParam().trained_length;
  const std::string window = std::to_string(trained / 2);
  const auto at = [&](std::int64_t times_half) { return std::to_string(times_half * trained / 2); };
  const Json json =
      json_of(folder_, "probe loss " + model_ + " --rules none --rules offset_map:map=self_extend,window=" + window +
                           ",group=8 --rules offset_map:map=rerope,window=" + window + " --buckets 0," + at(1) + "," +
                           at(4) + "," + at(6));
  std::map<std::string, std::vector<double>> means;
  for (const Json& curve : json["curves"]) {
    for (const Json& bucket : curve["buckets"]) means[curve["name"]].push_back(bucket["mean"]);
  }
  const std::vector<double>& none = means.at("none");
  for (const auto& [name, mapped] : means) {
    if (!name.starts_with("offset_map")) continue;
    EXPECT_NEAR(mapped[0], none[0], 1e-5) << name;  // within the window nothing changes
    EXPECT_LT(mapped[2], none[2] - 0.2) << name;    // from twice the trained length on
  }
}

TEST_P(ProbeMeasure, IdsAndFigures) {
  folder_.write("ids.json", "[403, 407, 261, 378, 432]");
  const Json json = json_of(folder_, "probe loss " + model_ + " --ids ids.json --rules none --buckets 0,8");
  EXPECT_EQ(json["tokens"], 6);  // with the beginning
  EXPECT_EQ(
      run_locus(folder_, "probe loss " + model_ + " --ids ids.json --rules none --buckets 0,8 -o l.vl.json").exit_code,
      0);
  EXPECT_TRUE(Json::parse(folder_.read("l.vl.json")).contains("layer"));
}

TEST_P(ProbeMeasure, CheckPassesOnRealWeights) {
  const Json json = json_of(folder_, "probe check " + model_);
  EXPECT_EQ(json["passed"], 5);
  EXPECT_EQ(json["failed"], 0);
}

TEST_P(ProbeMeasure, AttentionWithinAndBeyondTheTrainedLength) {
  const Json json = json_of(folder_, "probe attention " + model_ + " --length 600 --queries 4");
  ASSERT_EQ(json["ranges"].size(), 2u);
  EXPECT_EQ(json["ranges"][1]["begin"], GetParam().trained_length);
  EXPECT_EQ(json["ranges"][0]["heads"].size(), GetParam().layers * GetParam().heads);
}

TEST_P(ProbeMeasure, RetrieveReportsThatASmallModelFails) {
  const Json json = json_of(folder_, "probe retrieve " + model_ + " --lengths 200,800 --depths 0,1 --trials 1");
  EXPECT_EQ(json["cells"].size(), 4u);
  EXPECT_NE(json["words"].get<std::string>().find("cannot do the task"), std::string::npos);
}

TEST_P(ProbeMeasure, RefusesBadInputInOneLine) {
  for (const std::string line :
       {"loss MODEL --rules nonsense", "loss MODEL --rules linear:0", "loss MODEL --rules none:2",
        "loss MODEL --buckets 5,3", "loss MODEL --text absent.txt", "loss MODEL --window-stride 0",
        "loss MODEL -o figure.png", "loss MODEL --ids ids.json --text t.txt", "check MODEL --length 7",
        "retrieve MODEL --lengths 20", "retrieve MODEL --depths 2", "attention MODEL --queries 0", "loss absent.bin"}) {
    std::string full = "probe " + line;
    if (const auto at = full.find("MODEL"); at != std::string::npos) full.replace(at, 5, model_);
    const CommandResult result = run_locus(folder_, full);
    EXPECT_EQ(result.exit_code, 2) << full;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << full << "\n" << result.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ProbeMeasure, ::testing::ValuesIn(story_models()), story_model_name);

}  // namespace
}  // namespace locus::testing
