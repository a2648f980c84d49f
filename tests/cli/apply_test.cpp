// SPDX-License-Identifier: Apache-2.0
// `locus apply`: element types, layouts, forms of positions and other options, compared with rotations computed here
// pair by pair.
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "cli/locus_command.h"
#include "locus/element.h"
#include "locus/rotate.h"

namespace locus::testing {
namespace {

// ---- arrays whose elements are functions of their index

using Place = std::array<std::int64_t, 4>;  // batch, token, head, coordinate
using Sizes = std::map<char, std::int64_t>;

/// In [-1, 1), a multiple of 1/32: exact in every element type.
double value_at(const Place& at) {
  return static_cast<double>((at[0] * 31 + at[1] * 17 + at[2] * 7 + at[3] * 5) % 64 - 32) / 32;
}

std::vector<std::int64_t> shape_of(const std::string& axes, const Sizes& sizes) {
  std::vector<std::int64_t> shape;
  for (const char axis : axes) shape.push_back(sizes.at(axis));
  return shape;
}

/// The indices of an array with these axes, in the order of its elements.
std::vector<Place> places_of(const std::string& axes, const Sizes& sizes) {
  std::vector<Place> places = {{0, 0, 0, 0}};
  for (const char axis : axes) {
    std::vector<Place> longer;
    for (const Place& place : places) {
      for (std::int64_t index = 0; index < sizes.at(axis); ++index) {
        longer.push_back(place);
        longer.back()[std::string("bthd").find(axis)] = index;
      }
    }
    places = longer;
  }
  return places;
}

template <class T>
T to_element(double value) {
  if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
void write_values(const TemporaryFolder& folder, const std::string& name, const std::string& axes, const Sizes& sizes,
                  const std::function<double(const Place&)>& value = value_at) {
  std::vector<T> values;
  for (const Place& place : places_of(axes, sizes)) values.push_back(to_element<T>(value(place)));
  write_array<T>(folder, name, shape_of(axes, sizes), values);
}

/// The elements by index; type and shape must be those of the input.
template <class T>
std::map<Place, double> read_values(const TemporaryFolder& folder, const std::string& name, const std::string& axes,
                                    const Sizes& sizes) {
  const std::vector<double> values = read_array(folder, name, io::NpyTypeOf<T>::value, shape_of(axes, sizes));
  const std::vector<Place> places = places_of(axes, sizes);
  EXPECT_EQ(values.size(), places.size());
  std::map<Place, double> result;
  for (std::size_t i = 0; i < std::min(values.size(), places.size()); ++i) result[places[i]] = values[i];
  return result;
}

// ---- the definition

struct Rope {
  std::int64_t dim = 8;
  bool interleaved = false;
  double base = 10000;
  std::int64_t rotary = 8;
  std::int64_t offset = 0;
  /// The position that rotates pair i of a token of a batch row.
  std::function<double(std::int64_t batch, std::int64_t token, std::int64_t pair)> position;
};

double rotated(const Rope& rope, const Place& at) {
  const std::int64_t j = at[3] - rope.offset;
  if (j < 0 || j >= rope.rotary) return value_at(at);
  const std::int64_t half = rope.rotary / 2;
  const std::int64_t pair = rope.interleaved ? j / 2 : j % half;
  const bool first = rope.interleaved ? j % 2 == 0 : j < half;
  Place x = at, y = at;
  x[3] = rope.offset + (rope.interleaved ? 2 * pair : pair);
  y[3] = rope.offset + (rope.interleaved ? 2 * pair + 1 : pair + half);
  const double w = std::pow(rope.base, -2.0 * static_cast<double>(pair) / static_cast<double>(rope.rotary));
  const double angle = rope.position(at[0], at[1], pair) * w;
  return first ? value_at(x) * std::cos(angle) - value_at(y) * std::sin(angle)
               : value_at(x) * std::sin(angle) + value_at(y) * std::cos(angle);
}

// |x|, |y| <= 1, so a table that is off by 3.1e-8 moves a result by at most twice that; the kernel adds two float32
// roundings of numbers below 2. A float16 result is rounded once more. In double, the test's own angle p w (p < 2^11
// here) is the coarser part: two roundings of relative size 2^-53.
constexpr double tolerance_float32 = 2 * 3.1e-8 + 2 * 2 * 0x1p-24;
constexpr double tolerance_float16 = tolerance_float32 + 0x1p-11;
constexpr double tolerance_float64 = 2 * 2 * 0x1p11 * 0x1p-53 + 1e-14;
template <class T>
constexpr double tolerance = std::is_same_v<T, double>    ? tolerance_float64
                             : std::is_same_v<T, Float16> ? tolerance_float16
                                                          : tolerance_float32;

void expect_rotated(const std::map<Place, double>& got, const Rope& rope, double allowed, const std::string& what) {
  ASSERT_FALSE(got.empty()) << what;
  for (const auto& [place, value] : got) {
    ASSERT_NEAR(value, rotated(rope, place), allowed)
        << what << " at " << place[0] << ',' << place[1] << ',' << place[2] << ',' << place[3];
  }
}

const std::string apply_rope8 = "apply --scheme rope --set head_dim=8 --set pairing=half --output y.npy";

// ---- element types and layouts

template <class T>
class ApplyTypes : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, double, Float16>;
TYPED_TEST_SUITE(ApplyTypes, ElementTypes);

TYPED_TEST(ApplyTypes, AllLayoutsAgreeWithTheDefinitionAndWithEachOther) {
  const TemporaryFolder folder;
  const std::vector<double> positions = {0, 1, 17, 1000};
  Rope rope;
  rope.position = [&](auto, auto token, auto) { return positions[static_cast<std::size_t>(token)]; };
  for (const std::string pairing : {"half", "interleaved"}) {
    rope.interleaved = pairing == "interleaved";
    std::map<Place, double> seen;
    for (const std::string axes : {"bhtd", "bthd", "thd", "htd", "td"}) {
      const Sizes sizes = {{'b', 2}, {'t', 4}, {'h', 3}, {'d', 8}};
      write_values<TypeParam>(folder, "x.npy", axes, sizes);
      const Json json = json_of(folder, "apply --scheme rope --set head_dim=8 --set pairing=" + pairing +
                                            " --input x.npy --output y.npy --positions 0,1,17,1000 --axes " + axes);
      EXPECT_EQ(json["simd_target"], std::string(simd_target()));
      EXPECT_EQ(json["inferred"], Json::array());
      EXPECT_EQ(json["shape"], Json(shape_of(axes, sizes)));
      const std::map<Place, double> got = read_values<TypeParam>(folder, "y.npy", axes, sizes);
      expect_rotated(got, rope, tolerance<TypeParam>, pairing + " " + axes);
      for (const auto& [place, value] : got) {
        const auto [known, is_new] = seen.emplace(place, value);
        EXPECT_EQ(known->second, value) << axes << " differs in its bits";
      }
    }
  }
}

// ---- what is inferred

Rope counted_from_zero() {
  Rope rope;
  rope.position = [](auto, auto token, auto) { return static_cast<double>(token); };
  return rope;
}

TEST(ApplyInfers, AxesAndPositionsByTheNumberOfDimensions) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'b', 2}, {'t', 4}, {'h', 3}, {'d', 8}};
  for (const std::string axes : {"td", "thd", "bthd"}) {
    write_values<float>(folder, "x.npy", axes, sizes);
    const Json json = json_of(folder, apply_rope8 + " --input x.npy");
    EXPECT_EQ(json["axes"], axes);
    EXPECT_EQ(json["inferred"], Json({"axes " + axes, "positions 0:4"}));
    expect_rotated(read_values<float>(folder, "y.npy", axes, sizes), counted_from_zero(), tolerance<float>, axes);
  }
}

TEST(ApplyInfers, HeadsFirstIfOnlyThatFitsThePositions) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'b', 2}, {'t', 4}, {'h', 3}, {'d', 8}};
  for (const std::string axes : {"htd", "bhtd"}) {
    write_values<float>(folder, "x.npy", axes, sizes);
    const Json json = json_of(folder, apply_rope8 + " --input x.npy --positions 0:4");
    EXPECT_EQ(json["inferred"], Json({"axes " + axes}));
    expect_rotated(read_values<float>(folder, "y.npy", axes, sizes), counted_from_zero(), tolerance<float>, axes);
  }
}

TEST(ApplyInfers, ReportsOnStandardError) {
  const TemporaryFolder folder;
  write_values<float>(folder, "x.npy", "td", {{'t', 4}, {'d', 8}});
  const CommandResult all = run_locus(folder, apply_rope8 + " --input x.npy");
  EXPECT_NE(all.err.find("note: inferred axes td, positions 0:4"), std::string::npos) << all.err;
  const CommandResult none = run_locus(folder, apply_rope8 + " --input x.npy --axes td --positions 0:4");
  EXPECT_EQ(none.err.find("inferred"), std::string::npos) << none.err;
}

TEST(ApplyInfers, AxesOfHiddenStates) {
  const TemporaryFolder folder;
  write_array<double>(folder, "x.npy", {2, 3, 4}, std::vector<double>(24, 0.0));
  const Json json = json_of(folder, "apply --scheme sinusoidal:dim=4 --input x.npy --output y.npy");
  EXPECT_EQ(json["inferred"], Json({"axes btd", "positions 0:3"}));
  const std::vector<double> rows = read_array(folder, "y.npy", io::NpyType::float64, {2, 3, 4});
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(rows[i], rows[12 + i]);
  EXPECT_NEAR(rows[4 + 0], std::sin(1.0), 1e-15);  // token 1, the first wave
}

TEST(ApplyTypes16, Uint16IsBfloat16) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'t', 4}, {'h', 3}, {'d', 8}};
  std::vector<std::uint16_t> bits;
  for (const Place& place : places_of("thd", sizes)) bits.push_back(to_bfloat16(value_at(place)).bits);
  write_array<std::uint16_t>(folder, "x.npy", {4, 3, 8}, bits);
  EXPECT_EQ(json_of(folder, apply_rope8 + " --input x.npy")["type"], "bfloat16");
  const io::NpyArray result = io::read_npy(folder / "y.npy");
  ASSERT_EQ(result.type, io::NpyType::uint16);
  const std::vector<Place> places = places_of("thd", sizes);
  const auto got = result.as<std::uint16_t>();
  ASSERT_EQ(got.size(), places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_NEAR(to_float(BFloat16{got[i]}), rotated(counted_from_zero(), places[i]), tolerance_float32 + 0x1p-8);
  }
}

// ---- positions

TEST(ApplyPositions, ReadsListsAndFilesOfOneToThreeDimensions) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'b', 2}, {'t', 3}, {'h', 2}, {'d', 8}};
  write_values<float>(folder, "x.npy", "bhtd", sizes);
  const auto apply = [&](const std::string& positions) {
    json_of(folder, apply_rope8 + " --input x.npy --axes bhtd --positions " + positions);
    return read_values<float>(folder, "y.npy", "bhtd", sizes);
  };
  Rope rope;
  rope.position = [](auto, auto token, auto) { return 4.0 + static_cast<double>(token); };
  const std::map<Place, double> listed = apply("4,5,6");
  expect_rotated(listed, rope, tolerance_float32, "4,5,6");
  EXPECT_EQ(apply("4:7"), listed);
  write_array<std::int64_t>(folder, "t.npy", {3}, {4, 5, 6});
  EXPECT_EQ(apply("t.npy"), listed);
  write_array<std::int32_t>(folder, "t32.npy", {3}, {4, 5, 6});
  EXPECT_EQ(apply("t32.npy"), listed);
  write_array<std::int64_t>(folder, "1t.npy", {1, 3}, {4, 5, 6});
  EXPECT_EQ(apply("1t.npy"), listed);
  write_array<std::int64_t>(folder, "bt.npy", {2, 3}, {4, 5, 6, 4, 5, 6});
  EXPECT_EQ(apply("bt.npy"), listed);

  rope.position = [](auto batch, auto token, auto) { return static_cast<double>(100 * batch - token); };
  write_array<std::int64_t>(folder, "rows.npy", {2, 3}, {0, -1, -2, 100, 99, 98});
  expect_rotated(apply("rows.npy"), rope, tolerance_float32, "a row of ids per batch row");
}

TEST(ApplyPositions, MapAxesToMropeSections) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'b', 2}, {'t', 2}, {'h', 1}, {'d', 8}};
  write_values<float>(folder, "x.npy", "bthd", sizes);
  // ids[axis][batch][token]; pairs 0 and 1 by time, 2 by height, 3 by width
  const std::vector<std::int64_t> ids = {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400};
  write_array<std::int64_t>(folder, "ids.npy", {3, 2, 2}, ids);
  json_of(folder, apply_rope8 + " --set axes=mrope --set sections=2,1,1 --input x.npy --axes bthd --positions ids.npy");
  Rope rope;
  rope.position = [&](auto batch, auto token, auto pair) {
    const std::int64_t axis = pair < 2 ? 0 : pair - 1;
    return static_cast<double>(ids[static_cast<std::size_t>(axis * 4 + batch * 2 + token)]);
  };
  expect_rotated(read_values<float>(folder, "y.npy", "bthd", sizes), rope, tolerance_float32, "mrope");
}

// ---- options

TEST(Apply, KeepsUnrotatedCoordinates) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'t', 3}, {'d', 8}};
  write_values<float>(folder, "x.npy", "td", sizes);
  json_of(folder, apply_rope8 + " --set rotary_dim=4 --set rotary_offset=2 --input x.npy --axes td --positions 5:8");
  Rope rope{
      .rotary = 4, .offset = 2, .position = [](auto, auto token, auto) { return 5.0 + static_cast<double>(token); }};
  const std::map<Place, double> got = read_values<float>(folder, "y.npy", "td", sizes);
  expect_rotated(got, rope, tolerance_float32, "partial");
  for (const auto& [place, value] : got) {
    const bool outside = place[3] < 2 || place[3] >= 6;
    EXPECT_TRUE(!outside || value == value_at(place)) << place[3];
  }
}

TEST(Apply, RefusesToWriteOverItsOwnInput) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'t', 3}, {'d', 8}};
  write_values<float>(folder, "x.npy", "td", sizes);
  std::filesystem::create_symlink("x.npy", folder / "link.npy");
  const std::string before = folder.read("x.npy");
  for (const std::string output : {"x.npy", "./x.npy", "link.npy"}) {
    const CommandResult result = run_locus(folder,
                                           "apply --scheme rope --set head_dim=8 --set pairing=half --input x.npy"
                                           " --axes td --positions 5:8 --output " +
                                               output);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err, "locus: " + output + ": the output must not be the input\n");
  }
  EXPECT_EQ(folder.read("x.npy"), before);
}

TEST(Apply, RotatesBack) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'t', 3}, {'h', 2}, {'d', 8}};
  for (const std::string extra : {"", " --set output_order=deinterleaved"}) {
    const std::string scheme =
        "apply --scheme rope --set head_dim=8 --set pairing=interleaved --axes thd"
        " --positions 5,500,50000" +
        extra;
    write_values<double>(folder, "x.npy", "thd", sizes);
    json_of(folder, scheme + " --input x.npy --output y.npy");
    json_of(folder, scheme + " --input y.npy --output z.npy --inverse");
    EXPECT_NE(folder.read("x.npy"), folder.read("y.npy"));
    for (const auto& [place, value] : read_values<double>(folder, "z.npy", "thd", sizes)) {
      EXPECT_NEAR(value, value_at(place), 8 * 0x1p-52);  // four products and two sums of numbers below 2
    }
  }
}

TEST(Apply, ScalesQueriesAndKeysOfXposOppositely) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'t', 3}, {'d', 8}};
  write_values<double>(folder, "x.npy", "td", sizes);
  const std::vector<double> positions = {0, 100, 700};
  Rope rope;
  rope.position = [&](auto, auto token, auto) { return positions[static_cast<std::size_t>(token)]; };
  for (const std::string role : {"query", "key"}) {
    json_of(folder,
            "apply --scheme xpos --set head_dim=8 --set pairing=half --set centre=100 --input x.npy --axes td"
            " --positions 0,100,700 --output y.npy --role " +
                role);
    for (const auto& [place, value] : read_values<double>(folder, "y.npy", "td", sizes)) {
      const double i = static_cast<double>(place[3] % 4);
      const double zeta = (2 * i + 0.4 * 8) / (1.4 * 8);
      const double power = (positions[static_cast<std::size_t>(place[1])] - 100) / 512;
      const double scale = std::pow(zeta, role == "query" ? power : -power);
      EXPECT_NEAR(value, rotated(rope, place) * scale, tolerance_float64 * std::max(scale, 1.0)) << role;
    }
  }
}

TEST(Apply, TakesTheLengthFromThePositionsOrFromTheOption) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'t', 2}, {'d', 8}};
  write_values<float>(folder, "x.npy", "td", sizes);
  const std::string dynamic =
      apply_rope8 +
      " --set rule=dynamic_ntk --set factor=2 --set max_length=64 --input x.npy --axes td --positions 0,127";
  Rope rope;
  rope.position = [](auto, auto token, auto) { return token == 0 ? 0.0 : 127.0; };
  const auto base_at = [](double length) { return 1e4 * std::pow(2 * length / 64 - 1, 8.0 / 6); };
  json_of(folder, dynamic);
  rope.base = base_at(128);
  expect_rotated(read_values<float>(folder, "y.npy", "td", sizes), rope, tolerance_float32, "implied length");
  const CommandResult result = run_locus(folder, dynamic + " --seq-len 100");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("note: --seq-len 100 is shorter"), std::string::npos) << result.err;
  rope.base = base_at(100);
  expect_rotated(read_values<float>(folder, "y.npy", "td", sizes), rope, tolerance_float32, "given length");
}

TEST(Apply, ReadsAConfigAndTakesAnyNumberOfHeads) {
  const TemporaryFolder folder;
  folder.write("gemma.json", R"({"model_type": "gemma3_text", "head_dim": 8, "num_attention_heads": 16,
      "max_position_embeddings": 64, "rope_theta": 1e6, "rope_local_base_freq": 500})");
  const Sizes sizes = {{'b', 1}, {'t', 2}, {'h', 3}, {'d', 8}};
  write_values<float>(folder, "x.npy", "bthd", sizes);
  const std::string line = "apply --config gemma.json --input x.npy --axes bthd --positions 3,9 --output y.npy";
  const Json json = json_of(folder, line + " --layer-type sliding_attention");
  EXPECT_TRUE(json.contains("used") && json.contains("defaulted") && json.contains("unknown"));
  Rope rope;
  rope.base = 500;
  rope.position = [](auto, auto token, auto) { return token == 0 ? 3.0 : 9.0; };
  expect_rotated(read_values<float>(folder, "y.npy", "bthd", sizes), rope, tolerance_float32, "sliding");
  rope.base = 1e6;
  rope.interleaved = true;
  json_of(folder, line + " --layer-type full_attention --pairing interleaved");
  expect_rotated(read_values<float>(folder, "y.npy", "bthd", sizes), rope, tolerance_float32, "full");
}

// ---- the hidden site

TYPED_TEST(ApplyTypes, AddsTheRowsOfALearnedTable) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> table_shape = {6, 4};
  std::vector<float> table;
  for (int i = 0; i < 24; ++i) table.push_back(static_cast<float>(i - 12) / 16);
  write_array<float>(folder, "table.npy", table_shape, table);
  for (const std::string axes : {"td", "btd"}) {
    const Sizes sizes = {{'b', 2}, {'t', 3}, {'d', 4}};
    write_values<TypeParam>(folder, "x.npy", axes, sizes);
    const Json json = json_of(folder,
                              "apply --scheme learned --set table=table.npy --set row_offset=2 --input x.npy"
                              " --positions 3,0,1 --output y.npy --axes " +
                                  axes);
    EXPECT_EQ(json["site"], "hidden");
    const std::vector<std::int64_t> rows = {5, 2, 3};  // position + 2
    for (const auto& [place, value] : read_values<TypeParam>(folder, "y.npy", axes, sizes)) {
      const auto index = static_cast<std::size_t>(rows[static_cast<std::size_t>(place[1])] * 4 + place[3]);
      EXPECT_EQ(value, value_at(place) + static_cast<double>(table[index]));  // multiples of 1/32: exact in all types
    }
  }
}

TEST(ApplyHidden, AddsSinusoidalRowsWithIdsPerBatchRow) {
  const TemporaryFolder folder;
  const Sizes sizes = {{'b', 2}, {'t', 2}, {'d', 4}};
  write_values<float>(folder, "x.npy", "btd", sizes);
  write_array<std::int64_t>(folder, "ids.npy", {2, 2}, {0, 1, 7, -7});
  json_of(folder, "apply --scheme sinusoidal --set dim=4 --input x.npy --axes btd --positions ids.npy --output y.npy");
  const std::vector<double> ids = {0, 1, 7, -7};
  for (const auto& [place, value] : read_values<float>(folder, "y.npy", "btd", sizes)) {
    const double angle = ids[static_cast<std::size_t>(place[0] * 2 + place[1])] * (place[3] < 2 ? 1 : 0.01);
    const double row = place[3] % 2 == 0 ? std::sin(angle) : std::cos(angle);
    EXPECT_NEAR(value, value_at(place) + row, 3.1e-8 + 2 * 0x1p-24);  // the row's error, and one rounding below 2
  }
}

}  // namespace
}  // namespace locus::testing
