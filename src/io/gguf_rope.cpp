// SPDX-License-Identifier: Apache-2.0
#include "locus/io/gguf_rope.h"

#include <cmath>
#include <set>

#include "locus/error.h"
#include "locus/scaling.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

/// The keys of one architecture. A rope key counts as understood if it was read.
class ArchitectureKeys {
 public:
  ArchitectureKeys(const GgufFile& file, const std::string& architecture) : file_(file), prefix_(architecture + ".") {}

  std::optional<std::int64_t> integer(std::string_view key) { return file_.integer(ask(key)); }
  std::optional<double> real(std::string_view key) {
    const std::string& asked = ask(key);
    const auto value = file_.real(asked);
    require(!value || std::isfinite(*value), file_.name(), ": ", asked, " must be finite, got ", value.value_or(0));
    return value;
  }
  std::optional<bool> boolean(std::string_view key) { return file_.boolean(ask(key)); }
  std::optional<std::string> text(std::string_view key) { return file_.text(ask(key)); }
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) { return file_.integers(ask(key)); }
  bool is_array(std::string_view key) const {
    const GgufValue* const value = file_.find(prefix_ + std::string(key));
    return value != nullptr && value->type == GgufValueType::array;
  }

  std::vector<std::string> left_over() const {
    std::vector<std::string> keys;
    for (const GgufEntry& entry : file_.metadata()) {
      if (entry.key.starts_with(prefix_ + "rope.") && !asked_.contains(entry.key)) keys.push_back(entry.key);
    }
    return keys;
  }

 private:
  const std::string& ask(std::string_view key) { return *asked_.insert(prefix_ + std::string(key)).first; }

  const GgufFile& file_;
  std::string prefix_;
  std::set<std::string> asked_;
};

std::optional<std::vector<float>> factors(const GgufFile& file, std::string_view tensor_name) {
  const GgufTensor* const tensor = file.find_tensor(tensor_name);
  if (tensor == nullptr) return std::nullopt;
  require(tensor->shape.size() == 1, file.name(), ": tensor ", tensor_name, " must have one axis, got ",
          tensor->shape.size());
  std::vector<float> values = file.floats(*tensor);
  for (const float value : values) {
    require(std::isfinite(value), file.name(), ": the numbers of ", tensor_name, " must be finite, got ", value);
  }
  return values;
}

void collect_scaling(GgufRope& rope, ArchitectureKeys& keys) {
  rope.scaling_type = keys.text("rope.scaling.type");
  rope.scaling_factor = keys.real("rope.scaling.factor");
  const std::optional<double> older_factor = keys.real("rope.scale_linear");
  if (!rope.scaling_factor) rope.scaling_factor = older_factor;
  rope.scaling_alpha = keys.real("rope.scaling.alpha");
  rope.scaling_attn_factor = keys.real("rope.scaling.attn_factor");
  rope.original_context_length = keys.integer("rope.scaling.original_context_length");
  rope.scaling_finetuned = keys.boolean("rope.scaling.finetuned");
  rope.yarn_log_multiplier = keys.real("rope.scaling.yarn_log_multiplier");
  rope.yarn_ext_factor = keys.real("rope.scaling.yarn_ext_factor");
  rope.yarn_attn_factor = keys.real("rope.scaling.yarn_attn_factor");
  rope.yarn_beta_fast = keys.real("rope.scaling.yarn_beta_fast");
  rope.yarn_beta_slow = keys.real("rope.scaling.yarn_beta_slow");
  for (const Rule* rule : rules()) {
    for (const GgufKey& key : rule->gguf_keys) {
      const auto value = keys.real("rope.scaling." + std::string(key.key));
      if (value) rope.rule_numbers.emplace(key.key, *value);
    }
  }
}

void collect_shapes(GgufRope& rope, ArchitectureKeys& keys) {
  rope.max_alibi_bias = keys.real("attention.max_alibi_bias");
  rope.context_length = keys.integer("context_length");
  rope.embedding_length = keys.integer("embedding_length");
  rope.block_count = keys.integer("block_count");
  rope.key_length = keys.integer("attention.key_length");
  rope.key_length_swa = keys.integer("attention.key_length_swa");
  rope.value_length = keys.integer("attention.value_length");
  if (!keys.is_array("attention.sliding_window")) rope.sliding_window = keys.integer("attention.sliding_window");
  rope.head_count = keys.integers("attention.head_count");
  rope.head_count_kv = keys.integers("attention.head_count_kv");
}

bool has_axes(const GgufRope& rope) {
  const auto& sections = rope.dimension_sections;
  return sections && sections->size() >= 2 && (*sections)[0] > 0 && (*sections)[1] > 0;
}

}  // namespace

GgufRope collect_gguf_rope(const GgufFile& file) {
  GgufRope rope;
  const auto architecture = file.text("general.architecture");
  require(architecture.has_value(), file.name(),
          ": general.architecture is missing; it determines the names of the keys");
  require(!architecture->empty(), file.name(), ": general.architecture must not be empty");
  rope.architecture = *architecture;
  ArchitectureKeys keys(file, *architecture);
  rope.freq_base = keys.real("rope.freq_base");
  rope.freq_base_swa = keys.real("rope.freq_base_swa");
  rope.dimension_count = keys.integer("rope.dimension_count");
  rope.dimension_count_swa = keys.integer("rope.dimension_count_swa");
  rope.dimension_sections = keys.integers("rope.dimension_sections");
  collect_scaling(rope, keys);
  collect_shapes(rope, keys);
  rope.freq_factors = factors(file, "rope_freqs.weight");
  rope.long_factors = factors(file, "rope_factors_long.weight");
  rope.short_factors = factors(file, "rope_factors_short.weight");
  rope.rope_type = gguf_rope_type(*architecture, has_axes(rope));
  // A dflash draft model with hyper-connections follows DeepSeek-V4, which pairs neighbours.
  if (*architecture == "dflash" && keys.integer("hyper_connection.count").value_or(0) > 0) {
    rope.rope_type = GgufRopeType::interleaved;
  }
  rope.unknown = keys.left_over();
  return rope;
}

}  // namespace locus::io
