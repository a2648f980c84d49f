// SPDX-License-Identifier: Apache-2.0
#include "locus/io/gguf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/gguf_bytes.h"
#include "locus/element.h"

namespace locus::io {
namespace {

const auto parse_as_gguf = [](std::span<const std::byte> bytes, const std::string& name) { parse_gguf(bytes, name); };

constexpr auto huge = std::numeric_limits<std::uint64_t>::max();

/// Every value type, a nested array and two tensors: w (2 x 3 float32, 24 bytes) and v (4 float16).
std::string small_gguf(std::uint32_t version = 3) {
  GgufBytes file(2, 14, version);
  file.key("a.uint8", 0).number(std::uint8_t{200});
  file.key("a.int8", 1).number(std::int8_t{-100});
  file.key("a.uint16", 2).number(std::uint16_t{60000});
  file.key("a.int16", 3).number(std::int16_t{-30000});
  file.key("a.uint32", 4).number(std::uint32_t{4000000000});
  file.key("a.int32", 5).number(std::int32_t{-2000000000});
  file.key("a.float32", 6).number(1.5f);
  file.key("a.bool", 7).number(std::uint8_t{1});
  file.key("a.string", 8).string("two\nlines");
  file.key("a.array", 9).number(std::uint32_t{8}).number(std::uint64_t{2}).string("x").string("");
  file.key("a.uint64", 10).number(huge);
  file.key("a.int64", 11).number(std::int64_t{-5000000000});
  file.key("a.float64", 12).number(0.1);
  // [[1, 2], [], [3]] of int16
  file.key("a.nested", 9).number(std::uint32_t{9}).number(std::uint64_t{3});
  file.number(std::uint32_t{3}).number(std::uint64_t{2}).number(std::int16_t{1}).number(std::int16_t{2});
  file.number(std::uint32_t{3}).number(std::uint64_t{0});
  file.number(std::uint32_t{3}).number(std::uint64_t{1}).number(std::int16_t{-3});
  file.tensor("w", {3, 2}, 0, 0).tensor("v", {4}, 1, 32).pad_to(32);
  for (const float value : {1.0f, -2.0f, 0.5f, 4.0f, 5.0f, -6.25f}) file.number(value);
  file.pad_to(32);
  for (const int half : {0x3c00, 0xc000, 0x3800, 0x7c00})
    file.number(static_cast<std::uint16_t>(half));  // 1, -2, 0.5, infinity
  return file.str();
}

TEST(Gguf, ReadsEveryTypeOfValue) {
  for (const std::uint32_t version : {2u, 3u}) {
    const std::string bytes = small_gguf(version);
    const GgufFile file = parse_gguf(std::as_bytes(std::span(bytes)), "f");
    EXPECT_EQ(file.version(), version);
    EXPECT_EQ(file.alignment(), 32u);
    ASSERT_EQ(file.metadata().size(), 14u);
    EXPECT_EQ(file.metadata()[1].key, "a.int8");
    EXPECT_EQ(file.integer("a.uint8"), 200);
    EXPECT_EQ(file.integer("a.int8"), -100);
    EXPECT_EQ(file.integer("a.uint16"), 60000);
    EXPECT_EQ(file.integer("a.int16"), -30000);
    EXPECT_EQ(file.integer("a.uint32"), 4000000000);
    EXPECT_EQ(file.integer("a.int32"), -2000000000);
    EXPECT_EQ(file.real("a.float32"), 1.5);
    EXPECT_EQ(file.boolean("a.bool"), true);
    EXPECT_EQ(file.text("a.string"), "two\nlines");
    EXPECT_EQ(file.find("a.array")->texts("x"), (std::vector<std::string>{"x", ""}));
    EXPECT_EQ(file.integer("a.int64"), -5000000000);
    EXPECT_EQ(file.real("a.float64"), 0.1);
    const auto nested = file.find("a.nested")->arrays("x");
    ASSERT_EQ(nested.size(), 3u);
    EXPECT_EQ(nested[0].integers("x"), (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(nested[1].integers("x"), (std::vector<std::int64_t>{}));
    EXPECT_EQ(nested[2].integers("x"), (std::vector<std::int64_t>{-3}));
    EXPECT_EQ(file.integers("a.uint8"), (std::vector<std::int64_t>{200}));  // a number is a list of one
    EXPECT_EQ(file.find("b"), nullptr);
    EXPECT_EQ(file.integer("b"), std::nullopt);
    EXPECT_EQ(file.real("b"), std::nullopt);
    EXPECT_EQ(file.boolean("b"), std::nullopt);
    EXPECT_EQ(file.text("b"), std::nullopt);
    EXPECT_EQ(file.integers("b"), std::nullopt);
  }
}

TEST(Gguf, ReadsTensors) {
  const std::string bytes = small_gguf();
  const GgufFile file = parse_gguf(std::as_bytes(std::span(bytes)), "f");
  ASSERT_EQ(file.tensors().size(), 2u);
  const GgufTensor* w = file.find_tensor("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->shape, (std::vector<std::int64_t>{2, 3}));  // outermost first
  EXPECT_EQ(file.floats(*w), (std::vector<float>{1, -2, 0.5f, 4, 5, -6.25f}));
  EXPECT_EQ(file.floats(*file.find_tensor("v")),
            (std::vector<float>{1, -2, 0.5f, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(file.find_tensor("x"), nullptr);
}

TEST(Gguf, NeedsNoDataWithoutTensors) {
  const std::string bytes = GgufBytes(0, 1).uint32_entry("k", 7).str();
  EXPECT_EQ(parse_gguf(std::as_bytes(std::span(bytes)), "f").integer("k"), 7);
}

TEST(Gguf, TakesScalarsAndEmptyTensors) {
  const std::string bytes = GgufBytes(3, 0)
                                .tensor("scalar", {}, 0, 0)
                                .tensor("empty", {0, 5}, 0, 32)
                                .tensor("none", {0}, 12, 0)
                                .pad_to(32)
                                .number(2.5f)
                                .zeros(28)
                                .str();
  const GgufFile file = parse_gguf(std::as_bytes(std::span(bytes)), "f");
  EXPECT_EQ(file.floats(file.tensors()[0]), std::vector<float>{2.5f});
  EXPECT_EQ(file.tensors()[1].shape, (std::vector<std::int64_t>{5, 0}));
  EXPECT_TRUE(file.floats(file.tensors()[1]).empty());
  EXPECT_TRUE(file.floats(file.tensors()[2]).empty());
}

TEST(Gguf, ObeysTheAlignment) {
  const std::string bytes = GgufBytes(2, 1)
                                .uint32_entry("general.alignment", 8)
                                .tensor("a", {1}, 0, 0)
                                .tensor("b", {1}, 0, 8)
                                .pad_to(8)
                                .number(1.0f)
                                .zeros(4)
                                .number(2.0f)
                                .str();
  const GgufFile file = parse_gguf(std::as_bytes(std::span(bytes)), "f");
  EXPECT_EQ(file.alignment(), 8u);
  EXPECT_EQ(file.floats(file.tensors()[1]), std::vector<float>{2.0f});
}

TEST(Gguf, TypedGettersSayWhatIsThere) {
  const std::string bytes = small_gguf();
  const GgufFile file = parse_gguf(std::as_bytes(std::span(bytes)), "m.gguf");
  EXPECT_EQ(error_of([&] { file.integer("a.string"); }), "m.gguf: a.string must be an integer, got string");
  EXPECT_EQ(error_of([&] { file.integer("a.float32"); }), "m.gguf: a.float32 must be an integer, got float32");
  EXPECT_EQ(error_of([&] { file.integer("a.bool"); }), "m.gguf: a.bool must be an integer, got bool");
  EXPECT_EQ(error_of([&] { file.integer("a.uint64"); }),
            "m.gguf: a.uint64 must be below 2^63, got 18446744073709551615");
  EXPECT_EQ(error_of([&] { file.real("a.int32"); }), "m.gguf: a.int32 must be a float32 or float64, got int32");
  EXPECT_EQ(error_of([&] { file.boolean("a.uint8"); }), "m.gguf: a.uint8 must be a bool, got uint8");
  EXPECT_EQ(error_of([&] { file.text("a.array"); }), "m.gguf: a.array must be a string, got array");
  EXPECT_EQ(error_of([&] { file.integers("a.array"); }),
            "m.gguf: a.array must be an array of integers, got an array of string");
  EXPECT_EQ(error_of([&] { file.find("a.int8")->texts("k"); }), "k must be an array of strings, got int8");
  EXPECT_EQ(error_of([&] { file.find("a.array")->reals("k"); }),
            "k must be an array of float32 or float64, got an array of string");
  EXPECT_EQ(error_of([&] { file.find("a.array")->arrays("k"); }),
            "k must be an array of arrays, got an array of string");
}

GgufBytes one_entry() { return {0, 1}; }
std::string tensor_file(std::initializer_list<std::int64_t> lengths, std::uint32_t type, std::uint64_t offset = 0) {
  return GgufBytes(1, 0).tensor("t", lengths, type, offset).pad_to(32).zeros(64).str();
}

TEST(Gguf, RefusesMalformedFiles) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  GgufBytes nested = one_entry();
  nested.key("k", 9);
  for (int i = 0; i < 9; ++i) nested.number(std::uint32_t{9}).number(std::uint64_t{1});
  nested.number(std::uint32_t{0}).number(std::uint64_t{0});

  expect_refusals(
      {
          {"empty", "", "not a GGUF file"},
          {"another magic", "GGML" + small_gguf().substr(4), "not a GGUF file"},
          {"version 1", GgufBytes(0, 0, 1).str(), "version must be 2 or 3, got 1"},
          {"version 4", GgufBytes(0, 0, 4).str(), "version must be 2 or 3, got 4"},
          {"big endian", GgufBytes(0, 0, 0x03000000).str(), "big endian"},
          {"too many entries", GgufBytes(0, huge).str(), "metadata entries do not fit"},
          {"too many tensors", GgufBytes(huge, 0).zeros(64).str(), "tensors does not fit"},
          {"one entry missing", GgufBytes(0, 2).uint32_entry("k", 1).zeros(20).str(), "key must not be empty"},
          {"a key beyond the file", one_entry().number(std::uint64_t{1000}).zeros(64).str(),
           "truncated, a metadata key"},
          {"a key of 2^64 - 1 bytes", one_entry().number(huge).zeros(64).str(), "at most 65535"},
          {"an empty key", one_entry().uint32_entry("", 1).zeros(9).str(), "key must not be empty"},
          {"a key twice", GgufBytes(0, 2).uint32_entry("k", 1).uint32_entry("k", 1).str(), "'k' must occur once"},
          {"value type 13", one_entry().key("k", 13).zeros(64).str(), "type from 0 to 12, got 13"},
          {"array of type 13", one_entry().key("k", 9).number(13u).zeros(64).str(), "type from 0 to 12, got 13"},
          {"array beyond the file", one_entry().key("k", 9).number(0u).number(std::uint64_t{9}).zeros(8).str(),
           "an array of 9"},
          {"array that overflows", one_entry().key("k", 9).number(10u).number(huge / 8 + 1).zeros(64).str(),
           "truncated, an array"},
          {"strings beyond the file", one_entry().key("k", 9).number(8u).number(std::uint64_t{3}).zeros(16).str(),
           "truncated"},
          {"arrays beyond the file", one_entry().key("k", 9).number(9u).number(std::uint64_t{2}).zeros(20).str(),
           "truncated"},
          {"string of 2^64 - 1 bytes", one_entry().key("k", 8).number(huge).zeros(64).str(), "truncated, a string"},
          {"boolean 2", one_entry().key("k", 7).number(std::uint8_t{2}).str(), "0 or 1, got 2"},
          {"boolean 2 in an array",
           one_entry().key("k", 9).number(7u).number(std::uint64_t{2}).number(std::uint16_t{0x0200}).str(),
           "0 or 1, got 2"},
          {"nine arrays deep", nested.str(), "nested at most 8"},
          {"alignment of another type", one_entry().key("general.alignment", 5).number(32).str(),
           "must be a uint32, got int32"},
          {"alignment 0", one_entry().uint32_entry("general.alignment", 0).str(), "power of two, got 0"},
          {"alignment 24", one_entry().uint32_entry("general.alignment", 24).str(), "power of two, got 24"},
          {"alignment beyond the file",
           GgufBytes(1, 1).uint32_entry("general.alignment", 1u << 31).tensor("t", {1}, 0, 0).zeros(64).str(),
           "the padding before the data"},
          {"five axes", tensor_file({1, 1, 1, 1, 1}, 0), "at most 4 axes, got 5"},
          {"a negative length", tensor_file({-1}, 0), "negative lengths in its shape, got -1"},
          {"elements that overflow", tensor_file({most, 2}, 0), "larger than 2^63 - 1"},
          {"elements that overflow beside a zero", tensor_file({0, most, 2}, 0), "larger than 2^63 - 1"},
          {"elements that wrap to zero", tensor_file({std::int64_t{1} << 32, std::int64_t{1} << 32}, 0),
           "larger than 2^63 - 1"},
          {"bytes that overflow", tensor_file({most}, 0), "larger than 2^63 - 1"},
          {"a type that was removed", tensor_file({32}, 4), "type that ggml knows, got number 4"},
          {"a type of the future", tensor_file({32}, 4000000000u), "type that ggml knows, got number 4000000000"},
          {"half a block", tensor_file({16, 2}, 2), "Q4_0 must have rows of a multiple of 32 elements, got 16"},
          {"an offset that is not aligned", tensor_file({1}, 0, 4), "multiple of 32, got 4"},
          {"an offset beyond the file", tensor_file({1}, 0, 96), "only 64 bytes of data"},
          {"an offset that overflows", tensor_file({1}, 0, huge - 31), "only 64 bytes of data"},
          {"an empty tensor beyond the file", tensor_file({0}, 0, 96), "only 64 bytes of data"},
          {"data beyond the file", tensor_file({17}, 0), "needs 68 bytes at offset 0"},
          {"tensors that overlap",
           GgufBytes(2, 0).tensor("a", {9}, 0, 0).tensor("b", {1}, 0, 32).pad_to(32).zeros(64).str(),
           "'a' and 'b' overlap"},
          {"a tensor twice", GgufBytes(2, 0).tensor("a", {1}, 0, 0).tensor("a", {1}, 0, 32).pad_to(32).zeros(64).str(),
           "'a' must be in the directory once"},
          {"no padding before the data", GgufBytes(1, 0).tensor("t", {1}, 0, 0).str(), "the padding before the data"},
      },
      parse_as_gguf);
}

TEST(Gguf, RefusesEveryTruncation) { expect_every_truncation_refused(small_gguf(), parse_as_gguf); }

TEST(Gguf, SurvivesEveryDamagedByte) {
  const std::size_t refused = count_refused_damage(small_gguf(), [](auto bytes, const std::string& name) {
    const GgufFile file = parse_gguf(bytes, name);
    for (const GgufTensor& tensor : file.tensors()) file.floats(tensor);
  });
  EXPECT_GT(refused, 100u);
}

// The message must not contain control characters of the file, nor all of a name of 60000 bytes.
TEST(Gguf, MessagesAreFitToPrint) {
  const std::string name(60000, '\x1b');
  const std::string bytes = GgufBytes(1, 0).tensor(name, {-1}, 0, 0).pad_to(32).zeros(32).str();
  const std::string message = error_of([&] { parse_gguf(std::as_bytes(std::span(bytes)), "f"); });
  EXPECT_LT(message.size(), 300u);
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(Gguf, RefusesToDecodeOtherTypes) {
  const std::string bytes = tensor_file({32}, 6);
  const GgufFile file = parse_gguf(std::as_bytes(std::span(bytes)), "m.gguf");
  EXPECT_EQ(error_of([&] { file.floats(file.tensors()[0]); }),
            "m.gguf: tensor 't' must be F32, F16, BF16, Q8_0, Q4_0, Q4_K or Q6_K to be read as numbers, got Q5_0");
}

// ---- writing

class GgufWriting : public InTemporaryFolder {};

TEST_F(GgufWriting, WritesTheFormatByteForByte) {
  const std::vector<float> w = {1, 2, 3, 4, 5, 6};
  const std::vector<BFloat16> v = {to_bfloat16(1.0f), to_bfloat16(-3.0f)};
  const std::vector<GgufEntry> metadata = {{"general.architecture", GgufValue::of("llama")},
                                           {"llama.rope.freq_base", GgufValue::of(10000.0f)}};
  const std::vector<GgufTensor> tensors = {{"w", GgufTensorType::f32, {2, 3}, std::as_bytes(std::span(w))},
                                           {"v", GgufTensorType::bf16, {2}, std::as_bytes(std::span(v))}};
  write_gguf(folder_ / "m.gguf", metadata, tensors);

  GgufBytes expected(2, 2);
  expected.text_entry("general.architecture", "llama").float_entry("llama.rope.freq_base", 10000.0f);
  expected.tensor("w", {3, 2}, 0, 0).tensor("v", {2}, 30, 32).pad_to(32);
  for (const float value : w) expected.number(value);
  expected.pad_to(32).number(std::uint16_t{0x3f80}).number(std::uint16_t{0xc040}).pad_to(32);
  EXPECT_EQ(contents(folder_ / "m.gguf"), expected.str());
  EXPECT_EQ(files(), 1u);
}

TEST_F(GgufWriting, RoundTripsAFileWithEverything) {
  const GgufFile first = read_gguf(put("a.gguf", small_gguf()));
  write_gguf(folder_ / "b.gguf", first.metadata(), first.tensors());
  const GgufFile second = read_gguf(folder_ / "b.gguf");
  ASSERT_EQ(second.metadata().size(), first.metadata().size());
  for (std::size_t i = 0; i < first.metadata().size(); ++i) {
    EXPECT_EQ(second.metadata()[i].key, first.metadata()[i].key);
    EXPECT_EQ(second.metadata()[i].value, first.metadata()[i].value);
  }
  ASSERT_EQ(second.tensors().size(), first.tensors().size());
  for (std::size_t i = 0; i < first.tensors().size(); ++i) {
    EXPECT_EQ(second.tensors()[i].name, first.tensors()[i].name);
    EXPECT_EQ(second.tensors()[i].shape, first.tensors()[i].shape);
    EXPECT_EQ(second.floats(second.tensors()[i]), first.floats(first.tensors()[i]));
  }
}

TEST_F(GgufWriting, RoundTripsMadeValues) {
  const std::vector<std::int32_t> sections = {16, 24, 24, 0};
  const std::vector<std::string> tokens = {"<s>", "", "\xe2\x96\x81the"};
  const std::vector<double> reals = {0.1, -1e300};
  const std::vector<GgufValue> arrays = {GgufValue::of_array(std::span<const std::int32_t>(sections)),
                                         GgufValue::of_array(std::span<const std::string>(tokens))};
  const std::vector<GgufEntry> metadata = {
      {"general.alignment", GgufValue::of(std::uint32_t{64})},
      {"sections", arrays[0]},
      {"tokens", arrays[1]},
      {"reals", GgufValue::of_array(std::span<const double>(reals))},
      {"arrays", GgufValue::of_array(std::span<const GgufValue>(arrays))},
      {"yes", GgufValue::of(true)},
      {"small", GgufValue::of(std::int8_t{-7})},
  };
  const std::vector<Float16> v = {to_float16(0.5f)};
  const std::vector<GgufTensor> tensors = {{"a", GgufTensorType::f16, {1}, std::as_bytes(std::span(v))},
                                           {"b", GgufTensorType::f16, {1, 1}, std::as_bytes(std::span(v))}};
  write_gguf(folder_ / "m.gguf", metadata, tensors);
  const GgufFile file = read_gguf(folder_ / "m.gguf");
  EXPECT_EQ(file.alignment(), 64u);
  EXPECT_EQ(file.integers("sections"), (std::vector<std::int64_t>{16, 24, 24, 0}));
  EXPECT_EQ(file.find("sections")->element_type("x"), GgufValueType::int32);
  EXPECT_EQ(file.find("tokens")->texts("x"), tokens);
  EXPECT_EQ(file.find("reals")->reals("x"), reals);
  EXPECT_EQ(file.find("arrays")->arrays("x"), arrays);
  EXPECT_EQ(file.boolean("yes"), true);
  EXPECT_EQ(file.find("small")->type, GgufValueType::int8);
  EXPECT_EQ(file.floats(file.tensors()[1]), std::vector<float>{0.5f});
}

TEST_F(GgufWriting, RefusesWhatNoReaderWouldTake) {
  const std::filesystem::path path = folder_ / "m.gguf";
  const std::vector<float> w = {1, 2};
  const auto bytes = std::as_bytes(std::span(w));
  const auto message = [&](std::vector<GgufEntry> metadata, std::vector<GgufTensor> tensors) {
    return error_of([&] { write_gguf(path, metadata, tensors); });
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const GgufValue one = GgufValue::of(1);
  EXPECT_TRUE(has(message({{"", one}}, {}), "key must have 1 to 65535 bytes"));
  EXPECT_TRUE(has(message({{"k", one}, {"k", one}}, {}), "'k' must occur once"));
  EXPECT_TRUE(has(message({{"k", {GgufValueType::uint32, {}}}}, {}), "k: truncated"));
  EXPECT_TRUE(has(message({{"k", {GgufValueType::uint8, std::vector<std::byte>(2)}}}, {}), "left over"));
  EXPECT_TRUE(has(message({{"k", {static_cast<GgufValueType>(99), {}}}}, {}), "type from 0 to 12, got 99"));
  EXPECT_TRUE(has(message({{"general.alignment", one}}, {}), "must be a uint32"));
  EXPECT_TRUE(has(message({{"general.alignment", GgufValue::of(std::uint32_t{1} << 30)}}, {}), "at most 1048576"));
  EXPECT_TRUE(has(message({}, {{"", GgufTensorType::f32, {2}, bytes}}), "1 to 63 bytes"));
  EXPECT_TRUE(has(message({}, {{std::string(64, 'x'), GgufTensorType::f32, {2}, bytes}}), "1 to 63 bytes"));
  EXPECT_TRUE(has(message({}, {{"t", GgufTensorType::f32, {3}, bytes}}), "must have 12 bytes for its shape, got 8"));
  EXPECT_TRUE(has(message({}, {{"t", GgufTensorType::f32, {1, 1, 1, 1, 2}, bytes}}), "at most 4 axes"));
  EXPECT_TRUE(has(message({}, {{"t", GgufTensorType::q8_0, {2}, bytes}}), "multiple of 32"));
  EXPECT_TRUE(has(message({}, {{"t", GgufTensorType::f32, {-2}, bytes}}), "negative"));
  EXPECT_TRUE(has(message({}, {{"t", GgufTensorType::f32, {2}, bytes}, {"t", GgufTensorType::f32, {2}, bytes}}),
                  "'t' must occur once"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(GgufWriting, ReadsWhatIsMappedAfterTheFileWasReplaced) {
  const GgufFile file = read_gguf(put("m.gguf", small_gguf()));
  write_gguf(folder_ / "m.gguf", {}, {});
  EXPECT_EQ(file.floats(*file.find_tensor("w"))[5], -6.25f);
  EXPECT_TRUE(read_gguf(folder_ / "m.gguf").metadata().empty());
}

}  // namespace
}  // namespace locus::io
