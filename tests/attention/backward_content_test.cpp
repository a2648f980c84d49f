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
    const Learned learned{
        "cope", arguments,
        arguments.has("gate_mix") ? std::vector<std::string>{"table", "gate_mix"} : std::vector<std::string>{"table"}};
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

/// The gradients of queries, keys and values, causal, from inputs that are multiples of 2^-6: all types hold them.
template <class T>
std::vector<double> gradients(const Extents& e, const Learned& learned) {
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
}

// Rows chosen by counting are differentiated in double: other types give the same gradients, rounded.
TEST(BackwardOnce, CountedInEveryType) {
  const Extents e{.batch = 1, .queries = 6, .keys = 6, .heads = 2, .key_heads = 2, .dim = 4};
  const Learned cope{
      "cope", {{"heads", 2}, {"head_dim", 4}, {"max_positions", 3}, {"table", short_numbers({3, 4}, 41)}}, {"table"}};
  const std::vector<double> exact = gradients<double>(e, cope);
  const std::vector<double> single = gradients<float>(e, cope), half = gradients<BFloat16>(e, cope);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(single[i], exact[i], 0x1p-24 * std::fabs(exact[i]) + 1e-12) << i;
    EXPECT_NEAR(half[i], exact[i], 0x1p-8 * std::fabs(exact[i]) + 1e-12) << i;
  }
}

// Several tiles, within and across regions. The bound of attend_backward(): s <= dim / sqrt(dim) = 4 with |q|, |k| < 1,
// |lse| < 9, factors of queries and keys below scale x 1; a gradient of keys sums over at most all queries.
TEST(BackwardOnce, RemappedTilesAgreeWithDouble) {
  const Extents e{.batch = 1, .queries = 130, .keys = 130, .heads = 4, .key_heads = 2, .dim = 16};
  const Arguments rope{{"head_dim", 16}, {"rotary_dim", 12}, {"pairing", "interleaved"}};
  for (const char* map : {"rerope", "self_extend", "dual_chunk"}) {
    SCOPED_TRACE(map);
    Arguments arguments = rope;
    arguments.set("map", std::string(map));
    const bool chunks = std::string(map) == "dual_chunk";
    arguments.set(chunks ? "chunk_size" : "window", std::int64_t{chunks ? 32 : 20});
    if (chunks) arguments.set("local_size", std::int64_t{8});
    if (std::string(map) == "self_extend") arguments.set("group", std::int64_t{3});
    const Learned learned{"offset_map", arguments, {}};
    const std::vector<double> exact = gradients<double>(e, learned);
    const std::vector<double> single = gradients<float>(e, learned), half = gradients<BFloat16>(e, learned);
    const double dim = 16, keys = 130, u = 0x1p-24, scale = 0.25, s = 4;
    const double error = (6 * (dim + 16) * s + 6 * keys + 2 * dim + 4 * 9 + 96) * u;
    const double sums = 2 * keys;  // the weights that a gradient sums over: at most one per query of the group
    const double bound = (error + 2 * (sums + 4) * u) * dim * scale * sums;
    double largest = 0, size = 0;
    for (const double x : exact) size = std::max(size, std::fabs(x));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      largest = std::max(largest, std::fabs(single[i] - exact[i]));
      EXPECT_NEAR(single[i], exact[i], bound) << i;
      EXPECT_NEAR(half[i], exact[i], size / 32) << i;  // 8 bits, of outputs too; a wrong turn is as large as `size`
    }
    EXPECT_LT(largest, 1e-4 * size);  // the bound adds up absolute values, so it alone would not tell
  }
}

}  // namespace
}  // namespace locus::testing
