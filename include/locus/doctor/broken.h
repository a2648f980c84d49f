// SPDX-License-Identifier: Apache-2.0
// Deliberately broken encodings: each has one fault that users have met, and the verifier must find and name it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "locus/doctor/check.h"

namespace locus {

struct Broken {
  std::string_view name;   ///< e.g. "off_by_one_decode"
  std::string_view fault;  ///< as notes of failed checks name it
};

std::span<const Broken> broken_encodings();

/// The report of the broken encoding called `name`; Error listing the known ones.
std::vector<Check> verify_broken(std::string_view name);

}  // namespace locus
