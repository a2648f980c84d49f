// SPDX-License-Identifier: Apache-2.0
// swin/: the table row of every pair of cells in a window.
#include "locus/bias.h"
#include "locus/positions.h"
#include "oracle_check.h"

namespace locus::testing {
namespace {

TEST(SwinOracleFiles, RelativePositionIndex) {
  const Json peer = oracle_json("swin/relative_position_index.json");
  ASSERT_EQ(peer.at("cases").size(), 3U);
  for (const Json& entry : peer.at("cases")) {
    const auto height = entry.at("window").at(0).get<std::int64_t>();
    const auto width = entry.at("window").at(1).get<std::int64_t>();
    const Encoding swin("relative_bias", {{"heads", std::int64_t{1}},
                                          {"index", std::string("swin")},
                                          {"window_height", height},
                                          {"window_width", width}});
    EXPECT_EQ(swin.score().buckets, (2 * height - 1) * (2 * width - 1));
    std::vector<std::int64_t> want;
    for (const Json& row : entry.at("index")) {
      for (const Json& index : row) want.push_back(index.get<std::int64_t>());
    }
    const std::vector<Position> places = positions::prefill(height * width).ids;
    EXPECT_EQ(bucket_matrix(swin, places, places), want) << height << " x " << width;
  }
}

}  // namespace
}  // namespace locus::testing
