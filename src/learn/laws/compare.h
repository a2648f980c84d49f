// SPDX-License-Identifier: Apache-2.0
// What the laws share: random numbers, comparisons, and the search for the mistake that gives the same numbers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "learn/broken_law.h"
#include "learn/value.h"

namespace locus::learn {

/// Float32 arithmetic passes; another formula does not.
inline constexpr double tolerance = 1e-4;

/// Numbers in [-1, 1), the same for the same seed.
Array random_array(Random& random, const Shape& shape);

/// Whether all numbers agree within `tolerance`, relative to those above 1; false for other sizes.
bool agree(const std::vector<double>& a, const std::vector<double>& b);
bool agree(double a, double b);
/// The index of the first numbers that do not agree; the size if all do.
std::size_t first_difference(const std::vector<double>& a, const std::vector<double>& b);

/// A mistake that learners make, and the numbers that it gives.
struct Mistake {
  std::string_view cause;  ///< a key of the catalogue
  std::function<std::vector<double>()> numbers;
};

/// The cause of the first mistake that gives `got`; empty if none does.
std::string likely_cause(const std::vector<double>& got, const std::vector<Mistake>& mistakes);

/// Throws BrokenLaw unless the numbers agree. `where` gives the parameters of the sentence from the index of the first
/// difference.
void require_equal(const std::vector<double>& got, const std::vector<double>& wanted, const std::string& law,
                   const std::string& cause, const std::function<Parameters(std::size_t)>& where = {});

/// For arrays whose first axis is tokens: {token}, and with ids {position}.
std::function<Parameters(std::size_t)> at_token(const Array& array, const std::vector<std::int64_t>& ids = {});

}  // namespace locus::learn
