// SPDX-License-Identifier: Apache-2.0
// What the library says in a page's language: phrases of the registry, faults, and the results of a lab.
#pragma once

#include "javascript.h"

namespace locus::wasm {

val phrase(const std::string& english, const std::string& language);
val fault(const std::string& id, const std::string& language);
val lab_results(const std::string& path, const std::string& language);

}  // namespace locus::wasm
