// SPDX-License-Identifier: Apache-2.0
// sinusoidal/: tables of fairseq, tensor2tensor, XLM, Marian, Whisper, Transformer-XL and MAE.
#include <cmath>

#include "locus/reference.h"
#include "locus/rows.h"
#include "oracle_check.h"

namespace locus::testing {
namespace {

class SinusoidalOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"sinusoidal", GetParam()};
  const Json& json_ = peer_.json();
  std::string kind_ = json_.at("kind");

  Encoding encoding() const {
    const Json& args = json_.at("args");
    Arguments arguments{{"dim", json_.at("dim").get<std::int64_t>()},
                        {"arrangement", std::string(kind_ == "xlm" ? "interleaved" : "concatenated")}};
    if (kind_ == "fairseq" || kind_ == "t2t" || kind_ == "whisper") arguments.set("rate", std::string("fairseq"));
    if (args.contains("padding_idx")) arguments.set("zero_position", args.at("padding_idx").get<std::int64_t>());
    if (args.contains("start_index")) arguments.set("first_position", args.at("start_index").get<std::int64_t>());
    if (kind_ == "mae2d") {
      arguments.set("axes", std::string("grid"));
      arguments.set("grid_height", args.at("h").get<std::int64_t>());
      arguments.set("grid_width", args.at("w").get<std::int64_t>());
      arguments.set("prefix", std::int64_t{args.at("cls").get<bool>() ? 1 : 0});
    }
    return Encoding("sinusoidal", arguments);
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, SinusoidalOracle, ::testing::ValuesIn(oracle_cases("sinusoidal")), case_name);

TEST_P(SinusoidalOracle, Table) {
  const Encoding sinusoidal = encoding();
  const HiddenRows& hidden = sinusoidal.hidden();
  const std::vector<double> f64 = peer_.doubles("table_f64");
  const std::vector<double> f32 = peer_.doubles("table_f32");
  const std::vector<std::int64_t> shape = peer_.shape("table_f64");
  ASSERT_EQ(shape.at(1), hidden.dim);
  // Float32 rates are exp(-i ln(10000) / n): an exponent up to 9.21, off by 4 roundings, makes the rate off by 9.21
  // times as much. The largest rate is 1. Then the sine's own rounding, and that of our float32 row.
  const auto single_bound = [](double position) { return position * 9.21 * 4 * 0x1p-24 + 2e-7; };
  Worst rows("rows");
  Worst reference("reference");
  Worst single("float32");
  for (Position id = 0; id < shape[0]; ++id) {
    std::vector<double> row(static_cast<std::size_t>(hidden.dim));
    std::vector<float> single_row(row.size());
    hidden_row(hidden, id, std::span<double>(row));
    hidden_row(hidden, id, std::span<float>(single_row));
    const std::vector<double> slow_row = locus::reference::hidden_row(hidden, id);
    const double position = static_cast<double>(id + hidden.first_position);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const std::size_t entry = static_cast<std::size_t>(id) * row.size() + j;
      rows.see(row[j], f64[entry], 1e-12 + position * 1e-16, entry);
      reference.see(slow_row[j], f64[entry], 1e-12 + position * 1e-16, entry);
      single.see(static_cast<double>(single_row[j]), f32[entry], single_bound(position), entry);
    }
  }
}

}  // namespace
}  // namespace locus::testing
