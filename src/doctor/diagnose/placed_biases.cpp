// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/placed_biases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "doctor/diagnose/sentence.h"
#include "doctor/diagnose/turning.h"
#include "locus/bias.h"
#include "locus/error.h"

namespace locus::doctor {
namespace {

constexpr double nothing_fits = std::numeric_limits<double>::infinity();

// Returns the distance of head `head` of the dump from the expected head `like`: the sum of squares over rounding and
// noise. Infinite if an entry, or all entries together, are off by more than these.
double squares_of_head(const BiasShape& shape, const std::vector<double>& expected, std::int64_t head,
                       std::int64_t like) {
  const double unit = storage_noise(shape.storage());
  const std::int64_t size = shape.dump().queries * shape.dump().keys;
  double squares = 0, count = 0, product = 0, length = 0;
  for (std::int64_t n = 0; n < size; ++n) {
    const std::int64_t q = n / shape.dump().keys, k = n % shape.dump().keys;
    if (shape.masked(head, q, k)) continue;
    const double seen = shape.at(head, q, k), meant = expected[static_cast<std::size_t>(like * size + n)];
    if (!shape.equal(seen, meant)) return nothing_fits;
    const double sigma = std::hypot(unit * std::max(std::abs(seen), std::abs(meant)), shape.noise()) + 1e-30;
    squares += (seen - meant) * (seen - meant) / (sigma * sigma);
    product += seen * meant;
    length += meant * meant;
    ++count;
  }
  if (shape.noise() == 0 || count == 0) return squares;
  // A different size, or different numbers, may be hidden in the noise of single entries, but not of all together.
  const double off = length > 0 ? std::abs(product / length - 1) : 0;
  const bool sized = off <= 2 * unit + 8 * shape.noise() / std::sqrt(std::max(length, 1e-300));
  const bool quiet = std::sqrt(squares / count) <= 1.6 + 4 / std::sqrt(count);  // few entries measure the noise
  return sized && quiet ? squares : nothing_fits;
}

double squares_of(const BiasShape& shape, const std::vector<double>& expected) {
  double sum = 0;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) sum += squares_of_head(shape, expected, h, h);
  return sum;
}

// Returns the bias at other positions: `at` maps a query and key of the dump to them.
std::vector<double> bias_at(const Encoding& encoding, const BiasShape& shape,
                            const std::function<std::pair<Position, Position>(Position, Position)>& at) {
  std::vector<double> bias;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    for (std::int64_t q = 0; q < shape.dump().queries; ++q) {
      for (std::int64_t k = 0; k < shape.dump().keys; ++k) {
        const auto [query, key] = at(shape.position(q), k);
        bias.push_back(encoding.score().value(h, query, key));
      }
    }
  }
  return bias;
}

// Softmax ignores a constant per row: returns the expected numbers plus the constant of each row of visible past keys,
// and the dump's own numbers in the future.
std::vector<double> with_row_constants(const BiasShape& shape, std::vector<double> expected) {
  const double unit = storage_noise(shape.storage());
  for (std::int64_t row = 0; row < shape.dump().heads * shape.dump().queries; ++row) {
    const std::int64_t h = row / shape.dump().queries, q = row % shape.dump().queries;
    const auto at = [&](std::int64_t k) { return static_cast<std::size_t>(row * shape.dump().keys + k); };
    double sum = 0, weights = 0;  // small numbers have the smallest rounding errors
    for (std::int64_t k = 0; k <= shape.position(q); ++k) {
      if (shape.masked(h, q, k)) continue;
      const double seen = shape.at(h, q, k);
      const double weight = std::pow(std::hypot(unit * seen, shape.noise()) + 1e-15, -2);
      sum += weight * (seen - expected[at(k)]);
      weights += weight;
    }
    const double constant = weights > 0 ? sum / weights : 0;
    for (std::int64_t k = 0; k < shape.dump().keys; ++k) {
      const double sum_of_both = expected[at(k)] + constant;
      const bool cancels = std::abs(sum_of_both) <= 1e-12 * std::abs(constant);  // except for the rounding of double
      expected[at(k)] = k > shape.position(q) ? shape.at(h, q, k) : cancels ? 0 : sum_of_both;
    }
  }
  return expected;
}

class Places {
 public:
  Places(BiasShape& shape, const Encoding& encoding) : shape_(shape), encoding_(encoding) {
    const Position first = shape.position(0);
    const std::vector<double> right = expected_bias(encoding, shape, first);
    add("as_expected", "every visible entry is as expected", right, 1);
    if (shape.noise() == 0 && squares_of(shape, right) < nothing_fits) return;
    add_other_queries(first);
    add("table_transposed", "keys before and after the query are exchanged",
        bias_at(encoding, shape, [](Position q, Position k) { return std::pair(k, q); }), usual);
    add("bias_from_the_wrong_end", "distances are counted from the first key, not from the query",
        bias_at(encoding, shape, [](Position q, Position k) { return std::pair(q, q - k); }), usual);
    for (const Place& one : all_) shape.measure_noise(one.bias);
    for (Place& one : all_) one.squares = squares_of(shape, one.bias);
    add_other_heads(right);
    const auto none = [&](const Place& one) {
      const bool same = &one != &all_.front() && all_.front().squares == one.squares;  // then it is in the right place
      return one.squares == nothing_fits || same;
    };
    std::vector<Place> fitting;
    for (const Place& one : all_) {
      if (!none(one)) fitting.push_back(one);
    }
    all_ = std::move(fitting);
    if (all_.empty()) add_row_constants(right);
  }

  std::vector<Verdict> verdicts() const {
    double least = nothing_fits, sum = 0;
    for (const Place& one : all_) least = std::min(least, one.squares);
    std::vector<Verdict> verdicts;
    for (const Place& one : all_) {
      const double weight = one.prior * std::exp((least - one.squares) / 8);
      const std::string evidence = one.name == "as_expected" ? compared()
                                   : one.name == "row_constant"
                                       ? ""
                                       : "every visible entry is as expected there" + noise_text();
      verdicts.push_back({Verdict::About::dump, one.name, one.text, evidence, weight});
      sum += weight;
    }
    const bool unsure = shape_.noise() > 0 && !all_.empty() && all_.front().name == "row_constant";
    for (Verdict& one : verdicts) one.confidence *= (one.name == "as_expected" ? 0.99 : unsure ? 0.85 : 0.97) / sum;
    std::stable_sort(verdicts.begin(), verdicts.end(),
                     [](const Verdict& a, const Verdict& b) { return a.confidence > b.confidence; });
    std::erase_if(verdicts, [](const Verdict& one) { return one.confidence < 0.02; });
    return verdicts;
  }

 private:
  static constexpr double usual = 0.3;  // prior of a fault, relative to no fault

  struct Place {
    std::string name, text;
    double prior;
    std::vector<double> bias;
    double squares = 0;
  };

  void add(const std::string& name, const std::string& text, std::vector<double> bias, double prior) {
    all_.push_back({name, text, prior, std::move(bias)});
  }

  void add_row_constants(const std::vector<double>& right) {
    const double squares = squares_of(shape_, with_row_constants(shape_, right));
    if (squares == nothing_fits) return;
    all_.push_back({"row_constant",
                    "differs from what was expected by a constant per row: equal under a causal softmax", 1, right,
                    squares});
  }

  void add_other_queries(Position first) {
    for (const Position other : {Position{0}, first + 1, first - 1}) {
      const bool tried = other == 0 && all_.back().name == "queries_counted_from_zero";
      if (other == first || tried) continue;
      try {
        add(other == 0 ? "queries_counted_from_zero" : "queries_off_by_one",
            sentence("the first query was taken for position ", other, ", it is at ", first),
            expected_bias(encoding_, shape_, other), usual);
      } catch (const Error&) {  // outside the range of the encoding
      }
    }
  }

  // Finds the expected head that each head equals.
  void add_other_heads(const std::vector<double>& right) {
    std::vector<std::int64_t> map, reversed;
    double sum = 0;
    std::string heads;
    const std::int64_t count = shape_.dump().heads;
    for (std::int64_t h = 0; h < count; ++h) {
      double least = squares_of_head(shape_, right, h, h);
      std::int64_t found = h;
      for (std::int64_t g = 0; g < count; ++g) {
        const double squares = squares_of_head(shape_, right, h, g);
        if (squares >= least) continue;
        least = squares;
        found = g;
      }
      sum += least;
      map.push_back(found);
      reversed.push_back(count - 1 - h);
      heads += (heads.empty() ? "" : ", ") + std::to_string(found);
    }
    const bool slopes = !encoding_.score().slopes.empty() && map == reversed;
    // Among so many orders, one fits the noise slightly better by chance.
    const double prior = slopes ? usual : usual * std::pow(static_cast<double>(count), -2);
    all_.push_back({slopes ? "alibi_slopes_reversed" : "heads_permuted", "heads carry the bias of heads " + heads,
                    prior, right, sum});
  }

  std::string noise_text() const {
    return shape_.noise() > 0 ? sentence(", within noise of ", shape_.noise()) : std::string();
  }
  std::string compared() const {
    const std::int64_t masked = shape_.masked_count();
    const std::string text = masked > 0 ? sentence(masked, " masked entries were not compared") : std::string();
    return text.empty() && shape_.noise() > 0 ? "equal" + noise_text() : text + noise_text();
  }

  BiasShape& shape_;
  const Encoding& encoding_;
  std::vector<Place> all_;
};

}  // namespace

std::vector<double> expected_bias(const Encoding& encoding, const BiasShape& shape, Position first_query) {
  std::vector<Position> queries, keys;
  for (std::int64_t q = 0; q < shape.dump().queries; ++q) queries.push_back(first_query + q);
  for (std::int64_t k = 0; k < shape.dump().keys; ++k) keys.push_back(k);
  return bias_matrix(encoding, queries, keys);
}

std::vector<Verdict> judge_places(BiasShape& shape, const Encoding& encoding) {
  return Places(shape, encoding).verdicts();
}

}  // namespace locus::doctor
