// SPDX-License-Identifier: Apache-2.0
// One slice and all that follows from it: what is measured, which predictions fit, what is left over.
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
  std::vector<Verdict> exceptions = {};  ///< tokens and pairs that the best candidate leaves over
  std::vector<Position> meant = {};      ///< [rows], of one axis
  bool expectation = false;

  /// Whether the first candidate explains all but exceptions that have a name, or all but a few tokens.
  bool mostly_explained() const;

  /// 0: as expected throughout; small: little has to be wrong for this reading to be right.
  double unlikely() const;
};

/// Angles carry no noise beyond what was measured; functions that take a unit get this.
inline constexpr double least_unit = 0x1p-26;

/// `turning` has been measured with what `cells` says; both are refined here.
Reading read_slice(const RotationDump& dump, const Expectation& expected, const PositionIds& ids, Turning turning,
                   double floor);

/// What the reading says, the likeliest first.
std::vector<Verdict> verdicts_of(const Reading& reading, const Expectation& expected, ElementType storage);

TurnedSlice slice_of(const Rotation& rotation);

}  // namespace locus::doctor
