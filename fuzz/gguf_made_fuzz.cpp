// SPDX-License-Identifier: Apache-2.0
// GGUF files with the keys and tensors that the readers of RoPE settings look for.
#include "checks.h"
#include "made_gguf.h"

namespace {

constexpr std::string_view architectures[] = {"llama",   "qwen2",   "gemma3", "phi3",      "bloom", "deepseek2",
                                              "qwen2vl", "gptneox", "mpt",    "command-r", "nobody"};
constexpr std::string_view number_keys[] = {"rope.freq_base",
                                            "rope.freq_base_swa",
                                            "rope.dimension_count",
                                            "rope.scaling.factor",
                                            "rope.scale_linear",
                                            "rope.scaling.attn_factor",
                                            "rope.scaling.original_context_length",
                                            "rope.scaling.finetuned",
                                            "rope.scaling.yarn_log_multiplier",
                                            "rope.scaling.yarn_ext_factor",
                                            "rope.scaling.yarn_beta_fast",
                                            "rope.scaling.alpha",
                                            "attention.max_alibi_bias",
                                            "context_length",
                                            "embedding_length",
                                            "block_count",
                                            "attention.key_length",
                                            "attention.sliding_window",
                                            "attention.head_count",
                                            "attention.head_count_kv"};
constexpr std::string_view scaling_types[] = {"none", "linear", "yarn", "longrope", "other"};
constexpr std::string_view tensors[] = {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
                                        "token_embd.weight", "blk.0.attn_q.weight",      "blk.0.attn_k.bias"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace locus::fuzz;
  Choices choices(data, size);
  MadeGguf made(choices);
  const std::string architecture(choices.of(architectures));
  if (!choices.fault()) made.text_value("general.architecture", architecture);
  for (std::size_t i = choices.below(16); i > 0; --i) {
    const std::string key = architecture + "." + std::string(choices.of(number_keys));
    switch (choices.below(8)) {
      case 0:
        made.numbers_value(architecture + ".rope.dimension_sections", choices.below(5));
        break;
      case 1:
        made.text_value(architecture + ".rope.scaling.type", choices.of(scaling_types));
        break;
      case 2:
        made.numbers_value(key, choices.below(6));
        break;
      case 3:
        made.nested_value(choices.text());
        break;
      case 4:
        made.number_value("general.alignment");
        break;
      default:
        made.number_value(key);
    }
  }
  for (std::size_t i = choices.below(4); i > 0; --i)
    made.tensor(choices.fault() ? choices.text() : choices.of(tensors));
  const std::string file = made.file();
  check_gguf(bytes_of(file));
  check_rope_settings(bytes_of(file));
  return 0;
}
