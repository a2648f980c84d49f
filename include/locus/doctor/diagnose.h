// SPDX-License-Identifier: Apache-2.0
// What a dump really did: from vectors before and after, the rotation that explains them, and the fault if there is
// one.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/position_ids.h"

namespace locus {

/// Queries or keys before and after, both [batch, tokens, heads, head_dim].
struct RotationDump {
  std::int64_t batch = 1;
  std::int64_t tokens = 0;
  std::int64_t heads = 1;
  std::int64_t head_dim = 0;
  std::vector<double> before = {};
  std::vector<double> after = {};
};

/// What should have happened; all of it may be left open.
struct Expectation {
  std::optional<Encoding> encoding = {};
  std::optional<PositionIds> positions = {};  ///< absent: 0, 1, 2, ... are assumed and reported as assumed
  Role role = Role::query;
  /// `before` was rotated too, by another implementation: with an encoding, by that one as expected.
  bool both_rotated = false;
  /// These are values, which no position may touch.
  bool values = false;
};

/// Which coordinates turned.
struct TurnedSlice {
  Pairing pairing = Pairing::half;
  bool deinterleaved_output = false;
  std::int64_t rotary_offset = 0;
  std::int64_t rotary_dim = 0;
};

/// A judgement with its numbers. Verdicts about the angles are alternatives, best first; those about the slice, the
/// heads, the magnitude, the coverage (tokens, heads or coordinates that differ from the rest) and the precision stand
/// each for itself. Confidence is in [0, 1]: the share of such verdicts that are right. From `confident` on no rival
/// fits.
struct Verdict {
  enum class About : std::uint8_t { dump, slice, heads, magnitude, angles, coverage, precision };
  About about = About::angles;
  std::string name;  ///< e.g. "position_offset"; stable, for programs
  std::string text;
  std::string evidence;
  double confidence = 0;
};
inline constexpr double confident = 0.9;

/// One way to get the angles that were seen: an encoding at these positions.
struct Explanation {
  std::string scheme;
  Arguments arguments = {};  ///< of the scheme; head_dim, pairing, ... included
  bool inverse = false;
  int times = 1;                    ///< how often the rotation was applied
  double position_divisor = 1;      ///< positions were divided by this before the encoding saw them
  std::vector<Position> positions;  ///< [batch * tokens]
  double misfit = 0;                ///< deviation of cos and sin over the measured noise: about 1 or less fits
  std::string text;
  bool free_frequencies = false;  ///< explains any frequencies, hence last
  int complexity = 0;             ///< parameters that had to be fitted, uncommon values counted more: small is simple
};

struct Diagnosis {
  enum class Kind : std::uint8_t { rotation, unchanged, scaled, no_rotation };
  Kind kind = Kind::no_rotation;
  ElementType storage = ElementType::float32;  ///< the coarsest type that holds every number of the dump
  double residual = 0;  ///< what a rotation of pairs leaves unexplained, relative to the size of `after`
  double noise = 0;     ///< measured: how far the length of a pair of length 1 is off, which no angle explains

  std::optional<TurnedSlice> slice;       ///< absent: nothing turned, or no slice explains it
  std::vector<TurnedSlice> also_fitting;  ///< slices that fit as well
  std::vector<std::int64_t> head_map;     ///< head h of `after` is head head_map[h] of `before`; empty: as it should be
  double magnitude = 1;
  bool magnitude_varies = false;  ///< with the position, as in xPos

  std::vector<double> frequencies;  ///< radians per token step, where steps could be told; empty otherwise
  std::vector<Explanation>
      explanations;                 ///< those that fit, best first; more than one: the dump cannot tell them apart
  std::vector<Verdict> verdicts;    ///< faults against the expectation, best first; always at least one; the first is
                                    ///< `as_expected` where nothing is wrong
  std::vector<std::string> decide;  ///< which further dump would tell the explanations apart
  std::vector<std::string> not_judged;  ///< what the verdicts say nothing about, and why

  /// Whether the likeliest reading finds nothing wrong; meaningful with an expected encoding.
  bool as_expected() const { return !verdicts.empty() && verdicts.front().name == "as_expected"; }

  std::vector<double> pair_magnitudes;           ///< the spectrum: mean |z| per pair
  std::vector<std::vector<double>> pair_angles;  ///< angle per pair of the first tokens
};

/// Error for shapes that do not match the sizes given, for NaN or infinity, and for an encoding of another site.
Diagnosis diagnose(const RotationDump& dump, const Expectation& expected = {});

}  // namespace locus
