// SPDX-License-Identifier: Apache-2.0
// Maps the files of a model and writes them with some regions reordered. Nothing is decoded or held in memory, and
// everything that is not moved keeps its bytes: header, padding, order, unknown keys.
#include "locus/io/convert_pairing.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "io/model_files.h"
#include "io/output_place.h"
#include "io/pairing_plan.h"
#include "io/pairing_shapes.h"
#include "locus/io/encoding_json.h"
#include "locus/io/gguf.h"
#include "locus/io/gguf_blocks.h"
#include "locus/io/hf_folder.h"
#include "locus/io/mapped_file.h"
#include "locus/io/safetensors.h"
#include "locus/io/sniff.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;

/// A file and its changes.
struct PlannedFile {
  std::shared_ptr<const MappedFile> mapping;
  std::vector<MovedTensor> moved;
};

void write_planned(const PlannedFile& file, const fs::path& output) {
  std::vector<const MovedTensor*> in_order;
  for (const MovedTensor& tensor : file.moved) in_order.push_back(&tensor);
  std::sort(in_order.begin(), in_order.end(), [](const MovedTensor* a, const MovedTensor* b) {
    return std::less<const std::byte*>()(a->before.data(), b->before.data());
  });
  const ByteChunk whole = file.mapping->bytes();
  std::vector<ByteChunk> chunks;
  std::size_t done = 0;
  for (const MovedTensor* tensor : in_order) {
    const auto begin = static_cast<std::size_t>(tensor->before.data() - whole.data());
    chunks.push_back(whole.subspan(done, begin - done));
    chunks.insert(chunks.end(), tensor->after.begin(), tensor->after.end());
    done = begin + tensor->before.size();
  }
  chunks.push_back(whole.subspan(done));
  write_atomically(output, chunks);
}

PlannedFile plan_safetensors(const fs::path& path, PairingPlan& plan) {
  PlannedFile planned{std::make_shared<const MappedFile>(path), {}};
  const SafetensorsFile file = parse_safetensors(planned.mapping->bytes(), path.string());
  for (const SafetensorsTensor& tensor : file.tensors()) {
    const PlannedTensor one{tensor.name, tensor.shape, tensor.bytes, name_of(tensor.type)};
    if (auto moved = plan.add(one, attention_name_hf(tensor.name), file.name())) planned.moved.push_back(*moved);
  }
  return planned;
}

/// Writes the lab's GGUF file with moved tensors and the new pairing stated.
void write_stating(const GgufFile& file, const std::vector<MovedTensor>& moved, Pairing to, const fs::path& output) {
  std::vector<GgufEntry> metadata = file.metadata();
  for (GgufEntry& entry : metadata) {
    if (entry.key != "locus_lab.encoding") continue;
    entry.value = GgufValue::of(encoding_json_with(*file.text(entry.key), to, file.name() + ": " + entry.key));
  }
  std::vector<std::vector<std::byte>> held;
  held.reserve(moved.size());
  std::vector<GgufTensor> tensors = file.tensors();
  for (const MovedTensor& one : moved) {
    held.emplace_back();
    for (const ByteChunk piece : one.after) held.back().insert(held.back().end(), piece.begin(), piece.end());
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const GgufTensor& tensor) { return tensor.name == one.name; });
    found->bytes = held.back();
  }
  write_gguf(output, metadata, tensors);
}

/// Writes config.json of the lab's folder with the new pairing stated.
void write_stating(const fs::path& config, Pairing to, const fs::path& output) {
  const MappedFile file(config);
  auto json = nlohmann::ordered_json::parse(text_of(file.bytes()));
  json["locus_encoding"]["arguments"]["pairing"] = std::string(name_of(to));
  const std::string text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  const ByteChunk chunk = std::as_bytes(std::span(text));
  write_atomically(output, {&chunk, 1});
}

class PairingConverter {
 public:
  PairingConverter(fs::path input, const ConvertPairingOptions& options) : input_(std::move(input)), options_(options) {
    require(options_.in_place == options_.output.empty(), input_.string(),
            ": give either the output (--output) or replace the input (--in-place)");
  }

  PairingReport run() {
    if (fs::is_directory(input_)) {
      const HfFolder folder = find_hf_folder(input_);
      return convert_folder(model_files(folder.require_weights(), true), folder.config);
    }
    const FileKind kind = sniff(input_);
    if (kind == FileKind::gguf) return convert_gguf();
    const fs::path config = input_.parent_path() / "config.json";
    if (kind == FileKind::safetensors_index || kind == FileKind::json) {
      return convert_folder(model_files(input_, false), config);
    }
    return convert_file(config);
  }

 private:
  /// Permuting weights that already have the requested pairing would silently ruin them.
  void check_direction(const ModelShape& shape) const {
    const auto from = options_.from ? options_.from : shape.engine_pairing;
    require(from.has_value(), input_.string(), ": the pairing of ", shown(shape.architecture),
            " is unknown; give the pairing of its weights (--from)");
    if (*from != options_.to) return;
    const Pairing other = options_.to == Pairing::half ? Pairing::interleaved : Pairing::half;
    require(!options_.from, input_.string(), ": --from and --to must differ, got ", name_of(*from), " twice");
    fail(input_.string(), ": the weights of ", shown(shape.architecture), " are ", name_of(*from),
         " already; if these weights are not, give their pairing (--from ", name_of(other), ")");
  }

  void learn(const ModelShape& shape, const PairingPlan& plan) {
    plan.check_complete(input_.string());
    check_direction(shape);
    const LayerShape first = shape.of_layer(plan.first_layer());
    report_.head = first.head;
    report_.heads = first.heads;
    report_.key_value_heads = first.key_value_heads;
    report_.layers = plan.layers();
    report_.architecture = shape.architecture;
    report_.engine_pairing = shape.engine_pairing;
  }
  void note_written(const PlannedFile& file, const fs::path& output) {
    for (const MovedTensor& tensor : file.moved) report_.tensors.push_back(tensor.name);
    report_.files.push_back(output);
  }

  ModelShape shape_from(const fs::path& beside) const {
    const fs::path& config = options_.config.empty() ? beside : options_.config;
    require(fs::exists(config), config.string(),
            ": not found; the model's config.json is needed for its heads (--config)");
    const MappedFile file(config);
    return model_shape_hf(text_of(file.bytes()), config.string());
  }

  fs::path single_output() const {
    if (options_.in_place) return input_;
    require_other_file(input_, options_.output);
    return options_.output;
  }
  PairingReport write_single(const PlannedFile& file) {
    const fs::path output = single_output();
    require_free_space(output.parent_path(), file.mapping->bytes().size());
    write_planned(file, output);
    note_written(file, output);
    return report_;
  }

  PairingReport convert_gguf() {
    PlannedFile planned{std::make_shared<const MappedFile>(input_), {}};
    const GgufFile file = parse_gguf(planned.mapping->bytes(), input_.string());
    require(options_.config.empty(), input_.string(), ": a GGUF file states its heads; --config does not apply");
    const ModelShape shape = model_shape_gguf(file);
    PairingPlan plan(options_.to, shape.of_layer);
    for (const GgufTensor& tensor : file.tensors()) {
      const GgufBlock* const block = find_gguf_block(tensor.type);
      const PlannedTensor one{tensor.name, tensor.shape, tensor.bytes, name_of(tensor.type),
                              block == nullptr ? 0 : block->elements};
      if (auto moved = plan.add(one, attention_name_gguf(tensor.name), file.name())) planned.moved.push_back(*moved);
    }
    learn(shape, plan);
    if (!shape.states_pairing) return write_single(planned);
    const fs::path output = single_output();
    write_stating(file, planned.moved, options_.to, output);
    note_written(planned, output);
    return report_;
  }

  PairingReport convert_file(const fs::path& config) {
    const ModelShape shape = shape_from(config);
    require(!shape.states_pairing, input_.string(),
            ": the config.json of this model states the pairing and must change too; give the folder");
    PairingPlan plan(options_.to, shape.of_layer);
    const PlannedFile planned = plan_safetensors(input_, plan);
    learn(shape, plan);
    return write_single(planned);
  }

  PairingReport convert_folder(const ModelFiles& model, const fs::path& config) {
    const ModelShape shape = shape_from(config);
    PairingPlan plan(options_.to, shape.of_layer);
    std::vector<PlannedFile> planned;
    std::uint64_t bytes = 0;
    for (const std::string& name : model.weights) {
      planned.push_back(plan_safetensors(model.folder / name, plan));
      bytes += planned.back().mapping->bytes().size();
    }
    learn(shape, plan);
    const fs::path target = options_.in_place ? model.folder : options_.output;
    require(options_.in_place || !fs::exists(target), target.string(), ": exists; the output must be a new folder");
    require_free_space(options_.in_place ? target : fs::absolute(target).parent_path(), bytes);

    StagingFolder staging(target);
    for (std::size_t i = 0; i < planned.size(); ++i) write_planned(planned[i], staging / model.weights[i]);
    if (!options_.in_place) {
      for (const std::string& name : model.companions) fs::copy_file(model.folder / name, staging / name);
    }
    if (shape.states_pairing) write_stating(config, options_.to, staging / "config.json");
    staging.publish();
    for (std::size_t i = 0; i < planned.size(); ++i) note_written(planned[i], target / model.weights[i]);
    return report_;
  }

  fs::path input_;
  const ConvertPairingOptions& options_;
  PairingReport report_ = {};
};

}  // namespace

PairingReport convert_pairing(const std::filesystem::path& input, const ConvertPairingOptions& options) {
  try {
    return PairingConverter(input, options).run();
  } catch (const fs::filesystem_error& error) {
    fail(input.string(), ": cannot convert (", error.what(), ")");
  }
}

}  // namespace locus::io
