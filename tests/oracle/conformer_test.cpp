// SPDX-License-Identifier: Apache-2.0
// conformer/: sinusoids of both signs, scores and outputs of wav2vec2-conformer and Parakeet.
#include "attend_check.h"
#include "locus/reference.h"

namespace locus::testing {
namespace {

class ConformerOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"conformer", GetParam()};
  const Json settings_ = peer_.json().at("settings");
  std::int64_t tokens_ = peer_.shape("q").at(1);
  Encoding encoding_{"conformer",
                     {{"heads", settings_.at("heads").get<std::int64_t>()},
                      {"head_dim", settings_.at("head_dim").get<std::int64_t>()},
                      {"model_dim", peer_.shape("W_pos").at(1)},
                      {"u", tensor_of(peer_, "u")},
                      {"v", tensor_of(peer_, "v_bias")},
                      {"w_r", tensor_of(peer_, "W_pos")}}};
};

INSTANTIATE_TEST_SUITE_P(Oracle, ConformerOracle, ::testing::ValuesIn(oracle_cases("conformer")), case_name);

TEST_P(ConformerOracle, SinusoidOfBothSigns) {
  const std::vector<double> want = peer_.doubles("pos_table_f64");
  Worst worst("pos_table_f64");
  std::size_t entry = 0;
  for (std::int64_t distance = tokens_ - 1; distance > -tokens_; --distance) {
    for (const double got : reference::hidden_row(encoding_.relative_keys().sinusoid, distance)) {
      worst.see(got, want.at(entry), 1e-12, entry);
      ++entry;
    }
  }
  EXPECT_EQ(entry, want.size());
}

TEST_P(ConformerOracle, ScoresAndOutputs) {
  const std::vector<std::uint8_t> mask = key_mask(settings_.at("lengths"), tokens_);
  AttentionCall call;
  call.encoding = &encoding_;
  call.mask.keys = mask;
  // Rows of padding queries are the peer's own affair: they see what others see.
  expect_attention(PeerTensors::of(peer_, "bthd"), call, {peer_.doubles("out_f64"), peer_.doubles("scores_f64")});
}

}  // namespace
}  // namespace locus::testing
