// SPDX-License-Identifier: Apache-2.0
// What each frequency rule needs beside its name, for a rotary width of 16.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "locus/value.h"

namespace locus {

inline const std::map<std::string, Arguments>& rule_arguments() {
  static const std::map<std::string, Arguments> all = {
      {"none", {}},
      {"linear", {{"factor", 4}}},
      {"ntk", {{"factor", 4}}},
      {"dynamic_ntk", {{"factor", 2}, {"max_length", 2048}}},
      {"ntk_by_parts", {{"factor", 4}, {"original_length", 4096}}},
      {"yarn", {{"factor", 4}, {"original_length", 4096}}},
      {"longrope",
       {{"short_factor", std::vector<double>(8, 1.5)},
        {"long_factor", std::vector<double>(8, 4.0)},
        {"original_length", 4096},
        {"max_length", 32768}}},
      {"llama3", {{"factor", 8}, {"original_length", 8192}}},
      {"proportional", {{"rotary_fraction", 0.25}}},
  };
  return all;
}

}  // namespace locus
