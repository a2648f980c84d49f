// SPDX-License-Identifier: Apache-2.0
// `locus resize`: forms of tables and their types. tests/encoding tests what the methods compute.
#include "cli/locus_command.h"
#include "locus/element.h"

namespace locus::testing {
namespace {

TEST(Resize, EnlargesALength) {
  const TemporaryFolder folder;
  write_array<double>(folder, "t.npy", {2, 1}, {0, 1});
  const CommandResult result = run_locus(folder, "resize --table t.npy --from 2 --to 4 --method linear --output r.npy");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err.rfind("locus: wrote r.npy", 0), 0u) << result.err;
  // Half-pixel centres: sources -0.25, 0.25, 0.75, 1.25.
  EXPECT_EQ(read_array(folder, "r.npy", io::NpyType::float64, {4, 1}), (std::vector<double>{0, 0.25, 0.75, 1}));
}

TEST(Resize, KeepsPrefixRowsTypeAndForm) {
  const TemporaryFolder folder;
  // A class token of 9, then a 1x2 grid (0, 1); to 1x4 it is the line above.
  const std::vector<double> wanted = {9, 0, 0.25, 0.75, 1};
  const std::string line = "resize --table t.npy --from 1x2 --to 1x4 --method bilinear --prefix 1 --output r.npy";
  write_array<float>(folder, "t.npy", {1, 3, 1}, {9, 0, 1});
  const Json json = json_of(folder, line);
  EXPECT_EQ(json["shape"], Json({1, 5, 1}));
  EXPECT_EQ(json["from"], Json({1, 2}));
  EXPECT_EQ(json["to"], Json({1, 4}));
  EXPECT_EQ(json["method"], "bilinear");
  EXPECT_EQ(json["output"], "r.npy");
  EXPECT_EQ(read_array(folder, "r.npy", io::NpyType::float32, {1, 5, 1}), wanted);
  write_array<Float16>(folder, "t.npy", {3, 1}, {to_float16(9.0), to_float16(0.0), to_float16(1.0)});
  json_of(folder, line);
  EXPECT_EQ(read_array(folder, "r.npy", io::NpyType::float16, {5, 1}), wanted);
}

TEST(Resize, TakesATableInTheFormOfItsGrid) {
  const TemporaryFolder folder;
  write_array<double>(folder, "t.npy", {1, 2, 1}, {0, 1});
  json_of(folder, "resize --table t.npy --from 1x2 --to 3x4 --method bilinear --output r.npy");
  EXPECT_EQ(read_array(folder, "r.npy", io::NpyType::float64, {3, 4, 1}),
            (std::vector<double>{0, 0.25, 0.75, 1, 0, 0.25, 0.75, 1, 0, 0.25, 0.75, 1}));
}

TEST(Resize, PassesItsOptionsOn) {
  const TemporaryFolder folder;
  write_array<double>(folder, "t.npy", {2, 1}, {0, 1});
  // --scale-offset 0.5: the step is 2 / 4.5, so the sources are (o + 1/2) / 2.25 - 1/2.
  json_of(folder, "resize --table t.npy --from 2 --to 4 --method linear --scale-offset 0.5 --output r.npy");
  expect_near(read_array(folder, "r.npy", io::NpyType::float64, {4, 1}), {0, 1.5 / 2.25 - 0.5, 2.5 / 2.25 - 0.5, 1},
              4 * 0x1p-53, "scale offset");
  // Bicubic with a = -3/4 between (0, 1) repeated at the edges, source 0.25: the weights of the two ones are
  // k(0.75) + k(1.75), k(0.75) = 1.25 * 0.421875 - 2.25 * 0.5625 + 1, k(1.75) = -0.75 (5.359375 - 15.3125 + 14 - 4).
  const double near_one = 1.25 * 0.421875 - 2.25 * 0.5625 + 1, far_one = -0.75 * (5.359375 - 15.3125 + 14 - 4);
  json_of(folder, "resize --table t.npy --from 1x2 --to 1x4 --method bicubic --output r.npy");
  EXPECT_NEAR(read_array(folder, "r.npy", io::NpyType::float64, {4, 1})[1], near_one + far_one, 1e-15);
  // Antialiased, a = -1/2 and taps beyond the edge are dropped: k(0.75) / (k(0.25) + k(0.75)).
  const double k75 = 1.5 * 0.421875 - 2.5 * 0.5625 + 1, k25 = 1.5 * 0.015625 - 2.5 * 0.0625 + 1;
  json_of(folder, "resize --table t.npy --from 1x2 --to 1x4 --method bicubic --antialias --output r.npy");
  EXPECT_NEAR(read_array(folder, "r.npy", io::NpyType::float64, {4, 1})[1], k75 / (k25 + k75), 1e-15);
}

TEST(Resize, RefusesToWriteOverItsOwnTable) {
  const TemporaryFolder folder;
  write_array<double>(folder, "t.npy", {2, 1}, {0, 1});
  const CommandResult result = run_locus(folder, "resize --table t.npy --from 2 --to 4 --method linear --output t.npy");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "locus: t.npy: the output must not be the input\n");
  EXPECT_EQ(read_array(folder, "t.npy", io::NpyType::float64, {2, 1}), (std::vector<double>{0, 1}));
}

}  // namespace
}  // namespace locus::testing
