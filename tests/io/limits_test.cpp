// SPDX-License-Identifier: Apache-2.0
// The limits of docs/security.md: a file at the limit is read, one beyond it is refused with the limit in the message.
#include <functional>

#include "io/bytes.h"
#include "io/gguf_bytes.h"
#include "locus/io/gguf.h"
#include "locus/io/hf_config.h"
#include "locus/io/npy.h"
#include "locus/io/safetensors.h"
#include "parse/strict_json.h"

namespace locus::io {
namespace {

/// `make(n)` makes a file of size n in what is limited.
void expect_limit(std::size_t limit, const std::string& message, const std::function<std::string(std::size_t)>& make,
                  const std::function<void(const std::string&)>& read) {
  EXPECT_NO_THROW(read(make(limit))) << message;
  const std::string refusal = error_of([&] { read(make(limit + 1)); });
  EXPECT_NE(refusal.find(message), std::string::npos) << refusal;
}

void read_as_config(const std::string& text) { resolve_hf_config(text, "config.json"); }
void read_as_gguf(const std::string& file) { parse_gguf(on_heap(file), "model.gguf"); }
void read_as_npy(const std::string& file) { parse_npy(on_heap(file), "q.npy"); }
void read_as_safetensors(const std::string& file) { parse_safetensors(on_heap(file), "model.safetensors"); }

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

constexpr const char* config_start = R"({"model_type": "llama", "head_dim": 8, "rope_theta": 10000)";

TEST(Limits, OfConfigs) {
  expect_limit(
      16 << 20, "16 MB",
      [](std::size_t size) {
        std::string text = std::string(config_start) + "}";
        return text + std::string(size - text.size(), ' ');
      },
      read_as_config);
  expect_limit(
      64, "nested at most 64",
      [](std::size_t levels) {  // the object itself is the first
        return std::string(config_start) + R"(, "x": )" + std::string(levels - 1, '[') + std::string(levels - 1, ']') +
               "}";
      },
      read_as_config);
  expect_limit(
      1'000'000, "at most 1000000 values",
      [](std::size_t values) {  // the object, its three values, the list, and the numbers in it
        std::string list = "0";
        for (std::size_t i = 1; i < values - 5; ++i) list += ",0";
        return std::string(config_start) + R"(, "x": [)" + list + "]}";
      },
      read_as_config);
}

TEST(Limits, OfLayersInConfigs) {
  expect_limit(
      64, "at most 64 layer types",
      [](std::size_t types) {
        std::string blocks = R"("t0": {"rope_type": "default", "rope_theta": 10000})";
        for (std::size_t i = 1; i < types; ++i) {
          blocks.append(R"(, "t)")
              .append(std::to_string(i))
              .append(R"(": {"rope_type": "default", "rope_theta": 10000})");
        }
        return R"({"model_type": "llama", "head_dim": 8, "rope_parameters": {)" + blocks + "}}";
      },
      read_as_config);
  expect_limit(
      4096, "at most 4096 entries",
      [](std::size_t layers) {
        return R"({"model_type": "muse_glimmer_text", "head_dim": 8, "layer_rope_theta": [)" +
               repeated("5000, ", layers - 1) + "5000]}";
      },
      read_as_config);
}

TEST(Limits, OfGguf) {
  expect_limit(
      8, "nested at most 8",
      [](std::size_t levels) {
        GgufBytes file(0, 1);
        file.key("k", 9);
        for (std::size_t i = 1; i < levels; ++i) file.number(std::uint32_t{9}).number(std::uint64_t{1});
        return file.number(std::uint32_t{0}).number(std::uint64_t{0}).str();
      },
      read_as_gguf);
  expect_limit(
      65535, "at most 65535",
      [](std::size_t size) { return GgufBytes(0, 1).uint32_entry(std::string(size, 'k'), 1).str(); }, read_as_gguf);
  const auto with_axes = [](std::size_t axes) {
    GgufBytes file(1, 0);
    file.string("t").number(static_cast<std::uint32_t>(axes));
    for (std::size_t i = 0; i < axes; ++i) file.number(std::int64_t{1});
    return file.number(std::uint32_t{0}).number(std::uint64_t{0}).pad_to(32).zeros(32).str();
  };
  expect_limit(4, "at most 4", with_axes, read_as_gguf);
}

// The JSON of tokenizers and safetensors files.
TEST(Limits, OfJsonThatDescribesBytes) {
  const auto read = [](const std::string& text) { parse_strict_json(text, "tokenizer.json"); };
  expect_limit(
      16, "nested at most 16",
      [](std::size_t levels) {  // the object itself is the first
        return R"({"x":)" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
      },
      read);
  expect_limit(
      8'000'000, "at most 8000000 values",
      [](std::size_t values) { return R"({"x":[)" + repeated("0,", values - 3) + "0]}"; },  // the object and the list
      read);
  expect_limit(
      100'000'000, "at most 100000000 bytes", [](std::size_t size) { return "{" + std::string(size - 2, ' ') + "}"; },
      read);
}

std::string npy_of(std::size_t header_bytes, std::size_t axes) {
  std::string shape;
  for (std::size_t i = 0; i < axes; ++i) shape += "1, ";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(std::max(header.size() + 1, header_bytes), ' ');
  header.back() = '\n';
  return Bytes()
      .text(std::string_view("\x93NUMPY\x02\x00", 8))
      .number(static_cast<std::uint32_t>(header.size()))
      .text(header)
      .number(1.0f)
      .str();
}

TEST(Limits, OfArrays) {
  expect_limit(
      1 << 20, "at most 1048576", [](std::size_t size) { return npy_of(size, 1); }, read_as_npy);
  expect_limit(
      64, "at most 64", [](std::size_t axes) { return npy_of(0, axes); }, read_as_npy);
}

TEST(Limits, OfSafetensors) {
  expect_limit(
      64, "at most 64",
      [](std::size_t axes) {
        std::string shape = "1";
        for (std::size_t i = 1; i < axes; ++i) shape += ",1";
        const std::string header = R"({"t":{"dtype":"F32","shape":[)" + shape + R"(],"data_offsets":[0,4]}})";
        return Bytes().number(std::uint64_t{header.size()}).text(header).number(1.0f).str();
      },
      read_as_safetensors);
}

}  // namespace
}  // namespace locus::io
