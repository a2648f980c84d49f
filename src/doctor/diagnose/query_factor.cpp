// SPDX-License-Identifier: Apache-2.0
// Query temperature: the length of a token's vectors shows the factor, whatever their angles are. The factor that fits
// best is taken out, and the rest is judged as a rotation without one.
#include <algorithm>
#include <cmath>
#include <optional>

#include "doctor/diagnose/cells.h"
#include "doctor/diagnose/coverage.h"
#include "doctor/diagnose/declared_dumps.h"
#include "doctor/diagnose/dump_checks.h"
#include "doctor/diagnose/other_dumps.h"
#include "doctor/diagnose/sentence.h"
#include "doctor/diagnose/turning.h"
#include "doctor/heads_array.h"

namespace locus::doctor {
namespace {

constexpr double most_off_length = 20;   // limits the influence of a single token
constexpr double decisive_lengths = 25;  // difference in the sum of squares at which one dump decides
constexpr double surest_factor = 0.99;

/// The measured logarithms of the factors of each token: of the coordinates that are rotated, and of the others.
struct TokenLengths {
  std::vector<double> turned = {}, rest = {};              // [rows]; NaN: not measured
  std::vector<double> turned_sigma = {}, rest_sigma = {};  // [rows]: what the rounding of the storage explains
};

struct Hypothesis {
  const char* fault;
  std::string text;
  std::vector<double> factor;  // [rows]
  double prior;
  bool turned_only = false;  // the other coordinates have no factor
  double offset = 0;         // of ln |z|, from another fault of the magnitude
  double squares = 0;
  double weight = 0;
};

bool in_slice(const Rotation& rotation, std::int64_t coordinate) {
  const std::int64_t at = coordinate - rotation.rotary_offset;
  return at >= 0 && at < rotation.rotary_dim;
}

TokenLengths measure_lengths(const RotationDump& dump, const Rotation& rotation, double unit) {
  const Cells cells = classify_cells(dump);
  TokenLengths lengths;
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    double before[2] = {}, after[2] = {}, fourth[2] = {};
    for (std::int64_t head = 0; head < cells.heads; ++head) {
      if (cells.at(row, head) != CellState::usable) continue;
      for (std::int64_t j = 0; j < dump.head_dim; ++j) {
        const std::size_t n = index_of((row * cells.heads + head) * dump.head_dim + j);
        const int part = in_slice(rotation, j) ? 0 : 1;
        before[part] += dump.before[n] * dump.before[n];
        after[part] += dump.after[n] * dump.after[n];
        fourth[part] += std::pow(dump.after[n], 4);
      }
    }
    const auto add = [&](int part, double magnitude, std::vector<double>& value, std::vector<double>& sigma) {
      const bool known = before[part] > 0 && after[part] > 0;
      value.push_back(known ? 0.5 * std::log(after[part] / before[part]) - std::log(magnitude) : std::nan(""));
      sigma.push_back(known ? unit * std::sqrt(fourth[part]) / after[part] + 1e-9 : 1);
    };
    add(0, rotation.magnitude, lengths.turned, lengths.turned_sigma);
    add(1, 1, lengths.rest, lengths.rest_sigma);
  }
  return lengths;
}

/// The differences between what was measured and a hypothesis, NaN where nothing was measured.
std::vector<double> differences(const TokenLengths& lengths, const Hypothesis& one) {
  std::vector<double> all;
  for (std::size_t row = 0; row < one.factor.size(); ++row) {
    const double factor = std::log(one.factor[row]);
    all.push_back(lengths.turned[row] - factor - one.offset);
    all.push_back(lengths.rest[row] - (one.turned_only ? 0 : factor));
  }
  return all;
}

double sigma_of(const TokenLengths& lengths, std::size_t n) {
  return n % 2 == 0 ? lengths.turned_sigma[n / 2] : lengths.rest_sigma[n / 2];
}

double median_size(const std::vector<double>& values) {
  std::vector<double> sizes;
  for (const double one : values) {
    if (!std::isnan(one)) sizes.push_back(std::abs(one));
  }
  if (sizes.empty()) return 0;
  std::nth_element(sizes.begin(), sizes.begin() + std::ssize(sizes) / 2, sizes.end());
  return sizes[sizes.size() / 2];
}

double length_squares(const TokenLengths& lengths, const Hypothesis& one, double noise) {
  double sum = 0;
  const std::vector<double> all = differences(lengths, one);
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (std::isnan(all[n])) continue;
    sum += std::pow(std::min(std::abs(all[n]) / std::hypot(noise, sigma_of(lengths, n)), most_off_length), 2);
  }
  return sum;
}

/// What a dump says about the factors.
class Factors {
 public:
  Factors(const RotationDump& dump, const Expectation& expected, const Rotation& rotation, double unit)
      : scale_(*rotation.query_scale),
        positions_(per_row(ids_of(dump, expected), dump.batch)),
        query_(expected.role == Role::query),
        magnitude_(rotation.magnitude),
        lengths_(measure_lengths(dump, rotation, unit)) {
    add_hypotheses(rotation.rotary_dim > 0 && rotation.rotary_dim < rotation.head_dim);
    weigh();
  }

  /// False: no hypothesis gives the measured lengths.
  bool fits() const { return fits_; }
  const Hypothesis& best() const { return all_.front(); }
  bool right() const { return std::string_view(best().fault) == "as_expected"; }

  /// The measured factors, where no hypothesis fits.
  std::vector<double> measured() const {
    std::vector<double> factor;
    for (std::size_t row = 0; row < positions_.size(); ++row) {
      const double seen = std::isnan(lengths_.turned[row]) ? lengths_.rest[row] : lengths_.turned[row];
      factor.push_back(std::isnan(seen) ? 1 : std::exp(seen));
    }
    return factor;
  }

  /// True if the factors are those of the expected rule at these positions, or `more` clearly so than the best guess.
  bool follow(const std::vector<Position>& positions, double more = -9) const {
    if (positions.size() != positions_.size()) return false;
    const auto fits_at = [&](double offset) {
      const Hypothesis other{.fault = "", .text = {}, .factor = at(positions, 0), .prior = 1, .offset = offset};
      if (!fits_) return median_size(differences(lengths_, other)) <= limit_;
      return length_squares(lengths_, other, noise_) <= best().squares - more;
    };
    return fits_at(0) || fits_at(best().offset);
  }

  /// The faults of the factor, most likely first; empty: none.
  std::vector<Verdict> verdicts() const {
    std::vector<Verdict> found;
    if (!fits_) {
      found.push_back({Verdict::About::magnitude, "temperature_wrong",
                       "queries have another factor by position than the expected temperature", evidence(), 0.88});
      return found;
    }
    for (const Hypothesis& one : all_) {
      if (one.weight < 0.02 || std::string_view(one.fault) == "as_expected") continue;
      const bool there = std::any_of(found.begin(), found.end(), [&](const Verdict& v) { return v.name == one.fault; });
      if (!there) {
        found.push_back({Verdict::About::magnitude, one.fault, one.text, evidence(), surest_factor * one.weight});
      }
    }
    return found;
  }

  /// How sure it is that nothing is wrong with the factor.
  double share_right() const {
    double share = 0;
    for (const Hypothesis& one : all_) share += std::string_view(one.fault) == "as_expected" ? one.weight : 0;
    return share;
  }

  std::vector<std::string> not_judged() const {
    std::vector<std::string> all;
    const std::vector<double> meant = at(positions_, 0);
    if (std::all_of(meant.begin(), meant.end(), [](double one) { return one == 1; })) {
      all.push_back(sentence("the query temperature is 1 at all these positions; it differs from position ",
                             scale_.first_scaled(), " on"));
    } else if (fits_ && right() && hidden_shift_) {
      all.push_back("whether the query temperature counts positions from 0 or from 1: no token here shows it");
    }
    return all;
  }

 private:
  std::vector<double> at(const std::vector<Position>& positions, Position by) const {
    std::vector<double> factor;
    for (const Position p : positions) factor.push_back(query_ ? scale_.at(p + by) : 1);
    return factor;
  }

  void add_hypotheses(bool has_rest) {
    const std::vector<double> meant = at(positions_, 0), none(positions_.size(), 1.0);
    all_.push_back({.fault = "as_expected", .text = {}, .factor = meant, .prior = 1});
    if (!query_) {
      std::vector<double> of_query;
      for (const Position p : positions_) of_query.push_back(scale_.at(p));
      add("temperature_on_keys", "keys have the temperature, which belongs to queries alone", of_query, 0.5);
      return;
    }
    add("temperature_missing", "queries have no temperature", none, 0.5);
    for (const Position by : {Position{1}, Position{-1}}) {
      add("temperature_off_by_one",
          sentence("the temperature is that of position p ", by > 0 ? "+ 1" : "- 1", " in place of p"),
          at(positions_, by), 0.4);
    }
    std::vector<double> squared = meant, inverse = meant;
    for (double& one : squared) one *= one;
    for (double& one : inverse) one = 1 / one;
    add("temperature_squared", "the temperature was applied twice", squared, 0.3);
    add("temperature_inverted", "queries were divided by the temperature", inverse, 0.2);
    if (!has_rest) return;
    add("temperature_on_rotated_only", "coordinates that are not rotated have no temperature", meant, 0.3);
    all_.back().turned_only = true;
  }

  void add(const char* fault, std::string text, std::vector<double> factor, double prior) {
    all_.push_back({.fault = fault, .text = std::move(text), .factor = std::move(factor), .prior = prior});
  }

  // A magnitude that is missing or squared changes all lengths alike.
  void add_magnitudes() {
    if (magnitude_ == 1) return;
    const std::vector<Hypothesis> plain = all_;
    for (const double offset : {-std::log(magnitude_), std::log(magnitude_)}) {
      for (Hypothesis one : plain) {
        one.offset = offset;
        one.prior *= 0.1;
        all_.push_back(std::move(one));
      }
    }
  }

  bool looks_right(const Hypothesis& one) const {  // what no token shows is not a finding
    const Hypothesis& meant = all_.front();
    for (std::size_t row = 0; row < positions_.size(); ++row) {
      const double sigma = 3 * std::hypot(noise_, lengths_.turned_sigma[row]);
      if (std::abs(std::log(one.factor[row] / meant.factor[row])) > sigma) return false;
    }
    return !one.turned_only;
  }

  void weigh() {
    add_magnitudes();
    double least = 1e300;
    for (const Hypothesis& one : all_) least = std::min(least, median_size(differences(lengths_, one)));
    std::vector<double> rounding = lengths_.turned_sigma;
    limit_ = std::max(1e-2, 8 * median_size(rounding));  // tables of bfloat16 are off by 0.4 %
    noise_ = 1.48 * least;
    fits_ = noise_ <= limit_;
    for (Hypothesis& one : all_) one.squares = length_squares(lengths_, one, std::min(noise_, limit_));
    const bool meant_fits = std::none_of(all_.begin(), all_.end(),
                                         [&](const Hypothesis& one) { return one.squares < all_.front().squares - 9; });
    if (meant_fits) {
      const auto removed =
          std::stable_partition(all_.begin() + 1, all_.end(), [&](const Hypothesis& one) { return !looks_right(one); });
      hidden_shift_ = std::any_of(removed, all_.end(), [](const Hypothesis& one) {
        return std::string_view(one.fault) == "temperature_off_by_one";
      });
      all_.erase(removed, all_.end());
    }
    double best = 1e300, sum = 0;
    for (const Hypothesis& one : all_) best = std::min(best, one.squares);
    for (Hypothesis& one : all_) {
      const double more = one.squares - best;
      one.weight = more > decisive_lengths ? 0 : one.prior * std::exp(-more / 8);
      sum += one.weight;
    }
    for (Hypothesis& one : all_) one.weight /= sum;
    std::stable_sort(all_.begin(), all_.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.weight > b.weight; });
  }

  // The token where the measurement and the expectation differ most.
  std::string evidence() const {
    const std::vector<double> meant = at(positions_, 0), seen = measured();
    std::size_t worst = 0;
    for (std::size_t row = 0; row < seen.size(); ++row) {
      const auto off = [&](std::size_t n) { return std::abs(std::log(seen[n] / meant[n])); };
      if (off(row) > off(worst)) worst = row;
    }
    return sentence("the factor at position ", positions_[worst], " is ", seen[worst], ", expected ", meant[worst]);
  }

  QueryScale scale_;
  std::vector<Position> positions_;
  bool query_;
  double magnitude_;
  TokenLengths lengths_;
  std::vector<Hypothesis> all_;
  double noise_ = 0, limit_ = 0;
  bool fits_ = false, hidden_shift_ = false;
};

void divide(std::vector<double>& values, const RotationDump& dump, const std::vector<double>& factor,
            const Rotation* turned_only) {
  const std::int64_t token = dump.heads * dump.head_dim;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const auto at = static_cast<std::int64_t>(n);
    if (turned_only != nullptr && !in_slice(*turned_only, at % dump.head_dim)) continue;
    values[n] /= factor[index_of(at / token)];
  }
}

std::optional<Encoding> without_temperature(const Encoding& encoding) {
  if (encoding.rotation().rotary_dim == 0) return std::nullopt;
  Arguments arguments;
  for (const auto& [name, value] : encoding.arguments().all()) {
    if (!name.starts_with("temperature")) arguments.set(name, value);
  }
  return Encoding(encoding.scheme().name, arguments);
}

/// The change of all vectors, relative to their size.
double change_of(const RotationDump& dump) {
  double change = 0, size = 0;
  for (std::size_t n = 0; n < dump.before.size(); ++n) {
    change += std::pow(dump.after[n] - dump.before[n], 2);
    size += dump.before[n] * dump.before[n];
  }
  return std::sqrt(change / std::max(size, 1e-300));
}

// A layer without rotation: what is left must be unchanged.
Diagnosis judge_unrotated(const RotationDump& dump, const Expectation& expected, ElementType storage) {
  const double floor = std::max(unit_roundoff(storage), 0x1p-23);
  const Cells cells = classify_cells(dump);
  Diagnosis diagnosis;
  if (unchanged(dump, cells, floor)) {
    diagnosis.kind = Diagnosis::Kind::unchanged;
    diagnosis.storage = storage;
    diagnosis.verdicts = judge_cells(dump, cells);
    diagnosis.verdicts.push_back({Verdict::About::angles, "as_expected", "nothing is rotated, as expected",
                                  "no coordinate changed but for the temperature", 0.98});
    return diagnosis;
  }
  Expectation open;
  open.positions = expected.positions;
  diagnosis = diagnose_rotation(dump, open, storage);
  diagnosis.decide.clear();
  if (diagnosis.kind == Diagnosis::Kind::rotation) {
    diagnosis.verdicts.insert(diagnosis.verdicts.begin(), {Verdict::About::angles, "rotation_unexpected",
                                                           "pairs are rotated, and this encoding rotates none",
                                                           diagnosis.verdicts.back().text, 0.97});
  } else if (change_of(dump) < 0.02) {
    diagnosis.verdicts = {{Verdict::About::angles, "as_expected", "nothing is rotated, as expected",
                           "no coordinate changed by more than the noise but for the temperature", 0.95}};
  } else {
    diagnosis.verdicts.insert(diagnosis.verdicts.begin(),
                              {Verdict::About::angles, "rotation_unexpected",
                               "vectors changed, and this encoding rotates none", "see the spectrum", 0.8});
  }
  return diagnosis;
}

}  // namespace

Diagnosis diagnose_tempered(const RotationDump& given, const Expectation& expected, ElementType storage) {
  const Rotation& rotation = expected.encoding->rotation();
  RotationDump dump = given;
  if (expected.both_rotated) {  // `before` has the factor too
    std::vector<double> meant;
    for (const Position p : per_row(ids_of(given, expected), given.batch)) {
      meant.push_back(expected.role == Role::query ? rotation.query_scale->at(p) : 1);
    }
    divide(dump.before, dump, meant, nullptr);
  }
  const Factors factors(dump, expected, rotation, storage_noise(storage));
  const bool turned_only = factors.fits() && factors.best().turned_only;
  divide(dump.after, dump, factors.fits() ? factors.best().factor : factors.measured(),
         turned_only ? &rotation : nullptr);
  Expectation rest = expected;
  rest.encoding = without_temperature(*expected.encoding);
  const auto judge = [&](const RotationDump& even) {
    return rest.encoding ? diagnose_rotation(even, rest, storage) : judge_unrotated(even, expected, storage);
  };
  Diagnosis diagnosis = judge(dump);
  if (factors.fits() && !diagnosis.as_expected()) {  // lengths may follow other positions than the expected ones
    RotationDump even = dump;
    even.after = given.after;
    divide(even.after, even, factors.measured(), nullptr);
    Diagnosis other = judge(even);
    if (!other.explanations.empty() && factors.follow(other.explanations.front().positions, 9)) {
      diagnosis = std::move(other);
    }
  }
  for (std::string& text : factors.not_judged()) diagnosis.not_judged.push_back(std::move(text));
  // The factor of a token at another position is that of the other position: one fault, not two.
  const bool moved = !diagnosis.explanations.empty() && factors.follow(diagnosis.explanations.front().positions);
  const bool untouched = diagnosis.kind == Diagnosis::Kind::unchanged && !diagnosis.as_expected() && factors.fits() &&
                         std::string_view(factors.best().fault) == "temperature_missing";
  if ((moved && !diagnosis.as_expected()) || untouched) return diagnosis;
  std::vector<Verdict> verdicts = factors.verdicts();
  if (factors.fits() && factors.right()) {
    for (Verdict& one : diagnosis.verdicts) one.confidence *= factors.share_right();
    diagnosis.verdicts.insert(diagnosis.verdicts.end(), verdicts.begin(), verdicts.end());
    return diagnosis;
  }
  diagnosis.verdicts.insert(diagnosis.verdicts.begin(), verdicts.begin(), verdicts.end());
  return diagnosis;
}

}  // namespace locus::doctor
