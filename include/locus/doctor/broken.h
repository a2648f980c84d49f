// SPDX-License-Identifier: Apache-2.0
// Deliberately broken encodings: each has one fault that users reported, and the verifier must find and name it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "locus/doctor/check.h"

namespace locus {

struct Broken {
  std::string_view name;   ///< e.g. "off_by_one_decode"
  std::string_view fault;  ///< its name in the notes of failed checks
};

/// Returns all broken encodings.
std::span<const Broken> broken_encodings();

/// Verifies the broken encoding called `name` and returns the checks.
/// Error: an unknown name.
std::vector<Check> verify_broken(std::string_view name);

}  // namespace locus
