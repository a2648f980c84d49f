// SPDX-License-Identifier: Apache-2.0
// CoPE: with g_t = sigmoid(scale q.k_t), key j of query i stands at P = the sum of g_t over the visible keys t from j to
// i, at most at the last row of the table, and its score gains q . e(P), e linear between two rows. Every guess changes
// one step of this.
#include "doctor/diagnose/counted_rows.h"

#include <algorithm>
#include <cmath>

#include "doctor/diagnose/sentence.h"

namespace locus::doctor {
namespace {

enum class Between : std::uint8_t { linear, exchanged, below, above, nearest };

struct CountGuess {
  const char* fault;
  const char* text;
  bool gates = true;        ///< false: every key counts 1
  bool scaled_gate = true;  ///< the softmax scale is in the gate's product
  bool mixed = true;
  bool from_first = false;  ///< counts from the first key to this one, not from this one to the query
  bool later = false;       ///< keys after the query count too
  int own = 1;              ///< 0: the key itself does not count
  Between between = Between::linear;
  bool scaled_term = false;  ///< the softmax scale multiplies the term
  bool term = true;
};

std::vector<CountGuess> count_guesses(const RelativeKeys& table) {
  std::vector<CountGuess> guesses{
      {.fault = "as_expected", .text = "scores gain the query's product with the row that the gates count to"},
      {.fault = "counts_missing", .text = "nothing is added to the scores", .term = false},
      {.fault = "counts_ignore_gates", .text = "every key counts 1: rows are chosen by distance", .gates = false},
      {.fault = "counts_from_the_wrong_end",
       .text = "gates are summed from the first key on, not from the key to the query",
       .from_first = true},
      {.fault = "counts_unmasked", .text = "the gates of keys after the query count too", .later = true},
      {.fault = "counts_off_by_one", .text = "the gate of the key itself does not count", .own = 0},
      {.fault = "counts_gate_scale",
       .text = "gates are sigmoids of products without the softmax scale",
       .scaled_gate = false},
      {.fault = "counts_not_interpolated", .text = "the row below the count is taken", .between = Between::below},
      {.fault = "counts_not_interpolated", .text = "the row above the count is taken", .between = Between::above},
      {.fault = "counts_not_interpolated", .text = "the nearest row is taken", .between = Between::nearest},
      {.fault = "counts_shares_exchanged",
       .text = "the two rows around the count have each other's share",
       .between = Between::exchanged},
      {.fault = "counts_term_scaled", .text = "the softmax scale multiplies the term", .scaled_term = true},
  };
  if (!table.gate_mix.data.empty()) {
    guesses.push_back({.fault = "counts_mix_missing", .text = "gates are not mixed over the heads", .mixed = false});
  }
  return guesses;
}

/// Products of queries and keys, and of queries and rows of the table, in double.
class Products {
 public:
  Products(const BiasShape& shape, const RelativeKeys& table) : shape_(shape), dump_(shape.dump()), table_(table) {
    const auto dim = static_cast<std::size_t>(table.head_dim);
    const std::int64_t group = dump_.heads / dump_.key_heads;
    rows_ = table.key_table.dim(0);
    for (std::int64_t h = 0; h < dump_.heads; ++h) {
      for (std::int64_t q = 0; q < dump_.queries; ++q) {
        const double* query = dump_.query_vectors.data() + static_cast<std::size_t>(h * dump_.queries + q) * dim;
        double square = 0;
        for (std::size_t j = 0; j < dim; ++j) square += query[j] * query[j];
        lengths_.push_back(std::sqrt(square));
        for (std::int64_t k = 0; k < dump_.keys; ++k) {
          const double* key = dump_.key_vectors.data() + static_cast<std::size_t>(h / group * dump_.keys + k) * dim;
          double sum = 0;
          for (std::size_t j = 0; j < dim; ++j) sum += query[j] * key[j];
          with_keys_.push_back(sum);
        }
        for (std::int64_t r = 0; r < rows_; ++r) {
          const std::span<const float> row = table.key_table.row(r);
          double sum = 0;
          for (std::size_t j = 0; j < dim; ++j) sum += query[j] * static_cast<double>(row[j]);
          with_rows_.push_back(sum);
        }
      }
    }
    for (std::int64_t r = 0; r < rows_; ++r) {
      double square = 0;
      for (std::size_t j = 0; j < dim; ++j) {
        square += static_cast<double>(table.key_table.row(r)[j]) * static_cast<double>(table.key_table.row(r)[j]);
      }
      longest_row_ = std::max(longest_row_, std::sqrt(square));
    }
  }

  double scale() const { return 1 / std::sqrt(static_cast<double>(table_.head_dim)); }
  /// The largest product of a query with a row that its length allows.
  double most(std::int64_t head, std::int64_t query) const {
    return lengths_[static_cast<std::size_t>(head * dump_.queries + query)] * longest_row_;
  }

  double gate(const CountGuess& guess, std::int64_t head, std::int64_t query, std::int64_t key) const {
    if (!guess.gates) return 1;
    double product = 0;
    if (table_.gate_mix.data.empty() || !guess.mixed) {
      product = with_key(head, query, key);
    } else {
      for (std::int64_t other = 0; other < dump_.heads; ++other) {
        product += static_cast<double>(table_.gate_mix.row(head)[static_cast<std::size_t>(other)]) *
                   with_key(other, query, key);
      }
    }
    return 1 / (1 + std::exp(-product * (guess.scaled_gate ? scale() : 1)));
  }

  /// What a key's score gains at this count.
  double term(const CountGuess& guess, std::int64_t head, std::int64_t query, double count) const {
    if (!guess.term) return 0;
    const double last = static_cast<double>(rows_ - 1), at = std::clamp(count, 0.0, last);
    const double share = at - std::floor(at);
    const double below = with_row(head, query, std::floor(at)), above = with_row(head, query, std::ceil(at));
    double value = below + share * (above - below);
    if (guess.between == Between::exchanged) value = above + share * (below - above);
    if (guess.between == Between::below) value = below;
    if (guess.between == Between::above) value = above;
    if (guess.between == Between::nearest) value = with_row(head, query, std::round(at));
    return value * (guess.scaled_term ? scale() : 1);
  }

 private:
  double with_key(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return with_keys_[static_cast<std::size_t>((head * dump_.queries + query) * dump_.keys + key)];
  }
  double with_row(std::int64_t head, std::int64_t query, double row) const {
    return with_rows_[static_cast<std::size_t>((head * dump_.queries + query) * rows_) + static_cast<std::size_t>(row)];
  }

  const BiasShape& shape_;
  const BiasDump& dump_;
  const RelativeKeys& table_;
  std::int64_t rows_ = 0;
  double longest_row_ = 0;
  std::vector<double> lengths_, with_keys_, with_rows_;
};

struct CountFit {
  std::int64_t judged = 0, equal = 0;
  double squares = 0;  ///< of the differences
};

double unit_of(ElementType storage) {
  return std::ldexp(1.0, storage == ElementType::bfloat16 ? -8 : storage == ElementType::float16 ? -11 : -22);
}

CountFit fit_of(const BiasShape& shape, const Products& products, const CountGuess& guess) {
  const BiasDump& dump = shape.dump();
  const double unit = unit_of(shape.storage());
  CountFit fit;
  std::vector<double> counts(static_cast<std::size_t>(dump.keys));
  for (std::int64_t h = 0; h < dump.heads; ++h) {
    for (std::int64_t q = 0; q < dump.queries; ++q) {
      const std::int64_t position = shape.position(q), last = guess.later ? dump.keys - 1 : position;
      double count = 0;
      const auto take = [&](std::int64_t k) {
        const double gate = k <= position && shape.masked(h, q, k) ? 0 : products.gate(guess, h, q, k);
        counts[static_cast<std::size_t>(k)] = count + guess.own * gate;
        count += gate;
      };
      if (guess.from_first) {
        for (std::int64_t k = 0; k <= last; ++k) take(k);
      } else {
        for (std::int64_t k = last; k >= 0; --k) take(k);
      }
      for (std::int64_t k = 0; k <= position; ++k) {
        if (shape.masked(h, q, k)) continue;
        const double meant = products.term(guess, h, q, counts[static_cast<std::size_t>(k)]);
        const double off = std::abs(shape.at(h, q, k) - meant);
        // The count has the rounding of a sum, and moves the term by up to the difference of two rows.
        const double rounding = unit * products.most(h, q) * (2 + counts[static_cast<std::size_t>(k)]) + shape.slack();
        ++fit.judged;
        fit.equal += off <= rounding ? 1 : 0;
        fit.squares += off * off;
      }
    }
  }
  return fit;
}

}  // namespace

std::vector<Verdict> judge_counts(const BiasShape& shape, const RelativeKeys& table) {
  const Products products(shape, table);
  struct Found {
    Verdict verdict;
    double squares;
  };
  std::vector<Found> found;
  CountFit best;
  const char* nearest = "";
  for (const CountGuess& guess : count_guesses(table)) {
    const CountFit fit = fit_of(shape, products, guess);
    if (*nearest == '\0' || fit.squares < best.squares) {
      best = fit;
      nearest = guess.text;
    }
    if (fit.judged == 0 || fit.equal < fit.judged) continue;
    found.push_back(
        {{Verdict::About::dump, guess.fault, guess.text, "every entry is that product", 0.97}, fit.squares});
  }
  if (found.empty()) {
    const double share =
        best.judged == 0 ? 0 : 100.0 * static_cast<double>(best.equal) / static_cast<double>(best.judged);
    return {{Verdict::About::dump, "unexplained", sentence("no known count of the gates; nearest: ", nearest),
             sentence(share, " % of the entries are that product"), 0.6}};
  }
  // Coarse storage may leave several; one that is nearer by far is meant.
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.squares < b.squares; });
  std::vector<Verdict> verdicts;
  for (const Found& one : found) {
    if (one.squares <= 16 * found.front().squares) verdicts.push_back(one.verdict);
  }
  for (Verdict& one : verdicts) one.confidence /= static_cast<double>(verdicts.size());
  return verdicts;
}

}  // namespace locus::doctor
