// SPDX-License-Identifier: Apache-2.0
// FoPE, Fourier position embedding: each pair of a head is turned by a series of frequencies instead of one.
//   w_i       = base^(-2i/d) for the first D pairs: `frequencies` of them, or those with w_i > 2 pi / max_length
//   cos'_j(p) = sum_i cos(p w_i) C[head, i, j],  sin'_j(p) = sum_i sin(p w_i) S[head, i, j],  i, j < D
// and the pair (x, y) becomes (x cos' - y sin', x sin' + y cos'). C and S are matrices per key head; query heads use
// those of their key head.
// Hua et al. 2024, "Fourier Position Embedding" (arXiv 2412.17739); Intern-S1-Pro. As in the paper's code the matrices
// are drawn once and not trained: the unit matrix plus normal numbers.
//
// The slow pairs, which the paper leaves unchanged, have cos = 1 and sin = 1 in vLLM and SGLang: (x - y, x + y) at every
// position. That is what the models ship with, so it is done here. Scores depend on more than the difference of
// positions, so cached keys can be kept but not moved.
#include <cmath>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "locus/scaling.h"
#include "locus/turns.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::cache_safe, Claim::negative_positions, Claim::unbounded};

// D: how many of the frequencies are fast enough.
std::int64_t kept_frequencies(const Arguments& arguments, const std::vector<DoubleDouble>& all) {
  const auto pairs = static_cast<std::int64_t>(all.size());
  if (const auto given = arguments.maybe_integer("frequencies")) {
    require(*given <= pairs, "fope.frequencies must be at most head_dim / 2 (", pairs, "), got ", *given);
    return *given;
  }
  const auto length = arguments.maybe_integer("max_length");
  if (!length) return pairs;
  const DoubleDouble slowest = DoubleDouble(2) * double_double_pi / DoubleDouble(static_cast<double>(*length));
  std::int64_t count = 0;
  while (count < pairs && all[static_cast<std::size_t>(count)] > slowest) ++count;
  require(count > 0, "fope.max_length ", *length, " is shorter than the fastest wave (2 pi positions)");
  return count;
}

// The given matrices, or the unit matrix plus normal numbers.
Tensor mixing_matrix(const Arguments& arguments, std::string_view name, const HeadMix& mix, std::int64_t stream) {
  const std::vector<std::int64_t> shape{mix.heads, mix.frequencies, mix.frequencies};
  Tensor matrix = weights_or_normal("fope", arguments, name, shape, stream);
  if (arguments.has(name)) return matrix;
  for (std::int64_t row = 0; row < mix.heads * mix.frequencies; ++row) {
    matrix.data[static_cast<std::size_t>(row * mix.frequencies + row % mix.frequencies)] += 1.0f;
  }
  return matrix;
}

SchemeResult make(const Arguments& arguments) {
  Rotation rotation;
  rotation.head_dim = arguments.integer("head_dim");
  require(rotation.head_dim % 2 == 0, "fope.head_dim must be even, got ", rotation.head_dim);
  rotation.rotary_dim = rotation.head_dim;
  rotation.pairing = arguments.text("pairing") == "half" ? Pairing::half : Pairing::interleaved;
  rotation.axis.assign(static_cast<std::size_t>(rotation.pairs()), 0);
  const std::vector<DoubleDouble> all = plain_frequencies(rotation.rotary_dim, DoubleDouble(arguments.real("base")));
  HeadMix mix{
      .heads = arguments.integer("heads"), .frequencies = kept_frequencies(arguments, all), .cos = {}, .sin = {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const DoubleDouble w = static_cast<std::int64_t>(i) < mix.frequencies ? all[i] : DoubleDouble(0);
    rotation.inv_freq.push_back(w.hi);
    rotation.inv_freq_low.push_back(w.lo);
    rotation.turns.push_back(to_turns(w));
  }
  mix.cos = mixing_matrix(arguments, "cos_mix", mix, 0);
  mix.sin = mixing_matrix(arguments, "sin_mix", mix, 1);
  rotation.mix = std::move(mix);
  return {.term = std::move(rotation), .claims = claims};
}

}  // namespace

const Scheme& fope_scheme();
const Scheme& fope_scheme() {
  static const Scheme scheme{
      .name = "fope",
      .title = "FoPE",
      .summary = "rotary embedding whose cosines and sines are mixed over the frequencies, head by head",
      .paper = "Hua et al. 2024, arXiv 2412.17739",
      .site = Site::query_key,
      .claims = claims,
      .parameters = {key_heads_parameter(),
                     head_dim_parameter(2),
                     {.name = "pairing",
                      .kind = ValueKind::choice,
                      .meaning = "which coordinates rotate together (Intern-S1-Pro: half)",
                      .fallback = std::string("half"),
                      .choices = {"half", "interleaved"}},
                     base_parameter("theta: wavelengths run from 2 pi towards 2 pi base"),
                     {.name = "frequencies",
                      .kind = ValueKind::integer,
                      .meaning = "how many frequencies are mixed, the fastest first; absent: those with a whole wave "
                                 "within max_length",
                      .least = 1,
                      .most = 32768},
                     {.name = "max_length",
                      .kind = ValueKind::integer,
                      .meaning = "length that the model was trained for; absent: all frequencies are mixed",
                      .least = 1,
                      .most = 0x1p31},
                     {.name = "cos_mix",
                      .kind = ValueKind::tensor,
                      .meaning = "[heads, frequencies, frequencies]; absent: the unit matrix plus normal numbers"},
                     {.name = "sin_mix", .kind = ValueKind::tensor, .meaning = "the same for sines"},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", std::int64_t{1}}, {"head_dim", std::int64_t{32}}, {"deviation", 0.3}},
      .variants =
          {{"frequencies=5", {{"heads", 1}, {"head_dim", 16}, {"frequencies", 5}, {"deviation", 0.3}}},
           {"max_length=512 pairing=interleaved",
            {{"heads", 1}, {"head_dim", 32}, {"max_length", 512}, {"pairing", "interleaved"}, {"deviation", 0.3}}}},
  };
  return scheme;
}

}  // namespace locus
