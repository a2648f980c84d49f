// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/hidden_dump.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "doctor/diagnose/dump_checks.h"
#include "doctor/diagnose/noise.h"
#include "doctor/diagnose/position_faults.h"
#include "doctor/diagnose/sentence.h"
#include "doctor/diagnose/turning.h"
#include "doctor/heads_array.h"
#include "locus/error.h"
#include "locus/rows.h"

namespace locus::doctor {
namespace {

using AddedRow = std::vector<double>;

double norm_of(const double* values, std::size_t count) {
  double sum = 0;
  for (std::size_t j = 0; j < count; ++j) sum += values[j] * values[j];
  return std::sqrt(sum);
}

// The differences of all tokens, and the rows they are compared with.
class Added {
 public:
  Added(const RotationDump& dump, const Encoding& encoding)
      : hidden_(encoding.hidden()), range_(encoding.position_range()) {
    dim_ = static_cast<std::size_t>(dump.head_dim);
    for (std::size_t n = 0; n < dump.after.size(); ++n) added_.push_back(dump.after[n] - dump.before[n]);
    unit_ = std::max(unit_roundoff(storage_of(dump)), 0x1p-24);
    for (std::size_t t = 0; t < tokens(); ++t) {
      const double size = norm_of(dump.after.data() + t * dim_, dim_) + norm_of(dump.before.data() + t * dim_, dim_);
      noise_.push_back(2 * unit_ * size);
    }
    const auto count = static_cast<double>(dump.before.size());
    loudest_ = 2e-3 * norm_of(dump.before.data(), dump.before.size()) / std::sqrt(count);
  }

  // Measures the error relative to the expected rows, if most are right: rounding, and noise if there is any. More than
  // two thousandths of the states is not noise.
  void measure_noise(const std::vector<Position>& meant) {
    constexpr double share = 0.3, sigmas_within = 0.385;  // of a normal distribution
    std::vector<double> offs;
    for (std::size_t n = 0; n < added_.size(); ++n) {
      if (serves(meant[n / dim_])) offs.push_back(std::abs(added_[n] - row(meant[n / dim_])[n % dim_]));
    }
    measured_ = std::min(quantile(std::move(offs), share) / sigmas_within, loudest_);
  }
  double measured_noise() const { return measured_; }
  /// True if there is noise that rounding does not explain.
  bool noisy() const { return 3 * measured_ * std::sqrt(static_cast<double>(dim_)) > median(noise_); }

  double tolerance(std::size_t t) const {
    return std::max(noise_[t], 3 * measured_ * std::sqrt(static_cast<double>(dim_)));
  }
  /// True if the row of p is large enough to be visible in token t.
  bool shows(std::size_t t, Position p) { return norm_of(row(p).data(), dim_) > 2 * tolerance(t); }

  std::size_t tokens() const { return added_.size() / dim_; }
  bool nothing(std::size_t t) const { return norm_of(added_.data() + t * dim_, dim_) <= tolerance(t); }

  const AddedRow& row(Position p) {
    AddedRow& row = rows_[p];
    if (row.empty()) {
      row.resize(dim_);
      hidden_row(hidden_, p, std::span<double>(row));
    }
    return row;
  }

  bool serves(Position p) const { return p >= range_.first && p <= range_.last; }

  double distance(std::size_t t, Position p, double scale) {
    const AddedRow& meant = row(p);
    double sum = 0;
    for (std::size_t j = 0; j < dim_; ++j) {
      const double off = added_[t * dim_ + j] - scale * meant[j];
      sum += off * off;
    }
    return std::sqrt(sum);
  }

  bool fits(std::size_t t, Position p, double scale = 1) { return serves(p) && distance(t, p, scale) <= tolerance(t); }

  // Returns the factor of the expected row in the difference.
  double scale(std::size_t t, Position p) {
    const AddedRow& meant = row(p);
    double product = 0, size = 0;
    for (std::size_t j = 0; j < dim_; ++j) {
      product += added_[t * dim_ + j] * meant[j];
      size += meant[j] * meant[j];
    }
    return size > 0 ? product / size : 1;
  }

  // Bounds the distance of the median factor from 1: both the row and the state it was added to are rounded.
  double scale_error(const std::vector<Position>& positions) {
    double sum = 0;
    for (std::size_t t = 0; t < tokens(); ++t) sum += tolerance(t) / norm_of(row(positions[t]).data(), dim_);
    const auto count = static_cast<double>(tokens());
    return 2 * unit_ + 3 * sum / count / std::sqrt(count * static_cast<double>(dim_));
  }

  // Returns the numbers that are off by far more than the others of the dump.
  std::vector<std::int64_t> spoilt(const std::vector<Position>& positions, std::int64_t in_row) {
    std::vector<double> offs;
    for (std::size_t n = 0; n < added_.size(); ++n) {
      offs.push_back(std::abs(added_[n] - row(positions[n / dim_])[n % dim_]));
    }
    const double usual = quantile(offs, 0.7);
    std::vector<std::int64_t> list;
    for (std::size_t n = 0; n < offs.size(); ++n) {
      const double rounding = noise_[n / dim_];  // of the whole token: an upper bound for each number
      if (offs[n] > std::max(12 * usual, rounding)) list.push_back(static_cast<std::int64_t>(n / dim_) % in_row);
    }
    return list;
  }

 private:
  const HiddenRows& hidden_;
  PositionRange range_;
  std::size_t dim_ = 0;
  AddedRow added_;
  std::vector<double> noise_;  // rounding: the length of the error of each token
  double unit_ = 0;
  double loudest_ = 0;
  double measured_ = 0;  // the standard deviation of a number
  std::map<Position, AddedRow> rows_;
};

// Finds the added row: tries near rows first, then the whole table.
std::optional<Position> found_row(Added& added, std::size_t t, Position guess) {
  constexpr Position nearby = 64, furthest = 16384;
  for (Position by = 0; by <= nearby; ++by) {
    for (const Position p : {guess + by, guess - by}) {
      if (added.fits(t, p)) return p;
    }
  }
  for (Position p = 0; p <= furthest && added.serves(p); ++p) {
    if (added.fits(t, p)) return p;
  }
  return std::nullopt;
}

Verdict angle_verdict(const std::string& name, const std::string& text, const std::string& evidence,
                      double confidence) {
  return {Verdict::About::dump, name, text, evidence, confidence};
}

std::vector<Verdict> judge_rows(Added& added, const std::vector<Position>& meant, std::int64_t tokens) {
  added.measure_noise(meant);
  const std::string evidence = sentence(meant.size(), " tokens were compared with the expected rows",
                                        added.noisy() ? sentence(", with noise of ", added.measured_noise()) : "");
  std::vector<std::int64_t> bare;
  std::vector<double> scales;
  std::size_t shown = 0;
  for (std::size_t t = 0; t < meant.size(); ++t) {
    shown += added.shows(t, meant[t]) ? 1 : 0;
    if (added.nothing(t) && added.shows(t, meant[t])) bare.push_back(static_cast<std::int64_t>(t) % tokens);
    scales.push_back(added.scale(t, meant[t]));
  }
  if (shown == 0) {
    return {angle_verdict("as_expected", "rows are too small to be visible in these states", evidence, 0.5)};
  }
  if (bare.size() == shown) return {angle_verdict("rows_missing", "no row was added", evidence, 0.97)};
  const double scale = median(scales);
  std::size_t plain = 0, scaled = 0;
  for (std::size_t t = 0; t < meant.size(); ++t) {
    plain += added.fits(t, meant[t]) ? 1 : 0;
    scaled += added.fits(t, meant[t], scale) ? 1 : 0;
  }
  const bool sized = plain == meant.size() && std::abs(scale - 1) <= added.scale_error(meant);
  if (!sized && scaled == meant.size()) {
    return {angle_verdict("magnitude_wrong", sentence("rows are multiplied by ", scale), evidence, 0.95)};
  }
  std::vector<Position> used;
  std::vector<std::int64_t> lost;
  int patience = 4;
  for (std::size_t t = 0; t < meant.size(); ++t) {
    std::optional<Position> row;
    if (added.fits(t, meant[t])) row = meant[t];
    if (!row && patience > 0) row = found_row(added, t, t > 0 ? used.back() + 1 : meant[t]);
    if (!row && patience > 0) --patience;
    if (!row) lost.push_back(static_cast<std::int64_t>(t) % tokens);
    used.push_back(row.value_or(meant[t]));
  }
  if (lost.size() * 2 > meant.size()) {
    return {angle_verdict("table_wrong", "the added vectors are not rows of the expected table", evidence, 0.93)};
  }
  std::vector<Verdict> verdicts;
  if (!bare.empty()) {
    verdicts.push_back(
        {Verdict::About::coverage, "rows_missing", runs_of("tokens", bare) + " without a row", evidence, 0.95});
  } else if (!lost.empty()) {
    verdicts.push_back({Verdict::About::coverage, "tokens_unexplained",
                        runs_of("tokens", lost) + " with a vector that is not a row", evidence, 0.93});
  }
  const PositionFault fault = name_position_fault(meant, used, tokens);
  if (!fault.name.empty()) {
    verdicts.push_back(angle_verdict(fault.name, fault.text, evidence, fault.name == "positions_differ" ? 0.85 : 0.95));
    return verdicts;
  }
  const std::vector<std::int64_t> spoilt = added.spoilt(meant, tokens);
  if (!spoilt.empty() && verdicts.empty()) {
    verdicts.push_back({Verdict::About::coverage, "tokens_unexplained",
                        runs_of("tokens", spoilt) + " wrong in single coordinates", evidence, 0.9});
  }
  const double sure = added.noisy() ? 0.9 : 0.98;
  verdicts.push_back(angle_verdict("as_expected", "every token has its row", evidence, verdicts.empty() ? sure : 0.6));
  return verdicts;
}

}  // namespace

Diagnosis diagnose_hidden(const RotationDump& dump, const Expectation& expected) {
  const Encoding& encoding = *expected.encoding;
  const PositionIds ids = ids_of(dump, expected);
  require(dump.heads == 1 && dump.head_dim == encoding.hidden().dim, "the encoding adds rows of ",
          encoding.hidden().dim, ", the dump has ", dump.heads, " heads of ", dump.head_dim);
  require(ids.axes == 1, "an encoding of the hidden site has one axis of positions, got ", ids.axes);
  encoding.check_positions(ids.ids);
  Diagnosis diagnosis;
  diagnosis.kind = dump.before == dump.after ? Diagnosis::Kind::unchanged : Diagnosis::Kind::no_rotation;
  diagnosis.storage = storage_of(dump);
  diagnosis.noise = unit_roundoff(diagnosis.storage);
  if (!expected.positions) diagnosis.not_judged.emplace_back("positions were not given; 0, 1, 2, ... are assumed");
  Added added(dump, encoding);
  diagnosis.verdicts = judge_rows(added, per_row(ids, dump.batch), dump.tokens);
  if (diagnosis.as_expected() && diagnosis.verdicts.front().confidence < confident) {
    diagnosis.decide.emplace_back("whether a row was added: dump in float32, or rows without the states");
  }
  return diagnosis;
}

}  // namespace locus::doctor
