// SPDX-License-Identifier: Apache-2.0
// Sines and cosines of the position: their start, and the linear map that shifts all rows.
#include "doctor/verify/property_list.h"

namespace locus::doctor {
namespace {

// Returns the column with the same frequency and the other function; waves.size() if there is none.
std::vector<std::size_t> partners_of(const std::vector<Wave>& waves) {
  std::vector<std::size_t> partners;
  for (const Wave& wave : waves) {
    const auto found = std::find_if(waves.begin(), waves.end(), [&](const Wave& other) {
      return !other.silent && other.turns == wave.turns && other.cosine != wave.cosine;
    });
    partners.push_back(static_cast<std::size_t>(found - waves.begin()));
  }
  return partners;
}

}  // namespace

Checks waves_start_at_zero_and_one(const Subject& subject) {
  if (!subject.origin || subject.waves.empty() || !subject.accepts(*subject.origin)) return {};
  const std::vector<double> row = subject.row(*subject.origin);
  std::vector<double> start;
  for (const Wave& wave : subject.waves) start.push_back(wave.cosine && !wave.silent ? 1 : 0);
  return {at_most("rows start with sines 0 and cosines 1", subject.name, largest_difference(row, start), 0)};
}

// sin(w (p + k)) = sin(wp) cos(wk) + cos(wp) sin(wk), and likewise for cosines: a block rotation by k, for any p. Its
// entries are off by |k| w roundings of an angle, the three rows by their entry error.
Checks rows_shift_by_one_map(const Subject& subject) {
  Samples samples(41);
  const std::string name = "linear_shift: row p + k is the same linear map of row p for all p";
  const std::vector<std::size_t> partners = partners_of(subject.waves);
  constexpr Position most = 1000;
  double value = 0, fastest = 0;
  for (int trial = 0; trial < 64; ++trial) {
    const Position k = samples.integer(-most, most);
    const PositionRange range = around_zero(subject.range, trial % 2 == 0 ? 2 * most : max_position);
    const Position p = samples.integer(range.first + most, range.last - most);
    const std::vector<double> before = subject.row(p), after = subject.row(p + k);
    for (std::size_t j = 0; j < subject.waves.size(); ++j) {
      const Wave& wave = subject.waves[j];
      if (wave.silent) {
        value = worse(std::fabs(before[j]) + std::fabs(after[j]), value);
        continue;
      }
      if (partners[j] == subject.waves.size()) return {at_most(name, subject.name, HUGE_VAL, 0, "an unpaired wave")};
      const double angle = static_cast<double>(k) * wave.inv_freq;
      const double other = wave.cosine ? -std::sin(angle) : std::sin(angle);
      value = worse(std::fabs(before[j] * std::cos(angle) + before[partners[j]] * other - after[j]), value);
      fastest = std::max(fastest, wave.inv_freq);
    }
  }
  const double bound = 4 * subject.entry_error + 4 * static_cast<double>(most) * fastest * unit;
  return {at_most(name, subject.name, value, bound, "p up to 2147483647, |k| up to 1000")};
}

}  // namespace locus::doctor
