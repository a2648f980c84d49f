// SPDX-License-Identifier: Apache-2.0
#include "locus/io/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>

#include "io/bytes.h"
#include "locus/element.h"

namespace locus::io {
namespace {

const auto parse_as_safetensors = [](std::span<const std::byte> bytes, const std::string& name) {
  parse_safetensors(bytes, name);
};

std::string file_of(const std::string& header, const std::string& data) {
  return Bytes().number(std::uint64_t{header.size()}).text(header).text(data).str();
}

std::string floats(std::initializer_list<float> values) {
  Bytes bytes;
  for (const float value : values) bytes.number(value);
  return bytes.str();
}

/// Two tensors that are not in the order of the header, and metadata.
std::string small_file() {
  return file_of(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[],"data_offsets":[12,16]},)"
                 R"("a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}}   )",
                 Bytes()
                     .number(std::uint16_t{0x3f80})  // 1
                     .number(std::uint16_t{0xbf80})  // -1
                     .number(std::uint16_t{0x4000})  // 2
                     .number(std::uint16_t{0x4040})  // 3
                     .number(std::uint16_t{0x3e00})  // 1/8
                     .number(std::uint16_t{0x0000})  // 0
                     .number(2.5f)
                     .str());
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const std::string bytes = small_file();
  const SafetensorsFile file = parse_safetensors(std::as_bytes(std::span(bytes)), "f");
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  ASSERT_EQ(file.tensors().size(), 2u);
  const SafetensorsTensor& a = file.tensors()[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.type, SafetensorsType::bf16);
  EXPECT_EQ(a.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(file.floats(a), (std::vector<float>{1, -1, 2, 3, 0.125f, 0}));
  ASSERT_NE(file.find_tensor("b"), nullptr);
  EXPECT_TRUE(file.find_tensor("b")->shape.empty());
  EXPECT_EQ(file.floats(*file.find_tensor("b")), std::vector<float>{2.5f});
  EXPECT_EQ(file.find_tensor("c"), nullptr);
}

TEST(Safetensors, ReadsEveryTypeAsFloats) {
  struct Case {
    std::string dtype;
    std::string data;
    std::vector<float> expected;
  };
  const std::vector<Case> cases = {
      {"F64", Bytes().number(0.1).str(), {0.1f}},
      {"F32", Bytes().number(0.1f).str(), {0.1f}},
      {"F16", Bytes().number(std::uint16_t{0xc400}).str(), {-4}},
      {"BF16", Bytes().number(std::uint16_t{0x4049}).str(), {3.140625f}},
      {"I64", Bytes().number(std::int64_t{-5}).str(), {-5}},
      {"I32", Bytes().number(std::int32_t{-6}).str(), {-6}},
      {"I16", Bytes().number(std::int16_t{-7}).str(), {-7}},
      {"I8", Bytes().number(std::int8_t{-8}).str(), {-8}},
      {"U64", Bytes().number(std::uint64_t{1} << 63).str(), {0x1p63f}},
      {"U32", Bytes().number(std::uint32_t{1} << 31).str(), {0x1p31f}},
      {"U16", Bytes().number(std::uint16_t{65535}).str(), {65535}},
      {"U8", Bytes().number(std::uint8_t{255}).str(), {255}},
      {"BOOL", Bytes().number(std::uint8_t{1}).str(), {1}},
  };
  for (const auto& [dtype, data, expected] : cases) {
    const std::string bytes = file_of(
        R"({"t":{"dtype":")" + dtype + R"(","shape":[1],"data_offsets":[0,)" + std::to_string(data.size()) + "]}}",
        data);
    const SafetensorsFile file = parse_safetensors(std::as_bytes(std::span(bytes)), "f");
    EXPECT_EQ(file.floats(file.tensors()[0]), expected) << dtype;
    EXPECT_EQ(name_of(file.tensors()[0].type), dtype);
  }
  for (const std::string dtype : {"F8_E4M3", "F8_E5M2"}) {
    const std::string bytes = file_of(R"({"t":{"dtype":")" + dtype + R"(","shape":[1],"data_offsets":[0,1]}})", "x");
    const SafetensorsFile file = parse_safetensors(std::as_bytes(std::span(bytes)), "f");
    EXPECT_EQ(error_of([&] { file.floats(file.tensors()[0]); }),
              "f: tensor 't' of type " + dtype + " cannot be read as numbers without the scales of its model");
  }
}

TEST(Safetensors, TakesEmptyTensors) {
  const std::string bytes = file_of(R"({"a":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},)"
                                    R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                    R"("c":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})",
                                    floats({1}));
  const SafetensorsFile file = parse_safetensors(std::as_bytes(std::span(bytes)), "f");
  EXPECT_EQ(file.tensors().size(), 3u);
  EXPECT_TRUE(file.floats(*file.find_tensor("a")).empty());
  const std::string nothing = file_of("{}", "");
  EXPECT_TRUE(parse_safetensors(std::as_bytes(std::span(nothing)), "f").tensors().empty());
}

std::string one(const std::string& entry, std::size_t data = 8) {
  return file_of(R"({"t":)" + entry + "}", std::string(data, 'x'));
}

TEST(Safetensors, RefusesMalformedFiles) {
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  expect_refusals(
      {
          {"empty", "", "truncated, the length of the header"},
          {"seven bytes", "1234567", "truncated, the length of the header"},
          {"header beyond the file", Bytes().number(std::uint64_t{3}).text("{}").str(),
           "truncated, the header needs 3"},
          {"header of 2^64 - 1 bytes", Bytes().number(~std::uint64_t{0}).text("{}").str(), "truncated, the header"},
          {"no header", file_of("", ""), "must start with '{'"},
          {"a blank first", file_of(" {}", ""), "must start with '{'"},
          {"a list", file_of("[]", ""), "must start with '{'"},
          {"half an object", file_of("{", ""), "not JSON"},
          {"two objects", file_of("{}{}", ""), "not JSON"},
          {"a zero after the object", file_of(std::string("{}\0", 3), ""), "not JSON"},
          {"not UTF-8", file_of("{\"\xff\":1}", ""), "not JSON"},
          {"a name twice", file_of("{\"t\":{" + good + "},\"t\":{" + good + "}}", "12345678"), "'t' once"},
          {"a key twice", one("{" + good + ",\"dtype\":\"I32\"}"), "'t.dtype' once"},
          {"too deep", file_of("{\"a\":" + std::string(20, '[') + std::string(20, ']') + "}", ""), "at most 16 levels"},
          {"a number for a tensor", one("1"), "must be an object, got number"},
          {"no dtype", one(R"({"shape":[2],"data_offsets":[0,8]})"), "must have dtype"},
          {"no shape", one(R"({"dtype":"F32","data_offsets":[0,8]})"), "must have shape"},
          {"no offsets", one(R"({"dtype":"F32","shape":[2]})"), "must have data_offsets"},
          {"another key", one("{" + good + ",\"more\":1}"), "only dtype, shape and data_offsets, got 'more'"},
          {"dtype a number", one(R"({"dtype":4,"shape":[2],"data_offsets":[0,8]})"), "dtype must be a string"},
          {"dtype unknown", one(R"({"dtype":"f32","shape":[2],"data_offsets":[0,8]})"), "got 'f32'"},
          {"shape a number", one(R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})"), "shape must be a list"},
          {"shape negative", one(R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})"), "got '-2'"},
          {"shape fractional", one(R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})"), "got '2.0'"},
          {"shape of 2^63", one(R"({"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]})"),
           "2^63 - 1, got"},
          {"shape of 10^30", one(R"({"dtype":"F32","shape":[1000000000000000000000000000000],"data_offsets":[0,8]})"),
           "2^63 - 1, got"},
          {"shape that overflows", one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]})"),
           "larger than 2^63 - 1"},
          {"bytes that overflow", one(R"({"dtype":"F64","shape":[2305843009213693953],"data_offsets":[0,8]})"),
           "larger than 2^63 - 1"},
          {"65 axes",
           one(R"({"dtype":"U8","shape":[1)" +
                   [] {
                     std::string s;
                     for (int i = 0; i < 64; ++i) s += ",1";
                     return s;
                   }() +
                   R"(],"data_offsets":[0,1]})",
               1),
           "at most 64"},
          {"one offset", one(R"({"dtype":"F32","shape":[2],"data_offsets":[0]})"), "[begin, end]"},
          {"offsets reversed", one(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), "[begin, end]"},
          {"offsets outside", one(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})"),
           "must end inside the data (8 bytes), got 12"},
          {"too few bytes", one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"),
           "must have 12 bytes for its shape, got 8"},
          {"too many bytes", one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})"),
           "must have 4 bytes for its shape, got 8"},
          {"an overlap",
           file_of(
               R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
               "123456789012"),
           "'b' overlaps"},
          {"the same bytes twice",
           file_of(
               R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
               "12345678"),
           "overlaps"},
          {"a gap", one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), "must begin at 0"},
          {"data left over", one("{" + good + "}", 9), "but have 8 bytes of 9"},
          {"data without tensors", file_of("{}", "x"), "but have 0 bytes of 1"},
          {"metadata a list", file_of(R"({"__metadata__":[]})", ""), "__metadata__ must be an object"},
          {"metadata with a number", file_of(R"({"__metadata__":{"a":1}})", ""), "must be a string, got number"},
      },
      parse_as_safetensors);
}

TEST(Safetensors, RefusesEveryTruncation) { expect_every_truncation_refused(small_file(), parse_as_safetensors); }

TEST(Safetensors, SurvivesEveryDamagedByte) {
  EXPECT_GT(count_refused_damage(small_file(), parse_as_safetensors), 100u);
}

// ---- writing, and models of several files

class SafetensorsFiles : public InTemporaryFolder {};

TEST_F(SafetensorsFiles, WritesWhatTheFormatAsksFor) {
  const std::vector<std::uint8_t> mask = {1};
  const std::vector<float> w = {1, 2};
  const std::vector<SafetensorsTensor> tensors = {{"m", SafetensorsType::u8, {1}, std::as_bytes(std::span(mask))},
                                                  {"w", SafetensorsType::f32, {2, 1}, std::as_bytes(std::span(w))}};
  write_safetensors(folder_ / "m.safetensors", tensors, {{"format", "pt"}});
  // The larger element first, so that it is aligned; 8 + 144 is a multiple of 8.
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("m":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(contents(folder_ / "m.safetensors"), file_of(padded, floats({1, 2}) + "\x01"));
  EXPECT_EQ(files(), 1u);
}

TEST_F(SafetensorsFiles, RoundTrips) {
  const std::vector<double> a = {0.1, -1e300};
  const std::vector<BFloat16> b = {to_bfloat16(1.5f), to_bfloat16(-2.0f), to_bfloat16(0.0f)};
  const std::vector<SafetensorsTensor> tensors = {
      {"model.\"odd\" name \xc3\xa9", SafetensorsType::bf16, {3, 1}, std::as_bytes(std::span(b))},
      {"scalar", SafetensorsType::f64, {}, std::as_bytes(std::span(a).first(1))},
      {"pair", SafetensorsType::f64, {2}, std::as_bytes(std::span(a))},
      {"empty", SafetensorsType::i64, {0, 3}, {}}};
  write_safetensors(folder_ / "m.safetensors", tensors);
  const SafetensorsFile file = read_safetensors(folder_ / "m.safetensors");
  ASSERT_EQ(file.tensors().size(), tensors.size());
  EXPECT_TRUE(file.metadata().empty());
  for (const SafetensorsTensor& tensor : tensors) {
    const SafetensorsTensor* read = file.find_tensor(tensor.name);
    ASSERT_NE(read, nullptr) << tensor.name;
    EXPECT_EQ(read->type, tensor.type);
    EXPECT_EQ(read->shape, tensor.shape);
    EXPECT_TRUE(std::equal(read->bytes.begin(), read->bytes.end(), tensor.bytes.begin(), tensor.bytes.end()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read->bytes.data()) % size_of(read->type), 0u) << tensor.name;
  }
}

TEST_F(SafetensorsFiles, RefusesToWriteNonsense) {
  const std::vector<float> w = {1, 2};
  const auto bytes = std::as_bytes(std::span(w));
  const auto message = [&](std::vector<SafetensorsTensor> tensors) {
    return error_of([&] { write_safetensors(folder_ / "m.safetensors", tensors); });
  };
  const auto f32 = SafetensorsType::f32;
  EXPECT_NE(message({{"t", f32, {3}, bytes}}).find("must have 12 bytes for its shape, got 8"), std::string::npos);
  EXPECT_NE(message({{"t", f32, {-2}, bytes}}).find("negative"), std::string::npos);
  EXPECT_NE(message({{"t", f32, {2}, bytes}, {"t", f32, {2}, bytes}}).find("'t' must occur once"), std::string::npos);
  EXPECT_NE(message({{"__metadata__", f32, {2}, bytes}}).find("another name"), std::string::npos);
  EXPECT_NE(message({{"\xff", f32, {2}, bytes}}).find("UTF-8"), std::string::npos);
  EXPECT_EQ(files(), 0u);
}

TEST_F(SafetensorsFiles, ReadsAModelOfOneFileOrSeveral) {
  const std::vector<float> w = {1, 2, 3};
  const auto all = std::as_bytes(std::span(w));
  const auto f32 = SafetensorsType::f32;
  write_safetensors(folder_ / "model-1.safetensors", std::vector<SafetensorsTensor>{{"a", f32, {1}, all.first(4)}});
  write_safetensors(folder_ / "model-2.safetensors",
                    std::vector<SafetensorsTensor>{{"b", f32, {2}, all.last(8)}, {"hidden", f32, {1}, all.first(4)}});
  const auto index =
      put("model.safetensors.index.json",
          R"({"metadata":{"total_size":12},"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})");
  const SafetensorsModel model = read_safetensors_model(index);
  EXPECT_EQ(model.files().size(), 2u);
  EXPECT_EQ(model.tensor_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(model.floats(*model.find_tensor("a")), (std::vector<float>{1}));
  EXPECT_EQ(model.floats(*model.find_tensor("b")), (std::vector<float>{2, 3}));
  EXPECT_EQ(model.find_tensor("hidden"), nullptr);  // the index does not know it

  const SafetensorsModel single = read_safetensors_model(folder_ / "model-2.safetensors");
  EXPECT_EQ(single.tensor_names(), (std::vector<std::string>{"b", "hidden"}));

  const auto wrong = put("wrong.json", R"({"weight_map":{"a":"model-2.safetensors"}})");
  EXPECT_NE(error_of([&] { read_safetensors_model(wrong); }).find("tensor 'a' should be in 'model-2.safetensors'"),
            std::string::npos);
  const auto missing = put("missing.json", R"({"weight_map":{"a":"model-3.safetensors"}})");
  EXPECT_NE(error_of([&] { read_safetensors_model(missing); }).find("model-3.safetensors: cannot open"),
            std::string::npos);
}

// Processor time, because other processes may be busy. Four times the tensors take sixteen times as long if each is
// compared with all others.
TEST_F(SafetensorsFiles, TheHeaderTakesLinearTime) {
  const auto seconds = [&](std::size_t count) {
    std::vector<SafetensorsTensor> tensors;
    for (std::size_t i = 0; i < count; ++i) {
      tensors.push_back({"model.layers." + std::to_string(i) + ".weight", SafetensorsType::u8, {0}, {}});
    }
    double best = HUGE_VAL;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::clock_t begin = std::clock();
      write_safetensors(folder_ / "many.safetensors", tensors);
      EXPECT_EQ(read_safetensors(folder_ / "many.safetensors").tensors().size(), count);
      best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return best;
  };
  EXPECT_LT(seconds(40'000), 9 * seconds(10'000));
}

TEST(SafetensorsIndex, RefusesMalformedOnes) {
  const auto parse_index = [](std::span<const std::byte> bytes, const std::string& name) {
    parse_safetensors_index({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
  };
  expect_refusals({{"empty", "", "not JSON"},
                   {"a list", "[]", "JSON must be an object"},
                   {"no map", "{}", "weight_map must be an object"},
                   {"map a list", R"({"weight_map":[]})", "weight_map must be an object"},
                   {"nothing in the map", R"({"weight_map":{}})", "at least one tensor"},
                   {"a number for a file", R"({"weight_map":{"a":1}})", "must be a file name"},
                   {"a tensor twice", R"({"weight_map":{"a":"x","a":"y"}})", "'weight_map.a' once"},
                   {"no name", R"({"weight_map":{"a":""}})", "next to the index"},
                   {"the folder above", R"({"weight_map":{"a":".."}})", "next to the index"},
                   {"a path", R"({"weight_map":{"a":"../secret.safetensors"}})", "next to the index"},
                   {"an absolute path", R"({"weight_map":{"a":"/etc/passwd"}})", "next to the index"},
                   {"a zero byte", R"({"weight_map":{"a":"x\u0000y"}})", "next to the index"}},
                  parse_index);
}

}  // namespace
}  // namespace locus::io
