// SPDX-License-Identifier: Apache-2.0
// Infers from vectors before and after which rotation explains them, and which fault if there is one.
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

/// What should have happened. Every field is optional.
struct Expectation {
  std::optional<Encoding> encoding = {};
  std::optional<PositionIds> positions = {};  ///< absent: assumes 0, 1, 2, ... and says so
  Role role = Role::query;
  /// `before` is rotated too, by another implementation that follows `encoding` if there is one.
  bool both_rotated = false;
  /// These are values, which positions must not change, unless the encoding turns the output: then they are rotated
  /// like keys.
  bool values = false;
  /// These are outputs of attention before and after they were turned back by the query's position (turned_output).
  bool output = false;
};

/// Which coordinates were rotated.
struct TurnedSlice {
  Pairing pairing = Pairing::half;
  bool deinterleaved_output = false;
  std::int64_t rotary_offset = 0;
  std::int64_t rotary_dim = 0;
};

/// A conclusion with its numbers. Verdicts about the angles are alternatives, best first. Those about the slice, the
/// heads, the magnitude, the coverage (tokens, heads or coordinates that differ from the rest) and the precision are
/// independent. Confidence in [0, 1] is the share of such verdicts that are right. From `confident` on no alternative
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

/// One way to get the observed angles: an encoding at these positions.
struct Explanation {
  std::string scheme;
  Arguments arguments = {};  ///< of the scheme, with head_dim, pairing, ...
  bool inverse = false;
  int times = 1;                    ///< how many times the rotation was applied
  double position_divisor = 1;      ///< positions were divided by this before they were encoded
  std::vector<Position> positions;  ///< [batch * tokens]
  double misfit = 0;                ///< deviation of cos and sin divided by the measured noise; about 1 or less fits
  std::string text;
  bool free_frequencies = false;  ///< fits any frequencies, so it is ranked last
  int complexity = 0;             ///< number of fitted parameters, uncommon values counted more
};

struct Diagnosis {
  enum class Kind : std::uint8_t { rotation, unchanged, scaled, no_rotation };
  Kind kind = Kind::no_rotation;
  ElementType storage = ElementType::float32;  ///< the coarsest type that holds every number of the dump
  double residual = 0;                         ///< what no rotation of pairs explains, relative to the size of `after`
  double noise = 0;  ///< measured: the error in the length of a pair of length 1, which no angle explains

  std::optional<TurnedSlice> slice;       ///< absent: nothing was rotated, or no slice explains it
  std::vector<TurnedSlice> also_fitting;  ///< slices that fit as well
  std::vector<std::int64_t> head_map;  ///< head h of `after` is head head_map[h] of `before`; empty: the expected order
  double magnitude = 1;
  bool magnitude_varies = false;  ///< with the position, as in xPos

  std::vector<double> frequencies;        ///< radians per token step; empty if the steps are unknown
  std::vector<Explanation> explanations;  ///< those that fit, best first; if several, the dump cannot distinguish them
  std::vector<Verdict> verdicts;          ///< deviations from the expectation, best first; at least one; the first is
                                          ///< `as_expected` if nothing is wrong
  std::vector<std::string> decide;        ///< which further dump would distinguish the explanations
  std::vector<std::string> not_judged;    ///< what the verdicts say nothing about, and why

  /// Returns whether the likeliest verdict is that nothing is wrong. Meaningful only with an expected encoding.
  bool as_expected() const { return !verdicts.empty() && verdicts.front().name == "as_expected"; }

  std::vector<double> pair_magnitudes;           ///< the spectrum: mean |after / before| per pair
  std::vector<std::vector<double>> pair_angles;  ///< angle per pair, for the first tokens
};

/// Infers the rotation and compares it with `expected`.
/// Error: arrays that do not match the sizes, NaN or infinity, an encoding of another site than query_key or
/// hidden. With one of the hidden site, `after` is `before` with rows added; the dump has one head.
Diagnosis diagnose(const RotationDump& dump, const Expectation& expected = {});

}  // namespace locus
