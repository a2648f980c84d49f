// SPDX-License-Identifier: Apache-2.0
// Finds the coordinates of a dump that turn together, and the complex factor that multiplied each pair of each token.
#pragma once

#include <algorithm>
#include <complex>
#include <optional>
#include <vector>

#include "doctor/diagnose/cells.h"
#include "doctor/diagnose/noise.h"
#include "locus/doctor/diagnose.h"

namespace locus::doctor {

using Complex = std::complex<double>;

/// The measurement of one slice. Rows are tokens, batch after batch.
struct Turning {
  TurnedSlice slice;
  std::int64_t rows = 0;
  std::int64_t pairs = 0;
  std::vector<Complex> z = {};         ///< [rows, pairs]
  std::vector<double> sigma = {};      ///< [rows, pairs]: measured deviation of each part of z; infinite: unknown
  std::vector<double> magnitude = {};  ///< [pairs]: |z|, if it is the same for all tokens
  double residual = 0;                 ///< relative, over all coordinates, with one |z| per pair
  double free_residual = 0;            ///< with free |z|, over tokens with at least two heads; otherwise `residual`
  bool varies = false;                 ///< |z| depends on the token, and heads agree on it
  double kept = 0;                     ///< share of pairs of unchanged length and of unchanged coordinates outside

  double size = 1;                         ///< the common |z|; relative to the expected scale if it varies
  double size_sigma = 0;                   ///< its standard deviation
  Noise noise = {};                        ///< of a coordinate of `after`, as a function of its pair's size
  double relative_noise = 0;               ///< of a pair of median length, relative to that length
  double median_length = 0;                ///< median length of a pair
  Cells cells = {};                        ///< the vectors that z was computed from
  std::vector<double> scale = {};          ///< [rows, pairs]: the expected |z| if it varies; empty: `size`
  std::vector<std::uint8_t> skipped = {};  ///< [pairs]: excluded, because one of their coordinates has its own verdict

  /// Returns the noise of a coordinate in a pair of this length. Much shorter pairs are too few to measure theirs.
  double noise_at(double length) const { return noise.at(std::max(length, 0.3 * median_length)); }
  const Complex& at(std::int64_t row, std::int64_t pair) const {
    return z[static_cast<std::size_t>(row * pairs + pair)];
  }
  double sigma_at(std::int64_t row, std::int64_t pair) const {
    return sigma[static_cast<std::size_t>(row * pairs + pair)];
  }
};

/// The coordinates at which a pair of the slice is read and written.
struct PairPlace {
  std::int64_t in_x, in_y, out_x, out_y;
};
PairPlace place_of(const TurnedSlice& slice, std::int64_t pair);

bool same_slice(const TurnedSlice& a, const TurnedSlice& b);

/// Returns the coarsest of bfloat16, float16 and float32 that holds every number exactly; float64 if none does.
ElementType storage_of(const std::vector<double>& values);
/// Returns the coarser storage type of the two arrays.
ElementType storage_of(const RotationDump& dump);
/// Returns half a unit in the last place at size 1 for the arithmetic behind a dump of this type. A float64 dump counts
/// as float32 arithmetic unless it shows less noise.
double storage_noise(ElementType type);

/// Measures a slice. `scale` [rows, pairs] is the expected |z| if it varies (xPos); empty: constant.
Turning measure(const RotationDump& dump, const TurnedSlice& slice, const Cells& cells, double floor,
                const std::vector<double>& scale = {});
/// Measures a slice with all vectors as they are.
Turning measure(const RotationDump& dump, const TurnedSlice& slice, double floor);

/// Returns the share of coordinates that noise explains: pairs that keep their length, and others that did not change.
double share_kept(const RotationDump& dump, const Turning& turning, const Noise& noise);

/// Measures the same slice with other cells. Skipped pairs stay skipped.
void measure_again(Turning& turning, const RotationDump& dump, const Cells& cells, double floor);
/// Excludes a pair from all further steps.
void skip(Turning& turning, std::int64_t pair);
/// True if pair `pair` of vector `cell` kept its length.
bool keeps_length(const RotationDump& dump, const Turning& turning, std::int64_t cell, std::int64_t pair,
                  double sigmas);

/// Returns the slices that fit about as well as the best, best first; `preferred` comes first among equals. Empty if
/// nothing turned.
std::vector<Turning> fitting_slices(const RotationDump& dump, const Cells& cells, double floor,
                                    const std::optional<TurnedSlice>& preferred, const std::vector<double>& scale = {});

/// Returns, for each head of `after`, the head of `before` that has the same norms in every token, up to a constant
/// factor. Uses only usable vectors.
std::vector<std::int64_t> match_heads(const RotationDump& dump, const Cells& cells);

/// Finds, for vectors whose pairs changed their lengths, the vector of `before` they were computed from.
void find_sources(Cells& cells, const RotationDump& dump, const Turning& turning);

/// Finds vectors with the magnitude once too often or once too few, for example vectors rotated twice. Sets `even` to
/// the dump with their pairs scaled to the common magnitude; leaves it empty if there are none.
std::vector<std::int64_t> rescaled_cells(const RotationDump& dump, const Turning& turning, double magnitude,
                                         RotationDump& even);

/// Excludes single vectors (Cells::single) that turn differently from most heads of their token.
void exclude_single_vectors(Cells& cells, const RotationDump& dump, const Turning& turning);

/// Returns the share of tokens whose heads all turn alike.
double tokens_turning_alike(const RotationDump& dump, const Turning& turning);

/// Returns the heads that turn differently from most. They are excluded in `cells` and no longer measured.
std::vector<std::int64_t> odd_heads(const RotationDump& dump, const Turning& turning);

}  // namespace locus::doctor
