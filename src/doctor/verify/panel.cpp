// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/panel.h"

namespace locus {
namespace {

void append(std::vector<NamedEncoding>& panel, const Scheme& scheme) {
  const std::string name(scheme.name);
  panel.push_back({name, Encoding(name, scheme.example)});
  for (const Example& variant : scheme.variants) {
    panel.push_back({name + " " + std::string(variant.label), Encoding(name, variant.arguments)});
  }
}

}  // namespace

std::vector<NamedEncoding> verification_panel() {
  std::vector<NamedEncoding> panel;
  for (const Scheme* scheme : schemes()) append(panel, *scheme);
  return panel;
}

std::vector<NamedEncoding> verification_panel(std::string_view scheme) {
  std::vector<NamedEncoding> panel;
  append(panel, find_scheme(scheme));
  return panel;
}

}  // namespace locus
