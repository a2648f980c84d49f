// SPDX-License-Identifier: Apache-2.0
// resized(table, length): rows as centres of equal cells, linear between them, the end rows beyond.
#include <algorithm>
#include <cmath>

#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "locus/resize.h"

namespace locus::learn {
namespace {

/// New row i of `length` from old rows at `place(i)`, clamped, either linear or the nearest.
std::vector<double> taken(const Array& table, std::int64_t length, const std::function<double(double)>& place,
                          bool linear = true) {
  const std::int64_t last = table.size(0) - 1;
  std::vector<double> values;
  for (std::int64_t i = 0; i < length; ++i) {
    const double at = std::clamp(place(static_cast<double>(i)), 0.0, static_cast<double>(last));
    const auto low = static_cast<std::int64_t>(linear ? at : std::floor(at));
    const std::int64_t high = std::min(low + 1, last);
    const double part = linear ? at - static_cast<double>(low) : 0;
    for (std::int64_t c = 0; c < table.size(1); ++c)
      values.push_back((1 - part) * table(low, c) + part * table(high, c));
  }
  return values;
}

/// Without the end rows: before the first centre and behind the last, rows lie on the line through the last two, or
/// wrap round to the other end as a negative index does.
std::vector<double> without_ends(const Array& table, std::int64_t length, bool wraps) {
  const std::int64_t rows = table.size(0);
  std::vector<double> values;
  for (std::int64_t i = 0; i < length; ++i) {
    const double at = (static_cast<double>(i) + 0.5) * static_cast<double>(rows) / static_cast<double>(length) - 0.5;
    const auto below = static_cast<std::int64_t>(std::floor(at));
    const std::int64_t first = wraps ? below : std::clamp<std::int64_t>(below, 0, rows - 2);
    const std::int64_t low = (first + rows) % rows, high = wraps ? std::min(first + 1, rows - 1) : first + 1;
    const double part = at - static_cast<double>(first);
    for (std::int64_t c = 0; c < table.size(1); ++c)
      values.push_back((1 - part) * table(low, c) + part * table(high, c));
  }
  return values;
}

std::string cause_of_rows(const Array& got, const Array& table, std::int64_t length) {
  const auto from = static_cast<double>(table.size(0)), to = static_cast<double>(length);
  return likely_cause(
      got.values,
      {{"table.corners", [&] { return taken(table, length, [=](double i) { return i * (from - 1) / (to - 1); }); }},
       {"table.half_missing", [&] { return taken(table, length, [=](double i) { return i * from / to; }); }},
       {"table.nearest",
        [&] {
          return taken(
              table, length, [=](double i) { return i * from / to; }, false);
        }},
       {"table.nearest",
        [&] {
          return taken(
              table, length, [=](double i) { return (i + 0.5) * from / to; }, false);
        }},
       {"table.repeated",
        [&] {
          return taken(
              table, length, [=](double i) { return std::fmod(i, from); }, false);
        }},
       {"table.last_repeated",
        [&] {
          return taken(
              table, length, [](double i) { return i; }, false);
        }},
       {"table.wrapped", [&] { return without_ends(table, length, true); }},
       {"table.extrapolated", [&] { return without_ends(table, length, false); }},
       {"table.zeros", [&] {
          std::vector<double> values = table.values;
          values.resize(static_cast<std::size_t>(length * table.size(1)));
          return values;
        }}});
}

}  // namespace

void laws_of_resized_table(Solution& solution) {
  Random random(31);
  const Array table = random_array(random, {6, 3});
  const auto resized = [&](const Array& old, std::int64_t length) {
    return solution.call("resized", {old, Array::number(length)}, {length, old.size(1)});
  };
  const Array longer = resized(table, 15);
  const std::string cause = cause_of_rows(longer, table, 15);

  require_equal(resized(table, 6).values, table.values, "table.same", cause, at_token(table));
  const Array level = Array::real({5, 2}, {7, -2, 7, -2, 7, -2, 7, -2, 7, -2});
  const Array stretched = resized(level, 12);
  for (std::int64_t i = 0; i < 12; ++i) {
    if (!agree(stretched(i, 0), 7) || !agree(stretched(i, 1), -2)) {
      throw BrokenLaw{"table.constant", cause, {{"token", shown(i)}}};
    }
  }
  // Every column is a table of its own.
  Array column = Array::real({6, 1}, {});
  for (std::int64_t i = 0; i < 6; ++i) column.values.push_back(table(i, 1));
  const Array alone = resized(column, 15);
  for (std::int64_t i = 0; i < 15; ++i) {
    if (!agree(alone(i, 0), longer(i, 1))) throw BrokenLaw{"table.columns", cause, {{"token", shown(i)}}};
  }
  for (const std::int64_t length : {15, 7, 3}) {
    require_equal(resized(table, length).values, resize_1d(table.values, 3, 6, length), "table.places", cause,
                  at_token(Array::real({length, 3}, std::vector<double>(static_cast<std::size_t>(3 * length)))));
  }
}

}  // namespace locus::learn
