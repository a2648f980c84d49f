// SPDX-License-Identifier: Apache-2.0
// Parts of engines in other styles than plain.h, as a second author would write them.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "doctor/mutants/plain.h"

namespace mutants {

inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

inline float bf16(float x) { return round_bits(x, 16); }

/// Returns cos and sin of position x frequency, exact at any position: whole turns are removed in long double.
inline std::complex<double> unit_turn(std::int64_t position, std::int64_t pair, std::int64_t width, double base) {
  const long double frequency = std::pow(static_cast<long double>(base),
                                         -2.0L * static_cast<long double>(pair) / static_cast<long double>(width)) /
                                6.283185307179586476925286766559L;
  const long double turns = static_cast<long double>(position) * frequency;
  const double angle = static_cast<double>((turns - std::floor(turns)) * 6.283185307179586476925286766559L);
  return {std::cos(angle), std::sin(angle)};
}

/// A call whose arrays can be changed before a right implementation gets it.
struct OwnedCall {
  explicit OwnedCall(const locus::AttendRequest& r)
      : request(r),
        query(r.query.begin(), r.query.end()),
        key(r.key.begin(), r.key.end()),
        value(r.value.begin(), r.value.end()),
        query_ids(r.query_ids.begin(), r.query_ids.end()),
        key_ids(r.key_ids.begin(), r.key_ids.end()),
        mask(r.key_mask.begin(), r.key_mask.end()),
        query_boundaries(r.query_boundaries.begin(), r.query_boundaries.end()),
        key_boundaries(r.key_boundaries.begin(), r.key_boundaries.end()) {}

  locus::AttendRequest pointed() {
    request.query = query;
    request.key = key;
    request.value = value;
    request.query_ids = query_ids;
    request.key_ids = key_ids;
    request.key_mask = mask;
    request.query_boundaries = query_boundaries;
    request.key_boundaries = key_boundaries;
    return request;
  }
  /// Appends a key with an id that every query of the call sees.
  void append_key(std::span<const float> k, std::span<const float> v) {
    key.insert(key.end(), k.begin(), k.end());
    value.insert(value.end(), v.begin(), v.end());
    key_ids.push_back(*std::min_element(query_ids.begin(), query_ids.end()));
    if (!mask.empty()) mask.push_back(1);
    request.keys += 1;
  }
  std::size_t row() const { return index(request.key_heads * request.head_dim); }

  locus::AttendRequest request;
  std::vector<float> query, key, value;
  std::vector<std::int64_t> query_ids, key_ids;
  std::vector<std::uint8_t> mask;
  std::vector<std::int64_t> query_boundaries, key_boundaries;
};

/// RoPE (half, base 10,000) attention in float32, with a softmax over tiles of keys. Skips fully masked tiles, like a
/// flash kernel.
struct TiledAttention {
  std::int64_t tile = 64;
  bool last_key_first = false;  ///< tiles from last to first
  bool in_base_two = false;     ///< scores in units of log 2
  bool no_largest = false;      ///< does not subtract the largest score: right unless something overflows
  bool fused_turn = false;      ///< rotates once in the score, by the difference of ids
  bool transposed_keys = false;
  float hidden_score = -std::numeric_limits<float>::infinity();  ///< score of masked keys in tiles that are not skipped

  static std::vector<float> turned(std::span<const float> x, std::int64_t heads, std::int64_t d,
                                   std::span<const std::int64_t> ids) {
    std::vector<float> result(x.begin(), x.end());
    for (std::size_t t = 0; t < ids.size(); ++t) {
      for (std::int64_t i = 0; i < d / 2; ++i) {
        const std::complex<float> z(unit_turn(ids[t], i, d, 1e4));
        for (std::int64_t h = 0; h < heads; ++h) {
          float* head = result.data() + (static_cast<std::int64_t>(t) * heads + h) * d;
          const std::complex<float> turned = std::complex<float>(head[i], head[i + d / 2]) * z;
          head[i] = turned.real();
          head[i + d / 2] = turned.imag();
        }
      }
    }
    return result;
  }

  static float fused_score(const float* q, const float* k, std::int64_t d, std::int64_t distance) {
    float sum = 0;
    for (std::int64_t i = 0; i < d / 2; ++i) {
      const std::complex<double> z = unit_turn(distance, i, d, 1e4);
      const std::complex<double> a(q[i], q[i + d / 2]), b(k[i], k[i + d / 2]);
      sum += static_cast<float>((a * z * std::conj(b)).real());
    }
    return sum;
  }

  void operator()(const locus::AttendRequest& r) const {
    const std::int64_t d = r.head_dim, group = r.heads / r.key_heads;
    std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end());
    if (!fused_turn) {
      q = turned(r.query, r.heads, d, r.query_ids);
      k = turned(r.key, r.key_heads, d, r.key_ids);
    }
    if (transposed_keys) {  // [key_heads, d, keys]
      std::vector<float> other(k.size());
      for (std::int64_t j = 0; j < r.keys; ++j) {
        for (std::int64_t c = 0; c < r.key_heads * d; ++c)
          other[index(c * r.keys + j)] = k[index(j * r.key_heads * d + c)];
      }
      k = std::move(other);
    }
    const float unit = in_base_two ? 1.44269504088896340736f : 1.0f;
    const float scale = unit / std::sqrt(static_cast<float>(d));
    const std::int64_t tiles = (r.keys + tile - 1) / tile;
    for (std::int64_t i = 0; i < r.queries; ++i) {
      for (std::int64_t h = 0; h < r.heads; ++h) {
        const float* a = q.data() + (i * r.heads + h) * d;
        float top = no_largest ? 0.0f : -std::numeric_limits<float>::infinity(), sum = 0;
        std::vector<float> out(index(d), 0.0f);
        for (std::int64_t n = 0; n < tiles; ++n) {
          const std::int64_t first = (last_key_first ? tiles - 1 - n : n) * tile, end = std::min(first + tile, r.keys);
          bool any = false;
          for (std::int64_t j = first; j < end; ++j) any = any || Attention::sees(r, i, j);
          if (!any) continue;
          for (std::int64_t j = first; j < end; ++j) {
            float score = 0;
            if (fused_turn) {
              score = fused_score(a, k.data() + (j * r.key_heads + h / group) * d, d,
                                  r.query_ids[index(i)] - r.key_ids[index(j)]);
            } else {
              for (std::int64_t c = 0; c < d; ++c) {
                const std::int64_t at =
                    transposed_keys ? (h / group * d + c) * r.keys + j : (j * r.key_heads + h / group) * d + c;
                score += a[c] * k[index(at)];
              }
            }
            score = Attention::sees(r, i, j) ? score * scale : hidden_score;
            if (std::isinf(score)) continue;
            const float next = no_largest ? 0.0f : std::max(top, score);
            const auto power = [&](float x) { return in_base_two ? std::exp2(x) : std::exp(x); };
            const float old = power(top - next), weight = power(score - next);
            sum = sum * old + weight;
            for (std::int64_t c = 0; c < d; ++c) {
              out[index(c)] = out[index(c)] * old + weight * r.value[index((j * r.key_heads + h / group) * d + c)];
            }
            top = next;
          }
        }
        for (std::int64_t c = 0; c < d; ++c)
          r.output[index((i * r.heads + h) * d + c)] = sum == 0 ? 0 : out[index(c)] / sum;
      }
    }
  }
};

}  // namespace mutants
