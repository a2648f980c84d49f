// SPDX-License-Identifier: Apache-2.0
// rows(positions, dim): sines and cosines of a ladder of frequencies, sin and cos of a frequency side by side.
#include <cmath>
#include <numbers>

#include "learn/laws/compare.h"
#include "learn/laws/doctors_view.h"
#include "learn/laws/laws.h"
#include "locus/doctor/verify_callable.h"
#include "locus/reference.h"

namespace locus::learn {
namespace {

constexpr std::int64_t wave_dim = 8;
const std::vector<std::int64_t> wave_ids = {0, 1, 2, 3, 5, 8, 13, 40};

/// Rows whose coordinate c is `wave(position, c)`.
std::vector<double> waves(const std::function<double(double, std::int64_t)>& wave) {
  std::vector<double> values;
  for (const std::int64_t id : wave_ids) {
    for (std::int64_t c = 0; c < wave_dim; ++c) values.push_back(wave(static_cast<double>(id), c));
  }
  return values;
}

double frequency_of(std::int64_t pair) { return std::pow(10000.0, -2.0 * static_cast<double>(pair) / wave_dim); }

double wave_of(double angle, std::int64_t c) { return c % 2 == 0 ? std::sin(angle) : std::cos(angle); }

std::string cause_of_waves(const Array& rows) {
  const auto angle = [](double p, std::int64_t c) { return p * frequency_of(c / 2); };
  return likely_cause(
      rows.values,
      {{"sinusoidal.cos_first", [&] { return waves([&](double p, auto c) { return wave_of(angle(p, c), c + 1); }); }},
       {"sinusoidal.halves",
        [&] {
          return waves([](double p, auto c) {
            const double turned = p * frequency_of(c % (wave_dim / 2));
            return c < wave_dim / 2 ? std::sin(turned) : std::cos(turned);
          });
        }},
       {"sinusoidal.by_coordinate",
        [&] {
          return waves(
              [](double p, auto c) { return wave_of(p * std::pow(10000.0, -static_cast<double>(c) / wave_dim), c); });
        }},
       {"sinusoidal.exponent_doubled",
        [&] {
          return waves([](double p, auto c) {
            return wave_of(p * std::pow(10000.0, -2.0 * static_cast<double>(c) / wave_dim), c);
          });
        }},
       {"sinusoidal.exponent_halved",
        [&] {
          return waves([](double p, auto c) {
            return wave_of(p * std::pow(10000.0, -static_cast<double>(c / 2) / wave_dim), c);
          });
        }},
       {"sinusoidal.one_frequency", [&] { return waves([](double p, auto c) { return wave_of(p, c); }); }},
       {"sinusoidal.from_one", [&] { return waves([&](double p, auto c) { return wave_of(angle(p + 1, c), c); }); }},
       {"sinusoidal.degrees",
        [&] { return waves([&](double p, auto c) { return wave_of(angle(p, c) * std::numbers::pi / 180, c); }); }},
       {"sinusoidal.growing",
        [&] { return waves([](double p, auto c) { return wave_of(p / frequency_of(c / 2), c); }); }},
       {"sinusoidal.ids_ignored", [&] {
          std::vector<double> values;
          for (std::size_t t = 0; t < wave_ids.size(); ++t) {
            for (std::int64_t c = 0; c < wave_dim; ++c) values.push_back(wave_of(angle(static_cast<double>(t), c), c));
          }
          return values;
        }}});
}

}  // namespace

void laws_of_sinusoidal(Solution& solution) {
  const Encoding encoding("sinusoidal", {{"dim", wave_dim}});
  const auto tokens = static_cast<std::int64_t>(wave_ids.size());
  const Array rows = solution.call("rows", {Array::ids(wave_ids), Array::number(wave_dim)}, {tokens, wave_dim});
  std::string cause = cause_of_waves(rows);
  if (cause.empty()) {
    const Array nothing = Array::real(rows.shape, std::vector<double>(rows.values.size()));
    cause = fault_of(encoding, nothing, rows, wave_ids);
  }
  for (std::int64_t c = 0; c < wave_dim; ++c) {
    if (!agree(rows(0, c), c % 2 == 0 ? 0 : 1)) throw BrokenLaw{"sinusoidal.zero", cause, {{"coordinate", shown(c)}}};
  }
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t c = 0; c < wave_dim; c += 2) {
      if (agree(std::hypot(rows(t, c), rows(t, c + 1)), 1)) continue;
      throw BrokenLaw{
          "sinusoidal.circle",
          cause,
          {{"token", shown(t)}, {"position", shown(wave_ids[static_cast<std::size_t>(t)])}, {"pair", shown(c / 2)}}};
    }
  }
  std::vector<double> wanted;
  for (const std::int64_t id : wave_ids) {
    const std::vector<double> row = reference::hidden_row(encoding.hidden(), id);
    wanted.insert(wanted.end(), row.begin(), row.end());
  }
  require_equal(rows.values, wanted, "sinusoidal.ladder", cause, [&](std::size_t index) {
    Parameters place = at_token(rows, wave_ids)(index);
    place["pair"] = shown(index % wave_dim / 2);
    return place;
  });
  require_passed(verify_rows(
      encoding,
      [&](const RowsRequest& request) {
        const Array ids = Array::ids({request.ids.begin(), request.ids.end()});
        const Array got = solution.call("rows", {ids, Array::number(request.dim)}, {ids.size(0), request.dim});
        for (std::size_t i = 0; i < got.values.size(); ++i) request.rows[i] = static_cast<float>(got.values[i]);
      },
      {.max_length = 4096}));
}

}  // namespace locus::learn
