// SPDX-License-Identifier: Apache-2.0
// Encodings, rows, rotation, addition and biases through C: the same bits as through C++.
#include <algorithm>
#include <filesystem>

#include "c/c_support.h"
#include "locus/io/model_encoding.h"
#include "support/command.h"

namespace locus {
namespace {

using namespace locus::testing;

constexpr ElementType all_types[] = {ElementType::float32, ElementType::float64, ElementType::bfloat16,
                                     ElementType::float16};

const Encoding& small_rope() {
  static const Encoding encoding("rope", {{"head_dim", 16}, {"pairing", "interleaved"}, {"rotary_dim", 8}});
  return encoding;
}

TEST(CEncoding, EverySchemeEqualsCpp) {
  for (const Scheme* scheme : schemes()) {
    const Encoding expected(scheme->name, scheme->example);
    const OwnedEncoding encoding = c_encoding(scheme->name, scheme->example);
    ASSERT_NE(encoding, nullptr) << scheme->name;
    auto info = sized<locus_info>();
    ASSERT_OK(locus_encoding_info(encoding.get(), &info));
    EXPECT_EQ(info.scheme, scheme->name);
    EXPECT_EQ(info.site, static_cast<int>(scheme->site));
    EXPECT_EQ(info.first_position, expected.position_range().first);
    EXPECT_EQ(info.last_position, expected.position_range().last);
    EXPECT_EQ(info.length_dependent != 0, expected.length_dependent());
    const char* text = nullptr;
    ASSERT_OK(locus_encoding_describe(encoding.get(), &text));
    for (const auto& [name, value] : expected.arguments().all()) {
      EXPECT_NE(std::string(text).find("\n" + name + " = " + to_text(value) + "\n"), std::string::npos) << text;
    }
  }
}

TEST(CEncoding, SettingsAreTextsInAnyOrder) {
  const locus_setting settings[] = {{.name = "factor", .text = "4", .weights = {}, .shape = {}},
                                    {.name = "original_length", .text = "32768", .weights = {}, .shape = {}},
                                    {.name = "pairing", .text = "half", .weights = {}, .shape = {}},
                                    {.name = "rule", .text = "yarn", .weights = {}, .shape = {}},
                                    {.name = "head_dim", .text = "64", .weights = {}, .shape = {}}};
  locus_encoding* made = nullptr;
  ASSERT_OK(locus_encoding_new("rope", settings, 5, &made));
  const OwnedEncoding encoding(made);
  auto info = sized<locus_info>();
  ASSERT_OK(locus_encoding_info(made, &info));
  EXPECT_EQ(info.width, 64);
  EXPECT_EQ(info.row_width, 64);
  EXPECT_DOUBLE_EQ(info.magnitude, 0.1 * std::log(4.0) + 1);  // YaRN's own, arXiv 2309.00071 eq. 22
}

TEST(CEncoding, ReadsAConfigAndReportsDefaults) {
  const TemporaryFolder folder;
  folder.write("config.json",
               R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_thetaa": 3})");
  const std::string path = (folder / "config.json").string();
  locus_encoding* made = nullptr;
  ASSERT_OK(locus_encoding_from_config(path.c_str(), nullptr, &made));
  const OwnedEncoding encoding(made);
  const char* text = nullptr;
  ASSERT_OK(locus_encoding_describe(made, &text));
  EXPECT_NE(std::string(text).find("defaulted: rope_theta = 10000"), std::string::npos) << text;
  EXPECT_NE(std::string(text).find("unknown: rope_thetaa"), std::string::npos) << text;
  const io::ModelEncoding expected = io::model_encoding(path);
  EXPECT_EQ(expected.encoding.rotation().head_dim, 16);
  auto info = sized<locus_info>();
  ASSERT_OK(locus_encoding_info(made, &info));
  EXPECT_EQ(info.width, 16);

  auto options = sized<locus_config_options>();
  options.pairing = "interleaved";
  options.profile = "hf";
  locus_encoding* other = nullptr;
  ASSERT_OK(locus_encoding_from_config(path.c_str(), &options, &other));
  const OwnedEncoding second(other);
  ASSERT_OK(locus_encoding_describe(other, &text));
  EXPECT_NE(std::string(text).find("pairing = interleaved"), std::string::npos) << text;
  EXPECT_NE(std::string(text).find("profile = hf"), std::string::npos) << text;
}

TEST(CEncoding, RefusesUnsupportedModels) {
  const TemporaryFolder folder;
  const auto refusal = [&](const char* config) {
    folder.write("config.json", config);
    locus_encoding* made = nullptr;
    EXPECT_NE(locus_encoding_from_config((folder / "config.json").string().c_str(), nullptr, &made), LOCUS_OK);
    return std::string(locus_last_error());
  };
  EXPECT_NE(refusal(R"({"model_type": "mamba"})").find("mamba has no attention"), std::string::npos);
  EXPECT_NE(refusal(R"({"model_type": "nanochat"})").find("turns queries and keys the other way"), std::string::npos);
}

TEST(CEncoding, AtLengthChangesLengthDependentEncodings) {
  const Encoding dynamic(
      "rope", {{"head_dim", 16}, {"pairing", "half"}, {"rule", "dynamic_ntk"}, {"factor", 2}, {"max_length", 64}});
  const OwnedEncoding encoding = c_encoding(dynamic);
  locus_encoding* longer = nullptr;
  ASSERT_OK(locus_encoding_at_length(encoding.get(), 256, &longer));
  const OwnedEncoding owned(longer);
  const std::int64_t position = 200;
  const locus_ids ids = {&position, 1, 1, 1};
  std::vector<float> rows(16), expected(16);
  ASSERT_OK(locus_rows(longer, LOCUS_QUERY, &ids, rows.data()));
  rotation_rows(dynamic.at_length(256).rotation(), position, 1, expected.data());
  EXPECT_EQ(rows, expected);
  ASSERT_OK(locus_rows(encoding.get(), LOCUS_QUERY, &ids, rows.data()));
  EXPECT_NE(rows, expected);
}

TEST(CRows, EqualCpp) {
  const Encoding xpos("xpos", {{"head_dim", 16}, {"pairing", "interleaved"}});
  for (const Encoding& encoding : {small_rope(), xpos, Encoding("sinusoidal", {{"dim", 16}})}) {
    const std::vector<Position> positions = {0, 1, 17, 35'000, std::min(encoding.position_range().last, max_position)};
    const locus_ids ids = {positions.data(), 1, 1, 5};
    const OwnedEncoding handle = c_encoding(encoding);
    auto info = sized<locus_info>();
    ASSERT_OK(locus_encoding_info(handle.get(), &info));
    const auto width = static_cast<std::size_t>(info.row_width);
    for (const Role role : {Role::query, Role::key}) {
      std::vector<float> rows(5 * width, 9.0f);
      std::vector<double> doubles(5 * width, 9.0);
      ASSERT_OK(locus_rows(handle.get(), static_cast<int>(role), &ids, rows.data()));
      ASSERT_OK(locus_rows_f64(handle.get(), static_cast<int>(role), &ids, doubles.data()));
      std::vector<float> row(width);
      std::vector<double> double_row(width);
      for (std::size_t t = 0; t < 5; ++t) {
        if (encoding.site() == Site::hidden) {
          hidden_row(encoding.hidden(), positions[t], std::span(row));
          hidden_row(encoding.hidden(), positions[t], std::span(double_row));
        } else {
          const std::span<const Position> id(&positions[t], 1);
          rotation_row(encoding.rotation(), role, id, std::span(row).first(width / 2), std::span(row).last(width / 2));
          rotation_row(encoding.rotation(), role, id, std::span(double_row).first(width / 2),
                       std::span(double_row).last(width / 2));
        }
        EXPECT_TRUE(std::equal(row.begin(), row.end(), rows.begin() + static_cast<std::ptrdiff_t>(t * width)));
        EXPECT_TRUE(
            std::equal(double_row.begin(), double_row.end(), doubles.begin() + static_cast<std::ptrdiff_t>(t * width)));
      }
    }
  }
}

TEST(CRows, OfSeveralAxes) {
  const Encoding encoding(
      "rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "mrope"}, {"sections", std::vector<double>{4, 2, 2}}});
  const OwnedEncoding handle = c_encoding(encoding);
  const std::vector<Position> positions = {3, 4, 10, 11, 20, 21};  // time, height, width of two tokens
  const locus_ids ids = {positions.data(), 3, 1, 2};
  std::vector<float> rows(32), expected(16);
  ASSERT_OK(locus_rows(handle.get(), LOCUS_QUERY, &ids, rows.data()));
  rotation_row(encoding.rotation(), Role::query, std::vector<Position>{4, 11, 21}, std::span(expected).first(8),
               std::span(expected).last(8));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), rows.begin() + 16));
}

// Strided, both directions, every type, in place and apart, with and without a pool.
TEST(CRotate, EqualsCpp) {
  locus_pool* made = nullptr;
  ASSERT_OK(locus_pool_new(2, &made));
  const OwnedPool pool(made);
  const OwnedEncoding handle = c_encoding(small_rope());
  const PositionIds ids = positions::prefill(5, 1'000'000);
  const locus_ids plain = c_ids(ids);
  for (const ElementType type : all_types) {
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      std::vector<std::byte> mine = numbers(type, 5 * 3 * 20), theirs = mine, apart(mine.size());
      HeadsView view{.data = theirs.data(),
                     .type = type,
                     .tokens = 5,
                     .heads = 3,
                     .head_dim = 16,
                     .token_stride = 60,
                     .head_stride = 20};
      locus::rotate(small_rope(), view, ids, Role::key, direction);
      view.data = mine.data();
      locus_heads in = c_view(view);
      view.data = apart.data();
      const locus_heads out = c_view(view);
      locus_rotation how{sizeof how, LOCUS_KEY, static_cast<int>(direction), nullptr};
      ASSERT_OK(locus_rotate(handle.get(), &in, &out, &plain, &how));
      how.pool = made;
      ASSERT_OK(locus_rotate(handle.get(), &in, nullptr, &plain, &how));
      EXPECT_EQ(mine, theirs) << name_of(type);
      const std::size_t head = 16 * size_of(type);
      for (std::size_t h = 0; h < 15; ++h) {  // elements between the heads are unchanged
        EXPECT_TRUE(std::equal(apart.begin() + static_cast<std::ptrdiff_t>(h * 20 * size_of(type)),
                               apart.begin() + static_cast<std::ptrdiff_t>(h * 20 * size_of(type) + head),
                               theirs.begin() + static_cast<std::ptrdiff_t>(h * 20 * size_of(type))));
      }
    }
  }
}

TEST(CRotate, QueriesAndKeysIntoACacheAndShifted) {
  const OwnedEncoding handle = c_encoding(small_rope());
  const PositionIds ids = positions::prefill(4, 7);
  const locus_ids plain = c_ids(ids);
  constexpr ElementType type = ElementType::float32;
  std::vector<std::byte> q = numbers(type, 4 * 4 * 16), k = numbers(type, 4 * 2 * 16, 2), q2 = q, k2 = k;
  const HeadsView query = heads_view(q.data(), type, "thd", {{4, 4, 16}});
  const HeadsView key = heads_view(k.data(), type, "thd", {{4, 2, 16}});
  locus_heads c_query, c_key;
  const std::int64_t query_extents[] = {4, 4, 16}, key_extents[] = {4, 2, 16};
  ASSERT_OK(locus_heads_view(q2.data(), LOCUS_FLOAT32, "thd", query_extents, &c_query));
  ASSERT_OK(locus_heads_view(k2.data(), LOCUS_FLOAT32, "thd", key_extents, &c_key));

  std::vector<std::byte> cache(k.size() * 2), cache2 = cache;
  const std::vector<std::int64_t> slots = {6, 1, 0, 3};
  rotate_into(small_rope(), key, {heads_view(cache.data(), type, "thd", {{8, 2, 16}}), slots}, ids);
  const locus_heads c_cache = c_view(heads_view(cache2.data(), type, "thd", {{8, 2, 16}}));
  ASSERT_OK(locus_rotate_into(handle.get(), &c_key, &c_cache, c_span(slots), &plain, nullptr));
  EXPECT_EQ(cache, cache2);

  rotate_query_key(small_rope(), query, key, ids);
  ASSERT_OK(locus_rotate_query_key(handle.get(), &c_query, &c_key, &plain, LOCUS_FORWARD, nullptr));
  EXPECT_EQ(q, q2);
  EXPECT_EQ(k, k2);
  const PositionIds deltas{.axes = 1, .batch = 1, .tokens = 4, .ids = {-5, -5, 3, 100}};
  shift(small_rope(), key, deltas);
  const locus_ids c_deltas = c_ids(deltas);
  ASSERT_OK(locus_shift(handle.get(), &c_key, &c_deltas, LOCUS_KEY, nullptr));
  EXPECT_EQ(k, k2);
}

TEST(CAdd, EqualsCpp) {
  const Encoding encoding("sinusoidal", {{"dim", 12}});
  const OwnedEncoding handle = c_encoding(encoding);
  const PositionIds ids = positions::prefill(3, 5);
  const locus_ids plain = c_ids(ids);
  for (const ElementType type : all_types) {
    std::vector<std::byte> mine = numbers(type, 2 * 3 * 14), theirs = mine;
    add(encoding, {theirs.data(), type, 2, 3, 12, 42, 14}, ids);
    const locus_hidden view = {mine.data(), static_cast<std::int32_t>(type), 2, 3, 12, 42, 14};
    ASSERT_OK(locus_add(handle.get(), &view, &plain, nullptr));
    EXPECT_EQ(mine, theirs) << name_of(type);
  }
}

TEST(CBias, EqualsCpp) {
  const Encoding encoding("alibi", {{"heads", 6}});
  const OwnedEncoding handle = c_encoding(encoding);
  const std::vector<std::int64_t> queries = {4, 5}, keys = {0, 1, 2, 3, 4, 5};
  std::vector<double> bias(6 * 2 * 6);
  ASSERT_OK(locus_bias(handle.get(), c_span(queries), c_span(keys), {bias.data(), 72}));
  EXPECT_EQ(bias, bias_matrix(encoding, queries, keys));
  EXPECT_EQ(bias[0], -4 * 0.25);  // 4 of the 6 heads have slopes 2^-2, 2^-4, ...
}

}  // namespace
}  // namespace locus
