// SPDX-License-Identifier: Apache-2.0
// An engine that rotates queries, right or with a given fault.
#pragma once

#include <functional>
#include <random>
#include <string>

#include "doctor/bar/numbers.h"
#include "locus/doctor/diagnose.h"

namespace locus::bar {

struct Shape {
  std::int64_t batch = 1;
  std::int64_t tokens = 16;
  std::int64_t heads = 2;
  std::int64_t head_dim = 64;
  std::int64_t rows() const { return batch * tokens; }
};

/// What the engine does to a token and a head. The defaults rotate it once, forwards.
struct Treatment {
  bool zero = false;
  bool garbage = false;
  int times = 1;  ///< 0: not rotated, -1: backwards
};

/// What the engine does to a pair (x, y).
enum class Form {
  rotation,   ///< (x cos - y sin, x sin + y cos)
  reflected,  ///< (x cos - y sin, y cos - x sin)
  no_sin,     ///< (x cos, y cos)
  late_sin    ///< the sines of the next position
};

struct Engine {
  bool interleaved = false;
  bool deinterleaved_output = false;
  std::int64_t offset = 0;
  std::int64_t width = 64;
  std::vector<long double> w = {};                  ///< per pair
  std::vector<int> axis = {};                       ///< per pair; empty: all follow axis 0
  std::vector<std::vector<std::int64_t>> ids = {};  ///< [axes][rows]
  double magnitude = 1;
  std::function<double(double magnitude, std::int64_t row, std::int64_t pair)> scale = {};  ///< xPos
  std::function<long double(std::int64_t id, long double w)> angle = {};                    ///< replaces id * w
  std::function<Treatment(std::int64_t row, std::int64_t head)> treat = {};
  std::function<bool(std::int64_t pair)> skips = {};  ///< pairs that are not rotated
  std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t row, std::int64_t head)> source = {};
  std::function<bool(std::int64_t coordinate)> zeroes = {};
  Form form = Form::rotation;
  /// Returns the angle of a pair, given the right one.
  std::function<long double(std::int64_t row, std::int64_t head, std::int64_t pair, long double angle)> bend = {};
  /// Changes a vector of `after` before it is stored.
  std::function<void(std::int64_t row, std::int64_t head, double* vector)> spoil = {};
  std::vector<double> sizes = {};  ///< standard deviation of each coordinate of `before`; empty: 1
};

using Random = std::mt19937_64;

/// Fills `before` (normal numbers, unless the dump already has some) and `after`.
void run_engine(RotationDump& dump, const Engine& engine, const Numerics& numerics, Random& random);

}  // namespace locus::bar
