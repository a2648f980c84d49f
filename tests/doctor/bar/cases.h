// SPDX-License-Identifier: Apache-2.0
// Dumps with or without a planted fault, and the verdicts that are right for them.
#pragma once

#include <set>
#include <string>
#include <variant>

#include "doctor/bar/engine.h"
#include "locus/doctor/diagnose_bias.h"

namespace locus::bar {

/// A dump of queries, the input of the doctor, and the truth.
struct Case {
  std::string plant;                 ///< the generator's name of the fault or variant
  std::set<std::string> right = {};  ///< names of first verdicts that are right
  std::string truth = {};            ///< the true one, if no dump can distinguish two; empty: any of them
  std::string about = {};            ///< for people

  Shape shape = {};
  std::string scheme = "rope";  ///< of the expected encoding
  RuleOf rule = {};
  Numerics numerics = {};
  Engine engine = {};
  Arguments arguments = {};                         ///< of the expected encoding
  std::vector<std::vector<std::int64_t>> ids = {};  ///< expected, [axes][rows]
  bool ids_given = false;
  RotationDump dump = {};
  Expectation expected = {};
};

struct BiasCase {
  std::string plant;
  std::set<std::string> right = {};
  BiasDump dump = {};
  std::optional<Encoding> expected = {};
};

/// Plants of rotations; `tokens` and `numerics` are given, everything else is random.
const std::vector<std::string>& rotation_plants();
/// The same for encodings that declare more than the rotation of pairs.
const std::vector<std::string>& encoding_plants();
Case make_case(const std::string& plant, std::int64_t tokens, const Numerics& numerics, Random& random);

const std::vector<std::string>& bias_plants();
BiasCase make_bias_case(const std::string& plant, Random& random);

}  // namespace locus::bar
