// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/xpos_fit.h"

#include <cmath>
#include <sstream>

namespace locus::doctor {

std::optional<Explanation> fit_xpos(const Turning& turning, const Explanation& turns, double unit) {
  const std::int64_t d = turning.slice.rotary_dim;
  const bool whole = turns.arguments.integer("head_dim") == d && !turning.slice.deinterleaved_output;
  if (!whole || turns.arguments.text("rule") != "none" || turns.inverse || turns.times != 1) return std::nullopt;
  // ln|z| = (slope p + intercept) ln zeta_i: two unknowns, least squares.
  double pp = 0, p1 = 0, one = 0, py = 0, y1 = 0;
  const auto zeta = [&](std::int64_t i) {
    const double width = static_cast<double>(d);
    return std::log((2 * static_cast<double>(i) + 0.4 * width) / (1.4 * width));
  };
  for (std::int64_t row = 0; row < turning.rows; ++row) {
    const double p = static_cast<double>(turns.positions[static_cast<std::size_t>(row)]);
    for (std::int64_t i = 0; i < turning.pairs; ++i) {
      const double y = std::log(std::abs(turning.at(row, i)));
      const double x = zeta(i);
      pp += x * x * p * p;
      p1 += x * x * p;
      one += x * x;
      py += x * p * y;
      y1 += x * y;
    }
  }
  const double determinant = pp * one - p1 * p1;
  if (!(determinant > 1e-9 * pp * one)) return std::nullopt;
  const double slope = (one * py - p1 * y1) / determinant;
  const double intercept = (pp * y1 - p1 * py) / determinant;
  double squares = 0;
  double noise = 0;
  for (std::int64_t row = 0; row < turning.rows; ++row) {
    const double p = static_cast<double>(turns.positions[static_cast<std::size_t>(row)]);
    for (std::int64_t i = 0; i < turning.pairs; ++i) {
      const double size = std::abs(turning.at(row, i));
      const double off = std::log(size) - (slope * p + intercept) * zeta(i);
      const double sigma = turning.sigma_at(row, i) / size + 0.3 * unit;
      squares += off * off / (sigma * sigma);
      ++noise;
    }
  }
  const double misfit = std::sqrt(squares / noise);
  if (!(misfit < 2.5) || slope == 0) return std::nullopt;
  double scale_base = 1 / std::abs(slope);
  if (std::abs(scale_base - std::round(scale_base)) < 0.02 * scale_base) scale_base = std::round(scale_base);
  if (std::abs(scale_base - 512) < 0.02 * 512) scale_base = 512;  // the default of xPos
  const auto centre = static_cast<std::int64_t>(std::llround(-intercept / slope));
  Explanation xpos = turns;
  xpos.scheme = "xpos";
  xpos.arguments = {{"head_dim", d},
                    {"pairing", turns.arguments.text("pairing")},
                    {"base", turns.arguments.real("base")},
                    {"scale_base", scale_base},
                    {"centre", centre}};
  xpos.misfit = std::max(misfit, turns.misfit);
  std::ostringstream text;
  text << "xpos of a " << (slope > 0 ? "query" : "key") << ", scale_base " << scale_base << ", centre " << centre
       << "; angles: " << turns.text;
  xpos.text = text.str();
  return xpos;
}

}  // namespace locus::doctor
