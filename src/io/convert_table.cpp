// SPDX-License-Identifier: Apache-2.0
#include "locus/io/convert_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/hf_resolve.h"
#include "io/model_files.h"
#include "io/output_place.h"
#include "locus/element.h"
#include "locus/io/atomic_file.h"
#include "locus/io/gguf.h"
#include "locus/io/hf_folder.h"
#include "locus/io/mapped_file.h"
#include "locus/io/safetensors.h"
#include "locus/io/sniff.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr std::uint64_t most_table_values = std::uint64_t{1} << 31;

std::optional<ElementType> element_of(SafetensorsType type) {
  if (type == SafetensorsType::f64) return ElementType::float64;
  if (type == SafetensorsType::f32) return ElementType::float32;
  if (type == SafetensorsType::f16) return ElementType::float16;
  if (type == SafetensorsType::bf16) return ElementType::bfloat16;
  return std::nullopt;
}
std::optional<ElementType> element_of(GgufTensorType type) {
  if (type == GgufTensorType::f32) return ElementType::float32;
  if (type == GgufTensorType::f16) return ElementType::float16;
  if (type == GgufTensorType::bf16) return ElementType::bfloat16;
  return std::nullopt;
}

template <class T>
std::vector<double> widened(std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = load<T>(bytes.data() + i * sizeof(T));
    if constexpr (std::is_same_v<T, double>) {
      values[i] = value;
    } else {
      values[i] = static_cast<double>(to_float(value));
    }
  }
  return values;
}

template <class T, class Round>
std::vector<std::byte> rounded(std::span<const double> values, Round round) {
  std::vector<T> narrow;
  narrow.reserve(values.size());
  for (const double value : values) narrow.push_back(round(value));
  const auto bytes = std::as_bytes(std::span(narrow));
  return {bytes.begin(), bytes.end()};
}

std::vector<double> decoded(std::span<const std::byte> bytes, ElementType type) {
  switch (type) {
    case ElementType::float64:
      return widened<double>(bytes);
    case ElementType::float32:
      return widened<float>(bytes);
    case ElementType::float16:
      return widened<Float16>(bytes);
    case ElementType::bfloat16:
      break;
  }
  return widened<BFloat16>(bytes);
}

std::vector<std::byte> encoded(std::span<const double> values, ElementType type) {
  switch (type) {
    case ElementType::float64:
      return rounded<double>(values, [](double value) { return value; });
    case ElementType::float32:
      return rounded<float>(values, [](double value) { return static_cast<float>(value); });
    case ElementType::float16:
      return rounded<Float16>(values, [](double value) { return to_float16(value); });
    case ElementType::bfloat16:
      break;
  }
  return rounded<BFloat16>(values, [](double value) { return to_bfloat16(value); });
}

/// The keys under which configs state the length of a learned table.
constexpr std::array<std::string_view, 4> length_keys = {"max_position_embeddings", "n_positions", "n_ctx",
                                                         "max_target_positions"};

class TableConverter {
 public:
  TableConverter(fs::path input, const ConvertTableOptions& options) : input_(std::move(input)), options_(options) {
    require(options_.in_place == options_.output.empty(), input_.string(),
            ": give either the output (--output) or replace the input (--in-place)");
    require(options_.to_grid.has_value() == options_.from_grid.has_value(),
            "a grid must have both its old and its new size");
    require(options_.to_grid || options_.to >= 1, "the new number of positions must be at least 1, got ", options_.to);
  }

  TableReport run() {
    const FileKind kind = sniff(input_);
    if (kind == FileKind::hf_folder || kind == FileKind::folder) {
      convert_folder();
    } else if (kind == FileKind::gguf) {
      convert_gguf();
    } else {
      require(kind != FileKind::json && kind != FileKind::safetensors_index, input_.string(),
              ": give the folder of a sharded model; its index and config.json change too");
      const SafetensorsFile file = read_safetensors(input_);
      write_safetensors_with_table(file, single_output());
    }
    return report_;
  }

 private:
  fs::path single_output() {
    if (!options_.in_place) require_other_file(input_, options_.output);
    return options_.in_place ? input_ : options_.output;
  }

  /// Sets the shapes of the report and returns the bytes of the new table.
  std::vector<std::byte> resized(const std::vector<std::int64_t>& shape, std::span<const std::byte> bytes,
                                 std::optional<ElementType> type, std::string_view type_name, const std::string& file) {
    const std::string what = file + ": tensor " + shown(options_.tensor);
    require(type.has_value(), what, " must hold float64, float32, float16 or bfloat16 to be resized, got ", type_name);
    require(shape.size() == 2 || (shape.size() == 3 && shape[0] == 1), what,
            " must have the axes [rows, dim] or [1, rows, dim], got ", shape.size(), " axes");
    const std::int64_t rows = shape[shape.size() - 2], dim = shape.back(), prefix = options_.resize.prefix_rows;
    require(prefix >= 0 && prefix < rows, what, " must have rows after its prefix (", prefix, "), it has ", rows);
    const std::int64_t to = options_.to_grid ? product(*options_.to_grid) : options_.to;
    require(!options_.from_grid || product(*options_.from_grid) == rows - prefix, what, " must have ",
            options_.from_grid ? product(*options_.from_grid) : 0, " rows after its prefix, it has ", rows - prefix);
    require(
        checked_multiply(static_cast<std::uint64_t>(to), static_cast<std::uint64_t>(dim), what) <= most_table_values,
        what, " must not grow beyond ", most_table_values, " values, got ", to, " rows of ", dim);

    rows_before_ = rows;
    rows_after_ = prefix + to;
    report_.shape_before = report_.shape_after = shape;
    report_.shape_after[shape.size() - 2] = rows_after_;
    report_.type = type_name;
    const std::vector<double> table = decoded(bytes, *type);
    return encoded(options_.to_grid ? resize_2d(table, dim, *options_.from_grid, *options_.to_grid, options_.resize)
                                    : resize_1d(table, dim, rows - prefix, to, options_.resize),
                   *type);
  }
  static std::int64_t product(const Grid& grid) {
    require(grid.height >= 1 && grid.width >= 1, "a grid must be at least 1x1, got ", grid.height, "x", grid.width);
    return static_cast<std::int64_t>(
        checked_multiply(static_cast<std::uint64_t>(grid.height), static_cast<std::uint64_t>(grid.width), "the grid"));
  }

  /// Returns the new length for a key with the old one: all rows (GPT-2, RoBERTa), or those after the prefix (OPT).
  std::optional<std::int64_t> new_length(std::int64_t old_length) const {
    if (old_length == rows_before_) return rows_after_;
    const std::int64_t prefix = options_.resize.prefix_rows;
    return old_length == rows_before_ - prefix ? std::optional(rows_after_ - prefix) : std::nullopt;
  }

  void convert_gguf() {
    const GgufFile file = read_gguf(input_);
    const fs::path output = single_output();
    const GgufTensor* const table = file.find_tensor(options_.tensor);
    require(table != nullptr, input_.string(), ": has no tensor ", shown(options_.tensor), similar(file.tensors()));
    const auto bytes =
        resized(table->shape, table->bytes, element_of(table->type), name_of(table->type), input_.string());
    std::vector<GgufTensor> tensors = file.tensors();
    auto& replaced = tensors[static_cast<std::size_t>(table - file.tensors().data())];
    replaced.shape = report_.shape_after;
    replaced.bytes = bytes;

    std::vector<GgufEntry> metadata = file.metadata();
    const std::string key = file.text("general.architecture").value_or("") + ".context_length";
    for (GgufEntry& entry : metadata) {
      if (entry.key != key) continue;
      const auto length = new_length(entry.value.integer(input_.string() + ": " + key));
      if (!length) continue;
      require(*length <= std::int64_t{0xffffffff}, key, " must fit 32 bits, got ", *length);
      entry.value = GgufValue::of(static_cast<std::uint32_t>(*length));
      report_.adjusted.push_back(key);
    }
    require_free_space(output.parent_path(), fs::file_size(input_) + bytes.size());
    write_gguf(output, metadata, tensors);
    report_.files.push_back(output);
  }

  void write_safetensors_with_table(const SafetensorsFile& file, const fs::path& output) {
    const SafetensorsTensor* const table = file.find_tensor(options_.tensor);
    require(table != nullptr, file.name(), ": has no tensor ", shown(options_.tensor), similar(file.tensors()));
    const auto bytes = resized(table->shape, table->bytes, element_of(table->type), name_of(table->type), file.name());
    std::vector<SafetensorsTensor> tensors = file.tensors();
    auto& replaced = tensors[static_cast<std::size_t>(table - file.tensors().data())];
    replaced.shape = report_.shape_after;
    growth_ = static_cast<std::int64_t>(bytes.size()) - static_cast<std::int64_t>(replaced.bytes.size());
    replaced.bytes = bytes;
    require_free_space(output.parent_path(), fs::file_size(file.name()) + bytes.size());
    write_safetensors(output, tensors, file.metadata());
    report_.files.push_back(output);
  }

  /// Returns names that look like a position table, for the error about a missing one.
  template <class Tensor>
  static std::string similar(const std::vector<Tensor>& tensors) {
    std::string names;
    for (const Tensor& tensor : tensors) {
      const bool looks = tensor.name.find("pos") != std::string::npos || tensor.name.find("wpe") != std::string::npos;
      if (looks && names.size() < 200) names += (names.empty() ? "; it has " : ", ") + shown(tensor.name);
    }
    return names;
  }

  void convert_folder() {
    const HfFolder folder = find_hf_folder(input_);
    const ModelFiles model = model_files(folder.require_weights(), true);
    const SafetensorsModel weights = folder.read_weights();
    const SafetensorsFile* holder = nullptr;
    for (const SafetensorsFile& file : weights.files()) {
      if (file.find_tensor(options_.tensor) != nullptr) holder = &file;
    }
    require(holder != nullptr, input_.string(), ": has no tensor ", shown(options_.tensor),
            similar(weights.files().front().tensors()));
    const fs::path target = options_.in_place ? input_ : options_.output;
    require(options_.in_place || !fs::exists(target), target.string(), ": exists; the output must be a new folder");

    StagingFolder staging(target);
    const fs::path changed = fs::path(holder->name()).filename();
    write_safetensors_with_table(*holder, staging / changed);
    write_changed_json(folder.config, staging / "config.json", [this](OrderedJson& root) { adjust_config(root); });
    const bool sharded = folder.weights->extension() == ".json";
    if (sharded) {
      write_changed_json(*folder.weights, staging / folder.weights->filename(), [this](OrderedJson& root) {
        const auto metadata = root.find("metadata");
        if (metadata == root.end() || !metadata->is_object()) return;
        const auto total = metadata->find("total_size");
        if (total != metadata->end() && total->is_number_integer()) *total = total->get<std::int64_t>() + growth_;
      });
    }
    if (!options_.in_place) copy_unchanged(model, staging);
    report_.files = {target / changed, target / "config.json"};
    if (sharded) report_.files.push_back(target / folder.weights->filename());
    staging.publish();
  }

  static void copy_unchanged(const ModelFiles& model, const StagingFolder& staging) {
    for (const auto* const names : {&model.weights, &model.companions}) {
      for (const std::string& name : *names) {
        if (!fs::exists(staging / name)) fs::copy_file(model.folder / name, staging / name);
      }
    }
  }

  void adjust_config(OrderedJson& object) {
    for (const std::string_view key : length_keys) {
      const auto found = object.find(std::string(key));
      if (found == object.end() || !found->is_number_integer()) continue;
      const auto length = new_length(found->get<std::int64_t>());
      if (!length) continue;
      *found = *length;
      report_.adjusted.emplace_back(key);
    }
    for (const std::string_view key : hf_nesting_keys) {
      const auto nested = object.find(std::string(key));
      if (nested != object.end() && nested->is_object()) adjust_config(*nested);
    }
  }

  template <class Change>
  static void write_changed_json(const fs::path& from, const fs::path& to, Change change) {
    const MappedFile file(from);
    parse_json_document(text_of(file.bytes()), from.string());  // Error: not an object, too large or too deep
    OrderedJson root = OrderedJson::parse(text_of(file.bytes()));
    change(root);
    const std::string text = root.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
    const ByteChunk chunk = std::as_bytes(std::span(text));
    write_atomically(to, {&chunk, 1});
  }

  fs::path input_;
  const ConvertTableOptions& options_;
  TableReport report_ = {};
  std::int64_t rows_before_ = 0, rows_after_ = 0, growth_ = 0;
};

}  // namespace

TableReport convert_table(const std::filesystem::path& input, const ConvertTableOptions& options) {
  try {
    return TableConverter(input, options).run();
  } catch (const fs::filesystem_error& error) {
    fail(input.string(), ": cannot convert (", error.what(), ")");
  }
}

}  // namespace locus::io
