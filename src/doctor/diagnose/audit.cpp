// SPDX-License-Identifier: Apache-2.0
// Compares every number of a dump with the verdict. Angles are averages over heads and tokens, which hide a single
// wrong number.
#include <algorithm>
#include <cmath>

#include "doctor/diagnose/coverage.h"
#include "doctor/heads_array.h"

namespace locus::doctor {
namespace {

constexpr double some_off = 10;            // standard deviations: wrong if a twentieth of a vector is this far off
constexpr double surely_off = 40;          // wrong even if it is the only number
constexpr double float32_slack = 0x1p-20;  // of an angle: error of the product and of the power behind the frequency

struct Vector {
  std::int64_t off = 0;    // numbers that differ from the expected result
  std::int64_t moved = 0;  // numbers that differ from `before`
  std::int64_t all = 0;
  std::vector<std::int64_t> surely = {};  // coordinates that are wrong even alone
};

class Audit {
 public:
  Audit(const RotationDump& dump, const Turning& turning, const Candidate& candidate)
      : dump_(dump), turning_(turning), candidate_(candidate) {
    tiny_ = storage_of(dump) == ElementType::float16 ? 0x1p-24 : 0;  // smallest float16
  }

  Vector vector_at(std::int64_t row, std::int64_t head) const {
    Vector seen;
    const std::int64_t cell = row * dump_.heads + head;
    const double* before = dump_.before.data() + turning_.cells.source[index_of(cell)] * dump_.head_dim;
    const double* after = dump_.after.data() + cell * dump_.head_dim;
    for (std::int64_t i = 0; i < turning_.pairs; ++i) {
      if (!std::isfinite(turning_.sigma_at(row, i))) continue;
      compare_pair(seen, row, i, before, after);
    }
    for (std::int64_t j = 0; j < dump_.head_dim; ++j) {
      const std::int64_t inside = j - turning_.slice.rotary_offset;
      if (inside >= 0 && inside < turning_.slice.rotary_dim) continue;
      const double off = std::abs(after[j] - before[j]) - tiny_;
      ++seen.all;
      if (off > surely_off * turning_.noise_at(std::abs(before[j]))) seen.surely.push_back(j);
    }
    return seen;
  }

 private:
  void compare_pair(Vector& seen, std::int64_t row, std::int64_t i, const double* before, const double* after) const {
    const auto n = index_of(row * turning_.pairs + i);
    const PairPlace at = place_of(turning_.slice, i);
    const Complex from(before[at.in_x], before[at.in_y]), to(after[at.out_x], after[at.out_y]);
    const double scale = turning_.scale.empty() ? 1 : turning_.scale[n];
    const double length = turning_.size * scale * std::abs(from);
    const Complex direction = candidate_.prediction.z[n] / std::abs(candidate_.prediction.z[n]);
    const double slack =
        candidate_.prediction.angle.empty() ? 0 : float32_slack * std::abs(candidate_.prediction.angle[n]);
    const double noise = turning_.noise_at(length);
    const double allowed = tiny_ + slack * length;
    const double off = std::abs(to - turning_.size * scale * from * direction) - allowed;
    ++seen.all;
    seen.off += off > some_off * noise ? 1 : 0;
    seen.moved += std::abs(to - from) - allowed > some_off * noise ? 1 : 0;
    if (off > surely_off * noise) {
      seen.surely.push_back(at.out_x);
      seen.surely.push_back(at.out_y);
    }
  }

  const RotationDump& dump_;
  const Turning& turning_;
  const Candidate& candidate_;
  double tiny_ = 0;
};

std::string places(const std::set<std::int64_t>& coordinates) {
  std::string text;
  for (const std::int64_t j : coordinates) {
    if (text.size() > 40) return text + ", ...";
    text += (text.empty() ? "" : ", ") + std::to_string(j);
  }
  return text;
}

}  // namespace

std::vector<Verdict> audit(const RotationDump& dump, const Turning& turning, const Candidate& candidate) {
  std::vector<Verdict> verdicts;
  if (!candidate.fit.bad_pairs.empty()) return verdicts;
  const std::set<std::int64_t> listed(candidate.fit.bad_rows.begin(), candidate.fit.bad_rows.end());
  const Audit all(dump, turning, candidate);
  std::set<std::int64_t> still, strange, damaged, coordinates;
  for (std::int64_t row = 0; row < turning.rows; ++row) {
    for (std::int64_t h = 0; h < dump.heads && !listed.contains(row); ++h) {
      const std::int64_t cell = row * dump.heads + h;
      if (turning.cells.at(row, h) != CellState::usable || turning.cells.excluded[index_of(cell)] == Cells::whole) {
        continue;
      }
      const Vector seen = all.vector_at(row, h);
      if (seen.off * 20 > seen.all) {
        (seen.moved * 20 <= seen.all ? still : strange).insert(cell);
      } else if (!seen.surely.empty()) {
        damaged.insert(cell);
        coordinates.insert(seen.surely.begin(), seen.surely.end());
      }
    }
  }
  if (!still.empty()) {
    verdicts.push_back(cells_verdict(dump, still, "tokens_not_rotated", "heads_not_rotated", "not rotated", 0.96));
  }
  if (!strange.empty()) {
    verdicts.push_back(
        cells_verdict(dump, strange, "tokens_unexplained", "heads_unexplained", "turned by a different angle", 0.85));
  }
  if (!damaged.empty()) {
    verdicts.push_back(
        cells_verdict(dump, damaged, "tokens_unexplained", "heads_unexplained", "wrong in single coordinates", 0.93));
    verdicts.back().evidence += "; coordinates " + places(coordinates);
  }
  return verdicts;
}

}  // namespace locus::doctor
