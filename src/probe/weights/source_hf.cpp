// SPDX-License-Identifier: Apache-2.0
// Reads a Hugging Face folder: sizes from config.json, by the names that each model type uses, with transformers'
// defaults.
#include <array>

#include "locus/error.h"
#include "locus/io/hf_folder.h"
#include "parse/strict_json.h"
#include "probe/weights/source.h"

namespace locus::probe {
namespace {

class HfSettings {
 public:
  HfSettings(const std::string& text, const std::string& file)
      : json_(io::parse_strict_json(text, file)), file_(file) {}

  /// Returns the first of `keys` that is present and not null.
  const nlohmann::json* find(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const auto found = json_.find(key);
      if (found != json_.end() && !found->is_null()) return &*found;
    }
    return nullptr;
  }
  std::optional<std::int64_t> integer(std::initializer_list<const char*> keys) const {
    const nlohmann::json* const value = find(keys);
    if (value == nullptr) return {};
    require(value->is_number_integer(), file_, ": ", *keys.begin(), " must be an integer, got ", *value);
    return value->get<std::int64_t>();
  }
  std::int64_t needed(std::initializer_list<const char*> keys) const {
    const auto value = integer(keys);
    require(value.has_value(), file_, ": ", *keys.begin(), " is missing");
    return *value;
  }
  double real(std::initializer_list<const char*> keys, double fallback) const {
    const nlohmann::json* const value = find(keys);
    if (value == nullptr) return fallback;
    require(value->is_number(), file_, ": ", *keys.begin(), " must be a number, got ", *value);
    return value->get<double>();
  }
  bool boolean(std::initializer_list<const char*> keys, bool fallback) const {
    const nlohmann::json* const value = find(keys);
    if (value == nullptr) return fallback;
    require(value->is_boolean(), file_, ": ", *keys.begin(), " must be true or false, got ", *value);
    return value->get<bool>();
  }
  std::string text(std::initializer_list<const char*> keys) const {
    const nlohmann::json* const value = find(keys);
    if (value == nullptr) return "";
    require(value->is_string(), file_, ": ", *keys.begin(), " must be a string, got ", *value);
    return value->get<std::string>();
  }
  /// Error: a setting that changes the mathematics in a way that the probe does not support.
  void must_be(const char* key, bool wanted) const {
    require(boolean({key}, wanted) == wanted, file_, ": ", key, " must be ", wanted ? "true" : "false",
            "; the probe does not support another value");
  }

 private:
  nlohmann::json json_;
  std::string file_;
};

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

ModelConfig read_config(const HfSettings& settings, const std::string& architecture) {
  ModelConfig config{.architecture = architecture, .format = "safetensors"};
  config.layers = settings.needed({"num_hidden_layers", "n_layer"});
  config.heads = settings.needed({"num_attention_heads", "n_head"});
  config.kv_heads = settings.integer({"num_key_value_heads"}).value_or(config.heads);
  config.dim = settings.needed({"hidden_size", "n_embd", "n_embed"});
  const std::int64_t share = config.heads < 1 ? 0 : config.dim / config.heads;
  config.head_dim = settings.integer({"head_dim"}).value_or(architecture == "qwen3" ? 128 : share);
  config.feed_forward = settings.integer({"intermediate_size", "n_inner"}).value_or(4 * config.dim);
  config.vocab = settings.needed({"vocab_size"});
  config.norm_epsilon = settings.real({"rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps"},
                                      is_one_of(architecture, {"gpt2", "gpt_neox", "bloom"}) ? 1e-5 : 1e-6);
  config.tied_head = settings.boolean({"tie_word_embeddings"}, is_one_of(architecture, {"gpt2", "bloom"}));
  const bool slides = architecture == "mistral" || settings.boolean({"use_sliding_window"}, false);
  if (slides) config.window = settings.integer({"sliding_window"}).value_or(0);
  return config;
}

void check_form(const HfSettings& settings) {
  settings.must_be("scale_attn_weights", true);
  settings.must_be("scale_attn_by_inverse_layer_idx", false);
  settings.must_be("apply_residual_connection_post_layernorm", false);
}

WeightType type_of(const io::SafetensorsTensor& tensor, const std::string& file) {
  switch (tensor.type) {
    case io::SafetensorsType::f32:
      return WeightType::f32;
    case io::SafetensorsType::f16:
      return WeightType::f16;
    case io::SafetensorsType::bf16:
      return WeightType::bf16;
    default:
      fail(file, ": tensor ", tensor.name, " must be F32, F16 or BF16, got ", io::name_of(tensor.type));
  }
}

std::int64_t bytes_of(const io::SafetensorsModel& weights) {
  std::int64_t bytes = 0;
  for (const io::SafetensorsFile& file : weights.files()) {
    for (const io::SafetensorsTensor& tensor : file.tensors()) {
      bytes += static_cast<std::int64_t>(tensor.bytes.size());
    }
  }
  return bytes;
}

}  // namespace

Source open_hf_folder(const std::filesystem::path& path) {
  const io::HfFolder folder = io::find_hf_folder(path);
  const std::string name = folder.config.string(), text = io::read_hf_config_text(folder.config);
  const HfSettings settings(text, name);
  Source source;
  source.file = path.string();
  source.config.architecture = settings.text({"model_type"});
  require_served(source);
  source.config = read_config(settings, source.config.architecture);
  check_form(settings);
  source.parallel_residual = settings.boolean({"use_parallel_residual"}, true);
  source.activation = settings.text({"activation_function", "hidden_act"});
  io::HfConfig resolved = io::resolve_hf_config(text, name);
  require(resolved.layers.size() == 1, name, ": the layers must all have the same encoding, got ",
          resolved.layers.size(), " kinds");
  io::require_applicable(resolved.layers.front(), name);
  source.encoding = std::move(resolved.layers.front());
  if (const nlohmann::json* frame = settings.find({"passkey"}); frame && source.config.architecture == "locus_lab") {
    source.config.passkey = parse_passkey_frame(frame->dump(), name + ": passkey");
  }
  const auto stated = settings.integer({"max_position_embeddings", "n_positions", "seq_length"});
  source.config.trained_length = source.encoding.trained_length.value_or(stated.value_or(0));
  if (source.config.trained_length == 0) {
    source.config.trained_length = 2048;
    source.notes.emplace_back("the trained length is not in config.json: assumed 2048");
  }
  note_reading(source);
  const auto weights = std::make_shared<const io::SafetensorsModel>(folder.read_weights());
  source.config.weight_bytes = bytes_of(*weights);
  source.find = [model = weights.get(),
                 file = source.file](const std::string& tensor_name) -> std::optional<StoredTensor> {
    const io::SafetensorsTensor* const found = model->find_tensor(tensor_name);
    if (found == nullptr) return {};
    return StoredTensor{found->name, type_of(*found, file), found->shape, found->bytes};
  };
  source.names = weights->tensor_names();
  source.keeps = weights;
  return source;
}

}  // namespace locus::probe
