// SPDX-License-Identifier: Apache-2.0
// ggml/: vectors rotated by ggml's CPU kernel. Its arguments are converted to ours; the profile ggml follows its
// arithmetic.
#include <algorithm>

#include "rotation_check.h"

namespace locus::testing {
namespace {

class GgmlOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"ggml", GetParam()};
  const Json& json_ = peer_.json();
  Heads heads_ = heads_of(peer_, "x", "thd");

  double number(const char* key) const { return json_.at(key).get<double>(); }
  bool vision() const { return json_.at("mode") == "VISION"; }

  void set_rule(Arguments& arguments) const {
    const double factor = 1 / number("freq_scale");
    const auto original = json_.at("n_ctx_orig").get<std::int64_t>();
    if (number("ext_factor") != 0) {
      arguments.set("rule", std::string("yarn"));
      arguments.set("factor", factor);
      arguments.set("original_length", original);
      arguments.set("beta_fast", number("beta_fast"));
      arguments.set("beta_slow", number("beta_slow"));
      EXPECT_EQ(number("attn_factor"), 1) << "with another the attention factor would have to be given";
    } else if (peer_.has("freq_factors")) {
      const std::vector<double> divisors = peer_.doubles("freq_factors");
      arguments.set("rule", std::string("longrope"));
      arguments.set("short_factor", divisors);
      arguments.set("long_factor", divisors);
      arguments.set("attention_factor", number("attn_factor"));
      arguments.set("original_length", std::max<std::int64_t>(original, 2));  // not used: both lists are the same
    } else if (factor != 1) {
      arguments.set("rule", std::string("linear"));
      arguments.set("factor", factor);
    }
  }

  Arguments arguments(const std::string& profile) const {
    const std::string mode = json_.at("mode");
    Arguments result{{"head_dim", heads_.shape.back()},
                     {"base", number("freq_base")},
                     {"pairing", std::string(mode == "NORMAL" ? "interleaved" : "half")},
                     {"rotary_offset", json_.at("rope_offset").get<std::int64_t>()},
                     {"profile", profile}};
    if (!vision()) result.set("rotary_dim", json_.at("n_dims").get<std::int64_t>());
    if (mode == "MROPE" || mode == "IMROPE") {
      auto sections = json_.at("sections").get<std::vector<double>>();
      if (profile != "ggml") sections.resize(3);
      result.set("axes", std::string(mode == "MROPE" ? "mrope" : "mrope_interleaved"));
      result.set("sections", sections);
    } else if (vision()) {
      result.set("axes", std::string("grid"));  // rows y, x, y, x: the last two repeat the first
    }
    set_rule(result);
    return result;
  }

  PositionIds ids(const Rotation& rotation) const {
    const std::vector<std::int64_t> shape = peer_.shape("positions");
    std::vector<Position> values = peer_.integers("positions");
    const std::int64_t tokens = shape.back();
    values.resize(static_cast<std::size_t>(rotation.axes * tokens));
    return {.axes = rotation.axes, .tokens = tokens, .ids = values};
  }

  /// ggml multiplies the angle of pair i - 1 by base^(-2/d) to get that of pair i. Both sides do the same float32
  /// products, so they may differ by the power's last bit, i times over, and by a contracted sum in the ramp.
  PairBound bound(const Rotation& rotation, const PositionIds& at) const {
    return [&rotation, at](std::int64_t b, std::int64_t t, std::size_t pair) {
      const std::vector<Position> token = ids_at(at, b, t);
      const double position = static_cast<double>(*std::max_element(token.begin(), token.end()));
      const double angle = position * rotation.inv_freq[pair];
      return rotation.magnitude * (angle * static_cast<double>(pair) * 0x1p-23 +
                                   single_bound(position, rotation.inv_freq[pair]) + 6 * 0x1p-24);
    };
  }

  void expect_reproduced(const std::string& what, const Encoding& ggml) const {
    const PositionIds at = ids(ggml.rotation());
    expect_rotated(what, ggml.rotation(), heads_, widened(rotated(ggml, heads_, heads_.data, at, Role::query)),
                   peer_.doubles("out_f32"), bound(ggml.rotation(), at));
  }

  double total_error(const Encoding& encoding) const {
    const std::vector<double> want = peer_.doubles("out_f32");
    const std::vector<float> got = rotated(encoding, heads_, heads_.data, ids(encoding.rotation()), Role::query);
    double sum = 0;
    for (std::size_t i = 0; i < want.size(); ++i) sum += std::fabs(static_cast<double>(got[i]) - want[i]);
    return sum;
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, GgmlOracle, ::testing::ValuesIn(oracle_cases("ggml")), case_name);

TEST_P(GgmlOracle, ProfileGgmlReproducesTheKernel) {
  expect_reproduced("out_f32", Encoding("rope", arguments("ggml")));
}

// The bound is wide at large positions, where ggml's angles are far from the true ones: the profile must follow it
// there.
TEST_P(GgmlOracle, ProfileGgmlIsCloserThanTheTrueValuesAre) {
  const double error = total_error(Encoding("rope", arguments("ggml")));
  const double true_error = total_error(Encoding("rope", arguments("exact")));
  RecordProperty("total_error", ::testing::PrintToString(error));
  RecordProperty("share_of_the_true_values_error", ::testing::PrintToString(error / true_error));
  EXPECT_LT(error, true_error);
}

std::vector<std::string> llama3_cases() {
  std::vector<std::string> names = oracle_cases("ggml");
  std::erase_if(names, [](const std::string& name) { return name.find("llama3") == std::string::npos; });
  return names;
}

class GgmlLlama3Oracle : public GgmlOracle {};
INSTANTIATE_TEST_SUITE_P(Oracle, GgmlLlama3Oracle, ::testing::ValuesIn(llama3_cases()), case_name);

// llama.cpp passes Llama 3's rule as divisors; the rule itself must give the same.
TEST_P(GgmlLlama3Oracle, RuleEqualsItsDivisors) {
  const Arguments ruled{{"head_dim", heads_.shape.back()},
                        {"base", number("freq_base")},
                        {"pairing", std::string("interleaved")},
                        {"rule", std::string("llama3")},
                        {"factor", 8.0},
                        {"low_freq_factor", 1.0},
                        {"high_freq_factor", 4.0},
                        {"original_length", std::int64_t{8192}},
                        {"profile", std::string("ggml")}};
  const Encoding encoding("rope", ruled);
  const std::vector<float> divisors = peer_.floats("freq_factors");
  ASSERT_EQ(encoding.rotation().ggml->freq_factors.size(), divisors.size());
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    // The file's divisors are a float32 quotient of float32 frequencies: 5 ulp of the rule and 2 of the plain ones.
    EXPECT_LE(ulps_between(encoding.rotation().ggml->freq_factors[i], divisors[i]), 8) << "pair " << i;
  }
  expect_reproduced("out_f32", encoding);
}

}  // namespace
}  // namespace locus::testing
