// SPDX-License-Identifier: Apache-2.0
// The small copy of the reference vectors that lies in the repository (scripts/make_golden.py), for every checkout.
#include <algorithm>
#include <fstream>

#include "locus/bias.h"
#include "locus/positions.h"
#include "locus/rows.h"
#include "rotation_check.h"
#include "support/paths.h"

namespace locus::testing {
namespace {

const Json& golden() {
  static const Json json = [] {
    std::ifstream stream(locus::testing::source_dir() / "tests" / "golden" / "golden.json");
    return Json::parse(stream);
  }();
  return json;
}

/// [[3, 2], [4, 1]] as 3, 3, 4.
std::vector<std::int64_t> without_runs(const Json& runs) {
  std::vector<std::int64_t> values;
  for (const Json& run : runs) values.insert(values.end(), run.at(1).get<std::size_t>(), run.at(0));
  return values;
}

TEST(Golden, EveryEntryNamesItsProvenance) {
  for (const Json& entry : golden().at("rope")) EXPECT_FALSE(entry.at("provenance").get<std::string>().empty());
  for (const char* part : {"alibi", "t5", "deberta", "swin"}) {
    EXPECT_FALSE(golden().at(part).at("provenance").get<std::string>().empty()) << part;
  }
}

TEST(Golden, RopeFrequenciesAndRows) {
  ASSERT_GE(golden().at("rope").size(), 37U);
  for (const Json& entry : golden().at("rope")) {
    SCOPED_TRACE(entry.at("case").get<std::string>());
    const Encoding exact = rope_case_encoding(entry, "exact");
    const Rotation& rotation = exact.rotation();
    EXPECT_EQ(rotation.rotary_dim, entry.at("rotary_dim").get<std::int64_t>());
    const auto factor = entry.at("attention_factor").get<double>();
    EXPECT_NEAR(rotation.magnitude, factor, 1e-12 * factor);
    const auto inv_freq = entry.at("inv_freq_f64").get<std::vector<double>>();
    ASSERT_EQ(rotation.inv_freq.size(), inv_freq.size());
    Worst frequencies("inv_freq_f64");
    Worst rows("rows");
    for (std::size_t i = 0; i < inv_freq.size(); ++i) {
      frequencies.see(rotation.inv_freq[i], inv_freq[i], 1e-12 * inv_freq[i], i);
    }
    const auto positions = entry.at("positions").get<std::vector<Position>>();
    for (std::size_t row = 0; row < positions.size(); ++row) {
      std::vector<double> cos(inv_freq.size());
      std::vector<double> sin(inv_freq.size());
      rotation_row(rotation, Role::query, std::span(&positions[row], 1), cos, sin);
      const double position = static_cast<double>(positions[row]);
      for (std::size_t i = 0; i < inv_freq.size(); ++i) {
        // The peer's frequency lost up to two last bits; see rope_test.cpp.
        const double bound = factor * (double_bound(position) + position * 0x1p-52 * inv_freq[i]);
        rows.see(cos[i], entry.at("cos").at(row).at(i).get<double>(), bound, i);
        rows.see(sin[i], entry.at("sin").at(row).at(i).get<double>(), bound, i);
      }
    }
  }
}

TEST(Golden, AlibiSlopes) {
  Worst worst("slopes");
  for (const auto& [count, slopes] : golden().at("alibi").at("slopes").items()) {
    const Encoding alibi("alibi", {{"heads", std::int64_t{std::stoll(count)}}});
    const auto want = slopes.get<std::vector<double>>();
    ASSERT_EQ(alibi.score().slopes.size(), want.size());
    for (std::size_t h = 0; h < want.size(); ++h) worst.see(alibi.score().slopes[h], want[h], 1e-12 * want[h], h);
  }
}

TEST(Golden, T5BucketsOfProfileHf) {
  const Json& peer = golden().at("t5");
  const Position query = 1000000;
  std::vector<Position> keys;
  for (const Json& offset : peer.at("offsets")) keys.push_back(query + offset.get<std::int64_t>());
  ASSERT_FALSE(peer.at("cases").empty());
  for (const Json& entry : peer.at("cases")) {
    const Encoding t5("t5", {{"heads", std::int64_t{1}},
                             {"num_buckets", entry.at("num_buckets").get<std::int64_t>()},
                             {"max_distance", entry.at("max_distance").get<std::int64_t>()},
                             {"bidirectional", entry.at("bidirectional").get<bool>()},
                             {"profile", std::string("hf")}});
    EXPECT_EQ(bucket_matrix(t5, std::span(&query, 1), keys), without_runs(entry.at("runs")));
  }
}

TEST(Golden, DebertaBucketsOfProfileHf) {
  const Json& peer = golden().at("deberta");
  const Position key = 1000000;
  std::vector<Position> queries;
  for (const Json& offset : peer.at("offsets")) queries.push_back(key + offset.get<std::int64_t>());
  ASSERT_FALSE(peer.at("cases").empty());
  for (const Json& entry : peer.at("cases")) {
    const auto bucket_size = entry.at("bucket_size").get<std::int64_t>();
    const Encoding deberta("relative_bias", {{"heads", std::int64_t{1}},
                                             {"index", std::string("deberta")},
                                             {"bucket_size", bucket_size},
                                             {"max_position", entry.at("max_position").get<std::int64_t>()},
                                             {"profile", std::string("hf")}});
    std::vector<std::int64_t> want = without_runs(entry.at("runs"));  // the peer clamps when it looks up
    for (std::int64_t& bucket : want) bucket = std::clamp(bucket + bucket_size, std::int64_t{0}, 2 * bucket_size - 1);
    EXPECT_EQ(bucket_matrix(deberta, queries, std::span(&key, 1)), want);
  }
}

TEST(Golden, SwinIndex) {
  ASSERT_FALSE(golden().at("swin").at("cases").empty());
  for (const Json& entry : golden().at("swin").at("cases")) {
    const auto height = entry.at("window").at(0).get<std::int64_t>();
    const auto width = entry.at("window").at(1).get<std::int64_t>();
    const Encoding swin("relative_bias", {{"heads", std::int64_t{1}},
                                          {"index", std::string("swin")},
                                          {"window_height", height},
                                          {"window_width", width}});
    std::vector<std::int64_t> want;
    for (const Json& row : entry.at("index")) want.insert(want.end(), row.begin(), row.end());
    const std::vector<Position> places = positions::prefill(height * width).ids;
    EXPECT_EQ(bucket_matrix(swin, places, places), want);
  }
}

}  // namespace
}  // namespace locus::testing
