// SPDX-License-Identifier: Apache-2.0
// picture(rows): one line per row and one character per number; ten shades from -1 to 1.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "learn/laws/compare.h"
#include "learn/laws/laws.h"

namespace locus::learn {
namespace {

constexpr std::string_view shades = " .:-=+*#%@";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> drawn(Solution& solution, const Array& rows) {
  const std::vector<std::string> lines = lines_of(solution.call_for_text("picture", {rows}));
  const auto height = static_cast<std::size_t>(rows.size(0)), width = static_cast<std::size_t>(rows.size(1));
  if (lines.size() != height) {
    const std::string cause = lines.size() == width                          ? "picture.transposed"
                              : lines.size() == 1 && lines[0].size() > width ? "picture.one_line"
                                                                             : "";
    throw BrokenLaw{"picture.lines", cause, {{"lines", shown(lines.size())}, {"rows", shown(height)}}};
  }
  for (std::size_t i = 0; i < height; ++i) {
    if (lines[i].size() == width) continue;
    throw BrokenLaw{"picture.width",
                    lines[i].size() + 1 == width || lines[i].size() > width ? "picture.separated" : "",
                    {{"line", shown(i)}, {"characters", shown(lines[i].size())}, {"columns", shown(width)}}};
  }
  return lines;
}

std::size_t shade_of(char c, std::size_t line, std::size_t column) {
  const std::size_t shade = shades.find(c);
  if (shade != std::string_view::npos) return shade;
  if (c == '\0') throw BrokenLaw{"picture.ends", "picture.past_the_end"};  // what stands behind a text of C++
  throw BrokenLaw{
      "picture.palette", {}, {{"line", shown(line)}, {"column", shown(column)}, {"character", std::string(1, c)}}};
}

}  // namespace

void laws_of_picture(Solution& solution) {
  // A ramp: both ends, and each shade shortly after it begins and shortly before it ends.
  constexpr std::size_t steps = 22;
  Array ramp = Array::real({2, steps}, {});
  for (int row = 0; row < 2; ++row) {
    ramp.values.push_back(-1);
    for (int shade = 0; shade < 10; ++shade) {
      ramp.values.push_back(-1 + 0.2 * (shade + 0.1));
      ramp.values.push_back(-1 + 0.2 * (shade + 0.9));
    }
    ramp.values.push_back(1);
  }
  const std::vector<std::string> lines = drawn(solution, ramp);
  std::vector<std::size_t> found, nearest;
  for (std::size_t i = 0; i < steps; ++i) {
    found.push_back(shade_of(lines[0][i], 0, i));
    nearest.push_back(static_cast<std::size_t>(std::lround((ramp.values[i] + 1) / 2 * 9)));
  }
  const bool inverted = std::is_sorted(found.rbegin(), found.rend()) && found.front() > found.back();
  for (std::size_t i = 1; i < steps; ++i) {
    if (found[i] >= found[i - 1]) continue;
    throw BrokenLaw{"picture.monotone", inverted ? "picture.inverted" : "", {{"column", shown(i)}}};
  }
  if (found.front() != 0 || found.back() != 9) throw BrokenLaw{"picture.ends", "picture.range"};
  for (std::size_t i = 1; i + 1 < steps; ++i) {
    if (found[i] == (i - 1) / 2) continue;
    const std::string cause = found[steps / 2 - 1] == 0 ? "picture.range" : found == nearest ? "picture.nearest" : "";
    throw BrokenLaw{"picture.even", cause, {{"column", shown(i)}}};
  }
  // The same number has the same shade in every row, whatever else is in the row.
  const Array two = Array::real({2, 3}, {-1, 0.1, 1, 0.05, 0.1, 0.9});
  const std::vector<std::string> again = drawn(solution, two);
  if (again[0][1] != again[1][1]) throw BrokenLaw{"picture.same", "picture.per_row"};
}

}  // namespace locus::learn
