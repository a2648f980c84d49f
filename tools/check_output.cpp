// SPDX-License-Identifier: Apache-2.0
#include "check_output.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <set>
#include <string_view>

#include "base/text_layout.h"
#include "locus/text.h"

namespace locus::tools {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

enum class Relation { at_most, at_least, equal, unknown };

/// A passed check above its bound has a lower one, and so has a failed check below it.
Relation relation_of(const Check& check) {
  if (std::isnan(check.value) || std::isnan(check.bound)) return Relation::unknown;
  if (check.value == check.bound) return Relation::equal;
  return check.pass == (check.value > check.bound) ? Relation::at_least : Relation::at_most;
}

/// The scheme of "rope rule=yarn" and of "rope:rule=yarn,factor=4".
std::string_view family_of(const Check& check) {
  return std::string_view(check.scheme).substr(0, check.scheme.find_first_of(" :"));
}

/// How much of its margin a passed check used, below 1; 0 if the value had to be exact and is.
double used_margin(const Check& check) {
  if (relation_of(check) == Relation::equal) return 0;
  const bool lower = relation_of(check) == Relation::at_least;
  const double part = lower ? check.bound : check.value;
  const double whole = lower ? check.value : check.bound;
  return part == 0 || whole == 0 || !std::isfinite(whole) ? 0 : part / whole;
}

struct Summary {
  std::string_view scheme;
  std::set<std::string_view> encodings = {};
  std::int64_t passed = 0;
  std::vector<const Check*> failed = {};
  const Check* closest = nullptr;  ///< of the passed ones

  void add(const Check& check) {
    encodings.insert(check.scheme);
    if (!check.pass) {
      failed.push_back(&check);
      return;
    }
    ++passed;
    if (closest == nullptr || used_margin(check) > used_margin(*closest)) closest = &check;
  }
};

std::vector<Summary> summaries_of(std::span<const Check> checks) {
  std::vector<Summary> summaries;
  for (const Check& check : checks) {
    const std::string_view scheme = family_of(check);
    auto own =
        std::find_if(summaries.begin(), summaries.end(), [&](const Summary& one) { return one.scheme == scheme; });
    if (own == summaries.end()) own = summaries.insert(own, Summary{scheme});
    own->add(check);
  }
  return summaries;
}

}  // namespace

Json check_json(const Check& check) {
  static constexpr const char* names[] = {"at_most", "at_least", "equal"};
  const Relation relation = relation_of(check);
  return {{"name", check.name},
          {"scheme", check.scheme},
          {"value", number(check.value)},
          {"bound", number(check.bound)},
          {"relation", relation == Relation::unknown ? Json() : Json(names[static_cast<int>(relation)])},
          {"passed", check.pass},
          {"pass", check.pass},  // the name that it had first
          {"note", check.note}};
}

void print_check(const Check& check) {
  static constexpr const char* words[] = {"at most ", "at least", "equal to", "bound   "};
  std::cout << (check.pass ? "pass " : "FAIL ") << right_padded(check.name, 72) << ' ' << std::setprecision(4)
            << std::setw(11) << check.value << "   " << words[static_cast<int>(relation_of(check))] << ' '
            << std::setw(10) << check.bound;
  if (!check.note.empty()) std::cout << "   " << check.note;
  std::cout << '\n';
}

void print_summaries(std::span<const Check> checks) {
  for (const Summary& one : summaries_of(checks)) {
    std::cout << right_padded(one.scheme, 18) << ' ' << right_padded(counted(one.encodings.size(), "encoding"), 13)
              << right_padded(concat(one.passed, " passed"), 12);
    if (!one.failed.empty()) std::cout << one.failed.size() << " FAILED  ";
    if (one.closest != nullptr && used_margin(*one.closest) > 0) {
      std::cout << "closest to its bound: " << fixed(100 * used_margin(*one.closest), 0) << " %, " << one.closest->name;
    }
    std::cout << '\n';
    for (const Check* check : one.failed) {
      std::cout << "  ";
      print_check(*check);
    }
  }
}

}  // namespace locus::tools
