// SPDX-License-Identifier: Apache-2.0
// Runs attend() and its reference on the queries, keys and values of a case and compares scores and outputs.
#pragma once

#include <algorithm>
#include <functional>

#include "locus/attention.h"
#include "locus/reference_attention.h"
#include "oracle_check.h"

namespace locus::testing {

/// The tensors of a call in one type, with axes as heads_view() names them ("bthd", "bhtd", "htd").
struct PeerTensors {
  std::string axes = "bthd";
  std::vector<double> q, k, v;
  std::vector<std::int64_t> query_shape, key_shape;

  static PeerTensors of(const OracleCase& peer, const std::string& axes, const std::string& suffix = "") {
    return {.axes = axes,
            .q = peer.doubles("q" + suffix),
            .k = peer.doubles("k" + suffix),
            .v = peer.has("v" + suffix) ? peer.doubles("v" + suffix) : peer.doubles("k" + suffix),
            .query_shape = peer.shape("q" + suffix),
            .key_shape = peer.shape("k" + suffix)};
  }
};

inline double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double x : values) largest = std::isfinite(x) ? std::max(largest, std::fabs(x)) : largest;
  return largest;
}

template <class T>
std::vector<T> narrowed(const std::vector<double>& values) {
  std::vector<T> result;
  for (const double x : values) result.push_back(static_cast<T>(x));
  return result;
}

/// Compares with `out` (empty: not compared), in the order of the axes, and `scores` [batch, heads, queries, keys].
/// `given` is how far the inputs and tables may be off, as a share of them: 0 if they are the peer's own bits.
struct PeerResults {
  std::vector<double> out, scores;
  double given = 0;
};

template <class T>
void expect_attention(const PeerTensors& tensors, AttentionCall call, const PeerResults& want) {
  std::vector<T> q = narrowed<T>(tensors.q), k = narrowed<T>(tensors.k), v = narrowed<T>(tensors.v), out(q.size());
  const ElementType type = sizeof(T) == 8 ? ElementType::float64 : ElementType::float32;
  call.query = heads_view(q.data(), type, tensors.axes, tensors.query_shape);
  call.key = heads_view(k.data(), type, tensors.axes, tensors.key_shape);
  call.value = heads_view(v.data(), type, tensors.axes, tensors.key_shape);
  call.output = heads_view(out.data(), type, tensors.axes, tensors.query_shape);
  attend(call);
  const reference::Attention reference = reference::attend(call);
  const double u = sizeof(T) == 8 ? 1e-15 : 0x1p-24, size = largest_of(reference.magnitude);
  const auto d = static_cast<double>(call.query.head_dim), n = static_cast<double>(call.key.tokens);
  const double most = std::max(1.0, largest_of(tensors.v));
  // The bound of attention.h, one rounding of the inputs and of the output, and what was given inexactly.
  const double bound = ((2 * (d + 16) * size + 4 * n + 18) * u + 4 * want.given * size) * most;
  const std::string what = std::string("attention in ") + std::string(name_of(type));
  if (!want.out.empty()) {
    ASSERT_EQ(out.size(), want.out.size());
    Worst worst("output of " + what);
    for (std::size_t i = 0; i < out.size(); ++i) worst.see(static_cast<double>(out[i]), want.out[i], bound, i);
  }
  if (want.scores.empty()) return;
  ASSERT_EQ(reference.scores.size(), want.scores.size());
  Worst worst("scores of the reference in " + std::string(name_of(type)));
  for (std::size_t i = 0; i < want.scores.size(); ++i) {
    EXPECT_EQ(std::isfinite(reference.scores[i]), std::isfinite(want.scores[i])) << i;
    if (!std::isfinite(want.scores[i])) continue;
    worst.see(reference.scores[i], want.scores[i], (sizeof(T) == 8 ? 1e-12 : u) * (1 + size) + 2 * want.given * size,
              i);
  }
}

/// Both types.
inline void expect_attention(const PeerTensors& tensors, const AttentionCall& call, const PeerResults& want) {
  expect_attention<double>(tensors, call, want);
  expect_attention<float>(tensors, call, want);
}

/// 1 for the first `lengths[b]` of `tokens` in every batch row; empty without lengths.
inline std::vector<std::uint8_t> key_mask(const Json& lengths, std::int64_t tokens) {
  std::vector<std::uint8_t> mask;
  if (lengths.is_null()) return mask;
  for (const Json& length : lengths) {
    for (std::int64_t t = 0; t < tokens; ++t) mask.push_back(t < length.get<std::int64_t>() ? 1 : 0);
  }
  return mask;
}

}  // namespace locus::testing
