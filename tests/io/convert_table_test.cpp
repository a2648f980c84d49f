// SPDX-License-Identifier: Apache-2.0
#include "locus/io/convert_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/bytes.h"
#include "locus/element.h"
#include "locus/io/gguf.h"
#include "locus/io/safetensors.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

class ConvertTable : public InTemporaryFolder {
 protected:
  /// Two columns; row r is (r, 10 r). Doubled with half-pixel centres, target row i is at (i + 0.5) / 2 - 0.5 of the
  /// source, clamped to [0, 3]: 0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3. All are exact in every type.
  const std::vector<float> table_ = {0, 0, 1, 10, 2, 20, 3, 30};
  const std::vector<float> doubled_ = {0,    0,    0.25, 2.5,  0.75, 7.5,  1.25, 12.5,
                                       1.75, 17.5, 2.25, 22.5, 2.75, 27.5, 3,    30};
  const std::vector<float> other_ = {5, 6, 7};

  void save(const fs::path& path, SafetensorsType type, std::span<const std::byte> bytes,
            std::vector<std::int64_t> shape = {4, 2}) {
    const std::vector<SafetensorsTensor> tensors = {{"other", SafetensorsType::f32, {3}, bytes_of(other_)},
                                                    {"wpe.weight", type, std::move(shape), bytes}};
    write_safetensors(path, tensors, {{"format", "pt"}});
  }
  static std::string message(const fs::path& input, const ConvertTableOptions& options) {
    return error_of([&] { convert_table(input, options); });
  }
};

TEST_F(ConvertTable, EveryFloatTypeIsResizedAndTheRestKept) {
  std::vector<double> f64(table_.begin(), table_.end());
  std::vector<Float16> f16;
  std::vector<BFloat16> bf16;
  for (const float value : table_) {
    f16.push_back(to_float16(value));
    bf16.push_back(to_bfloat16(value));
  }
  const std::vector<std::pair<SafetensorsType, std::span<const std::byte>>> forms = {
      {SafetensorsType::f32, bytes_of(table_)},
      {SafetensorsType::f64, bytes_of(f64)},
      {SafetensorsType::f16, bytes_of(f16)},
      {SafetensorsType::bf16, bytes_of(bf16)}};
  for (const auto& form : forms) {
    save(folder_ / "in.safetensors", form.first, form.second);
    const TableReport report = convert_table(folder_ / "in.safetensors",
                                             {.tensor = "wpe.weight", .to = 8, .output = folder_ / "out.safetensors"});
    EXPECT_EQ(report.shape_before, (std::vector<std::int64_t>{4, 2}));
    EXPECT_EQ(report.shape_after, (std::vector<std::int64_t>{8, 2}));
    const SafetensorsFile out = read_safetensors(folder_ / "out.safetensors");
    const SafetensorsTensor* const table = out.find_tensor("wpe.weight");
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->type, form.first);
    EXPECT_EQ(table->shape, (std::vector<std::int64_t>{8, 2}));
    EXPECT_EQ(out.floats(*table), doubled_);
    EXPECT_EQ(out.floats(*out.find_tensor("other")), other_);
    EXPECT_EQ(out.metadata().at("format"), "pt");
  }
}

TEST_F(ConvertTable, PrefixRowsStayAndBatchAxisToo) {
  std::vector<float> with_prefix = {-1, -2, -3, -4};
  with_prefix.insert(with_prefix.end(), table_.begin(), table_.end());
  save(folder_ / "in.safetensors", SafetensorsType::f32, bytes_of(with_prefix), {1, 6, 2});
  ConvertTableOptions options{.tensor = "wpe.weight", .to = 8, .in_place = true};
  options.resize.prefix_rows = 2;
  convert_table(folder_ / "in.safetensors", options);
  std::vector<float> wanted = {-1, -2, -3, -4};
  wanted.insert(wanted.end(), doubled_.begin(), doubled_.end());
  const SafetensorsFile out = read_safetensors(folder_ / "in.safetensors");
  EXPECT_EQ(out.find_tensor("wpe.weight")->shape, (std::vector<std::int64_t>{1, 10, 2}));
  EXPECT_EQ(out.floats(*out.find_tensor("wpe.weight")), wanted);
}

TEST_F(ConvertTable, GridsAreResizedAsGrids) {
  // Columns differ, rows do not: bilinear 2 -> 4 gives 0, 1/4, 3/4, 1 in each row of the grid. The same four rows
  // resized as one line to eight would mix the end of one row of the grid with the start of the next.
  const std::vector<float> grid = {0, 1, 0, 1};
  save(folder_ / "in.safetensors", SafetensorsType::f32, bytes_of(grid), {4, 1});
  ConvertTableOptions options{.tensor = "wpe.weight", .output = folder_ / "out.safetensors"};
  options.from_grid = Grid{2, 2};
  options.to_grid = Grid{2, 4};
  options.resize.method = ResizeMethod::bilinear;
  convert_table(folder_ / "in.safetensors", options);
  const SafetensorsFile out = read_safetensors(folder_ / "out.safetensors");
  EXPECT_EQ(out.floats(*out.find_tensor("wpe.weight")), (std::vector<float>{0, 0.25, 0.75, 1, 0, 0.25, 0.75, 1}));
  options.from_grid = Grid{3, 2};
  EXPECT_NE(message(folder_ / "in.safetensors", options).find("must have 6 rows after its prefix, it has 4"),
            std::string::npos);
}

TEST_F(ConvertTable, GgufGetsItsContextLength) {
  const std::vector<GgufEntry> metadata = {{"general.architecture", GgufValue::of("gpt2")},
                                           {"gpt2.context_length", GgufValue::of(std::uint32_t{4})},
                                           {"gpt2.other_length", GgufValue::of(std::uint32_t{4})}};
  const std::vector<GgufTensor> tensors = {{"position_embd.weight", GgufTensorType::f32, {4, 2}, bytes_of(table_)},
                                           {"other", GgufTensorType::f32, {3}, bytes_of(other_)}};
  write_gguf(folder_ / "in.gguf", metadata, tensors);
  const TableReport report =
      convert_table(folder_ / "in.gguf", {.tensor = "position_embd.weight", .to = 8, .output = folder_ / "out.gguf"});
  EXPECT_EQ(report.adjusted, (std::vector<std::string>{"gpt2.context_length"}));
  const GgufFile out = read_gguf(folder_ / "out.gguf");
  EXPECT_EQ(out.integer("gpt2.context_length"), 8);
  EXPECT_EQ(out.integer("gpt2.other_length"), 4);
  EXPECT_EQ(out.floats(*out.find_tensor("position_embd.weight")), doubled_);
  EXPECT_EQ(out.floats(*out.find_tensor("other")), other_);
}

TEST_F(ConvertTable, FoldersGetTheirConfigAndIndex) {
  save(folder_ / "b.safetensors", SafetensorsType::f32, bytes_of(table_));
  const std::vector<SafetensorsTensor> rest = {{"x", SafetensorsType::f32, {3}, bytes_of(other_)}};
  write_safetensors(folder_ / "a.safetensors", rest);
  put("model.safetensors.index.json",
      R"({"metadata": {"total_size": 56},
          "weight_map": {"x": "a.safetensors", "other": "b.safetensors", "wpe.weight": "b.safetensors"}})");
  // Of OPT's form: the key counts the rows after the prefix. A 4 elsewhere has another meaning.
  put("config.json", R"({"model_type": "opt", "max_position_embeddings": 2, "num_attention_heads": 4, "n_ctx": 4})");
  ConvertTableOptions options{.tensor = "wpe.weight", .to = 6, .output = folder_ / "out"};
  options.resize.prefix_rows = 2;
  const TableReport report = convert_table(folder_, options);
  EXPECT_EQ(report.adjusted, (std::vector<std::string>{"max_position_embeddings", "n_ctx"}));
  const Json config = Json::parse(contents(folder_ / "out" / "config.json"));
  EXPECT_EQ(config, Json::parse(R"({"model_type": "opt", "max_position_embeddings": 6, "num_attention_heads": 4,
                                    "n_ctx": 8})"));
  const Json index = Json::parse(contents(folder_ / "out" / "model.safetensors.index.json"));
  EXPECT_EQ(index["metadata"]["total_size"], 56 + 4 * 2 * 4);
  EXPECT_EQ(contents(folder_ / "out" / "a.safetensors"), contents(folder_ / "a.safetensors"));
  const SafetensorsModel out = read_safetensors_model(folder_ / "out" / "model.safetensors.index.json");
  EXPECT_EQ(out.find_tensor("wpe.weight")->shape, (std::vector<std::int64_t>{8, 2}));
}

TEST_F(ConvertTable, SaysWhatIsWrong) {
  save(folder_ / "in.safetensors", SafetensorsType::f32, bytes_of(table_));
  const fs::path in = folder_ / "in.safetensors", out = folder_ / "out.safetensors";
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message(in, {.tensor = "wpx", .to = 8, .output = out}), "has no tensor 'wpx'; it has 'wpe.weight'");
  has(message(in, {.tensor = "other", .to = 8, .output = out}), "must have the axes [rows, dim]");
  has(message(in, {.tensor = "wpe.weight", .to = 0, .output = out}), "at least 1, got 0");
  has(message(in, {.tensor = "wpe.weight", .to = std::int64_t{1} << 40, .output = out}), "must not grow beyond");
  has(message(in, {.tensor = "wpe.weight", .to = 8, .output = in}), "the output must not be the input");
  has(message(in, {.tensor = "wpe.weight", .to = 8}), "give either");
  const std::vector<std::int32_t> integers = {1, 2, 3, 4, 5, 6, 7, 8};
  save(in, SafetensorsType::i32, bytes_of(integers));
  has(message(in, {.tensor = "wpe.weight", .to = 8, .output = out}), "to be resized, got I32");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace locus::io
