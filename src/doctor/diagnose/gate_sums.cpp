// SPDX-License-Identifier: Apache-2.0
// The forget gate adds ln f of every token after the key, up to and with the query. Other sums are faults.
#include "doctor/diagnose/gate_sums.h"

#include <cmath>
#include <functional>

#include "doctor/diagnose/sentence.h"

namespace locus::doctor {
namespace {

/// ln f of a head, and their running sums.
class HeadGates {
 public:
  HeadGates(const BiasDump& dump, std::int64_t head) : gates_(dump.gates.data() + head * dump.keys), sums_{0.0} {
    for (std::int64_t key = 0; key < dump.keys; ++key) sums_.push_back(sums_.back() + gates_[key]);
  }
  double gate(std::int64_t token) const { return gates_[token]; }
  /// The sum over tokens [first, last]; 0 if there are none.
  double sum(std::int64_t first, std::int64_t last) const {
    return last < first ? 0 : sums_[static_cast<std::size_t>(last + 1)] - sums_[static_cast<std::size_t>(first)];
  }

 private:
  const double* gates_;
  std::vector<double> sums_;
};

struct GateGuess {
  const char* fault;
  const char* text;
  std::function<double(const HeadGates& gates, std::int64_t query, std::int64_t key)> bias;
};

std::vector<GateGuess> gate_guesses() {
  using G = const HeadGates&;
  using I = std::int64_t;
  return {
      {"as_expected", "scores gain the gates after the key, up to the query",
       [](G g, I q, I k) { return g.sum(k + 1, q); }},
      {"gates_missing", "no gate is added to the scores", [](G, I, I) { return 0.0; }},
      {"gates_negated", "the gates have the wrong sign: keys gain what they should lose",
       [](G g, I q, I k) { return -g.sum(k + 1, q); }},
      {"gates_off_by_one", "the gate of the key itself is added too", [](G g, I q, I k) { return g.sum(k, q); }},
      {"gates_off_by_one", "the gates are those of the tokens before: the key's own counts, the query's does not",
       [](G g, I q, I k) { return g.sum(k, q - 1); }},
      {"gates_off_by_one", "the gate of the query is left out", [](G g, I q, I k) { return g.sum(k + 1, q - 1); }},
      {"gates_not_summed", "only the gate of the key is added, not the sum up to the query",
       [](G g, I, I k) { return g.gate(k); }},
      {"gates_not_summed", "only the gate of the query is added, not the sum from the key on",
       [](G g, I q, I) { return g.gate(q); }},
      {"gates_not_summed", "gates are summed up to the key: the query's sum is not subtracted",
       [](G g, I, I k) { return g.sum(0, k); }},
  };
}

/// The share of the judged entries that equal the guess.
double share_of(const BiasShape& shape, const std::vector<HeadGates>& gates, const GateGuess& guess) {
  const BiasDump& dump = shape.dump();
  std::int64_t all = 0, fitting = 0;
  for (std::int64_t h = 0; h < dump.heads; ++h) {
    for (std::int64_t q = 0; q < dump.queries; ++q) {
      const std::int64_t position = dump.keys - dump.queries + q;
      for (std::int64_t k = 0; k <= position; ++k) {
        if (shape.masked(h, q, k)) continue;
        ++all;
        // Differences of float32 running sums have the error of the sums.
        const double meant = guess.bias(gates[static_cast<std::size_t>(h)], position, k);
        const double rounding = std::ldexp(std::abs(gates[static_cast<std::size_t>(h)].sum(0, position)), -22);
        fitting += shape.equal(shape.at(h, q, k), meant) || std::abs(shape.at(h, q, k) - meant) <= rounding ? 1 : 0;
      }
    }
  }
  return all == 0 ? 0 : static_cast<double>(fitting) / static_cast<double>(all);
}

}  // namespace

std::vector<Verdict> judge_gates(const BiasShape& shape) {
  std::vector<HeadGates> gates;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) gates.emplace_back(shape.dump(), h);
  std::vector<Verdict> found;
  double best = 0;
  const char* nearest = "";
  for (const GateGuess& guess : gate_guesses()) {
    const double share = share_of(shape, gates, guess);
    if (share > best) {
      best = share;
      nearest = guess.text;
    }
    if (share < 1) continue;
    found.push_back({Verdict::About::dump, guess.fault, guess.text, "every entry is that sum", 0.97});
    if (found.front().name == "as_expected") return found;
  }
  for (Verdict& one : found) one.confidence /= static_cast<double>(found.size());
  if (!found.empty()) return found;
  return {{Verdict::About::dump, "unexplained", sentence("no known sum of the gates; nearest: ", nearest),
           sentence(100 * best, " % of the entries are that sum"), 0.6}};
}

}  // namespace locus::doctor
