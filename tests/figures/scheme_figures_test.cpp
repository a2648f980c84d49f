// SPDX-License-Identifier: Apache-2.0
// The figures of schemes: every spec is valid, and its numbers follow from the definitions, worked out here by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "figures/registry.h"
#include "figures/spec.h"
#include "figures/spec_check.h"
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus::testing {
namespace {

using figures::Drawn;
using figures::Figure;
using figures::FigureKind;
using figures::Json;
using figures::Request;

Figure figure(std::string_view name, const Request& request) {
  const Figure made = figures::make_figure(figures::find_figure(name), request);
  EXPECT_EQ(SpecCheck::faults_in(made), std::vector<std::string>{}) << name;
  return made;
}

Request of(std::string_view scheme, const Arguments& arguments) {
  return {.encodings = {{.name = "", .encoding = Encoding(scheme, arguments)}}};
}

/// The one row that has all these values.
Json row(const Figure& made, const Json& wanted) {
  Json found;
  for (const Json& one : made.spec["data"]["values"]) {
    bool matches = true;
    for (const auto& [name, value] : wanted.items()) matches = matches && one.contains(name) && one[name] == value;
    if (!matches) continue;
    EXPECT_TRUE(found.is_null()) << "two rows " << wanted;
    found = one;
  }
  return found;
}

/// Figures keep 6 significant digits: a relative error of at most 5e-6.
void expect_number(const Figure& made, const Json& wanted, const char* field, double value) {
  const Json one = row(made, wanted);
  ASSERT_FALSE(one.is_null()) << made.name << " has no row " << wanted;
  EXPECT_NEAR(one[field].get<double>(), value, 5e-6 * std::fabs(value) + 1e-12) << made.name << " " << wanted;
}

TEST(SpecCheck, DetectsFaults) {
  Figure good = figures::make_figure(figures::find_figure("wavelengths"));
  EXPECT_TRUE(SpecCheck::faults_in(good).empty());
  const auto broken = [&](const auto& change) {
    Figure bad = good;
    change(bad.spec);
    return SpecCheck::faults_in(bad).size();
  };
  EXPECT_EQ(broken([](Json& spec) { spec["data"] = {{"url", "data.csv"}}; }) > 0, true);
  EXPECT_EQ(broken([](Json& spec) { spec["data"]["values"][0].erase("pair"); }), 1u);
  EXPECT_EQ(broken([](Json& spec) { spec["data"]["values"][0]["pair"] = NAN; }), 1u);
  EXPECT_EQ(broken([](Json& spec) { spec["layer"][0]["mark"]["type"] = "blob"; }) > 0, true);
  EXPECT_EQ(broken([](Json& spec) { spec["background"] = "white"; }), 1u);
  EXPECT_EQ(broken([](Json& spec) { spec["description"] = "see http://example.org"; }), 1u);
}

TEST(SchemeFigures, EveryFigureIsValidWithoutOptions) {
  EXPECT_GE(figures::figure_kinds().size(), 14u);
  for (const FigureKind* kind : figures::figure_kinds()) {
    SCOPED_TRACE(kind->name);
    const Figure made = figures::make_figure(*kind);
    EXPECT_EQ(SpecCheck::faults_in(made), std::vector<std::string>{});
    EXPECT_EQ(made.name, kind->name);
    EXPECT_EQ(&figures::find_figure(kind->name), kind);
    const Json alone = figures::standalone_spec(made);
    EXPECT_EQ(Json::parse(alone.dump()), alone);
    EXPECT_EQ(alone["data"], made.spec["data"]);
  }
}

TEST(SchemeFigures, RefuseOptionsTheyDoNotTake) {
  const auto refused = [](std::string_view name, const Request& request, const std::string& part) {
    try {
      figures::make_figure(figures::find_figure(name), request);
      ADD_FAILURE() << name << " took it";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  Request request = of("rope", {{"head_dim", 8}, {"pairing", "half"}});
  refused("sinusoidal", request, "rope acts at the site query_key");
  refused("slopes", of("t5", {{"heads", 2}}), "t5 has no slopes");
  refused("shaw", of("transformer_xl", {{"heads", 1}, {"head_dim", 2}}), "transformer-xl");
  refused("wavelengths", of("learned", {{"max_positions", 4}, {"dim", 2}}), "no wavelengths");
  refused("equivariance", request, "no encoding to choose");
  refused("offset-map", request, "rope remaps no offsets");
  refused("phases", request, "rope makes no heads polar");
  refused("mixed", request, "rope mixes no frequencies");
  refused("gates", of("alibi", {{"heads", 2}}), "alibi takes nothing from the tokens");
  refused("grid", of("alibi", {{"heads", 2}}), "alibi is not for a grid");
  refused("counted", of("shaw", {{"heads", 1}, {"head_dim", 2}}), "shaw does not count positions");
  refused("neighbours", of("sinusoidal", {{"dim", 2}}), "sinusoidal makes no rows from neighbours");
  refused("rotation", {}, "one encoding, got 0");
  request.dims = {1};
  refused("rotation", request, "no dims to choose");
  request.dims = {};
  request.pairs = {4};
  refused("rotation", request, "pairs must be from 0 to 3, got 4");
  Request hidden = of("sinusoidal", {{"dim", 4}});
  hidden.dims = {4};
  refused("waveforms", hidden, "dims must be from 0 to 3, got 4");
  Request table = of("learned", {{"max_positions", 4}, {"dim", 2}});
  table.positions = {4};
  refused("sinusoidal", table, "4");
  EXPECT_THROW(figures::find_figure("spiral"), Error);
}

TEST(SchemeFigures, SinusoidalRowsAreSinesAndCosines) {
  Request request = of("sinusoidal", {{"dim", 4}});
  request.positions = {0, 1, 300};
  const Figure made = figure("sinusoidal", request);
  EXPECT_EQ(made.spec["data"]["values"].size(), 12u);
  for (const std::int64_t p : request.positions) {  // rates 1 and 10000^(-2/4) = 1/100
    const double angle = static_cast<double>(p);
    expect_number(made, {{"position", p}, {"dimension", 0}}, "value", std::sin(angle));
    expect_number(made, {{"position", p}, {"dimension", 1}}, "value", std::cos(angle));
    expect_number(made, {{"position", p}, {"dimension", 2}}, "value", std::sin(angle / 100));
    expect_number(made, {{"position", p}, {"dimension", 3}}, "value", std::cos(angle / 100));
  }
  EXPECT_EQ(made.spec["encoding"]["color"]["scale"]["domain"], Json({-1.0, 1.0}));
}

TEST(SchemeFigures, WaveformsDrawTheDefaultDimensions) {
  const Figure made = figure("waveforms", of("sinusoidal", {{"dim", 128}}));
  EXPECT_EQ(made.spec["facet"]["sort"], Json({"dim 0", "dim 1", "dim 10", "dim 20", "dim 50"}));
  const double p = 37;
  expect_number(made, {{"position", 37}, {"dimension", "dim 1"}}, "value", std::cos(p));
  expect_number(made, {{"position", 37}, {"dimension", "dim 10"}}, "value", std::sin(p * std::pow(1e4, -10 / 128.0)));
  expect_number(made, {{"position", 37}, {"dimension", "dim 50"}}, "value", std::sin(p * std::pow(1e4, -50 / 128.0)));
}

// Pairs (sin a, cos a), (sin b, cos b) have the product cos(a - b): the similarity is the mean cosine of the offset's
// angles.
TEST(SchemeFigures, SimilarityIsTheMeanCosine) {
  Request request = of("sinusoidal", {{"dim", 4}});
  request.positions = {5, 12};
  const Figure made = figure("similarity", request);
  expect_number(made, {{"position", 5}, {"other", 5}}, "similarity", 1);
  expect_number(made, {{"position", 5}, {"other", 12}}, "similarity", (std::cos(7.0) + std::cos(0.07)) / 2);
  expect_number(made, {{"position", 12}, {"other", 5}}, "similarity", (std::cos(7.0) + std::cos(0.07)) / 2);
}

TEST(SchemeFigures, WavelengthsAreTwoPiOverTheFrequency) {
  Request request = of("rope", {{"head_dim", 4}, {"pairing", "half"}});
  request.encodings[0].trained_length = 100;
  const Figure made = figure("wavelengths", request);
  expect_number(made, {{"pair", 0}}, "wavelength", 2 * std::numbers::pi);
  expect_number(made, {{"pair", 1}}, "wavelength", 200 * std::numbers::pi);
  EXPECT_NE(made.title.find("1 of 2 pairs"), std::string::npos) << made.title;  // 628 > 100
  EXPECT_EQ(made.spec["layer"][1]["data"]["values"], Json::array({{{"length", 100}}}));

  const Figure sines = figure("wavelengths", of("sinusoidal", {{"dim", 4}}));
  EXPECT_EQ(sines.spec["data"]["values"].size(), 2u);
  const Figure still =
      figure("wavelengths",
             of("rope", {{"head_dim", 4}, {"pairing", "half"}, {"rule", "proportional"}, {"rotary_fraction", 0.5}}));
  EXPECT_EQ(still.spec["data"]["values"].size(), 1u);
  EXPECT_NE(still.caption.find("1 pairs do not rotate"), std::string::npos) << still.caption;
}

TEST(SchemeFigures, RotationTurnsByPositionTimesFrequency) {
  Request request = of("rope", {{"head_dim", 4}, {"pairing", "half"}});
  request.positions = {3};
  request.pairs = {1};
  const Figure made = figure("rotation", request);
  ASSERT_EQ(made.spec["data"]["values"].size(), 1u);
  expect_number(made, {{"position", 3}}, "x", std::cos(0.03));
  expect_number(made, {{"position", 3}}, "y", std::sin(0.03));
}

TEST(SchemeFigures, DotProductIsTheMeanCosineOfTheOffset) {
  Request request = of("rope", {{"head_dim", 4}, {"pairing", "half"}});
  request.positions = {0, 7};
  const Figure made = figure("dot-product", request);
  for (const char* place : {"key at 0", "key at 10,000"}) {
    expect_number(made, {{"offset", 0}, {"place", place}}, "product", 1);
    expect_number(made, {{"offset", 7}, {"place", place}}, "product", (std::cos(7.0) + std::cos(0.07)) / 2);
  }
  EXPECT_NE(made.title.find("offset alone"), std::string::npos) << made.title;
  // float32 angles: at 10,000 they are off by up to 10,000 x 2^-24 = 6e-4
  request = of("rope", {{"head_dim", 64}, {"pairing", "half"}, {"profile", "hf"}});
  EXPECT_NE(figure("dot-product", request).title.find("differs"), std::string::npos);
}

TEST(SchemeFigures, ScalingDividesAsTheRulesSay) {
  Request request = of("rope", {{"head_dim", 64},
                                {"pairing", "half"},
                                {"base", 500000.0},
                                {"rule", "llama3"},
                                {"factor", 8.0},
                                {"original_length", 8192}});
  request.rules = {"none", "linear", "ntk", "dynamic_ntk", "yarn", "llama3"};
  const Figure made = figure("scaling", request);
  for (int pair = 0; pair < 32; ++pair) {
    expect_number(made, {{"pair", pair}, {"rule", "none"}}, "divisor", 1);
    expect_number(made, {{"pair", pair}, {"rule", "linear"}}, "divisor", 8);
    // A base that is larger by a divides the frequency of pair i by a^(2i/d); a = 8^(d/(d-2)).
    expect_number(made, {{"pair", pair}, {"rule", "ntk"}}, "divisor", std::pow(8.0, 2 * pair / 62.0));
    // At 8 times the trained length a = (8 x 8 - 7)^(d/(d-2)).
    expect_number(made, {{"pair", pair}, {"rule", "dynamic_ntk"}}, "divisor", std::pow(57.0, 2 * pair / 62.0));
  }
  for (const char* rule : {"yarn", "llama3"}) {  // wavelengths 6.28 and about 2.1 million against 8192
    expect_number(made, {{"pair", 0}, {"rule", rule}}, "divisor", 1);
    expect_number(made, {{"pair", 31}, {"rule", rule}}, "divisor", 8);
  }
  EXPECT_NE(made.title.find("linear slows every pair"), std::string::npos) << made.title;

  // Rules are spelled as everywhere; their own factor takes precedence over that of the encoding.
  request.rules = {"linear:2", "rope:rule=linear,factor=4", "linear"};
  const Figure spelled = figure("scaling", request);
  expect_number(spelled, {{"pair", 3}, {"rule", "linear:2"}}, "divisor", 2);
  expect_number(spelled, {{"pair", 3}, {"rule", "rope:rule=linear,factor=4"}}, "divisor", 4);
  expect_number(spelled, {{"pair", 3}, {"rule", "linear"}}, "divisor", 8);
  EXPECT_EQ(spelled.title.find("To stretch"), std::string::npos) << spelled.title;  // each by its own factor
  for (const char* other : {"alibi", "@config.json", "spiral"}) {
    request.rules = {other};
    EXPECT_THROW(figures::make_figure(figures::find_figure("scaling"), request), Error) << other;
  }

  request.rules = {"longrope"};
  EXPECT_THROW(figures::make_figure(figures::find_figure("scaling"), request), Error);
  Request phi = of("rope", {{"head_dim", 4},
                            {"pairing", "half"},
                            {"rule", "longrope"},
                            {"short_factor", std::vector<double>{1, 2}},
                            {"long_factor", std::vector<double>{3, 5}},
                            {"original_length", 16},
                            {"max_length", 64}});
  phi.rules = {"longrope"};
  const Figure stretched = figure("scaling", phi);  // 4 x 16 tokens: the long list
  expect_number(stretched, {{"pair", 0}}, "divisor", 3);
  expect_number(stretched, {{"pair", 1}}, "divisor", 5);
}

TEST(SchemeFigures, BiasIsSlopeTimesDistance) {
  Request request = of("alibi", {{"heads", 2}});  // slopes 2^-4 and 2^-8
  request.positions = {0, 1, 2, 3};
  const Figure made = figure("bias", request);
  EXPECT_EQ(made.spec["data"]["values"].size(), 2u * 10);  // keys after the query are masked
  expect_number(made, {{"head", 0}, {"query", 3}, {"key", 0}}, "bias", -3.0 / 16);
  expect_number(made, {{"head", 1}, {"query", 3}, {"key", 1}}, "bias", -2.0 / 256);
  expect_number(made, {{"head", 1}, {"query", 2}, {"key", 2}}, "bias", 0);
  request.heads = {2};
  EXPECT_THROW(figures::make_figure(figures::find_figure("bias"), request), Error);
}

TEST(SchemeFigures, DistanceFollowsKerple) {
  Request request = of("kerple", {{"heads", 1}, {"r1", std::vector<double>{2}}, {"r2", std::vector<double>{3}}});
  request.positions = {0, 2, 100};
  const Figure made = figure("distance", request);
  for (const int d : {0, 2, 100}) expect_number(made, {{"distance", d}}, "bias", -2 * std::log(1 + 3.0 * d));
}

TEST(SchemeFigures, SlopesOfTwelveHeads) {
  const Figure made = figure("slopes", of("alibi", {{"heads", 12}}));
  for (int head = 0; head < 8; ++head) expect_number(made, {{"head", head}}, "slope", std::exp2(-(head + 1)));
  for (int head = 8; head < 12; ++head) expect_number(made, {{"head", head}}, "slope", std::exp2(7.5 - head));
  EXPECT_NE(made.title.find("from 2^-0.5 to 2^-8: the last heads fill the gaps"), std::string::npos) << made.title;
  EXPECT_EQ(figure("slopes", of("alibi", {{"heads", 8}})).title.find("fill"), std::string::npos);
}

// 32 buckets, 16 per sign, 8 of them exact, then 8 + floor(8 ln(n/8) / ln(128/8)), at most 15.
TEST(SchemeFigures, BucketsOfThePaper) {
  const Figure made = figure("buckets", of("t5", {{"heads", 2}}));
  const std::map<int, int> wanted = {{0, 0},    {-1, 1},    {-7, 7},    {-8, 8}, {-11, 8}, {-12, 9}, {-16, 10},
                                     {-32, 12}, {-127, 15}, {-160, 15}, {1, 17}, {7, 23},  {8, 24},  {128, 31}};
  for (const auto& [offset, bucket] : wanted) expect_number(made, {{"offset", offset}}, "bucket", bucket);
  const Figure causal = figure("buckets", of("t5", {{"heads", 2}, {"bidirectional", false}}));
  expect_number(causal, {{"offset", -15}}, "bucket", 15);  // 16 exact ones
  EXPECT_TRUE(row(causal, {{"offset", 1}}).is_null());
}

TEST(SchemeFigures, ShawClipsOffsets) {
  Request request = of("shaw", {{"heads", 1}, {"head_dim", 2}, {"clip_left", 2}});
  request.positions = {0, 1, 5};
  const Figure made = figure("shaw", request);
  expect_number(made, {{"query", 5}, {"key", 0}}, "row", 0);  // clip(-5) = -2, the first of five rows
  expect_number(made, {{"query", 1}, {"key", 1}}, "row", 2);
  expect_number(made, {{"query", 0}, {"key", 1}}, "row", 3);
  expect_number(made, {{"query", 0}, {"key", 5}}, "row", 4);
}

// One head of width 1 and a sinusoid of width 2: v W_r R_n = 2 (3 sin n + 5 cos n).
TEST(SchemeFigures, TransformerXlProjectsTheSinusoid) {
  Request request = of("transformer_xl", {{"heads", 1},
                                          {"head_dim", 1},
                                          {"model_dim", 2},
                                          {"u", Tensor{{1, 1}, {7.0f}}},
                                          {"v", Tensor{{1, 1}, {2.0f}}},
                                          {"w_r", Tensor{{1, 2}, {3.0f, 5.0f}}}});
  request.positions = {-4, 0, 9};
  const Figure made = figure("transformer-xl", request);
  for (const int n : {-4, 0, 9}) {
    expect_number(made, {{"distance", n}}, "term", 2 * (3 * std::sin(n) + 5 * std::cos(n)));
  }
  EXPECT_EQ(made.caption.find("random"), std::string::npos) << made.caption;
}

// SelfExtend: floor(20 / 4) - floor(key / 4) + 8 - 8 / 4 beyond the window of 8.
TEST(SchemeFigures, OffsetMapsShrinkFarOffsets) {
  Request request =
      of("offset_map", {{"head_dim", 4}, {"pairing", "half"}, {"map", "self_extend"}, {"window", 8}, {"group", 4}});
  request.positions = {0, 7, 8, 20};
  const Figure made = figure("offset-map", request);
  for (const auto& [offset, seen] : std::map<int, double>{{0, 0}, {7, 7}, {8, 5 - 3 + 6}, {20, 5 - 0 + 6}}) {
    expect_number(made, {{"offset", offset}, {"which", "remapped"}}, "seen", seen);
    expect_number(made, {{"offset", offset}, {"which", "true offset"}}, "seen", offset);
  }
}

TEST(SchemeFigures, AClosedGateHidesWhatIsBeforeIt) {
  Request request = of("forget_gate", {{"heads", 2}});
  request.positions = {0, 4, 5, 10};  // token 5 forgets
  const Figure made = figure("gates", request);
  const double open = std::log(0.98), closed = std::log(0.02);
  expect_number(made, {{"key", 0}, {"which", "all tokens alike"}}, "bias", 10 * open);
  expect_number(made, {{"key", 4}, {"which", "one token forgets"}}, "bias", 5 * open + closed);
  expect_number(made, {{"key", 5}, {"which", "one token forgets"}}, "bias", 5 * open);
  expect_number(made, {{"key", 10}, {"which", "one token forgets"}}, "bias", 0);
}

TEST(SchemeFigures, GatesCountPositions) {
  Request request = of("cope", {{"heads", 1}, {"head_dim", 2}, {"max_positions", 5}});
  request.positions = {0, 1, 6, 30};
  const Figure made = figure("counted", request);
  expect_number(made, {{"distance", 1}, {"gates", "always open"}}, "position", 2);
  expect_number(made, {{"distance", 1}, {"gates", "half open"}}, "position", 1);
  expect_number(made, {{"distance", 6}, {"gates", "open at every 6th token"}}, "position", 2);
  expect_number(made, {{"distance", 30}, {"gates", "open at every 6th token"}}, "position", 4);  // the last row
}

// Channel 1 of 2 has the frequency 1/100: cos(offset / 100 - phase).
TEST(SchemeFigures, PhasesMoveTheTop) {
  Request request = of("pope", {{"heads", 1}, {"head_dim", 2}, {"phases", Tensor{{1, 2}, {-0.5f, -2.0f}}}});
  request.positions = {-50, 0, 7};
  request.pairs = {1};
  const Figure made = figure("phases", request);
  for (const int offset : {-50, 0, 7}) {
    expect_number(made, {{"offset", offset}}, "product", std::cos(offset / 100.0 + 2.0));
  }
}

// cos'_0 = 2 cos p + 3 cos(p / 100).
TEST(SchemeFigures, MixedCosinesAreSums) {
  Request request = of("fope", {{"heads", 1},
                                {"head_dim", 4},
                                {"cos_mix", Tensor{{1, 2, 2}, {2, 0, 3, 1}}},
                                {"sin_mix", Tensor{{1, 2, 2}, {1, 0, 0, 1}}}});
  request.positions = {0, 5};
  request.pairs = {0};
  const Figure made = figure("mixed", request);
  for (const int p : {0, 5}) {
    expect_number(made, {{"position", p}, {"which", "mixed"}}, "cosine", 2 * std::cos(p) + 3 * std::cos(p / 100.0));
    expect_number(made, {{"position", p}, {"which", "one frequency"}}, "cosine", std::cos(p));
  }
}

TEST(SchemeFigures, NeighboursHaveTheNormOfTheirWeights) {
  const Tensor weight{{2, 1, 3}, {3, 0, 1, 4, 2, 1}};
  const Figure made =
      figure("neighbours", of("conv_position", {{"dim", 2}, {"groups", 2}, {"kernel", 3}, {"weight", weight}}));
  expect_number(made, {{"neighbour", -1}}, "norm", 5);
  expect_number(made, {{"neighbour", 0}}, "norm", 2);
  expect_number(made, {{"neighbour", 1}}, "norm", std::sqrt(2));
  EXPECT_NE(made.title.find("1 tokens before and 1 after"), std::string::npos) << made.title;
}

// A grid of 2 x 2 seen from cell (1, 1): rows of the tables for the offsets 1 and 0 are 1 and 0 past the middle.
TEST(SchemeFigures, CellsAddTheirRowsAndColumns) {
  const Figure made = figure("grid", of("decomposed_2d", {{"heads", 1},
                                                          {"head_dim", 1},
                                                          {"grid_height", 2},
                                                          {"grid_width", 2},
                                                          {"row_table", Tensor{{3, 1}, {9, 1, 2}}},
                                                          {"column_table", Tensor{{3, 1}, {9, 10, 20}}}}));
  expect_number(made, {{"row", 1}, {"column", 1}}, "bias", 11);
  expect_number(made, {{"row", 0}, {"column", 1}}, "bias", 12);
  expect_number(made, {{"row", 1}, {"column", 0}}, "bias", 21);
  expect_number(made, {{"row", 0}, {"column", 0}}, "bias", 22);
}

// Scores of I: (1, 0, 1); of work (0, 1, 1); of he (1, 1, 2): softmax by hand, in any order.
TEST(SchemeFigures, WithoutPositionsTheReverseIsTheSame) {
  const Figure made = figures::make_figure(figures::find_figure("equivariance"));
  const double e = std::numbers::e;
  const std::map<std::string, double> wanted = {
      {"I", 2 * e / (2 * e + 1)}, {"work", (e + 1) / (2 * e + 1)}, {"he", (1 + e) / (2 + e)}};
  for (const auto& [token, output] : wanted) {
    for (const char* sentence : {"I work he", "he work I"}) {
      expect_number(made, {{"encoding", "no positions"}, {"token", token}, {"sentence", sentence}}, "output", output);
    }
  }
  for (const char* encoding : {"sinusoidal", "rope", "alibi"}) {
    double difference = 0;
    for (const auto& [token, output] : wanted) {
      const auto of_sentence = [&, word = token](const char* sentence) {
        return row(made, {{"encoding", encoding}, {"token", word}, {"sentence", sentence}})["output"].get<double>();
      };
      difference = std::max(difference, std::fabs(of_sentence("I work he") - of_sentence("he work I")));
    }
    EXPECT_GT(difference, 0.01) << encoding;
  }
}

TEST(SchemeFigures, ThinManyPositionsAndSaySo) {
  Request request = of("sinusoidal", {{"dim", 512}});
  request.positions = figures::range(0, 4095);
  for (const char* name : {"sinusoidal", "similarity", "waveforms"}) {
    const Figure made = figure(name, request);
    EXPECT_LE(made.spec["data"]["values"].size(), figures::most_rows) << name;
    EXPECT_NE(made.caption.find("One position in "), std::string::npos) << made.caption;
  }
  const figures::Thinned some = figures::thinned(figures::range(10, 19), 4, Message::thinned_positions, Words());
  EXPECT_EQ(some.values, (std::vector<Position>{10, 13, 16, 19}));
  EXPECT_EQ(figures::thinned(figures::range(0, 3), 4, Message::thinned_positions, Words()).note, "");
  EXPECT_EQ(figures::spread(9, 3), (std::vector<std::int64_t>{0, 4, 8}));
}

TEST(SchemeFigures, SayWhereWeightsAreRandom) {
  Request request = of("learned", {{"max_positions", 8}, {"dim", 4}});
  const Figure made = figure("sinusoidal", request);
  EXPECT_EQ(made.spec["data"]["values"].size(), 32u);
  EXPECT_NE(made.caption.find("random"), std::string::npos);
  const Figure given = figure("sinusoidal", of("learned", {{"table", Tensor{{1, 2}, {0.5f, -0.25f}}}}));
  EXPECT_EQ(given.caption.find("random"), std::string::npos);
  expect_number(given, {{"dimension", 1}}, "value", -0.25);
}

TEST(SchemeFigures, NumbersAreFinite) {
  EXPECT_EQ(figures::rounded(0.12345678), 0.123457);
  EXPECT_EQ(std::signbit(figures::rounded(-0.0)), false);
  EXPECT_THROW(figures::rounded(INFINITY), Error);
  EXPECT_EQ(figures::pretty(12345), "12,345");
  EXPECT_EQ(figures::pretty(-0.25), "-0.25");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace locus::testing
