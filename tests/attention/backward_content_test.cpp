// SPDX-License-Identifier: Apache-2.0
// The backward pass where a pair decides more than its difference: rows chosen by counting, remapped offsets.
#include "difference_check.h"

namespace locus::testing {
namespace {

// Gates count the rows, with and without a mix of heads; keys are shared by groups of heads.
TEST(BackwardDifferences, CountedRows) {
  const Extents e{.batch = 1, .queries = 4, .keys = 5, .heads = 2, .key_heads = 1, .dim = 4};
  const Arguments cope{{"heads", 2}, {"head_dim", 4}, {"max_positions", 3}, {"table", short_numbers({3, 4}, 41)}};
  Arguments mixed = cope;
  mixed.set("gate_mix", short_numbers({2, 2}, 42));
  for (const Arguments& arguments : {cope, mixed}) {
    const Learned learned{"cope", arguments, {"table"}};
    for (const BackwardMask& one : backward_masks(e.queries, e.keys)) {
      SCOPED_TRACE(one.name);
      check_differences(e, learned, [&](AttentionCall& call) { call.mask = one.mask; });
    }
  }
}

// Far pairs are turned to a remapped offset, in two or three regions.
TEST(BackwardDifferences, RemappedOffsets) {
  const Extents e{.batch = 1, .queries = 7, .keys = 7, .heads = 2, .key_heads = 1, .dim = 4};
  const Arguments rope{{"head_dim", 4}, {"pairing", "half"}};
  const std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::int64_t>>>> maps{
      {"rerope", {{"window", 3}}},
      {"leaky_rerope", {{"window", 2}, {"group", 3}}},
      {"self_extend", {{"window", 3}, {"group", 2}}},
      {"dual_chunk", {{"chunk_size", 4}, {"local_size", 1}}}};
  for (const auto& [map, settings] : maps) {
    SCOPED_TRACE(map);
    Arguments arguments = rope;
    arguments.set("map", map);
    for (const auto& [name, value] : settings) arguments.set(name, value);
    check_differences(e, {"offset_map", arguments, {}}, [](AttentionCall& call) { call.mask.causal = true; });
  }
}

// Other types give the same gradients, rounded: their inputs are multiples of 2^-6, which all types hold.
TEST(BackwardOnce, CountedAndRemappedInEveryType) {
  const Extents e{.batch = 1, .queries = 6, .keys = 6, .heads = 2, .key_heads = 2, .dim = 4};
  const Learned all[] = {
      {"cope", {{"heads", 2}, {"head_dim", 4}, {"max_positions", 3}, {"table", short_numbers({3, 4}, 41)}}, {"table"}},
      {"offset_map", {{"head_dim", 4}, {"pairing", "half"}, {"map", "rerope"}, {"window", 3}}, {}}};
  const auto gradients = [&]<class T>(const Learned& learned, T) {
    Backward<T> b(e, learned);
    const Backward<double> same(e, learned);
    const auto take = [](std::vector<T>& to, const std::vector<double>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) set(to[i], std::round(from[i] * 64) / 64);
    };
    take(b.t.q, same.t.q);
    take(b.t.k, same.t.k);
    take(b.t.v, same.t.v);
    take(b.g, same.g);
    std::vector<float> lse(static_cast<std::size_t>(e.heads * e.queries));
    b.t.call.log_sum_exp = lse.data();
    b.t.call.mask.causal = true;
    b.run();
    std::vector<double> result;
    for (const auto* values : {&b.dq, &b.dk, &b.dv}) {
      for (const T x : *values) result.push_back(value_of(x));
    }
    return result;
  };
  for (const Learned& learned : all) {
    SCOPED_TRACE(learned.scheme);
    const std::vector<double> exact = gradients(learned, 0.0);
    const std::vector<double> single = gradients(learned, 0.0f), half = gradients(learned, BFloat16{});
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(single[i], exact[i], 0x1p-24 * std::fabs(exact[i]) + 1e-12) << i;
      EXPECT_NEAR(half[i], exact[i], 0x1p-8 * std::fabs(exact[i]) + 1e-12) << i;
    }
  }
}

}  // namespace
}  // namespace locus::testing
