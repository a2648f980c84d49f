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

}  // namespace locus
