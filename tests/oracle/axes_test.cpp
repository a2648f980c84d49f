// SPDX-License-Identifier: Apache-2.0
// axes/: several ids per token in picture, video and language models, all of them as data of axes=sections.
#include "locus/rows.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

using List = std::vector<double>;

class AxesOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"axes", GetParam()};
  const Json& settings_ = peer_.json().at("settings");
  PositionIds ids_{.axes = peer_.shape("position_ids").at(0),
                   .tokens = peer_.shape("position_ids").at(1),
                   .ids = peer_.integers("position_ids")};

  List list(const char* key) const { return settings_.at(key).get<List>(); }

  Arguments arguments() const {
    Arguments result{
        {"pairing", settings_.at("pairing").get<std::string>().starts_with("half") ? "half" : "interleaved"}};
    for (const char* key : {"theta", "rope_theta"}) {
      if (settings_.contains(key)) result.set("base", settings_.at(key).get<double>());
    }
    result.set("head_dim", peer_.shape("q").back());
    if (settings_.contains("rotary_dim")) result.set("rotary_dim", settings_.at("rotary_dim").get<std::int64_t>());
    result.set("axes", std::string("sections"));
    if (settings_.contains("side")) {
      result.set("axes", std::string("grid"));
    } else if (settings_.contains("frequencies_per_axis")) {
      set_ltx(result);
    } else if (settings_.contains("axes_dim")) {
      List widths = list("axes_dim");
      for (double& width : widths) width /= 2;
      result.set("sections", widths);
      result.set("frequency_index", std::string("restarting"));
    } else {
      set_sections(result);
    }
    return result;
  }

  void set_sections(Arguments& result) const {
    std::string order = "chunked";
    List sections;
    for (const char* key : {"mrope_section", "mrope_section_thw", "mrope_section_hwt", "xdrope_section"}) {
      if (settings_.contains(key)) sections = list(key);
    }
    if (settings_.contains("mrope_section_hwt")) {
      order = "first_last";
      sections = {sections[2], sections[0], sections[1]};
    }
    if (settings_.value("rope_type", "") == "video_rope") order = "first_last";
    if (GetParam().starts_with("openpangu")) order = "balanced";
    if (settings_.contains("alpha")) {
      result.set("rule", std::string("ntk"));
      result.set("factor", settings_.at("alpha").get<double>());
    }
    result.set("sections", sections);
    result.set("section_order", order);
  }

  // The angle is w (2 id scale / base - 1).
  void set_ltx(Arguments& result) const {
    const auto axes = settings_.at("axes").get<std::size_t>();
    const auto first = settings_.at("unrotated_leading_channels").get<std::int64_t>();
    result.set("rotary_offset", first);
    result.set("rotary_dim", settings_.at("dim").get<std::int64_t>() - first);
    result.set("sections", List(axes, settings_.at("frequencies_per_axis").get<double>()));
    result.set("section_order", std::string("in_turn"));
    result.set("frequency_index", std::string("restarting"));
    result.set("rule", std::string("geometric"));
    List scale = list("rope_interpolation_scale");
    const double bases[] = {settings_.at("base_num_frames").get<double>(), settings_.at("base_height").get<double>(),
                            settings_.at("base_width").get<double>()};
    for (std::size_t axis = 0; axis < axes; ++axis) scale[axis] = 2 * scale[axis] / bases[axis];
    result.set("id_scale", scale);
    result.set("id_shift", List(axes, -1.0));
  }

  /// The largest angle of a token, which bounds the rounding of the peer's product.
  double largest_angle(const Rotation& rotation, std::int64_t token) const {
    const std::vector<Position> at = ids_at(ids_, 0, token);
    double most = 0;
    for (std::size_t i = 0; i < rotation.inv_freq.size(); ++i) {
      const double start = rotation.phases.empty() ? 0 : std::fabs(rotation.phases[i].radians);
      most = std::max(most, start + rotation.inv_freq[i] * static_cast<double>(at[rotation.axis[i]]));
    }
    return most;
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, AxesOracle, ::testing::ValuesIn(oracle_cases("axes")), case_name);

// Other cases have tables only.
class AxesOracleWithPairs : public AxesOracle {};
INSTANTIATE_TEST_SUITE_P(Oracle, AxesOracleWithPairs, ::testing::ValuesIn(cases_with("axes", "pair_axis")), case_name);

TEST_P(AxesOracleWithPairs, AxisAndFrequencyOfEachPair) {
  const Rotation rotation = Encoding("rope", arguments()).rotation();
  const std::vector<std::int64_t> axis = peer_.integers("pair_axis");
  const std::vector<double> frequency = peer_.doubles("pair_freq_f64");
  ASSERT_EQ(axis.size(), rotation.axis.size());
  EXPECT_EQ(rotation.axes, ids_.axes);
  Worst worst("frequency");
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (axis[i] >= 0) {
      EXPECT_EQ(static_cast<std::int64_t>(rotation.axis[i]), axis[i]) << "pair " << i;
    }
    worst.see(rotation.inv_freq[i], axis[i] < 0 ? 0 : frequency[i], 1e-12 * frequency[i], i);
  }
}

TEST_P(AxesOracle, Tables) {
  const Encoding encoding("rope", arguments());
  const Rotation& rotation = encoding.rotation();
  const std::vector<double> cos = peer_.doubles("cos_f64"), sin = peer_.doubles("sin_f64");
  const std::size_t width = static_cast<std::size_t>(peer_.shape("cos_f64").at(1));
  const auto first = static_cast<std::size_t>(rotation.rotary_offset / 2);
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  ASSERT_EQ(width, first + pairs);
  Worst exact("reference"), kernel("kernel");
  for (std::int64_t t = 0; t < ids_.tokens; ++t) {
    const std::vector<Position> at = ids_at(ids_, 0, t);
    std::vector<double> c(pairs), s(pairs);
    std::vector<float> c32(pairs), s32(pairs);
    reference::rotation_row(rotation, Role::key, at, c, s);
    rotation_row(rotation, Role::key, at, c32, s32);
    const double bound = 1e-12 + largest_angle(rotation, t) * 4e-16;
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t entry = static_cast<std::size_t>(t) * width + first + i;
      exact.see(c[i], cos[entry], bound, entry);
      exact.see(s[i], sin[entry], bound, entry);
      kernel.see(static_cast<double>(c32[i]), cos[entry], 3.1e-8 + bound, entry);
      kernel.see(static_cast<double>(s32[i]), sin[entry], 3.1e-8 + bound, entry);
    }
  }
}

TEST_P(AxesOracle, InDouble) {
  const Encoding encoding("rope", arguments());
  const PairBound bound = [&](std::int64_t, std::int64_t t, std::size_t) {
    return 1e-12 + largest_angle(encoding.rotation(), t) * 4e-16;
  };
  for (const auto& [array, role] : {std::pair{"q", Role::query}, std::pair{"k", Role::key}}) {
    const Heads input = heads_of(peer_, array, "thd");
    const std::vector<double> want = peer_.doubles(std::string(array) + "_out_f64");
    expect_rotated(std::string(array) + ".kernel", encoding.rotation(), input,
                   rotated(encoding, input, widened(input.data), ids_, role), want, bound);
    expect_rotated(std::string(array) + ".reference", encoding.rotation(), input,
                   rotated_by_reference(encoding, input, ids_, role), want, bound);
  }
}

// Flux 2 (diffusers transformer_flux2.py: axes_dims_rope 32, 32, 32, 32 and theta 2000): four axes of 16 pairs, the
// index restarts, neighbours are a pair.
TEST(AxesOracleFiles, FourAxesOfFlux2) {
  const Encoding flux("rope", {{"head_dim", 128},
                               {"pairing", "interleaved"},
                               {"base", 2000.0},
                               {"axes", "sections"},
                               {"sections", List{16, 16, 16, 16}},
                               {"frequency_index", "restarting"}});
  const Rotation& rotation = flux.rotation();
  ASSERT_EQ(rotation.axes, 4);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(rotation.axis[i], i / 16);
    const double want = std::pow(2000.0, -2.0 * static_cast<double>(i % 16) / 32);
    EXPECT_NEAR(rotation.inv_freq[i], want, 1e-14 * want);
  }
}

}  // namespace
}  // namespace locus::testing
