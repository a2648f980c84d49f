// SPDX-License-Identifier: Apache-2.0
// Compiles the convolution over tokens for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/neighbours_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "kernels/neighbours_simd.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

//   for (t < tokens) sums[t][c] = bias[c] + sum_(j, i) weights[j][i][c] inputs[t + j][first + i];
// for the outputs c of one group from `output` on, as many as the vector has. The sums stay in registers.
template <std::size_t kTokens, class D>
HWY_INLINE void sum_vector(D d, const NeighbourTokens& call, std::size_t first, std::size_t output) {
  const float* weights = call.weights + first * call.group * call.kernel + output;
  hn::Vec<D> sums[kTokens];
  for (std::size_t t = 0; t < kTokens; ++t) sums[t] = hn::LoadU(d, call.bias + first + output);
  for (std::size_t j = 0; j < call.kernel; ++j) {
    const float* inputs = call.inputs + j * call.dim + first;
    for (std::size_t i = 0; i < call.group; ++i, weights += call.group) {
      const auto weight = hn::LoadU(d, weights);
      for (std::size_t t = 0; t < kTokens; ++t) {
        sums[t] = hn::MulAdd(weight, hn::Set(d, inputs[t * call.dim + i]), sums[t]);
      }
    }
  }
  for (std::size_t t = 0; t < kTokens; ++t) hn::StoreU(sums[t], d, call.sums + t * call.dim + first + output);
}

template <std::size_t kTokens>
void sum_tokens(const NeighbourTokens& call) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  for (std::size_t first = 0; first < call.dim; first += call.group) {
    std::size_t output = 0;
    for (; output + hn::Lanes(d) <= call.group; output += hn::Lanes(d)) sum_vector<kTokens>(d, call, first, output);
    for (; output < call.group; ++output) sum_vector<kTokens>(one, call, first, output);
  }
}

}  // namespace

void neighbour_sums_here(const NeighbourTokens& call) {
  if (call.tokens == neighbour_tokens) return sum_tokens<neighbour_tokens>(call);
  NeighbourTokens single = call;
  single.tokens = 1;
  for (std::size_t t = 0; t < call.tokens; ++t, single.inputs += call.dim, single.sums += call.dim) {
    sum_tokens<1>(single);
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(neighbour_sums_here);

void neighbour_sums(const NeighbourTokens& call) { HWY_DYNAMIC_DISPATCH(neighbour_sums_here)(call); }

}  // namespace locus
#endif
