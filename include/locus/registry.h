// SPDX-License-Identifier: Apache-2.0
// The registry of schemes. Listing, help, bindings, property tests and documentation iterate over it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "locus/claims.h"
#include "locus/site.h"
#include "locus/value.h"

namespace locus {

/// What a scheme makes of validated arguments.
struct SchemeResult {
  SiteTerm term;
  Claims claims;  ///< the scheme's claims less those that these arguments give up
};

struct Scheme {
  std::string_view name;
  std::string_view summary;
  std::string_view paper;
  Site site;
  Claims claims;                      ///< with default arguments
  std::vector<Parameter> parameters;  ///< in the order in which they are shown
  SchemeResult (*make)(const Arguments& arguments);
  /// Parameters may depend on others (a RoPE rule has its own): absent means `parameters` is all.
  std::vector<Parameter> (*parameters_for)(const Arguments& given) = nullptr;
  Arguments example;  ///< a small valid set of arguments, for help texts and tests
};

/// All schemes, in the order of the registry.
std::span<const Scheme* const> schemes();
/// Throws Error naming the known schemes.
const Scheme& find_scheme(std::string_view name);

}  // namespace locus
