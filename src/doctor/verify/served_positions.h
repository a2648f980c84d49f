// SPDX-License-Identifier: Apache-2.0
// Finds the positions that a function serves, for functions that throw beyond the end of a table.
#pragma once

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "locus/doctor/verify_callable.h"

namespace locus::doctor {

class ServedPositions {
 public:
  /// Calls every case. If a case throws, and one token at its largest (or smallest) id throws too, searches for the
  /// end, drops the cases beyond it and continues. Passes other exceptions on.
  template <class Case, class Ids, class Call, class CallAt>
  void run(std::vector<Case>& cases, const VerifyOptions& options, const Ids& ids_of, const Call& call,
           const CallAt& call_at) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      try {
        call(cases[i]);
        continue;
      } catch (const std::exception& error) {
        if (options.max_length || !narrow(ids_of(cases[i]), call_at, error.what())) throw;
      }
      const auto refused = [&](const Case& one) {
        const auto ids = ids_of(one);
        return std::any_of(ids.begin(), ids.end(), [&](Position id) { return id < first_ || id >= end_; });
      };
      cases.erase(std::remove_if(cases.begin() + static_cast<std::ptrdiff_t>(i), cases.end(), refused), cases.end());
      --i;
    }
    // A function that indexes a table from its end returns wrong numbers for negative ids without an error. If the
    // table ends, it is assumed to start at 0.
    if (end_ == unlimited || cases.empty()) return;
    cases.erase(std::remove_if(cases.begin(), cases.end(),
                               [&](const Case& one) {
                                 const auto ids = ids_of(one);
                                 return std::any_of(ids.begin(), ids.end(), [](Position id) { return id < 0; });
                               }),
                cases.end());
  }

  /// Returns the first id that is refused.
  Position end() const { return end_; }

  void append_to(std::vector<Check>& checks, const std::string& scheme) const {
    if (end_ != unlimited) {
      checks.push_back(at_least("positions are served or refused", scheme, static_cast<double>(end_), 1,
                                "from " + std::to_string(end_) + " on the function throws: " + text_));
    }
    if (first_ == 0) {
      checks.push_back(
          at_least("positions below 0 are served or refused", scheme, 1, 1, "below 0 the function throws: " + text_));
    }
  }

 private:
  static constexpr Position unlimited = std::int64_t{1} << 62;

  template <class CallAt>
  bool narrow(std::span<const Position> ids, const CallAt& call_at, const std::string& text) {
    const auto serves = [&](Position id) {
      try {
        call_at(id);
        return true;
      } catch (const std::exception&) {
        return false;
      }
    };
    const auto [least, most] = std::minmax_element(ids.begin(), ids.end());
    if (!serves(0)) return false;
    if (!serves(*most)) {
      Position good = 0, bad = *most;
      while (bad - good > 1) {
        const Position middle = good + (bad - good) / 2;
        (serves(middle) ? good : bad) = middle;
      }
      end_ = bad;
    } else if (*least < 0 && !serves(*least)) {
      first_ = 0;
    } else {
      return false;
    }
    text_ = text;
    return true;
  }

  Position first_ = -unlimited, end_ = unlimited;
  std::string text_;
};

}  // namespace locus::doctor
