// SPDX-License-Identifier: Apache-2.0
// The JSON type of the lab: keys keep the order in which they were written.
#pragma once

#include <nlohmann/json.hpp>

namespace locus::lab {

using Json = nlohmann::ordered_json;

}  // namespace locus::lab
