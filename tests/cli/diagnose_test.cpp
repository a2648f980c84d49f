// SPDX-License-Identifier: Apache-2.0
// `locus diagnose`: files in, verdicts out, exit codes, refusals. Rotations are worked out here, pair by pair.
#include <cmath>

#include "cli/locus_command.h"
#include "locus/element.h"

namespace locus::testing {
namespace {

constexpr std::int64_t heads = 3;
constexpr std::int64_t tokens = 10;
constexpr std::int64_t dim = 32;

/// Between -1 and 1, without a pattern.
double value_at(std::int64_t h, std::int64_t t, std::int64_t j) {
  return std::sin(static_cast<double>(1 + h * 977 + t * 331 + j * j * 7 + j));
}

/// [heads, tokens, dim]: interleaved pairs turned by (t + shift) * 10000^(-2i/dim).
std::vector<double> rotated(double shift) {
  std::vector<double> values;
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t j = 0; j < dim; ++j) {
        const double w = std::pow(10000.0, -static_cast<double>(j / 2 * 2) / static_cast<double>(dim));
        const double angle = (static_cast<double>(t) + shift) * w;
        const double x = value_at(h, t, j / 2 * 2);
        const double y = value_at(h, t, j / 2 * 2 + 1);
        values.push_back(j % 2 == 0 ? x * std::cos(angle) - y * std::sin(angle)
                                    : x * std::sin(angle) + y * std::cos(angle));
      }
    }
  }
  return values;
}

std::vector<double> unrotated() {
  std::vector<double> values;
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t j = 0; j < dim; ++j) values.push_back(value_at(h, t, j));
    }
  }
  return values;
}

std::vector<float> single(const std::vector<double>& values) { return {values.begin(), values.end()}; }

void write_dump(const TemporaryFolder& folder, double shift) {
  write_array<float>(folder, "q.npy", {heads, tokens, dim}, single(unrotated()));
  write_array<float>(folder, "r.npy", {heads, tokens, dim}, single(rotated(shift)));
}

const std::string dump = "diagnose --before q.npy --after r.npy --axes htd";
const std::string interleaved = " --scheme rope --set head_dim=32 --set pairing=interleaved";

TEST(Diagnose, InfersFromTheDumpAlone) {
  const TemporaryFolder folder;
  write_dump(folder, 5);
  const Json json = json_of(folder, dump);
  EXPECT_EQ(json["kind"], "rotation");
  EXPECT_EQ(json["storage"], "float32");
  EXPECT_EQ(json["slice"]["pairing"], "interleaved");
  EXPECT_EQ(json["slice"]["rotary_dim"], dim);
  EXPECT_EQ(json["explanations"][0]["arguments"]["rule"], "none");
  EXPECT_EQ(json["explanations"][0]["positions"], Json({5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  const std::string text = output_of(folder, dump);
  EXPECT_NE(text.find("base 10000"), std::string::npos) << text;
  EXPECT_NE(text.find("5 ... 14"), std::string::npos) << text;
}

TEST(Diagnose, ComparesAndExitsWith1IfSomethingIsWrong) {
  const TemporaryFolder folder;
  write_dump(folder, 0);
  EXPECT_EQ(json_of(folder, dump + interleaved)["verdicts"][0]["name"], "as_expected");
  const CommandResult wrong = run_locus(folder, dump + " --scheme rope --set head_dim=32 --set pairing=half --json");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_EQ(wrong.err, "");
  EXPECT_EQ(Json::parse(wrong.out)["verdicts"][0]["name"], "wrong_pairing");
  const CommandResult late = run_locus(folder, dump + interleaved + " --positions 3:13");
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_NE(late.out.find("position_offset: positions are off by -3 everywhere"), std::string::npos) << late.out;
}

TEST(Diagnose, ReadsBfloat16AsUint16) {
  const TemporaryFolder folder;
  for (const auto& [name, values] : {std::pair{"q.npy", unrotated()}, std::pair{"r.npy", rotated(2)}}) {
    std::vector<std::uint16_t> bits;
    for (const double value : values) bits.push_back(to_bfloat16(value).bits);
    io::write_npy(folder / name, io::NpyType::uint16, std::vector<std::int64_t>{heads, tokens, dim},
                  std::as_bytes(std::span<const std::uint16_t>(bits)));
  }
  const Json json = json_of(folder, dump);
  EXPECT_EQ(json["storage"], "bfloat16");
  EXPECT_EQ(json["slice"]["pairing"], "interleaved");
}

TEST(Diagnose, ReadsBiases) {
  const TemporaryFolder folder;
  std::vector<float> bias;  // two heads: slopes 1/16 and 1/256, here the wrong way round
  for (const double slope : {1.0 / 256, 1.0 / 16}) {
    for (int q = 0; q < 6; ++q) {
      for (int k = 0; k < 6; ++k) bias.push_back(static_cast<float>(k <= q ? -slope * (q - k) : -INFINITY));
    }
  }
  write_array<float>(folder, "b.npy", {2, 6, 6}, bias);
  const Json alone = json_of(folder, "diagnose --bias b.npy");
  EXPECT_EQ(alone["verdicts"][0]["name"], "alibi_slopes_reversed");
  EXPECT_EQ(alone["causal_mask"], true);
  const CommandResult wrong = run_locus(folder, "diagnose --bias b.npy --scheme alibi --set heads=2");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.out.find("mask_mixed_in"), std::string::npos) << wrong.out;
}

TEST(Diagnose, RefusesBadInputInOneLine) {
  const TemporaryFolder folder;
  write_dump(folder, 0);
  write_array<float>(folder, "short.npy", {heads, tokens, dim - 2}, std::vector<float>(heads * tokens * (dim - 2)));
  std::vector<float> broken = single(rotated(0));
  broken[7] = NAN;
  write_array<float>(folder, "nan.npy", {heads, tokens, dim}, broken);
  write_array<std::int64_t>(folder, "whole.npy", {heads, tokens, dim}, std::vector<std::int64_t>(heads * tokens * dim));
  for (const std::string line :
       {"diagnose", "diagnose --before q.npy", "diagnose --before q.npy --after absent.npy",
        "diagnose --before q.npy --after short.npy --axes htd", "diagnose --before q.npy --after nan.npy --axes htd",
        "diagnose --before q.npy --after whole.npy --axes htd", "diagnose --before q.npy --after r.npy --axes xyz",
        "diagnose --before q.npy --after r.npy --axes htd --positions 0:3",
        "diagnose --before q.npy --after r.npy --axes htd --scheme rope --set head_dim=64 --set pairing=half",
        "diagnose --before q.npy --after r.npy --axes htd --scheme alibi --set heads=3",
        "diagnose --before q.npy --after r.npy --bias q.npy", "diagnose --bias nan.npy"}) {
    const CommandResult result = run_locus(folder, line);
    EXPECT_EQ(result.exit_code, 2) << line;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << line << "\n" << result.err;
  }
}

}  // namespace
}  // namespace locus::testing
