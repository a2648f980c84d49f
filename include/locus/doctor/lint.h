// SPDX-License-Identifier: Apache-2.0
// Examines what a model's files say about positions: what it comes to, what is doubtful in it, what differs elsewhere.
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

/// One thing worth saying.
struct Finding {
  std::string id = {};  ///< stable, e.g. `yarn-factor-mismatch`
  Severity severity = Severity::note;
  std::string layer_type = {};                            ///< empty: the whole model, or layers that are all alike
  std::vector<std::string> keys = {};                     ///< the settings concerned
  std::string what = {};                                  ///< one sentence, with its numbers
  std::string consequence = {};                           ///< in plain words
  std::vector<std::pair<std::string, double>> numbers{};  ///< the same numbers, for programs
};

/// One kind of layer as the file describes it.
struct LintLayer {
  std::string layer_type, scheme;
  Arguments arguments;
  std::vector<std::string> used, defaulted, unknown;
  std::optional<std::int64_t> training_length;
  std::optional<Encoding> encoding;                       ///< at the served length; absent where the settings make none
  std::string refusal;                                    ///< why
  std::vector<std::string> not_applied = {};              ///< what the model also does and Locus does not
  std::vector<io::AlternativeReading> alternatives = {};  ///< readings by other versions and engines
};

/// A model's position settings, read and ready to be examined.
struct LintModel {
  std::string name;        ///< the path as given
  std::string format;      ///< config.json or GGUF
  std::string model_type;  ///< or the architecture
  std::vector<LintLayer> layers;
  std::int64_t served_length = 0;  ///< as asked for, else the longest that the file promises; 0: it does not say
  bool served_length_given = false;
  std::string refusal;  ///< why there are no layers
  /// The model was recognised, and Locus cannot express what it does (or it has no attention): no fault of the file.
  bool unsupported = false, has_attention = true;
  std::optional<io::HfRopeKeys> hf;
  std::optional<io::GgufRope> gguf;
};

/// Reads a config.json, a model folder or a GGUF file. Error for what cannot be read at all (no such file, no JSON, no
/// GGUF); settings that contradict each other are for lint() to report.
LintModel read_lint_model(const std::filesystem::path& path, std::optional<std::int64_t> served_length = {});

/// All findings, errors first.
std::vector<Finding> lint(const LintModel& model);

/// What is different in `other`: scheme, width, pairing, frequencies with the largest difference of angles at the
/// model's served length, factors. Findings whose ids start with `against-`, errors first.
std::vector<Finding> compare(const LintModel& model, const LintModel& other);

/// The ids that lint() knows, in the order of its table.
std::vector<std::string_view> lint_ids();

/// How far float32 angles (float32 frequency times float32 position) are off, at worst over all pairs and the 32
/// positions before `length`, in radians.
double float32_angle_error(const Rotation& rotation, std::int64_t length);

}  // namespace locus
