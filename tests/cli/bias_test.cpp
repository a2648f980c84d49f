// SPDX-License-Identifier: Apache-2.0
// `locus bias`: files, printed rows, JSON, buckets and slopes.
#include <cmath>
#include <sstream>

#include "cli/locus_command.h"

namespace locus::testing {
namespace {

TEST(Bias, WritesHeadsByQueriesByKeys) {
  const TemporaryFolder folder;
  const std::string line = "bias --scheme alibi --set heads=2 --queries 2 --keys 5 --query-start 3 --output b.npy";
  const CommandResult result = run_locus(folder, line);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "locus: wrote b.npy\n");
  // Slopes 2^-4 and 2^-8; queries at 3 and 4; keys after the query get nothing.
  std::vector<double> wanted;
  for (const double slope : {1.0 / 16, 1.0 / 256}) {
    for (const int query : {3, 4}) {
      for (int key = 0; key < 5; ++key) wanted.push_back(key < query ? -slope * (query - key) : 0.0);
    }
  }
  EXPECT_EQ(read_array(folder, "b.npy", io::NpyType::float64, {2, 2, 5}), wanted);

  const Json json = json_of(folder, line + " --type float32");
  EXPECT_EQ(json["shape"], Json({2, 2, 5}));
  EXPECT_EQ(json["output"], "b.npy");
  EXPECT_FALSE(json.contains("bias"));
  EXPECT_EQ(read_array(folder, "b.npy", io::NpyType::float32, {2, 2, 5}), wanted);  // powers of two: exact
}

TEST(Bias, TakesPositionsAndAPaddingMask) {
  const TemporaryFolder folder;
  write_array<std::int64_t>(folder, "mask.npy", {3}, {1, 0, 1});
  const std::string line =
      "bias --scheme alibi --set heads=1 --set form=symmetric --query-positions -2,9 "
      "--key-positions 5,5,-7 --output b.npy";
  json_of(folder, line);
  const double slope = 1.0 / 256;
  const std::vector<double> wanted{-7 * slope, -7 * slope, -5 * slope, -4 * slope, -4 * slope, -16 * slope};
  EXPECT_EQ(read_array(folder, "b.npy", io::NpyType::float64, {1, 2, 3}), wanted);
  json_of(folder, line + " --key-mask mask.npy");
  std::vector<double> masked = wanted;
  masked[1] = masked[4] = -HUGE_VAL;
  EXPECT_EQ(read_array(folder, "b.npy", io::NpyType::float64, {1, 2, 3}), masked);
  const auto refused = [&](const std::string& options) {
    const CommandResult result = run_locus(folder, "bias --scheme alibi --set heads=1 " + options);
    EXPECT_EQ(result.exit_code, 2) << options;
    return result.err;
  };
  EXPECT_NE(refused("--queries 3 --query-positions 0,1 --keys 2").find("as many positions"), std::string::npos);
  EXPECT_NE(refused("--query-start 2 --query-positions 0,1 --keys 2").find("not both"), std::string::npos);
  EXPECT_NE(refused("--queries 2 --keys 2 --key-mask mask.npy").find("must have shape [2]"), std::string::npos);
  EXPECT_NE(refused("--queries 2").find("--keys must be at least 1"), std::string::npos);
}

TEST(Bias, PrintsSmallResults) {
  const TemporaryFolder folder;
  const std::string line = "bias --scheme alibi --set heads=1 --set form=symmetric --queries 2 --keys 3";
  EXPECT_EQ(json_of(folder, line)["bias"], Json({0.0, -1.0 / 256, -2.0 / 256, -1.0 / 256, 0.0, -1.0 / 256}));
  std::istringstream text(output_of(folder, line));
  std::vector<double> printed;
  for (double value = 0; text >> value;) printed.push_back(value);
  EXPECT_EQ(printed, (std::vector<double>{0, -1.0 / 256, -2.0 / 256, -1.0 / 256, 0, -1.0 / 256}));
}

TEST(Bias, ReturnsSlopes) {
  const TemporaryFolder folder;
  const std::string line = "bias --scheme alibi --set heads=6 --slopes";
  // n = 4: 2^-2, 2^-4, 2^-6, 2^-8, and of the series for 8 every second: 2^-1, 2^-3
  const std::vector<double> wanted = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  EXPECT_EQ(json_of(folder, line)["slopes"], Json(wanted));
  output_of(folder, line + " --output s.npy");
  EXPECT_EQ(read_array(folder, "s.npy", io::NpyType::float64, {6}), wanted);
}

TEST(Bias, ReturnsBucketsAsIntegers) {
  const TemporaryFolder folder;
  const std::string clipped =
      "bias --scheme relative_bias --set heads=3 --set clip_left=1 --set clip_right=2"
      " --queries 2 --keys 4 --buckets";
  const Json json = json_of(folder, clipped);
  EXPECT_EQ(json["shape"], Json({2, 4}));
  EXPECT_EQ(json["buckets"], Json({1, 2, 3, 3, 0, 1, 2, 3}));  // clip(key - query, -1, 2) + 1
  output_of(folder, clipped + " --output i.npy");
  EXPECT_EQ(read_array(folder, "i.npy", io::NpyType::int64, {2, 4}), (std::vector<double>{1, 2, 3, 3, 0, 1, 2, 3}));
}

TEST(Bias, LooksNumbersUpInAGivenTable) {
  const TemporaryFolder folder;
  std::vector<float> table;  // [4 buckets, 2 heads]
  for (int bucket = 0; bucket < 4; ++bucket) {
    for (int head = 0; head < 2; ++head) table.push_back(static_cast<float>(10 * bucket + head));
  }
  write_array<float>(folder, "table.npy", {4, 2}, table);
  const Json json = json_of(folder,
                            "bias --scheme relative_bias --set heads=2 --set clip_left=1 --set clip_right=2"
                            " --set table=table.npy --queries 1 --keys 4");
  EXPECT_EQ(json["bias"], Json({10.0, 20.0, 30.0, 30.0, 11.0, 21.0, 31.0, 31.0}));
}

TEST(Bias, KnowsEveryScoreScheme) {
  const TemporaryFolder folder;
  const Json kerple = json_of(folder, "bias --scheme kerple --set heads=1 --set r1=2 --set r2=3 --queries 1 --keys 3");
  EXPECT_EQ(kerple["bias"][0], 0.0);
  EXPECT_NEAR(kerple["bias"][2].get<double>(), -2 * std::log(1 + 3 * 2.0), 1e-14);
  const Json sandwich = json_of(folder, "bias --scheme sandwich --set heads=2 --set dim=2 --queries 1 --keys 2");
  // One cosine of the distance, times heads / (8 (head + 1)).
  EXPECT_NEAR(sandwich["bias"][1].get<double>(), std::cos(1.0) * 2 / 8, 1e-15);
  EXPECT_NEAR(sandwich["bias"][3].get<double>(), std::cos(1.0) * 2 / 16, 1e-15);
  const Json t5 = json_of(folder, "bias --scheme t5 --set heads=2 --set seed=7 --queries 2 --keys 2");
  EXPECT_EQ(t5["bias"][0], t5["bias"][3]) << "the same offset has the same bias";
  EXPECT_NE(t5["bias"][0], t5["bias"][1]);
}

TEST(Bias, ReadsAConfig) {
  const TemporaryFolder folder;
  folder.write("bloom.json", R"({"model_type": "bloom", "hidden_size": 64, "n_head": 2})");
  const Json json = json_of(folder, "bias --config bloom.json --slopes");
  EXPECT_EQ(json["slopes"], Json({0.0625, 0.00390625}));
  EXPECT_FALSE(json["used"].empty());
}

}  // namespace
}  // namespace locus::testing
