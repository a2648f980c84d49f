// SPDX-License-Identifier: Apache-2.0
// decomposed_2d/: rows for vertical and horizontal offsets (SAM, ViTDet), with resized tables and pooled keys.
#include "attend_check.h"

namespace locus::testing {
namespace {

class Decomposed2dOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"decomposed_2d", GetParam()};
  const Json settings_ = peer_.json().at("settings");

  std::int64_t side(const char* key, std::size_t i) const { return settings_.at(key).at(i).get<std::int64_t>(); }
  Encoding encoding_{"decomposed_2d",
                     {{"heads", settings_.at("heads").get<std::int64_t>()},
                      {"head_dim", settings_.at("head_dim").get<std::int64_t>()},
                      {"grid_height", side("q_size", 0)},
                      {"grid_width", side("q_size", 1)},
                      {"key_height", side("k_size", 0)},
                      {"key_width", side("k_size", 1)},
                      {"row_table", tensor_of(peer_, "rel_pos_h")},
                      {"column_table", tensor_of(peer_, "rel_pos_w")}}};

  // R_h [q, k, dim] is the row of every pair of places along an axis.
  void check_rows(const std::string& array, const Tensor& table, const std::vector<std::int64_t>& index) {
    const std::vector<double> want = peer_.doubles(array);
    const auto width = static_cast<std::size_t>(table.dim(1));
    Worst worst(array);
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double got = static_cast<double>(table.row(index.at(i / width))[i % width]);
      worst.see(got, want[i], 0x1p-23 * (1 + std::fabs(want[i])), i);  // tables are float32
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, Decomposed2dOracle, ::testing::ValuesIn(oracle_cases("decomposed_2d")), case_name);

TEST_P(Decomposed2dOracle, RowsOfOffsets) {
  const RelativeKeys& keys = encoding_.relative_keys();
  const std::int64_t query_width = side("q_size", 1), key_width = side("k_size", 1);
  std::vector<std::int64_t> rows, columns;
  for (std::int64_t q = 0; q < side("q_size", 0); ++q) {
    for (std::int64_t k = 0; k < side("k_size", 0); ++k) rows.push_back(keys.index(q * query_width, k * key_width));
  }
  for (std::int64_t q = 0; q < query_width; ++q) {
    for (std::int64_t k = 0; k < key_width; ++k) columns.push_back(keys.column_index(q, k));
  }
  EXPECT_EQ(rows, peer_.integers("index_h"));
  EXPECT_EQ(columns, peer_.integers("index_w"));
  EXPECT_EQ(keys.key_table.dim(0), side("resized_rows", 0));
  EXPECT_EQ(keys.column_table.dim(0), side("resized_rows", 1));
  check_rows("R_h_f64", keys.key_table, rows);
  check_rows("R_w_f64", keys.column_table, columns);
}

TEST_P(Decomposed2dOracle, ScoresAndOutputs) {
  const PeerTensors tensors = PeerTensors::of(peer_, "htd");
  std::vector<Position> queries, keys;
  for (Position i = 0; i < tensors.query_shape.at(1); ++i) queries.push_back(i);
  for (Position i = 0; i < tensors.key_shape.at(1); ++i) keys.push_back(i);
  AttentionCall call;
  call.encoding = &encoding_;
  call.query_ids = queries;
  call.key_ids = keys;
  const bool resized = settings_.at("table_rows") != settings_.at("resized_rows");
  expect_attention(tensors, call,
                   {peer_.has("out_f64") ? peer_.doubles("out_f64") : std::vector<double>(),
                    peer_.doubles("scores_f64"), resized ? 0x1p-23 : 0});
}

}  // namespace
}  // namespace locus::testing
