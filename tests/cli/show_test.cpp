// SPDX-License-Identifier: Apache-2.0
// `locus show`: the keys of its JSON, their numbers, and what it reports about their source.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "cli/locus_command.h"
#include "locus/encoding.h"

namespace locus::testing {
namespace {

std::vector<double> numbers(const Json& json) { return json.get<std::vector<double>>(); }

bool any_contains(const Json& list, const std::string& text) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Json& entry) { return entry.get<std::string>().find(text) != std::string::npos; });
}

/// base^(-2i/d), i = 0 .. d/2 - 1.
std::vector<double> plain_frequencies(int d, double base) {
  std::vector<double> w;
  for (int i = 0; i < d / 2; ++i) w.push_back(std::pow(base, -2.0 * i / d));
  return w;
}

void expect_relative(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], tolerance * std::fabs(wanted[i])) << i;
}

/// pow and cos of the C library are within an ulp or two; 1e-14 leaves room for the product with small positions.
constexpr double few_ulps = 1e-14;

const std::string rope8 = "show --scheme rope --set head_dim=8 --set pairing=half";

// ---- keys

TEST(Show, HasTheDocumentedKeysForRope) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "llama", "head_dim": 8, "max_position_embeddings": 64})");
  for (const std::string& line : {rope8, std::string("show --config config.json")}) {
    const Json plain = json_of(folder, line);
    for (const char* key : {"scheme", "site", "head_dim", "rotary_dim", "pairing", "rule", "inv_freq",
                            "attention_factor", "softmax_scale_factor", "profile", "used", "defaulted", "unknown"}) {
      EXPECT_TRUE(plain.contains(key)) << key << " of " << line;
    }
    for (const char* key : {"positions", "cos", "sin", "slopes", "buckets", "layers"}) {
      EXPECT_FALSE(plain.contains(key)) << key << " of " << line;
    }
    EXPECT_EQ(plain["scheme"], "rope");
    EXPECT_EQ(plain["site"], "query_key");
    EXPECT_EQ(plain["head_dim"], 8);
    EXPECT_EQ(plain["rotary_dim"], 8);
    EXPECT_EQ(plain["pairing"], "half");
    EXPECT_EQ(plain["rule"], "none");
    EXPECT_EQ(plain["profile"], "exact");
    EXPECT_EQ(plain["attention_factor"], 1.0);
    EXPECT_EQ(plain["softmax_scale_factor"], 1.0);

    const Json placed = json_of(folder, line + " --positions 0,1,17");
    EXPECT_EQ(placed["positions"], Json({0, 1, 17}));
    ASSERT_EQ(placed["cos"].size(), 3u);
    ASSERT_EQ(placed["sin"].size(), 3u);
    EXPECT_EQ(placed["cos"][2].size(), 4u);
    EXPECT_EQ(placed["sin"][2].size(), 4u);
  }
}

// ---- numbers

TEST(Show, PrintsNumbersThatRoundTrip) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "show --scheme rope --set head_dim=128 --set pairing=half --set base=500000");
  const Encoding encoding("rope", {{"head_dim", std::int64_t{128}}, {"pairing", std::string("half")}, {"base", 5e5}});
  EXPECT_EQ(numbers(json["inv_freq"]), encoding.rotation().inv_freq);  // every bit
  expect_relative(numbers(json["inv_freq"]), plain_frequencies(128, 5e5), few_ulps);
}

TEST(Show, MultipliesCosAndSinByTheAttentionFactor) {
  const TemporaryFolder folder;
  const Json json =
      json_of(folder, rope8 +
                          " --set rule=yarn --set factor=4 --set original_length=64 --set mscale_all_dim=1"
                          " --positions 0,1,17,1000");
  const double factor = 0.1 * std::log(4.0) + 1;  // m(4, 1)
  EXPECT_NEAR(json["attention_factor"].get<double>(), factor, few_ulps);
  EXPECT_NEAR(json["softmax_scale_factor"].get<double>(), factor * factor, few_ulps);
  const std::vector<double> w = numbers(json["inv_freq"]);
  for (std::size_t row = 0; row < 4; ++row) {
    const double position = json["positions"][row].get<double>();
    const std::vector<double> cos = numbers(json["cos"][row]);
    const std::vector<double> sin = numbers(json["sin"][row]);
    ASSERT_EQ(cos.size(), w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      // The product position * w here has an error of half an ulp: 1000 * 1.1e-16.
      EXPECT_NEAR(cos[i], factor * std::cos(position * w[i]), 2e-13);
      EXPECT_NEAR(sin[i], factor * std::sin(position * w[i]), 2e-13);
    }
  }
}

TEST(Show, KeepsNegativeAndFarPositions) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, rope8 + " --positions -3,3,2147483647");
  EXPECT_EQ(json["cos"][0], json["cos"][1]);
  for (std::size_t i = 0; i < 4; ++i) {
    const double forwards = json["sin"][1][i].get<double>();
    EXPECT_EQ(json["sin"][0][i].get<double>(), -forwards);
  }
  // w_0 = 1 exactly, so the angle is the position itself and long double can reduce it.
  EXPECT_NEAR(json["cos"][2][0].get<double>(), static_cast<double>(std::cos(2147483647.0L)), 1e-15);
}

TEST(Show, ProportionalRopeHasFullWidthAndExactZeros) {
  const TemporaryFolder folder;
  const Json json = json_of(folder,
                            "show --scheme rope --set head_dim=16 --set pairing=half --set rule=proportional"
                            " --set rotary_fraction=0.25 --set factor=2 --positions 5");
  EXPECT_EQ(json["rotary_dim"], 16);
  const std::vector<double> w = numbers(json["inv_freq"]);
  ASSERT_EQ(w.size(), 8u);
  const std::vector<double> over_head_dim = plain_frequencies(16, 1e4);
  for (std::size_t i = 0; i < 8; ++i) {
    if (i < 2) {
      EXPECT_NEAR(w[i], over_head_dim[i] / 2, few_ulps);
    } else {
      EXPECT_EQ(w[i], 0.0);
      EXPECT_EQ(json["cos"][0][i], 1.0);
      EXPECT_EQ(json["sin"][0][i], 0.0);
    }
  }
}

TEST(Show, ShowsTheFloat32FrequenciesOfTheHfProfile) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, rope8 + " --profile hf");
  EXPECT_EQ(json["profile"], "hf");
  for (const double w : numbers(json["inv_freq"])) EXPECT_EQ(w, static_cast<double>(static_cast<float>(w)));
}

// ---- lengths

const std::string dynamic8 = rope8 + " --set rule=dynamic_ntk --set factor=2 --set max_length=64";

/// base (f L / L_max - (f - 1))^(d/(d - 2)).
std::vector<double> dynamic_frequencies(double length) {
  return plain_frequencies(8, 1e4 * std::pow(2 * length / 64 - 1, 8.0 / 6));
}

TEST(Show, TakesTheLengthFromPositionsOrFromTheOption) {
  const TemporaryFolder folder;
  expect_relative(numbers(json_of(folder, dynamic8)["inv_freq"]), plain_frequencies(8, 1e4), few_ulps);
  expect_relative(numbers(json_of(folder, dynamic8 + " --positions 0,127")["inv_freq"]), dynamic_frequencies(128),
                  few_ulps);
  expect_relative(numbers(json_of(folder, dynamic8 + " --positions 0,50")["inv_freq"]), plain_frequencies(8, 1e4),
                  few_ulps);
  expect_relative(numbers(json_of(folder, dynamic8 + " --seq-len 256")["inv_freq"]), dynamic_frequencies(256),
                  few_ulps);
  expect_relative(numbers(json_of(folder, dynamic8 + " --seq-len 256 --positions 0,127")["inv_freq"]),
                  dynamic_frequencies(256), few_ulps);
}

TEST(Show, NotesALengthThatIsShorterThanAPosition) {
  const TemporaryFolder folder;
  const CommandResult result = run_locus(folder, dynamic8 + " --seq-len 100 --positions 0,127 --json");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "locus: note: --seq-len 100 is shorter than the largest position + 1 (128)\n");
  expect_relative(numbers(Json::parse(result.out)["inv_freq"]), dynamic_frequencies(100), few_ulps);
}

TEST(Show, ChoosesTheListOfLongropeByTheLength) {
  const TemporaryFolder folder;
  folder.write("phi.json", R"({"head_dim": 4, "max_position_embeddings": 128, "rope_scaling": {"type": "su",
      "short_factor": [1, 2], "long_factor": [4, 8], "original_max_position_embeddings": 32}})");
  const auto frequencies = [&](const std::string& rest) {
    return numbers(json_of(folder, "show --config phi.json" + rest)["inv_freq"]);
  };
  // w = (1, 0.01)
  expect_relative(frequencies(""), {1, 0.005}, few_ulps);
  expect_relative(frequencies(" --positions 31"), {1, 0.005}, few_ulps);
  expect_relative(frequencies(" --positions 32"), {0.25, 0.00125}, few_ulps);
  expect_relative(frequencies(" --seq-len 33"), {0.25, 0.00125}, few_ulps);
  const Json json = json_of(folder, "show --config phi.json");
  EXPECT_EQ(json["rule"], "longrope");
  EXPECT_NEAR(json["attention_factor"].get<double>(), std::sqrt(1 + std::log(4.0) / std::log(32.0)), few_ulps);
}

// ---- configs

TEST(Show, ReadsOldAndNewConfigsAlike) {
  const TemporaryFolder folder;
  folder.write("old.json", R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
      "max_position_embeddings": 512, "rope_theta": 500000, "rope_scaling": {"type": "linear", "factor": 4}})");
  folder.write("new.json", R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
      "max_position_embeddings": 512,
      "rope_parameters": {"rope_type": "linear", "factor": 4, "rope_theta": 500000}})");
  std::vector<double> wanted = plain_frequencies(16, 5e5);
  for (double& w : wanted) w /= 4;
  const Json old_style = json_of(folder, "show --config old.json");
  const Json new_style = json_of(folder, "show --config new.json");
  for (const Json& json : {old_style, new_style}) {
    EXPECT_EQ(json["head_dim"], 16);
    EXPECT_EQ(json["rule"], "linear");
    expect_relative(numbers(json["inv_freq"]), wanted, few_ulps);
    EXPECT_EQ(json["unknown"], Json::array());
  }
  EXPECT_EQ(old_style["inv_freq"], new_style["inv_freq"]);
  EXPECT_TRUE(any_contains(old_style["used"], "rope_scaling.factor"));
  EXPECT_TRUE(any_contains(old_style["used"], "rope_theta"));
  EXPECT_TRUE(any_contains(new_style["used"], "rope_parameters.rope_theta"));
}

TEST(Show, ReportsUsedDefaultedAndUnknownKeys) {
  const TemporaryFolder folder;
  folder.write("bare.json", R"({"head_dim": 8, "rotary_spin": 3, "vocab_size": 100})");
  const Json json = json_of(folder, "show --config bare.json");
  EXPECT_EQ(json["pairing"], "half");
  EXPECT_EQ(json["used"], Json({"head_dim"}));
  EXPECT_TRUE(any_contains(json["defaulted"], "pairing = half"));
  EXPECT_TRUE(any_contains(json["defaulted"], "rope_theta = 10000"));
  EXPECT_EQ(json["unknown"], Json({"rotary_spin"}));  // without vocab_size, which has nothing to do with positions

  const Json settings = json_of(folder, rope8 + " --set base=500");
  EXPECT_TRUE(any_contains(settings["defaulted"], "rotary_offset = 0"));
  EXPECT_FALSE(any_contains(settings["defaulted"], "base"));
}

TEST(Show, OverridesThePairing) {
  const TemporaryFolder folder;
  folder.write("cohere.json", R"({"model_type": "cohere", "head_dim": 8})");
  EXPECT_EQ(json_of(folder, "show --config cohere.json")["pairing"], "interleaved");
  EXPECT_EQ(json_of(folder, "show --config cohere.json --pairing half")["pairing"], "half");
  folder.write("bare.json", R"({"head_dim": 8, "rope_theta": 10000})");
  const Json told = json_of(folder, "show --config bare.json --pairing interleaved");
  EXPECT_EQ(told["pairing"], "interleaved");
  EXPECT_FALSE(any_contains(told["defaulted"], "pairing"));
  EXPECT_EQ(json_of(folder, "show --scheme rope --set head_dim=8 --pairing interleaved")["pairing"], "interleaved");
}

TEST(Show, ShowsEachLayerTypeOrTheChosenOne) {
  const TemporaryFolder folder;
  folder.write("gemma.json", R"({"model_type": "gemma3_text", "head_dim": 8, "max_position_embeddings": 64,
      "rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 8}})");
  const Json all = json_of(folder, "show --config gemma.json --positions 0,1");
  EXPECT_EQ(all.size(), 1u);
  ASSERT_TRUE(all.contains("layers"));
  ASSERT_EQ(all["layers"].size(), 2u);
  const Json& sliding = all["layers"]["sliding_attention"];
  const Json& full = all["layers"]["full_attention"];
  expect_relative(numbers(sliding["inv_freq"]), plain_frequencies(8, 1e4), few_ulps);
  std::vector<double> wanted = plain_frequencies(8, 1e6);
  for (double& w : wanted) w /= 8;
  expect_relative(numbers(full["inv_freq"]), wanted, few_ulps);
  for (const Json& layer : {sliding, full}) {
    for (const char* key : {"scheme", "site", "rule", "cos", "sin", "profile", "used", "defaulted", "unknown"}) {
      EXPECT_TRUE(layer.contains(key)) << key;
    }
  }
  const Json one = json_of(folder, "show --config gemma.json --layer-type full_attention --positions 0,1");
  EXPECT_FALSE(one.contains("layers"));
  EXPECT_EQ(one["inv_freq"], full["inv_freq"]);
}

TEST(Show, UsesTextPositionsForAllMropeAxes) {
  const TemporaryFolder folder;
  const std::string sections = " --set axes=mrope --set sections=2,1,1";
  const Json text = json_of(folder, rope8 + sections + " --positions 0,7");
  const Json plain = json_of(folder, rope8 + " --positions 0,7");
  EXPECT_EQ(text["cos"], plain["cos"]);
  EXPECT_EQ(text["positions"], Json({0, 7}));

  // Time 7, height 8, width 9; the sections assign them to pairs.
  write_array<std::int64_t>(folder, "ids.npy", {3, 1, 1}, {7, 8, 9});
  const Json mixed = json_of(folder, rope8 + sections + " --positions ids.npy");
  EXPECT_EQ(mixed["positions"], Json({{7}, {8}, {9}}));
  const std::vector<double> w = plain_frequencies(8, 1e4);
  const std::vector<double> place = {7, 7, 8, 9};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(mixed["cos"][0][i].get<double>(), std::cos(place[i] * w[i]), few_ulps) << i;
  }
}

// ---- other sites

TEST(Show, ShowsSlopesAndBuckets) {
  const TemporaryFolder folder;
  const Json alibi = json_of(folder, "show --scheme alibi --set heads=3");
  EXPECT_EQ(alibi["site"], "score");
  expect_relative(numbers(alibi["slopes"]), {1.0 / 16, 1.0 / 256, 1.0 / 4}, 0);  // n = 2: 2^-4, 2^-8; then 2^-2
  EXPECT_FALSE(alibi.contains("buckets"));

  folder.write("bloom.json", R"({"model_type": "bloom", "hidden_size": 64, "n_head": 4})");
  expect_relative(numbers(json_of(folder, "show --config bloom.json")["slopes"]), {0.25, 0.0625, 0.015625, 0.00390625},
                  0);

  const Json t5 = json_of(folder, "show --scheme t5 --set heads=2 --positions -8,-1,0,1,8,1000");
  EXPECT_EQ(t5["buckets"], Json({8, 1, 0, 17, 24, 31}));
  EXPECT_FALSE(t5.contains("slopes"));
  EXPECT_EQ(t5["profile"], "exact");
  EXPECT_TRUE(json_of(folder, "show --scheme t5 --set heads=2").contains("buckets"));
}

TEST(Show, CountsTheParametersOfALearnedTable) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "show --scheme learned --set max_positions=4096 --set dim=64");
  EXPECT_EQ(json["parameters"], 262144);
  EXPECT_EQ(json["site"], "hidden");
}

// 2^31 positions x 2 would be a table of 16 GB; only the printed rows are made.
TEST(Show, MakesOnlyThePrintedRowsOfALearnedTable) {
  const TemporaryFolder folder;
  const std::string large = "show --scheme learned --set max_positions=2147483647 --set dim=2";
  const Json json = json_of(folder, large);
  EXPECT_EQ(json["parameters"], 4294967294);
  EXPECT_EQ(json["max_positions"], 2147483647);
  EXPECT_EQ(json["arguments"]["max_positions"], 2147483647);
  EXPECT_NE(output_of(folder, large).find("2147483647"), std::string::npos);
  EXPECT_EQ(json_of(folder, large + " --positions 0,5")["rows"],
            json_of(folder, "show --scheme learned --set max_positions=9 --set dim=2 --positions 0,5")["rows"]);
  const CommandResult beyond =
      run_locus(folder, "show --scheme learned --set max_positions=9 --set dim=2 --positions 3,9");
  EXPECT_EQ(beyond.exit_code, 2);
  EXPECT_EQ(beyond.err, "locus: learned positions must be from 0 to 8 (the rows of its table), got 9\n");
  folder.write("config.json", R"({"model_type": "gpt2", "n_positions": 2147483647, "n_embd": 2, "n_head": 1})");
  EXPECT_EQ(json_of(folder, "show --config config.json")["max_positions"], 2147483647);
}

TEST(Show, ShowsEveryKindOfScheme) {
  const TemporaryFolder folder;
  for (const std::string line :
       {"nope", "sinusoidal --set dim=4", "xpos --set head_dim=4 --set pairing=half", "kerple --set heads=2",
        "sandwich --set heads=2", "relative_bias --set heads=2 --set clip_left=3",
        "shaw --set heads=2 --set head_dim=4", "transformer_xl --set heads=2 --set head_dim=4"}) {
    const Json json = json_of(folder, "show --scheme " + line);
    EXPECT_EQ(json["scheme"], line.substr(0, line.find(' ')));
    EXPECT_TRUE(json.contains("site") && json.contains("profile") && json.contains("claims")) << line;
    EXPECT_NE(output_of(folder, "show --scheme " + line), "") << line;
  }
}

// ---- for people

TEST(Show, PrintsATableOfWavelengthsWithTurns) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "llama", "head_dim": 4, "max_position_embeddings": 2048})");
  const std::string text = output_of(folder, "show --config config.json");
  for (const std::string word : {"pair", "wavelength", "turns in 2048", "claims", "used", "defaulted"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
  // Pair 1 has w = 0.01: a wavelength of 628.3 positions, 2048 / 628.3 = 3.259 turns.
  EXPECT_NE(text.find("628.3185"), std::string::npos) << text;
  EXPECT_NE(text.find("3.259"), std::string::npos) << text;

  const std::string still = output_of(folder,
                                      "show --scheme rope --set head_dim=4 --set pairing=half"
                                      " --set rule=proportional --set rotary_fraction=0.5");
  EXPECT_NE(still.find("never turns"), std::string::npos) << still;
}

}  // namespace
}  // namespace locus::testing
