// SPDX-License-Identifier: Apache-2.0
#include "io/rope_architectures.h"

#include <algorithm>
#include <array>
#include <vector>

#include "locus/error.h"
#include "locus/names.h"

namespace locus::io {
namespace {

struct NamePair {
  std::string_view model_type, architecture;
};

// The first row of an architecture is its most common model type.
constexpr std::array<NamePair, 40> names = {{{"llama", "llama"},
                                             {"mistral", "llama"},
                                             {"mixtral", "llama"},
                                             {"ministral3", "mistral3"},
                                             {"llama4", "llama4"},
                                             {"qwen2", "qwen2"},
                                             {"qwen2_moe", "qwen2moe"},
                                             {"qwen2_vl", "qwen2vl"},
                                             {"qwen2_5_vl", "qwen2vl"},
                                             {"qwen3", "qwen3"},
                                             {"qwen3_moe", "qwen3moe"},
                                             {"qwen3_vl", "qwen3vl"},
                                             {"qwen3_vl_moe", "qwen3vlmoe"},
                                             {"gemma", "gemma"},
                                             {"gemma2", "gemma2"},
                                             {"gemma3", "gemma3"},
                                             {"phi", "phi2"},
                                             {"phi3", "phi3"},
                                             {"phimoe", "phimoe"},
                                             {"gpt_neox", "gptneox"},
                                             {"gpt_oss", "gpt-oss"},
                                             {"stablelm", "stablelm"},
                                             {"starcoder2", "starcoder2"},
                                             {"olmo", "olmo"},
                                             {"olmo2", "olmo2"},
                                             {"olmoe", "olmoe"},
                                             {"cohere", "command-r"},
                                             {"cohere2", "cohere2"},
                                             {"deepseek_v2", "deepseek2"},
                                             {"deepseek_v3", "deepseek2"},
                                             {"exaone4", "exaone4"},
                                             {"falcon", "falcon"},
                                             {"glm4", "glm4"},
                                             {"glm4_moe", "glm4moe"},
                                             {"granite", "granite"},
                                             {"internlm2", "internlm2"},
                                             {"minicpm3", "minicpm3"},
                                             {"nemotron", "nemotron"},
                                             {"seed_oss", "seed_oss"},
                                             {"smollm3", "smollm3"}}};

}  // namespace

std::optional<std::string_view> architecture_of(std::string_view model_type) {
  constexpr std::string_view of_text = "_text";
  if (model_type.ends_with(of_text)) model_type.remove_suffix(of_text.size());
  const auto row =
      std::find_if(names.begin(), names.end(), [&](const NamePair& n) { return n.model_type == model_type; });
  return row == names.end() ? std::nullopt : std::optional(row->architecture);
}

std::optional<std::string_view> model_type_of(std::string_view architecture) {
  const auto row =
      std::find_if(names.begin(), names.end(), [&](const NamePair& n) { return n.architecture == architecture; });
  return row == names.end() ? std::nullopt : std::optional(row->model_type);
}

const Rule& rule_of_gguf(std::string_view type, std::string_view where) {
  std::vector<std::string_view> known;
  for (const Rule* rule : rules()) {
    if (rule->gguf_type.empty()) continue;
    if (rule->gguf_type == type) return *rule;
    known.push_back(rule->gguf_type);
  }
  fail(where, ": ", unknown_name("rope.scaling.type", type, known));
}

}  // namespace locus::io
