// SPDX-License-Identifier: Apache-2.0
// Tokens, heads and coordinates that are treated differently from the rest.
#include "doctor/bar/plant.h"

namespace locus::bar {
namespace {

Plant treating(std::set<std::string> right, int what) {  // 0: tokens, 1: heads; zero, not rotated, twice, garbage
  return {std::move(right), [what](Case& one, Random& random) {
            const bool heads = what % 2 == 1;
            if (heads && one.shape.heads < 2) return false;
            const std::int64_t size = heads ? one.shape.heads : one.shape.tokens;
            const std::int64_t first = between(random, heads ? 0 : 1, size - 2);
            const std::int64_t last =
                heads ? std::min(first, size - 1)
                      : std::min(first + between(random, 0, std::max<std::int64_t>(size / 3, 1)), size - 2);
            if (what / 2 == 2) {  // cached tokens: from the start
              one.engine.treat = [=](std::int64_t row, std::int64_t) {
                return Treatment{.times = row % size <= last ? 2 : 1};
              };
              return last >= 1;
            }
            one.engine.treat = [=](std::int64_t row, std::int64_t head) {
              const std::int64_t at = heads ? head : row % size;
              Treatment treatment;
              if (at < first || at > last) return treatment;
              treatment.zero = what / 2 == 0;
              treatment.garbage = what / 2 == 3;
              if (what / 2 == 1) treatment.times = 0;
              return treatment;
            };
            return true;
          }};
}

}  // namespace

void add_coverage(Plants& all) {
  all["tokens_zero"] = treating({"tokens_zero"}, 0);
  all["heads_zero"] = treating({"heads_zero"}, 1);
  all["tokens_not_rotated"] = treating({"tokens_not_rotated"}, 2);
  all["heads_not_rotated"] = treating({"heads_not_rotated"}, 3);
  all["cached_twice"] = treating({"cached_rotated_twice"}, 4);
  all["tokens_garbage"] = treating({"tokens_unexplained"}, 6);
  all["heads_garbage"] = treating({"heads_unexplained"}, 7);
  all["coordinates_zero"] = {{"coordinates_zero"}, [](Case& one, Random& random) {
                               const std::int64_t first = between(random, 0, one.shape.head_dim / 2);
                               one.engine.zeroes = [=](auto j) { return j >= first && j < first + 3; };
                               return true;
                             }};
  all["pairs_skipped"] = {{"coordinates_not_rotated", "wrong_offset", "wrong_width"}, [](Case& one, Random& random) {
                            if (one.rule.kind == Kind::proportional) return false;
                            const std::int64_t first = between(random, 0, 3), count = between(random, 1, 3);
                            one.engine.skips = [=](auto i) { return i >= first && i < first + count; };
                            one.right = first == 0 ? one.right : std::set<std::string>{"coordinates_not_rotated"};
                            return true;
                          }};
  all["tokens_swapped"] = {{"tokens_swapped"}, [](Case& one, Random& random) {
                             const std::int64_t n = one.shape.tokens, a = cut_of(one, random), b = (a + 2) % n;
                             one.engine.source = [=](std::int64_t row, std::int64_t head) {
                               const std::int64_t t = row % n;
                               return std::pair{row - t + (t == a ? b : t == b ? a : t), head};
                             };
                             return true;
                           }};
  all["token_repeated"] = {{"tokens_repeated"}, [](Case& one, Random& random) {
                             const std::int64_t n = one.shape.tokens, a = cut_of(one, random);
                             one.engine.source = [=](std::int64_t row, std::int64_t head) {
                               return std::pair{row % n == a ? row - 1 : row, head};
                             };
                             return true;
                           }};
  all["heads_exchanged"] = {{"wrong_heads", "heads_tiled"}, [](Case& one, Random&) {
                              const std::int64_t heads = one.shape.heads;
                              one.engine.source = [=](std::int64_t row, std::int64_t head) {
                                return std::pair{row, (head + 1) % heads};
                              };
                              return heads > 1;
                            }};
  all["heads_tiled"] = {
      {"heads_tiled"}, [](Case& one, Random& random) {
        one.shape.heads = 4;
        std::normal_distribution<double> normal;
        const std::int64_t d = one.shape.head_dim;
        for (std::int64_t n = 0; n < one.shape.rows() * 4 * d; ++n) {  // key heads 0 0 1 1
          const bool again = n / d % 2 == 1;
          one.dump.before.push_back(
              again ? one.dump.before[static_cast<std::size_t>(n - d)]
                    : rounded(one.numerics.before, one.engine.sizes[static_cast<std::size_t>(n % d)] * normal(random)));
        }
        one.engine.source = [](std::int64_t row, std::int64_t head) { return std::pair{row, head % 2 * 2}; };
        return true;
      }};
  all["heads_miscounted"] = {{"heads_miscounted"}, [](Case& one, Random&) {
                               if (one.shape.heads < 2 || one.shape.batch > 1 || one.ids_given) return false;
                               one.right.insert("heads_miscounted");
                               one.engine.ids.assign(1, {});
                               return one.shape.heads != 4;
                             }};
  all["noise_only"] = {{"no_rotation", "unexplained"}, [](Case& one, Random&) {
                         one.engine.treat = [](auto, auto) { return Treatment{.garbage = true}; };
                         return true;
                       }};
}

}  // namespace locus::bar
