// SPDX-License-Identifier: Apache-2.0
// Trained models of the Llama architecture, each with the text that another program made it tell.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace locus::testing {

struct StoryModel {
  std::string name;
  std::filesystem::path model, tokenizer, told;  ///< the checkpoint, its vocabulary, its greedy text
  int trained_length = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::string cut;       ///< a word of the text; what precedes it serves as a prompt
  std::string sentence;  ///< the words before a full stop of the text
  std::string stop;      ///< the piece that ends this sentence
};

/// The model of tests/golden, trained by scripts/make_story_model.py, and stories260K where it lies beside the sources.
std::vector<StoryModel> story_models();

/// The greedy text, without the newline that a program adds at its end.
std::string told_text(const StoryModel& model);

inline void PrintTo(const StoryModel& model, std::ostream* stream) { *stream << model.name; }

/// Names the instances of parametrised tests.
inline constexpr auto story_model_name = [](const auto& info) { return info.param.name; };

}  // namespace locus::testing
