// SPDX-License-Identifier: Apache-2.0
// Examines what a model's files say about positions: what they mean, what is doubtful, what differs from other files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "locus/encoding.h"
#include "locus/io/gguf_rope.h"
#include "locus/io/hf_config.h"
#include "locus/io/hf_rope_keys.h"

namespace locus {

enum class Severity : std::uint8_t { note, warning, error };
std::string_view name_of(Severity severity);

/// One result of lint.
struct Finding {
  std::string id = {};  ///< stable, e.g. `yarn-factor-mismatch`
  Severity severity = Severity::note;
  std::string layer_type = {};                            ///< empty: the whole model
  std::vector<std::string> keys = {};                     ///< the settings it concerns
  std::string what = {};                                  ///< one sentence, with its numbers
  std::string consequence = {};                           ///< in plain words
  std::vector<std::pair<std::string, double>> numbers{};  ///< the same numbers, for programs
};

/// One layer type as the file describes it.
struct LintLayer {
  std::string layer_type, scheme;
  Arguments arguments;
  std::vector<std::string> used, defaulted, unknown;
  std::optional<std::int64_t> trained_length;
  std::optional<Encoding> encoding;                       ///< at the served length; absent if the settings are invalid
  std::string refusal;                                    ///< why `encoding` is absent
  std::vector<std::string> not_applied = {};              ///< what the model also does but Locus does not
  std::vector<io::AlternativeReading> alternatives = {};  ///< as other versions and engines read the file
};

/// A model's position settings, read and ready to be examined.
struct LintModel {
  std::string name;        ///< the path as given
  std::string format;      ///< config.json, GGUF or safetensors
  std::string model_type;  ///< or the GGUF architecture
  std::vector<LintLayer> layers;
  std::int64_t served_length = 0;  ///< as requested, else the longest that the file states; 0: unknown
  bool served_length_given = false;
  std::string refusal;  ///< why `layers` is empty
  /// The model is known, but Locus cannot express it (or it has no attention). The file is not at fault.
  bool unsupported = false, has_attention = true;
  std::optional<io::HfRopeKeys> hf;
  std::optional<io::GgufRope> gguf;
  std::string tensors = {};  ///< of a safetensors file: which of its tensors hold positions, as a sentence
};

/// Reads a config.json, a model folder, a GGUF file, or the tables of positions in a safetensors file. Contradictory
/// settings are not errors: lint() reports them. Error: a file that is missing or is none of these.
LintModel read_lint_model(const std::filesystem::path& path, std::optional<std::int64_t> served_length = {});

/// Returns all findings, errors first.
std::vector<Finding> lint(const LintModel& model);

/// Returns what differs in `other`: scheme, width, pairing, frequencies with the largest difference of angles at the
/// model's served length, factors. The ids start with `against-`; errors come first.
std::vector<Finding> compare(const LintModel& model, const LintModel& other);

/// Returns the ids of all findings, in the order of lint()'s table.
std::vector<std::string_view> lint_ids();

/// Returns the largest error in radians of float32 angles (float32 frequency times float32 position), over all pairs
/// and the 32 positions before `length`.
double float32_angle_error(const Rotation& rotation, std::int64_t length);

}  // namespace locus
