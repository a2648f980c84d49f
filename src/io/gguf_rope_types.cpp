// SPDX-License-Identifier: Apache-2.0
// The rotation that llama.cpp applies for each general.architecture (llama_model_rope_type of August 2026).
#include <algorithm>
#include <array>

#include "locus/io/gguf_rope.h"

namespace locus::io {
namespace {

// Positions enter through ALiBi, learned rows, buckets, recurrence, or not at all.
constexpr std::array<std::string_view, 22> without_rotation = {
    "arwkv7",          "bloom",   "clip",        "gpt2",       "gptj",   "jais", "jamba",
    "jina-bert-v2",    "kimi-k3", "kimi-linear", "mamba",      "mamba2", "mpt",  "nemotron_h",
    "nemotron_h_moe",  "refact",  "rwkv6",       "rwkv6qwen2", "rwkv7",  "t5",   "t5encoder",
    "wavtokenizer-dec"};
// Pairs of neighbours.
constexpr std::array<std::string_view, 44> interleaved_always = {
    "arcee",        "arctic",      "baichuan",      "bailingmoe", "bailingmoe3",   "chameleon",    "chatglm",
    "cohere2",      "cohere2moe",  "command-r",     "deci",       "deepseek",      "deepseek2",    "deepseek2-ocr",
    "deepseek32",   "deepseek4",   "dots3note",     "eagle3",     "ernie4_5",      "ernie4_5-moe", "glm-dsa",
    "granite",      "granite_swa", "granitehybrid", "granitemoe", "graniteswitch", "internlm2",    "llada",
    "llama",        "llama-embed", "llama4",        "maincoder",  "minicpm",       "mistral3",     "mistral4",
    "muse-glimmer", "nanbeige",    "neo-bert",      "olmo",       "plm",           "pockettts",    "smollm3",
    "starcoder",    "xverse"};
// Pairs half the rotary width apart.
constexpr std::array<std::string_view, 71> half_always = {
    "afmoe",           "apertus",     "bailingmoe2",  "bert",           "bitnet",         "codeshell",
    "cogvlm",          "dbrx",        "dflash",       "dots1",          "dream",          "eurobert",
    "exaone",          "exaone-moe",  "exaone4",      "falcon",         "falcon-h1",      "gemma",
    "gemma-embedding", "gemma2",      "gemma3",       "gemma3n",        "gemma4",         "gemma4-assistant",
    "gpt-oss",         "gptneox",     "grok",         "grovemoe",       "hunyuan-dense",  "hunyuan-moe",
    "hy_v3",           "jais2",       "jina-bert-v3", "laguna",         "lfm2",           "lfm2moe",
    "llada-moe",       "mellum",      "mimo2",        "minicpm3",       "minimax-01",     "minimax-m2",
    "minimax-m3",      "modern-bert", "nemotron",     "nomic-bert",     "nomic-bert-moe", "olmo2",
    "olmoe",           "openelm",     "orion",        "pangu-embedded", "phi2",           "phi3",
    "phimoe",          "plamo",       "plamo2",       "plamo3",         "qwen",           "qwen2",
    "qwen2moe",        "qwen3",       "qwen3moe",     "qwen3next",      "rnd1",           "seed_oss",
    "smallthinker",    "stablelm",    "starcoder2",   "step35",         "talkie"};
// Several axes in consecutive sections.
constexpr std::array<std::string_view, 2> mrope_always = {"paddleocr", "qwen2vl"};
// Several axes interleaved.
constexpr std::array<std::string_view, 5> imrope_always = {"qwen35", "qwen35moe", "qwen3tts", "qwen3vl", "qwen3vlmoe"};
// Neighbours for text models; mrope if the file has sections.
constexpr std::array<std::string_view, 1> interleaved_or_mrope = {"glm4"};
// Half for text models; mrope if the file has sections.
constexpr std::array<std::string_view, 2> half_or_mrope = {"glm4moe", "hunyuan_vl"};

static_assert(std::is_sorted(without_rotation.begin(), without_rotation.end()) &&
                  std::is_sorted(interleaved_always.begin(), interleaved_always.end()) &&
                  std::is_sorted(half_always.begin(), half_always.end()) &&
                  std::is_sorted(mrope_always.begin(), mrope_always.end()) &&
                  std::is_sorted(imrope_always.begin(), imrope_always.end()) &&
                  std::is_sorted(interleaved_or_mrope.begin(), interleaved_or_mrope.end()) &&
                  std::is_sorted(half_or_mrope.begin(), half_or_mrope.end()),
              "the lists must be sorted for binary search");

template <std::size_t size>
bool contains(const std::array<std::string_view, size>& sorted, std::string_view architecture) {
  return std::binary_search(sorted.begin(), sorted.end(), architecture);
}

}  // namespace

std::optional<GgufRopeType> gguf_rope_type(std::string_view architecture, bool has_axes) {
  using enum GgufRopeType;
  if (contains(without_rotation, architecture)) return none;
  if (contains(interleaved_always, architecture)) return interleaved;
  if (contains(half_always, architecture)) return half;
  if (contains(mrope_always, architecture)) return mrope;
  if (contains(imrope_always, architecture)) return imrope;
  if (contains(interleaved_or_mrope, architecture)) return has_axes ? mrope : interleaved;
  if (contains(half_or_mrope, architecture)) return has_axes ? mrope : half;
  return std::nullopt;
}

std::string_view name_of(GgufRopeType type) {
  constexpr std::array<std::string_view, 6> names = {"none", "interleaved", "half", "mrope", "imrope", "vision"};
  const auto number = static_cast<std::size_t>(type);
  return number < names.size() ? names[number] : "unknown";
}

}  // namespace locus::io
