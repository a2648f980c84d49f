// SPDX-License-Identifier: Apache-2.0
// Which coordinates of a dump turn together, and the complex factor by which each pair of each token was multiplied.
#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "locus/doctor/diagnose.h"

namespace locus::doctor {

using Complex = std::complex<double>;

/// What a slice makes of the dump. Rows are tokens, batch after batch.
struct Turning {
  TurnedSlice slice;
  std::int64_t rows = 0;
  std::int64_t pairs = 0;
  std::vector<Complex> z = {};     ///< [rows, pairs]
  std::vector<double> sigma = {};  ///< [rows, pairs]: standard deviation of either part of z that storage alone causes
  std::vector<double> magnitude = {};  ///< [pairs]: |z|, the same for all tokens where it does not vary
  double residual = 0;                 ///< relative, over all coordinates, with |z| held constant per pair
  double free_residual = 0;            ///< the same with |z| free; says something with two heads or more only

  const Complex& at(std::int64_t row, std::int64_t pair) const {
    return z[static_cast<std::size_t>(row * pairs + pair)];
  }
  double sigma_at(std::int64_t row, std::int64_t pair) const {
    return sigma[static_cast<std::size_t>(row * pairs + pair)];
  }
};

/// The coarsest of bfloat16, float16 and float32 that holds every number exactly; float64 where none does.
ElementType storage_of(const RotationDump& dump);
/// Half a unit in the last place of a number of size 1, as the arithmetic behind a dump of this type leaves it: float64
/// dumps are taken for float32 arithmetic unless they show less noise.
double storage_noise(ElementType type);

Turning measure(const RotationDump& dump, const TurnedSlice& slice, double unit);

/// Slices that fit about as well as the best, best first: what a rotation within `limit` leaves of them. `preferred`
/// goes first among equals. Empty where nothing turned.
std::vector<Turning> fitting_slices(const RotationDump& dump, double unit, const std::optional<TurnedSlice>& preferred);

/// For every head of `after` the head of `before` whose norms it has, token by token, up to a constant factor.
std::vector<std::int64_t> match_heads(const RotationDump& dump);

}  // namespace locus::doctor
