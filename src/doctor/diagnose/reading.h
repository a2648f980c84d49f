// SPDX-License-Identifier: Apache-2.0
// One slice and its analysis: the measurement, the predictions that fit, and what they leave unexplained.
#pragma once

#include "doctor/diagnose/coverage.h"
#include "doctor/diagnose/explanations.h"

namespace locus::doctor {

struct Reading {
  Turning turning;
  std::optional<TurnRates> rates = {};
  std::vector<Explanation> explanations = {};
  AngleJudgement angles = {};
  std::vector<Verdict> slice = {};
  std::vector<Verdict> coverage = {};    ///< of vectors, heads and coordinates
  std::vector<Verdict> exceptions = {};  ///< tokens and pairs that the best candidate does not explain
  std::vector<Position> meant = {};      ///< [rows], for one axis
  bool expectation = false;

  /// True if the first candidate explains everything except exceptions that have a name, or except a few tokens.
  bool mostly_explained() const;

  /// True if the slice is not the expected one and its angles need a base that is not in use: two faults at once, where
  /// one may be a wrong reading.
  bool needs_odd_base() const;

  /// How improbable this reading is. 0: everything is as expected; small: only a small fault is needed.
  double unlikely() const;
};

/// Passed to functions that take a unit: angles have no noise beyond the measured one.
inline constexpr double least_unit = 0x1p-26;

/// `turning` was measured with its cells; both are refined here.
Reading read_slice(const RotationDump& dump, const Expectation& expected, const PositionIds& ids, Turning turning,
                   double floor);

/// Converts the reading to verdicts, most likely first.
std::vector<Verdict> verdicts_of(const Reading& reading, const Expectation& expected, ElementType storage);

TurnedSlice slice_of(const Rotation& rotation);

}  // namespace locus::doctor
