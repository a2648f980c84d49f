// SPDX-License-Identifier: Apache-2.0
// Windows of the wrong size, and windows that should not exist.
#include <algorithm>
#include <cmath>

#include "doctor/verify/fault_model.h"
#include "doctor/verify/index.h"

namespace locus::doctor {
namespace {

class WindowFaults {
 public:
  Models all() {
    asked_for();
    by_call();
    not_asked_for();
    return std::move(models_);
  }

 private:
  using Sees = std::function<bool(const AskedCall& call, std::int64_t query, std::int64_t key, bool visible)>;
  void add(std::string_view fault, std::string detail, Sees sees) {
    models_.push_back({.fault = fault, .detail = std::move(detail), .sees = std::move(sees)});
  }

  void asked_for() {
    add("window_missing", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      AskedCall other = c;
      other.window = 0;
      return c.window > 0 ? visible(other, i, j) : seen;
    });
    add("window_missing", "in decode", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      AskedCall other = c;
      other.window = 0;
      return c.window > 0 && c.one_token() ? visible(other, i, j) : seen;
    });
    add("window_by_index", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      AskedCall other = c;
      other.window = 0;
      return c.window > 0 ? visible(other, i, j) && std::abs(place_of(c, i) - j) < c.window : seen;
    });
    for (const std::int64_t step : {1, -1, 2, -2}) {
      add("window_off_by_one", "", [step](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        AskedCall other = c;
        other.window = std::max<std::int64_t>(c.window + step, 1);
        return c.window > 0 ? visible(other, i, j) : seen;
      });
    }
    for (const std::int64_t times : {2, 4}) {
      add("window_wrong", "", [times](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        AskedCall other = c;
        other.window *= times;
        return c.window > 0 ? visible(other, i, j) : seen;
      });
      add("window_wrong", "", [times](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        AskedCall other = c;
        other.window = std::max<std::int64_t>(1, c.window / times);
        return c.window > 0 ? visible(other, i, j) : seen;
      });
    }
    for (const std::int64_t sinks : {1, 2, 4, 8}) {
      add("window_wrong", "the first " + std::to_string(sinks) + " stay visible",
          [sinks](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
            AskedCall other = c;
            other.window = 0;
            return c.window > 0 ? seen || (j < sinks && visible(other, i, j)) : seen;
          });
    }
  }

  // The edge of the window follows the call or the page, not the query.
  void by_call() {
    const auto from = [&](const std::string& detail,
                          const std::function<Position(const AskedCall& call, std::int64_t query)>& first) {
      add("window_wrong", detail, [first](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        AskedCall other = c;
        other.window = 0;
        return c.window > 0 ? visible(other, i, j) && c.key_ids[at(j)] >= first(c, i) : seen;
      });
    };
    from("counted from the first query of the call",
         [](const AskedCall& c, std::int64_t) { return c.query_ids[0] - c.window + 1; });
    from("counted from the last query of the call",
         [](const AskedCall& c, std::int64_t) { return c.query_ids[at(c.queries - 1)] - c.window + 1; });
    for (const std::int64_t page : page_sizes) {
      from("whole pages " + of_tokens(page), [page](const AskedCall& c, std::int64_t i) {
        const Position first = c.query_ids[at(i)] - c.window + 1;
        return first < 0 ? first : first / page * page;
      });
    }
    add("window_wrong", "blocks of its length", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      AskedCall other = c;
      other.window = 0;
      const auto block = [&](Position id) { return id / c.window; };
      return c.window > 0 ? visible(other, i, j) && block(c.key_ids[at(j)]) == block(c.query_ids[at(i)]) : seen;
    });
  }

  void not_asked_for() {
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = 8; size <= 4096; size *= 2) {
      for (const std::int64_t step : {0, 1, -1}) sizes.push_back(size + step);
    }
    for (const std::int64_t size : {10, 20, 48, 50, 96, 100, 200, 384, 500, 768, 1000, 1536, 2000, 3000, 4000}) {
      sizes.push_back(size);
    }
    constexpr std::int64_t furthest = 16384;  // keys of one call are hardly further apart; then any of these fits
    sizes.push_back(8192);
    sizes.push_back(furthest);
    for (const std::int64_t size : sizes) {
      const std::string detail = size == furthest ? "of more than 8,192 tokens" : of_tokens(size);
      add("window_applied", detail, [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        return seen && std::abs(c.query_ids[at(i)] - c.key_ids[at(j)]) < size;
      });
      add("window_applied", detail + ", by index",
          [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
            return seen && std::abs(place_of(c, i) - j) < size;
          });
      add("window_applied", detail + ", in decode",
          [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
            return seen && (!c.one_token() || std::abs(place_of(c, i) - j) < size);
          });
      add("keys_lost", "beyond the first " + std::to_string(size),
          [size](const AskedCall&, std::int64_t, std::int64_t j, bool seen) { return seen && j < size; });
    }
  }

  Models models_;
};

}  // namespace

Models window_faults() { return WindowFaults().all(); }

}  // namespace locus::doctor
