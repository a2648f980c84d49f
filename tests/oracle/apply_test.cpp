// SPDX-License-Identifier: Apache-2.0
// apply/: queries and keys rotated by transformers' models, through the kernel and the reference.
#include <algorithm>
#include <optional>

#include "locus/positions.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

class ApplyOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"apply", GetParam()};
  const Json& json_ = peer_.json();
  PositionIds ids_ = read_ids();

  bool is(const std::string& model) const { return json_.at("hf").get<std::string>().starts_with(model + ":"); }

  /// Ids in our order: [axis][batch][token]. DINOv3's tokens are counted.
  PositionIds read_ids() const {
    if (!peer_.has("position_ids")) return positions::prefill(peer_.shape("q").at(2));
    const std::vector<std::int64_t> shape = peer_.shape("position_ids");
    const std::vector<Position> ids = peer_.integers("position_ids");
    if (shape.size() == 1) return {.tokens = shape[0], .ids = ids};
    if (shape.size() == 3) return {.axes = shape[0], .batch = shape[1], .tokens = shape[2], .ids = ids};
    if (!vision2d()) return {.batch = shape[0], .tokens = shape[1], .ids = ids};
    PositionIds grid{.axes = 2, .tokens = shape[0], .ids = {}};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      for (std::size_t token = 0; token < ids.size() / 2; ++token) grid.ids.push_back(ids[2 * token + axis]);
    }
    return grid;
  }

  bool vision2d() const { return GetParam().starts_with("qwen2_vl_vision2d"); }

  /// The arguments of cases without the config of a text model.
  std::optional<Arguments> plain_arguments() const {
    const Json& config = json_.at("config");
    const auto integer = [&](const char* key) { return Value(config.at(key).get<std::int64_t>()); };
    if (is("gptj")) {
      return Arguments{{"head_dim", integer("head_dim")},
                       {"rotary_dim", integer("rotary_dim")},
                       {"base", config.at("base").get<double>()},
                       {"pairing", std::string("interleaved")}};
    }
    Arguments half{{"pairing", std::string("half")}};
    if (vision2d()) {
      half.set("base", config.at("theta").get<double>());
      half.set("axes", std::string("grid"));
    } else if (is("pixtral")) {
      half.set("base", config.at("rope_theta").get<double>());
      half.set("axes", std::string("pixtral"));
      half.set("grid_width", integer("max_patches_per_side"));
    } else if (is("dinov3_vit")) {
      half.set("base", config.at("rope_theta").get<double>());
      half.set("axes", std::string("dinov3"));
      half.set("grid_height", integer("patches_h"));
      half.set("grid_width", integer("patches_w"));
      half.set("prefix", integer("prefix"));
    } else {
      return std::nullopt;
    }
    half.set("head_dim", integer("head_dim"));
    return half;
  }

  Encoding encoding(const std::string& profile) const {
    if (auto arguments = plain_arguments()) {
      arguments->set("profile", profile);
      return Encoding("rope", *arguments);
    }
    Json config = json_.at("config");
    if (GetParam().find("_imrope_") != std::string::npos) config["rope_parameters"]["mrope_interleaved"] = true;
    io::HfOptions options;
    options.length = 1 + *std::max_element(ids_.ids.begin(), ids_.ids.end());
    const bool interleaved = json_.at("pairing").get<std::string>().starts_with("interleaved");
    options.pairing = interleaved ? "interleaved" : "half";
    std::map<std::string, Value> more{{"profile", profile}};
    if (is("deepseek_v3")) more["output_order"] = std::string("deinterleaved");
    return encoding_of(config, options, more);
  }

  Heads heads(const std::string& array) const {
    const std::string layout = json_.at("layout");
    std::string axes = "bhtd";
    if (layout.find("[batch, seq, heads, head_dim]") != std::string::npos) axes = "bthd";
    if (layout.find("[n_patches, heads, head_dim]") != std::string::npos) axes = "thd";
    return heads_of(peer_, array, axes);
  }

  /// The largest coordinate that multiplies a frequency for this token.
  double reach(std::int64_t batch, std::int64_t token) const {
    if (is("dinov3_vit")) return 6.2831853071795865;  // 2 pi times a coordinate in [-1, 1]
    const std::vector<Position> at = ids_at(ids_, batch, token);
    if (!is("pixtral")) return static_cast<double>(*std::max_element(at.begin(), at.end()));
    const auto side = json_.at("config").at("max_patches_per_side").get<Position>();
    return static_cast<double>(std::max(at[0] / side, at[0] % side));
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, ApplyOracle, ::testing::ValuesIn(oracle_cases("apply")), case_name);

struct Part {
  std::string array;
  Role role;
};
const Part parts[] = {{"q", Role::query}, {"k", Role::key}};

TEST_P(ApplyOracle, InDouble) {
  const Encoding exact = encoding("exact");
  const double magnitude = exact.rotation().magnitude;
  const PairBound bound = [&](std::int64_t b, std::int64_t t, std::size_t) {
    return magnitude * double_bound(reach(b, t));
  };
  for (const Part& part : parts) {
    const Heads input = heads(part.array);
    const std::vector<double> want = peer_.doubles(part.array + "_out_f64");
    expect_rotated(part.array + ".kernel", exact.rotation(), input,
                   rotated(exact, input, widened(input.data), ids_, part.role), want, bound);
    expect_rotated(part.array + ".reference", exact.rotation(), input,
                   rotated_by_reference(exact, input, ids_, part.role), want, bound);
  }
}

// Each side rounds two products and a sum: 3 x 2^-24 of |x c| + |y s|, twice, in addition to the error of cos and sin.
TEST_P(ApplyOracle, ProfileHfInSingle) {
  const Encoding hf = encoding("hf");
  const Rotation& rotation = hf.rotation();
  const PairBound bound = [&](std::int64_t b, std::int64_t t, std::size_t pair) {
    return rotation.magnitude * (single_bound(reach(b, t), rotation.inv_freq[pair]) + 6 * 0x1p-24);
  };
  for (const Part& part : parts) {
    const Heads input = heads(part.array);
    expect_rotated(part.array, rotation, input, widened(rotated(hf, input, input.data, ids_, part.role)),
                   peer_.doubles(part.array + "_out_f32"), bound);
  }
}

// A rotation and its inverse multiply by c^2 + s^2, the square of the magnitude. c and s have 2 roundings, each
// direction adds 3, and the inverse combines both coordinates: below 16 roundings in all.
TEST_P(ApplyOracle, InverseRestoresTheInput) {
  const auto there_and_back = [&](const Encoding& encoding, const Heads& input, auto data, Role role) {
    return widened(rotated(encoding, input, rotated(encoding, input, std::move(data), ids_, role), ids_, role,
                           Direction::inverse));
  };
  for (const Part& part : parts) {
    const Heads input = heads(part.array);
    for (const char* profile : {"exact", "hf"}) {
      const Encoding both = encoding(profile);
      // Prefix tokens are not rotated, so not magnified; no case has both a prefix and a magnitude.
      const double square = both.rotation().magnitude * both.rotation().magnitude;
      Rotation in_order = both.rotation();  // the inverse restores the order too
      in_order.deinterleaved_output = false;
      std::vector<double> want = widened(input.data);
      for_each_head(input, [&](std::int64_t, std::int64_t, std::size_t start) {
        const auto first = start + static_cast<std::size_t>(in_order.rotary_offset);
        for (std::size_t j = 0; j < static_cast<std::size_t>(in_order.rotary_dim); ++j) want[first + j] *= square;
      });
      const PairBound single = [&](std::int64_t, std::int64_t, std::size_t) { return square * 16 * 0x1p-24; };
      expect_rotated(part.array + "." + profile + ".float32", in_order, input,
                     there_and_back(both, input, input.data, part.role), want, single);
      if (both.rotation().profile != Profile::exact) continue;
      const PairBound twice = [&](std::int64_t, std::int64_t, std::size_t) { return square * 16 * 0x1p-53; };
      expect_rotated(part.array + ".float64", in_order, input,
                     there_and_back(both, input, widened(input.data), part.role), want, twice);
    }
  }
}

// DeepSeek multiplies the softmax scale by the square of the magnitude of mscale_all_dim.
TEST(ApplyOracleFiles, DeepseekSoftmaxScale) {
  const Json peer = oracle_json("apply/deepseek_softmax_scale.json");
  ASSERT_EQ(peer.at("cases").size(), 3U);
  for (const Json& entry : peer.at("cases")) {
    Json parameters = entry.at("rope_parameters");
    parameters["rope_theta"] = 10000;
    if (parameters.at("rope_type") == "yarn") parameters["original_max_position_embeddings"] = 4096;
    const Json config{{"model_type", "deepseek_v3"},
                      {"qk_rope_head_dim", 64},
                      {"qk_nope_head_dim", 128},
                      {"max_position_embeddings", 163840},
                      {"rope_parameters", parameters}};
    const Encoding encoding = encoding_of(config, {.layer_type = {}, .pairing = {}, .length = {}});
    const double want = entry.at("scaling_out").get<double>();
    EXPECT_NEAR(entry.at("scaling_in").get<double>() * encoding.rotation().softmax_scale_factor, want, 1e-12 * want)
        << entry.dump();
  }
}

}  // namespace
}  // namespace locus::testing
