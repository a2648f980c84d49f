// SPDX-License-Identifier: Apache-2.0
#include "run/presets.h"

#include "locus/names.h"
#include "locus/registry.h"

namespace locus::lab {

namespace {

std::vector<std::string> schemes_in(ComparedIn preset) {
  std::vector<std::string> names;
  for (const Scheme* scheme : schemes()) {
    if (scheme->compared <= preset) names.emplace_back(scheme->name);
  }
  return names;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"quick", "about 2 minutes on 2 cores", {"verbs", "back"}, schemes_in(ComparedIn::quick), 1},
      {"standard",
       "at most 10 minutes on 2 cores",
       {"verbs", "passkey", "back", "first"},
       schemes_in(ComparedIn::standard),
       3},
      {"full",
       "everything, an hour or more",
       {"verbs", "passkey", "back", "first", "order"},
       schemes_in(ComparedIn::full),
       3},
      {"reference",
       "the run behind docs/results.md, at most 2 hours per task on 2 cores",
       {"verbs", "passkey", "back", "first", "order"},
       schemes_in(ComparedIn::full),
       5,
       true},
  };
  return all;
}

namespace {

// Every preset has every task: --tasks may name any of them.
const std::vector<Budget>& budgets() {
  // clang-format off
  static const std::vector<Budget> all = {
      // preset      task      length steps tune batch rows  rate  {layers, heads, width}
      {"quick",    "verbs",     64,   600,   0,   16,  16, 8e-3, {2, 4, 64}},
      {"quick",    "passkey",   32,   500,   0,   32,  32, 5e-3, {2, 4, 64}},
      {"quick",    "back",      32,   400,   0,   32,  32, 5e-3, {2, 4, 64}},
      {"quick",    "first",     32,   200,   0,   32,  32, 5e-3, {2, 4, 64}},
      {"quick",    "order",     16,  1500,   0,   64,  64, 3e-3, {2, 4, 64}},
      {"quick",    "text",      64,   400,   0,   16,  16, 5e-3, {2, 4, 64}},

      {"standard", "verbs",     64,   600,  30,   16,  16, 8e-3, {2, 4, 64}},
      {"standard", "passkey",   32,   500,   0,   32,  32, 5e-3, {2, 4, 64}},
      {"standard", "back",      32,   400,   0,   32,  32, 5e-3, {2, 4, 64}},
      {"standard", "first",     32,   200,   0,   32,  32, 5e-3, {2, 4, 64}},
      {"standard", "order",     16,  1500,   0,   64,  64, 3e-3, {2, 4, 64}},
      {"standard", "text",      64,   400,  30,   16,  16, 5e-3, {2, 4, 64}},

      {"full",     "verbs",    128,  2000, 100,   32,  32, 2e-3, {4, 4, 128}},
      {"full",     "passkey",   64,  3000,   0,   32,  32, 2e-3, {2, 4, 64}},
      {"full",     "back",      64,  1500,   0,   32,  32, 2e-3, {2, 4, 64}},
      {"full",     "first",     64,  1500,   0,   32,  32, 2e-3, {2, 4, 64}},
      {"full",     "order",     16,  3000,   0,   64, 128, 3e-3, {2, 4, 64}},
      {"full",     "text",     128,  2000, 100,   32,  32, 2e-3, {4, 4, 128}},

      {"reference", "verbs",    64,   600,  30,   16,  32, 8e-3, {2, 4, 64}},
      {"reference", "passkey",  32,   500,   0,   32,  64, 5e-3, {2, 4, 64}},
      {"reference", "back",     32,   400,   0,   32,  64, 5e-3, {2, 4, 64}},
      {"reference", "first",    32,   200,   0,   32,  64, 5e-3, {2, 4, 64}},
      {"reference", "order",    16,  1500,   0,   64, 128, 3e-3, {2, 4, 64}},
      {"reference", "text",     64,   400,  30,   16,  32, 5e-3, {2, 4, 64}},
  };
  // clang-format on
  return all;
}

}  // namespace

const Preset& find_preset(const std::string& name) {
  return find_named("preset", presets(), name, [](const Preset& preset) { return std::string_view(preset.name); });
}

const Budget& find_budget(const std::string& preset, const std::string& task) {
  std::vector<std::string_view> known;
  for (const Budget& budget : budgets()) {
    if (budget.preset != preset) continue;
    if (budget.task == task) return budget;
    known.emplace_back(budget.task);
  }
  fail_unknown("task", task, known);
}

}  // namespace locus::lab
