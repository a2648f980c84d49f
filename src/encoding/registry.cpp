// SPDX-License-Identifier: Apache-2.0
#include "locus/registry.h"

#include "locus/names.h"
#include "locus/scaling.h"

namespace locus {

#define LOCUS_SCHEME(name) const Scheme& name##_scheme();
#include "schemes/registry.def"
#undef LOCUS_SCHEME
#define LOCUS_RULE(name) const Rule& name##_rule();
#include "scaling/registry.def"
#undef LOCUS_RULE

namespace {

template <class Entry>
const Entry& find(std::string_view kind, std::span<const Entry* const> entries, std::string_view name) {
  return *find_named(kind, entries, name, [](const Entry* entry) { return entry->name; });
}

}  // namespace

std::span<const Scheme* const> schemes() {
  static const Scheme* const all[] = {
#define LOCUS_SCHEME(name) &name##_scheme(),
#include "schemes/registry.def"
#undef LOCUS_SCHEME
  };
  return all;
}

std::span<const Rule* const> rules() {
  static const Rule* const all[] = {
#define LOCUS_RULE(name) &name##_rule(),
#include "scaling/registry.def"
#undef LOCUS_RULE
  };
  return all;
}

const Scheme& find_scheme(std::string_view name) { return find("scheme", schemes(), name); }
const Rule& find_rule(std::string_view name) { return find("rule", rules(), name); }

bool needs_factor_only(const Rule& rule) {
  bool has_factor = false;
  for (const Parameter& parameter : rule.parameters) {
    const bool is_factor = parameter.name == "factor";
    if (parameter.required && !is_factor && parameter.name != rule.trained_length) return false;
    has_factor = has_factor || is_factor;
  }
  return has_factor;
}

std::vector<const Rule*> compared_rules() {
  std::vector<const Rule*> compared;
  for (const Rule* rule : rules()) {
    if (rule->compared) compared.push_back(rule);
  }
  return compared;
}

}  // namespace locus
