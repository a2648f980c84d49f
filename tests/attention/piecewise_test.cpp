// SPDX-License-Identifier: Apache-2.0
// A bias that is evaluated by linear pieces (FIRE), over several tiles, against its network for every pair.
#include "backward_check.h"

namespace locus::testing {
namespace {

// Breaks of w1 x + b1 inside (0, 1), at 0, beyond 1, below 0, and none at all (a weight of 0); b1 / w1 exact.
Learned pieces_of_every_kind() {
  const Tensor w1{{8, 1}, {2, -2, 1, -4, 0, 3, -1, 0.5f}}, b1{{8}, {-1, 0.5f, 0, 3, 0.25f, 1, -2, -0.0625f}};
  return {"fire",
          {{"heads", 2},
           {"width", 8},
           {"w1", w1},
           {"b1", b1},
           {"w2", short_numbers({2, 8}, 3)},
           {"b2", short_numbers({2}, 4)},
           {"c", std::vector<double>{0.3}},
           {"threshold", std::vector<double>{40}}},
          {"w1", "b1", "w2", "c", "threshold"}};
}

// Queries below and above the threshold; causal, and with keys after the query.
TEST(Piecewise, TilesAgreeWithTheReference) {
  const Learned fire = pieces_of_every_kind();
  const Encoding encoding(fire.scheme, fire.arguments);
  for (const bool causal : {true, false}) {
    SCOPED_TRACE(causal);
    Tensors<float> t({.batch = 1, .queries = 300, .keys = 317, .heads = 2, .key_heads = 1, .dim = 8});
    t.call.encoding = &encoding;
    t.call.mask.causal = causal;
    attend(t.call);
    EXPECT_LE(error_over_bound(t, reference::attend(t.call)), 1.0);
  }
}

// The gradient in double sums over pairs, that in float32 over pieces. That of b2 is 0: softmax ignores what all keys gain.
TEST(Piecewise, GradientsAgreeWithThoseByPair) {
  const Extents e{.batch = 1, .queries = 150, .keys = 150, .heads = 2, .key_heads = 2, .dim = 8};
  const Learned fire = pieces_of_every_kind();
  Backward<float> tiles(e, fire);
  Backward<double> pairs(e, fire);
  const auto take = [](std::vector<double>& to, const std::vector<float>& from) {
    to.assign(from.begin(), from.end());
  };
  take(pairs.t.q, tiles.t.q);
  take(pairs.t.k, tiles.t.k);
  take(pairs.t.v, tiles.t.v);
  take(pairs.g, tiles.g);
  tiles.t.call.mask.causal = pairs.t.call.mask.causal = true;
  tiles.run();
  pairs.run();
  for (std::size_t w = 0; w < fire.weights.size(); ++w) {
    SCOPED_TRACE(fire.weights[w]);
    double size = 0;
    for (const double x : pairs.weights[w]) size = std::max(size, std::fabs(x));
    ASSERT_GT(size, 1e-6);
    for (std::size_t i = 0; i < pairs.weights[w].size(); ++i) {
      EXPECT_NEAR(tiles.weights[w][i], pairs.weights[w][i], 1e-4 * size) << i;
    }
  }
}

}  // namespace
}  // namespace locus::testing
