// SPDX-License-Identifier: Apache-2.0
// Faults of biases, buckets and rows that the verifier was not built for; see odd_mutants.cpp.
#include "doctor/mutants/engines.h"
#include "doctor/mutants/lists.h"

namespace mutants {
namespace {

using std::int64_t;
using Strings = std::vector<std::string>;

void biases(List& list) {
  const auto by_head = [&](const std::string& name, const std::function<int64_t(int64_t)>& head) {
    const Pair pair = alibi(8);
    Attention plain = pair.plain;
    plain.bias = [head, own = pair.plain.bias](int64_t h, int64_t q, int64_t k) { return own(head(h), q, k); };
    list.attend("bias", name, pair, plain, {"heads_permuted"});
  };
  by_head("of every second head, twice", [](int64_t h) { return 2 * h % 8; });
  by_head("of the other head of a pair", [](int64_t h) { return h ^ 1; });
  const auto alibi_as = [&](const std::string& name, int count, const Strings& faults,
                            const std::function<double(double slope, int64_t distance)>& value) {
    const Pair pair = alibi(count);
    Attention plain = pair.plain;
    plain.bias = [=, s = slopes(count)](int64_t h, int64_t q, int64_t k) { return value(s[index(h)], q - k); };
    list.attend("bias", name, pair, plain, faults);
  };
  alibi_as("slopes in bfloat16", 12, {"bfloat16_bias"}, [](double s, int64_t n) {
    return -static_cast<double>(bf16(static_cast<float>(s))) * static_cast<double>(n);
  });
  alibi_as("distance in eight bits", 8, {"distance_wrapped"},
           [](double s, int64_t n) { return -s * static_cast<double>(static_cast<std::int8_t>(n)); });
  alibi_as("times 1.37", 8, {"bias_scaled", "alibi_scaled"},
           [](double s, int64_t n) { return -1.37 * s * static_cast<double>(n); });
  alibi_as("square root of the distance", 8, {},
           [](double s, int64_t n) { return -s * std::sqrt(static_cast<double>(n)); });
  // The numbers themselves.
  const auto numbers = [&](const std::string& name, const Strings& faults,
                           const std::function<double(int64_t h, int64_t q, int64_t k)>& value) {
    const Pair pair = alibi(8);
    list.add("bias", "numbers: " + name, pair, faults, [encoding = pair.encoding, value] {
      return locus::verify_bias(encoding, [value](const locus::BiasRequest& r) {
        std::size_t i = 0;
        for (int64_t h = 0; h < r.heads; ++h) {
          for (const int64_t q : r.query_ids) {
            for (const int64_t k : r.key_ids) r.bias[i++] = static_cast<float>(value(h, q, k));
          }
        }
      });
    });
  };
  const auto right = alibi(8).plain.bias;
  numbers("a constant per row", {"row_constant"},
          [right](int64_t h, int64_t q, int64_t k) { return right(h, q, k) + 0.25 * static_cast<double>(q % 7); });
  numbers("times 1.37", {"alibi_scaled", "bias_scaled"},
          [right](int64_t h, int64_t q, int64_t k) { return 1.37 * right(h, q, k); });
  numbers("of the next head", {"heads_permuted"},
          [right](int64_t h, int64_t q, int64_t k) { return right((h + 1) % 8, q, k); });
  numbers("one step on", {"distance_off_by_one", "off_by_one"},
          [right](int64_t h, int64_t q, int64_t k) { return right(h, q + 1, k); });
  const Pair buckets = t5(false);
  Attention coarse = buckets.plain;
  coarse.bias = [table = tensor({32, 8}, 7).data](int64_t h, int64_t q, int64_t k) {
    const double n = static_cast<double>(std::max<int64_t>(q - k, 0));
    double row = n;
    if (n >= 16) row = std::min(16.0 + std::floor(std::round(std::log(n / 16) * 16) / 16 / std::log(8.0) * 16.0), 31.0);
    return static_cast<double>(table[index(static_cast<int64_t>(row) * 8 + h)]);
  };
  list.attend("buckets", "logarithm rounded to sixteenths", buckets, coarse, {});
  const Pair relative = shaw();
  Attention flipped = relative.plain;
  flipped.relative_value = [t = shaw_tables()](int64_t q, int64_t k, int64_t j) {
    return static_cast<double>(t.value[t.at(k, q, j)]);
  };
  list.attend("bias", "other sign for the values' table", relative, flipped, {"table_transposed"});
  const Pair sinusoid{"sinusoidal", locus::Encoding("sinusoidal", {{"dim", 16}}), {}};
  const auto rows = [&](const std::string& name, const Strings& faults,
                        const std::function<double(int64_t p, int64_t j)>& value) {
    list.add("tables", "rows: " + name, sinusoid, faults, [encoding = sinusoid.encoding, value] {
      return locus::verify_rows(encoding, [value](const locus::RowsRequest& r) {
        for (std::size_t t = 0; t < r.ids.size(); ++t) {
          for (int64_t j = 0; j < r.dim; ++j) r.rows[t * 16 + index(j)] = static_cast<float>(value(r.ids[t], j));
        }
      });
    });
  };
  const auto wave = [](int64_t p, int64_t j) {
    const std::complex<double> z = unit_turn(p, j / 2, 16, 1e4);
    return j % 2 == 0 ? z.imag() : z.real();
  };
  rows("one position late", {"off_by_one"}, [wave](int64_t p, int64_t j) { return wave(p - 1, j); });
  rows("scaled by 4", {}, [wave](int64_t p, int64_t j) { return 4 * wave(p, j); });
  rows("cos before sin", {}, [wave](int64_t p, int64_t j) { return wave(p, j ^ 1); });
}

}  // namespace

void plant_odd_ones_in_scores(List& list) { biases(list); }

}  // namespace mutants
