// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/neighbour_paths.h"

#include <algorithm>
#include <cmath>

#include "doctor/verify/index.h"
#include "doctor/verify/token_paths.h"

namespace locus::doctor {
namespace {

// Sums of the same numbers, in float32 and perhaps in another order; a neighbour too many is far beyond it.
constexpr double tiny = 1e-5;

// The coordinates of a token that projections chose: they show every change of its row but those they left out.
std::vector<double> tokens_of(const Encoded& encoded, std::int64_t first, std::int64_t count) {
  const HeadsView view = encoded.query.view();
  const std::vector<double> all = encoded.query.values();
  const std::int64_t width = view.heads * view.head_dim;
  return {all.begin() + first * width, all.begin() + (first + count) * width};
}

double most_apart(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(a[i] - b[i]);
    if (!(difference <= most)) most = difference;  // a NaN stays
  }
  return most;
}

class NeighbourPaths {
 public:
  NeighbourPaths(WorstChecks& worst, const Sample& sample, ElementType type)
      : worst_(worst), sample_(sample), type_(type), suffix_(" (" + std::string(name_of(type)) + ")") {}

  void run() {
    const std::int64_t n = sample_.tokens(), part = n / 2 + 1;
    std::vector<std::int64_t> left(at(n - part), padding), right = range(0, part), packed = range(0, part);
    for (std::int64_t t = 0; t < part; ++t) left.push_back(t);
    right.resize(at(n), padding);
    for (std::int64_t t = 0; t < n; ++t) packed.push_back(t);
    same("left-padded = alone", left, n - part, part, "padding is taken for a neighbour");
    same("right-padded = alone", right, 0, part, "padding is taken for a neighbour");
    same("packed = alone", packed, 0, part, "the next document is taken for neighbours");
    const Neighbours& from = *sample_.encoding().hidden().neighbours;
    const std::int64_t after = from.kernel - 1 - from.before;
    if (n < 4 || from.kernel == 1) return;
    const std::int64_t first = n / 2, begin = std::max<std::int64_t>(0, first - from.before),
                       end = std::min(n, first + 1 + after);
    const std::vector<double> whole_token = tokens_of(sample_.encode(type_, range(0, n)), first, 1);
    const std::vector<double> with_context =
        tokens_of(sample_.encode(type_, range(begin, end - begin)), first - begin, 1);
    worst_.at_most("a token with the neighbours of its row = whole" + suffix_, most_apart(with_context, whole_token),
                   tiny, "likely cause: more or other neighbours than the kernel has taps");
    cut(first, whole_token);
  }

 private:
  void same(const std::string& name, const std::vector<std::int64_t>& slots, std::int64_t first, std::int64_t count,
            const std::string& cause) {
    const std::vector<double> alone = tokens_of(sample_.encode(type_, range(0, count)), 0, count);
    const double apart = most_apart(tokens_of(sample_.encode(type_, slots), first, count), alone);
    worst_.at_most(name + suffix_, apart, tiny, apart <= tiny ? "" : "likely cause: " + cause);
  }

  // One token on its own, as a decoder without the tokens before it would add its row.
  void cut(std::int64_t token, const std::vector<double>& whole_token) {
    const std::vector<double> lone = tokens_of(sample_.encode(type_, range(token, 1)), 0, 1);
    const std::vector<double> exact_whole = sample_.exact_states(range(0, sample_.tokens()), token),
                              exact_lone = sample_.exact_states(range(token, 1), 0);
    std::size_t most = 0;
    const auto gap = [&](std::size_t i) { return std::fabs(exact_whole[i] - exact_lone[i]); };
    for (std::size_t i = 0; i < exact_whole.size(); ++i) most = gap(i) > gap(most) ? i : most;
    const double coarse = 0.05 * gap(most);  // far above the rounding of every type, far below the difference
    worst_.at_least("a token without its neighbours differs from the whole" + suffix_,
                    std::fabs(lone[most] - whole_token[most]), gap(most) - coarse,
                    "the reference predicts " + std::to_string(gap(most)));
  }

  WorstChecks& worst_;
  const Sample& sample_;
  ElementType type_;
  std::string suffix_;
};

}  // namespace

void verify_neighbours(WorstChecks& worst, const Sample& sample, ElementType type) {
  NeighbourPaths(worst, sample, type).run();
}

}  // namespace locus::doctor
