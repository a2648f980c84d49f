// SPDX-License-Identifier: Apache-2.0
// Which coordinates of a dump turn together, and the complex factor by which each pair of each token was multiplied.
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

/// What a slice makes of the dump. Rows are tokens, batch after batch.
struct Turning {
  TurnedSlice slice;
  std::int64_t rows = 0;
  std::int64_t pairs = 0;
  std::vector<Complex> z = {};     ///< [rows, pairs]
  std::vector<double> sigma = {};  ///< [rows, pairs]: measured deviation of either part of z; infinite: nothing known
  std::vector<double> magnitude = {};  ///< [pairs]: |z|, the same for all tokens where it does not vary
  double residual = 0;                 ///< relative, over all coordinates, with |z| held constant per pair
  double free_residual = 0;            ///< the same with |z| free, over tokens with two heads or more; none: as above
  bool varies = false;                 ///< |z| varies with the token, and heads agree on it
  double kept = 0;                     ///< share of pairs whose length is kept and of other coordinates that stayed

  double size = 1;                         ///< the common |z| (over the expected scale where it varies)
  double size_sigma = 0;                   ///< its standard deviation
  Noise noise = {};                        ///< of a coordinate of `after`, by the size of its pair
  double relative_noise = 0;               ///< of a pair of middling length, over that length
  double middling = 0;                     ///< that length
  Cells cells = {};                        ///< the vectors that z comes from
  std::vector<double> scale = {};          ///< [rows, pairs]: what |z| should be where it varies; empty: `size`
  std::vector<std::uint8_t> skipped = {};  ///< [pairs]: left out, a coordinate of theirs is named by itself

  /// The noise of a number of a pair of this length. What the noise of much shorter pairs is, few of them can tell.
  double noise_at(double length) const { return noise.at(std::max(length, 0.3 * middling)); }
  const Complex& at(std::int64_t row, std::int64_t pair) const {
    return z[static_cast<std::size_t>(row * pairs + pair)];
  }
  double sigma_at(std::int64_t row, std::int64_t pair) const {
    return sigma[static_cast<std::size_t>(row * pairs + pair)];
  }
};

/// Where pair `pair` of the slice is read and written.
struct PairPlace {
  std::int64_t in_x, in_y, out_x, out_y;
};
PairPlace place_of(const TurnedSlice& slice, std::int64_t pair);

bool same_slice(const TurnedSlice& a, const TurnedSlice& b);

/// The coarsest of bfloat16, float16 and float32 that holds every number exactly; float64 where none does.
ElementType storage_of(const std::vector<double>& values);
/// The coarser of both.
ElementType storage_of(const RotationDump& dump);
/// Half a unit in the last place of a number of size 1, as the arithmetic behind a dump of this type leaves it: float64
/// dumps are taken for float32 arithmetic unless they show less noise.
double storage_noise(ElementType type);

/// `scale` [rows, pairs] is what |z| should be where it varies (xPos); empty: constant.
Turning measure(const RotationDump& dump, const TurnedSlice& slice, const Cells& cells, double floor,
                const std::vector<double>& scale = {});
/// All vectors taken as they are.
Turning measure(const RotationDump& dump, const TurnedSlice& slice, double floor);

/// The share of coordinates that noise explains: pairs whose length is kept, others that stayed.
double share_kept(const RotationDump& dump, const Turning& turning, const Noise& noise);

/// The same slice with other cells; what was skipped stays so.
void measure_again(Turning& turning, const RotationDump& dump, const Cells& cells, double floor);
/// Leaves a pair out of everything that follows.
void skip(Turning& turning, std::int64_t pair);
/// Whether the length of pair `pair` of vector `cell` is what it was.
bool keeps_length(const RotationDump& dump, const Turning& turning, std::int64_t cell, std::int64_t pair,
                  double sigmas);

/// Slices that fit about as well as the best, best first. `preferred` goes first among equals. Empty where nothing
/// turned.
std::vector<Turning> fitting_slices(const RotationDump& dump, const Cells& cells, double floor,
                                    const std::optional<TurnedSlice>& preferred, const std::vector<double>& scale = {});

/// For every head of `after` the head of `before` whose norms it has, token by token, up to a constant factor. Vectors
/// that are not usable take no part.
std::vector<std::int64_t> match_heads(const RotationDump& dump, const Cells& cells);

/// Vectors whose pairs have other lengths than they had: looks for the vector of `before` that they are made of.
void find_sources(Cells& cells, const RotationDump& dump, const Turning& turning);

/// Vectors whose lengths show the magnitude once more or once less than most, as those rotated twice do. `even` becomes
/// the dump with their pairs brought to the common magnitude; it stays empty where there are none.
std::vector<std::int64_t> rescaled_cells(const RotationDump& dump, const Turning& turning, double magnitude,
                                         RotationDump& even);

/// Puts vectors in doubt (Cells::single) that turn differently from most heads of their token.
void doubt_single_vectors(Cells& cells, const RotationDump& dump, const Turning& turning);

/// The share of tokens all of whose heads turn alike.
double tokens_turning_alike(const RotationDump& dump, const Turning& turning);

/// Heads that turn differently from most; they are put in doubt in `cells`, and measured no longer.
std::vector<std::int64_t> odd_heads(const RotationDump& dump, const Turning& turning);

}  // namespace locus::doctor
