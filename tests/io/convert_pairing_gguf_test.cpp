// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "io/bytes.h"
#include "locus/io/convert_pairing.h"
#include "locus/io/gguf.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> values(count);
  for (std::byte& value : values) value = static_cast<std::byte>(random() & 0xff);
  return values;
}

/// Rows of two layers with different head counts; every type of element, quantised ones as arbitrary blocks.
class ConvertPairingGguf : public InTemporaryFolder {
 protected:
  static constexpr std::int64_t dim = 6, rotary = 4;

  std::vector<GgufEntry> metadata(const std::string& architecture = "llama") const {
    const std::vector<std::int32_t> heads = {4, 2}, kv = {2, 1};
    return {{"general.architecture", GgufValue::of(architecture)},
            {architecture + ".attention.head_count", GgufValue::of_array(std::span(heads))},
            {architecture + ".attention.head_count_kv", GgufValue::of_array(std::span(kv))},
            {architecture + ".attention.key_length", GgufValue::of(std::uint32_t{dim})},
            {architecture + ".rope.dimension_count", GgufValue::of(std::uint32_t{rotary})},
            {"some.other", GgufValue::of(1.5)}};
  }
  void add(const std::string& name, GgufTensorType type, std::vector<std::int64_t> shape, std::size_t bytes) {
    data_.push_back(random_bytes(bytes, static_cast<unsigned>(data_.size())));
    tensors_.push_back({name, type, std::move(shape), {}});
  }
  fs::path write(const std::vector<GgufEntry>& entries) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) tensors_[i].bytes = data_[i];
    write_gguf(folder_ / "in.gguf", entries, tensors_);
    return folder_ / "in.gguf";
  }
  /// Row r of `after` must be row wanted(r) of `before`.
  template <class Wanted>
  static void expect_rows(std::span<const std::byte> after, std::span<const std::byte> before, std::int64_t rows,
                          const std::string& name, Wanted wanted) {
    ASSERT_EQ(after.size(), before.size());
    const std::size_t size = after.size() / static_cast<std::size_t>(rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto got = after.subspan(static_cast<std::size_t>(row) * size, size);
      const auto from = before.subspan(static_cast<std::size_t>(wanted(row)) * size, size);
      EXPECT_TRUE(std::equal(got.begin(), got.end(), from.begin())) << name << " row " << row;
    }
  }

  std::vector<std::vector<std::byte>> data_;
  std::vector<GgufTensor> tensors_;
};

TEST_F(ConvertPairingGguf, MovesRowsOfEveryTypeWhole) {
  using enum GgufTensorType;
  add("blk.0.attn_q.weight", q8_0, {24, 64}, 24 * 2 * 34);
  add("blk.0.attn_q.bias", f32, {24}, 24 * 4);
  add("token_embd.weight", q6_k, {2, 256}, 2 * 210);
  add("blk.0.attn_k.weight", q4_k, {12, 256}, 12 * 144);
  add("blk.0.attn_k.bias", bf16, {12}, 12 * 2);
  add("blk.0.attn_v.weight", f16, {12, 5}, 12 * 5 * 2);
  add("blk.0.attn_q_norm.weight", f32, {6}, 6 * 4);
  add("blk.0.attn_q.scale", f32, {1}, 4);
  add("blk.1.attn_qkv.weight", f16, {(2 + 1 + 1) * 6, 3}, 24 * 3 * 2);
  const fs::path in = write(metadata());
  const PairingReport report = convert_pairing(in, {Pairing::half, folder_ / "out.gguf"});
  EXPECT_EQ(report.architecture, "llama");
  EXPECT_EQ(report.engine_pairing, Pairing::interleaved);
  EXPECT_EQ(report.layers, 2);
  EXPECT_EQ(report.tensors.size(), 6u);

  const GgufFile before = read_gguf(in), after = read_gguf(folder_ / "out.gguf");
  ASSERT_EQ(after.tensors().size(), before.tensors().size());
  const auto moved = [](std::int64_t row) {  // in each head of 6: x0 y0 x1 y1 . . becomes x0 x1 y0 y1 . .
    const std::int64_t from[] = {0, 2, 1, 3, 4, 5};
    return row / 6 * 6 + from[row % 6];
  };
  for (std::size_t i = 0; i < before.tensors().size(); ++i) {
    const GgufTensor &old = before.tensors()[i], &now = after.tensors()[i];
    EXPECT_EQ(now.name, old.name);
    EXPECT_EQ(now.shape, old.shape);
    EXPECT_EQ(now.type, old.type);
    const bool moves = std::find(report.tensors.begin(), report.tensors.end(), old.name) != report.tensors.end();
    expect_rows(now.bytes, old.bytes, old.shape[0], old.name, [&](std::int64_t row) {
      const bool value_rows = old.name == "blk.1.attn_qkv.weight" && row >= 18;  // 2 heads and 1 key head before them
      return moves && !value_rows ? moved(row) : row;
    });
  }
  for (std::size_t i = 0; i < before.metadata().size(); ++i) {
    EXPECT_EQ(after.metadata()[i].key, before.metadata()[i].key);
    EXPECT_EQ(after.metadata()[i].value, before.metadata()[i].value);
  }
  convert_pairing(folder_ / "out.gguf",
                  {.to = Pairing::interleaved, .output = folder_ / "back.gguf", .from = Pairing::half});
  EXPECT_EQ(contents(folder_ / "back.gguf"), contents(in));
}

TEST_F(ConvertPairingGguf, RefusesWeightsThatHaveThePairingAlready) {
  add("blk.0.attn_q.weight", GgufTensorType::f32, {24, 2}, 24 * 2 * 4);
  add("blk.0.attn_k.weight", GgufTensorType::f32, {12, 2}, 12 * 2 * 4);
  const fs::path in = write(metadata());
  const std::string text = error_of([&] { convert_pairing(in, {Pairing::interleaved, folder_ / "out.gguf"}); });
  EXPECT_NE(text.find("are interleaved already"), std::string::npos) << text;
  EXPECT_FALSE(fs::exists(folder_ / "out.gguf"));
}

// The converter knows models that the lab saved; their file states their pairing.
TEST_F(ConvertPairingGguf, TheLabsOwnModel) {
  const auto entries = [](const std::string& encoding) {
    return std::vector<GgufEntry>{{"general.architecture", GgufValue::of(std::string_view("locus_lab"))},
                                  {"locus_lab.attention.head_count", GgufValue::of(std::uint32_t{2})},
                                  {"locus_lab.encoding", GgufValue::of(encoding)},
                                  {"tokenizer.ggml.model", GgufValue::of(std::string_view("bytes"))}};
  };
  const std::string half = R"({"arguments":{"base":10000.0,"head_dim":4,"pairing":"half"},"scheme":"rope"})";
  add("blk.0.attn_qkv.weight", GgufTensorType::f32, {24, 2}, 24 * 2 * 4);
  add("blk.0.attn_output.weight", GgufTensorType::f32, {8, 2}, 8 * 2 * 4);
  const fs::path in = write(entries(half));
  const PairingReport report = convert_pairing(in, {Pairing::interleaved, folder_ / "out.gguf"});
  EXPECT_EQ(report.architecture, "locus_lab");
  EXPECT_EQ(report.tensors, (std::vector<std::string>{"blk.0.attn_qkv.weight"}));
  const GgufFile before = read_gguf(in), after = read_gguf(folder_ / "out.gguf");
  EXPECT_EQ(after.text("locus_lab.encoding"),
            R"({"arguments":{"base":10000.0,"head_dim":4,"pairing":"interleaved"},"scheme":"rope"})");
  EXPECT_EQ(after.text("tokenizer.ggml.model"), "bytes");
  expect_rows(after.tensors()[0].bytes, before.tensors()[0].bytes, 24, "qkv", [](std::int64_t row) {
    const std::int64_t from[] = {0, 2, 1, 3};
    return row < 16 ? row / 4 * 4 + from[row % 4] : row;
  });
  expect_rows(after.tensors()[1].bytes, before.tensors()[1].bytes, 8, "output", [](std::int64_t row) { return row; });
  convert_pairing(folder_ / "out.gguf", {Pairing::half, folder_ / "back.gguf"});
  EXPECT_EQ(contents(folder_ / "back.gguf"), contents(in));
  EXPECT_NE(error_of([&] {
              convert_pairing(in, {Pairing::half, folder_ / "no.gguf"});
            }).find("half already"),
            std::string::npos);
  const fs::path alibi = write(entries(R"({"arguments":{"heads":2},"scheme":"alibi"})"));
  EXPECT_NE(error_of([&] {
              convert_pairing(alibi, {Pairing::half, folder_ / "no.gguf"});
            }).find("this model has alibi"),
            std::string::npos);
}

TEST_F(ConvertPairingGguf, RefusesUnsupportedPatterns) {
  using enum GgufTensorType;
  const auto message = [&](const std::vector<GgufEntry>& entries) {
    const fs::path in = write(entries);
    const std::string text = error_of([&] { convert_pairing(in, {Pairing::half, folder_ / "out.gguf"}); });
    EXPECT_FALSE(fs::exists(folder_ / "out.gguf"));
    tensors_.clear();
    data_.clear();
    return text;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  add("blk.0.attn_q.weight", f32, {24, 2}, 24 * 8);
  has(message(metadata()), "layer 0 has queries but no keys");
  add("token_embd.weight", f32, {2, 2}, 16);
  has(message(metadata()), "no tensor of queries or keys was found");
  add("blk.0.attn_q.bias", q8_0, {32}, 34);
  has(message(metadata()), "'blk.0.attn_q.bias' is stored as Q8_0, whose blocks of 32 elements");
  add("blk.0.attn_q.weight", f32, {26, 2}, 26 * 8);
  has(message(metadata()), "must have 4 heads x 6 = 24 rows, got 26");
  add("blk.0.attn_q_a.weight", f32, {24, 2}, 24 * 8);
  has(message(metadata()), "'blk.0.attn_q_a.weight' belongs to queries or keys, but its rows");
  add("blk.7.attn_q.weight", f32, {24, 2}, 24 * 8);
  has(message(metadata()), "must have a number for layer 7, it has 2");
  has(message(metadata("bloom")), "architecture 'bloom' does not rotate");
  has(message(metadata("martian")), "architecture 'martian' is unknown");
  auto odd = metadata();
  odd[4].value = GgufValue::of(std::uint32_t{5});
  add("blk.0.attn_q.weight", f32, {24, 2}, 24 * 8);
  has(message(odd), "the rotary width must be even to have pairs, got 5");
}

}  // namespace
}  // namespace locus::io
