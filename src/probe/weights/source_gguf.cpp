// SPDX-License-Identifier: Apache-2.0
#include "locus/error.h"
#include "locus/io/gguf_encoding.h"
#include "parse/byte_reader.h"
#include "probe/weights/source.h"

namespace locus::probe {
namespace {

class GgufSettings {
 public:
  explicit GgufSettings(const io::GgufFile& file) : file_(file) {
    const auto name = file.text("general.architecture");
    require(name.has_value(), file.name(), ": general.architecture is missing");
    architecture_ = *name;
  }
  const std::string& architecture() const { return architecture_; }

  std::optional<std::int64_t> integer(const std::string& key) const { return file_.integer(full(key)); }
  std::int64_t needed(const std::string& key) const {
    const auto value = integer(key);
    require(value.has_value(), file_.name(), ": ", full(key), " is missing");
    return *value;
  }
  std::optional<double> real(const std::string& key) const { return file_.real(full(key)); }
  std::optional<bool> boolean(const std::string& key) const { return file_.boolean(full(key)); }
  /// Head counts may be given per layer; the probe needs the same for all layers.
  std::optional<std::int64_t> same_for_all_layers(const std::string& key) const {
    const auto values = file_.integers(full(key));
    if (!values || values->empty()) return {};
    for (const std::int64_t value : *values) {
      require(value == values->front(), file_.name(), ": ", full(key), " must be the same for all layers, got ",
              values->front(), " and ", value);
    }
    return values->front();
  }

 private:
  std::string full(const std::string& key) const { return architecture_ + "." + key; }
  const io::GgufFile& file_;
  std::string architecture_;
};

ModelConfig read_config(const io::GgufFile& file, const GgufSettings& settings) {
  const auto heads = settings.same_for_all_layers("attention.head_count");
  require(heads.value_or(0) >= 1, file.name(), ": ", settings.architecture(),
          ".attention.head_count must be present and at least 1");
  ModelConfig config{.architecture = settings.architecture(), .format = "gguf"};
  config.layers = settings.needed("block_count");
  config.heads = *heads;
  config.kv_heads = settings.same_for_all_layers("attention.head_count_kv").value_or(*heads);
  config.dim = settings.needed("embedding_length");
  config.head_dim = settings.integer("attention.key_length").value_or(config.dim / *heads);
  config.feed_forward = settings.same_for_all_layers("feed_forward_length").value_or(4 * config.dim);
  config.trained_length = settings.needed("context_length");
  config.window = settings.integer("attention.sliding_window").value_or(0);
  const auto rms = settings.real("attention.layer_norm_rms_epsilon");
  config.norm_epsilon = rms ? *rms : settings.real("attention.layer_norm_epsilon").value_or(1e-5);
  const io::GgufTensor* const embedding = file.find_tensor("token_embd.weight");
  require(embedding != nullptr && embedding->shape.size() == 2, file.name(),
          ": tensor token_embd.weight must be present and have two axes");
  config.vocab = embedding->shape[0];
  config.tied_head = file.find_tensor("output.weight") == nullptr;
  for (const io::GgufTensor& tensor : file.tensors()) {
    config.weight_bytes += static_cast<std::int64_t>(tensor.bytes.size());
    config.quantised = config.quantised || is_quantised(tensor.type);
  }
  return config;
}

}  // namespace

Source open_gguf(const std::filesystem::path& path) {
  const auto file = std::make_shared<const io::GgufFile>(io::read_gguf(path));
  const GgufSettings settings(*file);
  Source source;
  source.file = path.string();
  source.config.architecture = settings.architecture();
  require_served(source);
  source.config = read_config(*file, settings);
  source.parallel_residual = settings.boolean("use_parallel_residual").value_or(true);
  io::GgufEncoding encoding = io::resolve_gguf_encoding(*file);
  require(encoding.layers.size() == 1, source.file, ": the layers must all have the same encoding, got ",
          encoding.layers.size(), " kinds");
  source.encoding = std::move(encoding.layers.front());
  if (const auto frame = file->text("locus_lab.passkey")) {
    source.config.passkey = parse_passkey_frame(*frame, source.file + ": locus_lab.passkey");
  }
  note_reading(source);
  source.find = [file = file.get()](const std::string& name) -> std::optional<StoredTensor> {
    const io::GgufTensor* const found = file->find_tensor(name);
    if (found == nullptr) return {};
    return StoredTensor{found->name, found->type, found->shape, found->bytes};
  };
  for (const io::GgufTensor& tensor : file->tensors()) source.names.push_back(tensor.name);
  source.keeps = file;
  return source;
}

}  // namespace locus::probe
