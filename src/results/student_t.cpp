// SPDX-License-Identifier: Apache-2.0
#include "results/student_t.h"

#include <cmath>
#include <numbers>

#include "locus/error.h"

namespace locus::results {
namespace {

// P(-t < T < t) with t = sqrt(degrees) tan(angle): the finite series of Abramowitz and Stegun 26.7.3 and 26.7.4.
double central_share(int degrees, double angle) {
  const double cosine = std::cos(angle), square = cosine * cosine;
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (int k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= square * (k - 1) / k;
    sum += term;
  }
  sum *= std::sin(angle);
  return odd ? 2 / std::numbers::pi * (angle + sum) : sum;
}

}  // namespace

double student_t(int degrees, double confidence) {
  require(degrees >= 1, "student_t: degrees must be at least 1, got ", degrees);
  require(confidence > 0 && confidence < 1, "student_t: confidence must be between 0 and 1, got ", confidence);
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {  // the share grows with the angle
    const double middle = (low + high) / 2;
    (central_share(degrees, middle) < confidence ? low : high) = middle;
  }
  return std::sqrt(static_cast<double>(degrees)) * std::tan((low + high) / 2);
}

}  // namespace locus::results
