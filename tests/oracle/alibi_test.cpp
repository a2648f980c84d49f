// SPDX-License-Identifier: Apache-2.0
// alibi/: slopes of the authors' code, Bloom and MPT; bias rows of Bloom, Falcon and MPT.
#include "locus/bias.h"
#include "locus/positions.h"
#include "oracle_check.h"

namespace locus::testing {
namespace {

// The error of the peers' float32 slopes: a rounded base raised to the number of the head.
constexpr double single_slope = 7e-7;

TEST(AlibiOracleFiles, SlopesOfEveryHeadCount) {
  const Json peer = oracle_json("alibi/slopes.json");
  ASSERT_FALSE(peer.at("heads").empty());
  Worst f64("ofirpress_f64");
  Worst f32("float32");
  for (const auto& [count, slopes] : peer.at("heads").items()) {
    const std::int64_t heads = std::stoll(count);
    const Encoding alibi("alibi", {{"heads", heads}});
    const std::vector<double>& got = alibi.score().slopes;
    ASSERT_EQ(got.size(), static_cast<std::size_t>(heads));
    const auto compare = [&, &peers = slopes](Worst& worst, const char* key, double bound) {
      const auto want = peers.at(key).get<std::vector<double>>();
      ASSERT_EQ(want.size(), got.size());
      for (std::size_t h = 0; h < got.size(); ++h) worst.see(got[h], want[h], bound * want[h], h);
    };
    compare(f64, "ofirpress_f64", 1e-12);
    compare(f32, "bloom_f32", single_slope);
    compare(f32, "mpt_f32", single_slope);
  }
}

class AlibiOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"alibi", GetParam()};
  std::int64_t heads_ = peer_.json().at("num_heads").get<std::int64_t>();
  std::int64_t batch_ = peer_.shape("attention_mask").at(0);
  std::int64_t keys_ = peer_.shape("attention_mask").at(1);

  /// Bias [batch, heads, 1, keys] with the running index of unmasked tokens as ids.
  std::vector<double> by_running_index(const Encoding& alibi) const {
    const std::vector<std::int64_t> mask = peer_.integers("attention_mask");
    const positions::Padded padded =
        positions::from_mask(std::vector<std::uint8_t>(mask.begin(), mask.end()), batch_, keys_);
    std::vector<double> result;
    for (std::int64_t row = 0; row < batch_; ++row) {
      const auto ids =
          std::span(padded.ids.ids).subspan(static_cast<std::size_t>(row * keys_), static_cast<std::size_t>(keys_));
      const std::vector<double> bias = bias_matrix(alibi, ids.last(1), ids);
      result.insert(result.end(), bias.begin(), bias.end());
    }
    return result;
  }

  void expect_close(const std::string& array, const std::vector<double>& got) const {
    const std::vector<double> want = peer_.doubles(array);
    ASSERT_EQ(got.size(), want.size());
    Worst worst(array);
    for (std::size_t i = 0; i < got.size(); ++i) worst.see(got[i], want[i], single_slope * std::fabs(want[i]), i);
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, AlibiOracle, ::testing::ValuesIn(oracle_cases("alibi")), case_name);

TEST_P(AlibiOracle, Bloom) {
  expect_close("bloom", by_running_index(Encoding("alibi", {{"heads", heads_}, {"form", std::string("bloom")}})));
}

TEST_P(AlibiOracle, FalconToTheBit) {
  EXPECT_EQ(by_running_index(Encoding("alibi", {{"heads", heads_}, {"form", std::string("falcon")}})),
            peer_.doubles("falcon_bf16"));
}

TEST_P(AlibiOracle, Mpt) {
  const std::vector<Position> keys = positions::prefill(keys_).ids;
  for (const auto& [array, bias_max] : {std::pair{"mpt", 8.0}, std::pair{"mpt_bias_max16", 16.0}}) {
    const Encoding alibi("alibi",
                         {{"heads", heads_}, {"form", std::string("mpt")}, {"length", keys_}, {"bias_max", bias_max}});
    expect_close(array, bias_matrix(alibi, std::span(keys).last(1), keys));
  }
}

}  // namespace
}  // namespace locus::testing
