// SPDX-License-Identifier: Apache-2.0
// Rotations of an engine, in Python and C++, with a fault that a dump of a prompt does not show: `locus verify` calls
// them in other ways.
#include <array>

#include "learn/detective/cases.h"

namespace locus::learn::detective {
namespace {

/// Where a token stands and which angle that gives, as the engine computes them. 4096 stands for any power of two.
struct PlantedLines {
  const char* name;
  const char* python_where = "positions";
  const char* cpp_where = "positions[t]";
  const char* python_angle = "where[:, None] * frequency";
  const char* cpp_angle = "where * frequency";
};

constexpr std::array planted_lines = {
    PlantedLines{.name = "off_by_one_in_decode",
                 .python_where = "positions - 1 if len(positions) == 1 else positions",
                 .cpp_where = "positions.size() == 1 ? positions[t] - 1 : positions[t]"},
    PlantedLines{.name = "ids_ignored", .python_where = "np.arange(len(positions))", .cpp_where = "t"},
    PlantedLines{.name = "positions_wrapped",
                 .python_where = "positions & (4096 - 1)",
                 .cpp_where = "positions[t] & (4096 - 1)"},
    PlantedLines{
        .name = "negative_positions", .python_where = "np.abs(positions)", .cpp_where = "std::abs(positions[t])"},
    PlantedLines{.name = "float32_angles",
                 .python_angle = "where[:, None].astype(np.float32) * frequency.astype(np.float32)",
                 .cpp_angle = "static_cast<float>(where) * static_cast<float>(frequency)"},
};

constexpr const char* python_engine = R"(import numpy as np


def rotate(x, positions):  # [tokens, heads, dim], [tokens]
    dim = x.shape[-1]
    frequency = {base}.0 ** (-np.arange(0, dim, 2) / dim)
    where = {where}
    angle = {angle}
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    a, b = x[..., : dim // 2], x[..., dim // 2 :]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
)";

constexpr const char* cpp_engine = R"(#include "locus_exercise.h"

#include <cmath>

Array rotate(const Array& x, const Ids& positions) {  // [tokens, heads, dim], [tokens]
  const std::int64_t dim = x.shape[2];
  Array result = x;
  for (std::int64_t t = 0; t < x.shape[0]; ++t) {
    const std::int64_t where = {where};
    for (std::int64_t i = 0; i < dim / 2; ++i) {
      const double frequency = std::pow({base}.0, -2.0 * i / dim);
      const double angle = {angle};
      for (std::int64_t h = 0; h < x.shape[1]; ++h) {
        const double a = x(t, h, i), b = x(t, h, i + dim / 2);
        result(t, h, i) = a * std::cos(angle) - b * std::sin(angle);
        result(t, h, i + dim / 2) = b * std::cos(angle) + a * std::sin(angle);
      }
    }
  }
  return result;
}

int main() { return learn::serve({{"rotate", learn::function(rotate)}}); }
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

std::size_t engine_faults() { return planted_lines.size(); }

Case engine_case(std::size_t fault, Random& random) {
  const PlantedLines& lines = planted_lines.at(fault);
  const std::string dim = shown(random.one_of(std::array{16, 32, 64}));
  const std::string base = random.one_of(std::array{"10000", "500000", "1000000"});
  const std::string size = std::to_string(std::int64_t{1} << random.between(11, 15));
  const auto engine = [&](const char* text, const char* where, const char* angle) {
    return replaced(replaced(replaced(text, "{base}", base), "{angle}", angle), "{where}",
                    replaced(where, "4096", size));
  };
  Case one{lines.name, "case.engine_story", Tool::verify};
  one.parameters = {{"dim", dim}, {"base", base}};
  one.texts["engine.py"] = engine(python_engine, lines.python_where, lines.python_angle);
  one.texts["engine.cpp"] = engine(cpp_engine, lines.cpp_where, lines.cpp_angle);
  return one;
}

}  // namespace locus::learn::detective
