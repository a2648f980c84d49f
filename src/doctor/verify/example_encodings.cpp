// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/example_encodings.h"

#include "locus/error.h"

namespace locus {
namespace {

void append(std::vector<NamedEncoding>& examples, const Scheme& scheme) {
  const std::string name(scheme.name);
  examples.push_back({name, Encoding(name, scheme.example)});
  for (const Example& variant : scheme.variants) {
    examples.push_back({name + " " + std::string(variant.label), Encoding(name, variant.arguments)});
  }
}

bool reaches(const RelativeKeys& keys, std::int64_t tokens) {
  if (!keys.index) return true;
  try {
    keys.index(tokens - 1, 0);
    keys.index(0, tokens - 1);
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace

std::int64_t tokens_in_reach(const RelativeKeys& keys, std::int64_t wanted) {
  while (wanted > 1 && !reaches(keys, wanted)) --wanted;
  return wanted;
}

std::vector<NamedEncoding> example_encodings() {
  std::vector<NamedEncoding> examples;
  for (const Scheme* scheme : schemes()) append(examples, *scheme);
  return examples;
}

std::vector<NamedEncoding> example_encodings(std::string_view scheme) {
  std::vector<NamedEncoding> examples;
  append(examples, find_scheme(scheme));
  return examples;
}

}  // namespace locus
