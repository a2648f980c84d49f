// SPDX-License-Identifier: Apache-2.0
// interpolated(positions, trained, served): every position falls into the trained range, evenly.
#include <cmath>

#include "learn/laws/compare.h"
#include "learn/laws/laws.h"

namespace locus::learn {
namespace {

const std::vector<std::int64_t> served_ids = {0, 1, 3, 2048, 4096, 5000, 8191};

Array interpolated(Solution& solution, std::int64_t trained, std::int64_t served) {
  return solution.call("interpolated", {Array::ids(served_ids), Array::number(trained), Array::number(served)},
                       {static_cast<std::int64_t>(served_ids.size())});
}

std::vector<double> mapped(const std::function<double(double)>& map) {
  std::vector<double> values;
  for (const std::int64_t id : served_ids) values.push_back(map(static_cast<double>(id)));
  return values;
}

}  // namespace

void laws_of_interpolation(Solution& solution) {
  constexpr double trained = 2048, served = 8192;
  const std::vector<double> got = interpolated(solution, 2048, 8192).values;
  const std::string cause = likely_cause(
      got, {{"interpolation.whole", [] { return mapped([](double p) { return std::floor(p * trained / served); }); }},
            {"interpolation.whole", [] { return mapped([](double p) { return std::round(p * trained / served); }); }},
            {"interpolation.multiplied", [] { return mapped([](double p) { return p * served / trained; }); }},
            {"interpolation.ends", [] { return mapped([](double p) { return p * (trained - 1) / (served - 1); }); }},
            {"interpolation.clamped", [] { return mapped([](double p) { return std::min(p, trained - 1); }); }},
            {"interpolation.wrapped", [] { return mapped([](double p) { return std::fmod(p, trained); }); }},
            {"interpolation.nothing", [] { return mapped([](double p) { return p; }); }},
            {"interpolation.only_beyond",
             [] { return mapped([](double p) { return p < trained ? p : p * trained / served; }); }}});
  const auto where = [](std::size_t index) { return Parameters{{"position", shown(served_ids[index])}}; };
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] < 0 || got[i] >= trained) throw BrokenLaw{"interpolation.range", cause, where(i)};
    if (i > 0 && got[i] <= got[i - 1]) throw BrokenLaw{"interpolation.order", cause, where(i)};
  }
  // Equal steps: linear in the position, with the origin kept.
  require_equal(got, mapped([](double p) { return p * trained / served; }), "interpolation.even", cause, where);
  const std::vector<double> within = interpolated(solution, 8192, 2048).values;
  require_equal(within, mapped([](double p) { return p; }), "interpolation.short", "interpolation.stretched", where);
}

}  // namespace locus::learn
