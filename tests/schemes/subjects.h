// SPDX-License-Identifier: Apache-2.0
// The subjects of property tests: the example and the variants of every scheme.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/registry.h"

namespace locus::testing {

/// An encoding whose claims are tested.
struct Subject {
  std::string name;
  std::string scheme;
  Arguments arguments;

  Encoding encoding() const { return Encoding(scheme, arguments); }
};

inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

/// Returns the example and the variants of every scheme.
inline const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> found;
    for (const Scheme* scheme : schemes()) {
      const std::string name(scheme->name);
      found.push_back({name, name, scheme->example});
      for (const Example& variant : scheme->variants) {
        found.push_back({name + " " + std::string(variant.label), name, variant.arguments});
      }
    }
    return found;
  }();
  return all;
}

}  // namespace locus::testing
