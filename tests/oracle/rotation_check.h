// SPDX-License-Identifier: Apache-2.0
// Rotates a case's queries or keys with the kernel and the reference, and compares with the peer's result.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "locus/encoding.h"
#include "locus/io/hf_config.h"
#include "locus/reference.h"
#include "locus/rotate.h"
#include "oracle_check.h"

namespace locus::testing {

/// The rounding of positions in a peer's double tables: 1e-12 plus 1e-16 per position.
inline double double_bound(double position) { return 1e-12 + position * 1e-16; }

/// The error of a float32 angle: two roundings of the product (2^-23 with the last bits of the frequency), on both
/// sides.
inline double single_bound(double position, double w) { return position * w * 0x1p-22 + 2e-7; }

/// The only layer type that the config and the options leave, with some additional arguments.
inline Encoding encoding_of(const Json& config, const io::HfOptions& options,
                            const std::map<std::string, Value>& more = {}) {
  const io::HfConfig resolved = io::resolve_hf_config(config.dump(), "config", options);
  if (resolved.layers.size() != 1) throw std::runtime_error("the config has several layer types");
  Arguments arguments = resolved.layers[0].arguments;
  for (const auto& [name, value] : more) arguments.set(name, value);
  return Encoding(resolved.layers[0].scheme, arguments);
}

/// The encoding of a case of rope/, from the model's config, layer type, length and pairing.
inline Encoding rope_case_encoding(const Json& json, const std::string& profile) {
  io::HfOptions options;
  if (!json.at("layer_type").is_null()) options.layer_type = json.at("layer_type").get<std::string>();
  if (!json.at("seq_len").is_null()) options.length = json.at("seq_len").get<std::int64_t>();
  const bool interleaved = json.at("pairing").get<std::string>().starts_with("interleaved");
  options.pairing = interleaved ? "interleaved" : "half";
  return encoding_of(json.at("config"), options, {{"profile", profile}});
}

/// Queries or keys as a peer stored them.
struct Heads {
  std::vector<float> data;
  std::string axes;
  std::vector<std::int64_t> shape;
};

inline Heads heads_of(const OracleCase& peer, const std::string& array, const std::string& axes) {
  return {peer.floats(array), axes, peer.shape(array)};
}

/// The kernel's result for elements of type T.
template <class T>
std::vector<T> rotated(const Encoding& encoding, const Heads& heads, std::vector<T> data, const PositionIds& ids,
                       Role role, Direction direction = Direction::forward) {
  rotate(encoding, heads_view(data.data(), element_type_of<T>, heads.axes, heads.shape), ids, role, direction);
  return data;
}

/// Calls visit(batch, token, offset of the head's first element).
inline void for_each_head(const Heads& heads,
                          const std::function<void(std::int64_t, std::int64_t, std::size_t)>& visit) {
  const HeadsView view = heads_view(nullptr, ElementType::float32, heads.axes, heads.shape);
  for (std::int64_t b = 0; b < view.batch; ++b) {
    for (std::int64_t t = 0; t < view.tokens; ++t) {
      for (std::int64_t h = 0; h < view.heads; ++h) {
        visit(b, t, static_cast<std::size_t>(b * view.batch_stride + t * view.token_stride + h * view.head_stride));
      }
    }
  }
}

/// The ids of one token, one per axis.
inline std::vector<Position> ids_at(const PositionIds& ids, std::int64_t batch, std::int64_t token) {
  std::vector<Position> at;
  for (std::int64_t axis = 0; axis < ids.axes; ++axis) {
    at.push_back(ids.axis(axis)[static_cast<std::size_t>((ids.batch == 1 ? 0 : batch) * ids.tokens + token)]);
  }
  return at;
}

inline std::vector<double> rotated_by_reference(const Encoding& encoding, const Heads& heads, const PositionIds& ids,
                                                Role role) {
  std::vector<double> result = widened(heads.data);
  const auto head_dim = static_cast<std::size_t>(heads.shape.back());
  for_each_head(heads, [&](std::int64_t b, std::int64_t t, std::size_t start) {
    const std::vector<double> out = reference::rotate(encoding.rotation(), role, Direction::forward, ids_at(ids, b, t),
                                                      std::span(result).subspan(start, head_dim));
    std::copy(out.begin(), out.end(), result.begin() + static_cast<std::ptrdiff_t>(start));
  });
  return result;
}

/// Per batch row, token and pair: the allowed error of cos and sin.
using PairBound = std::function<double(std::int64_t batch, std::int64_t token, std::size_t pair)>;

/// out = x c - y s, so errors of c and s count |x| and |y| times. Coordinates outside the rotary slice must equal the
/// input.
inline void expect_rotated(const std::string& what, const Rotation& rotation, const Heads& heads,
                           const std::vector<double>& got, const std::vector<double>& want, const PairBound& bound) {
  ASSERT_EQ(got.size(), heads.data.size());
  ASSERT_EQ(want.size(), heads.data.size());
  Worst worst(what);
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  const auto first = static_cast<std::size_t>(rotation.rotary_offset);
  const bool half = rotation.pairing == Pairing::half;
  for_each_head(heads, [&](std::int64_t b, std::int64_t t, std::size_t start) {
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t x = start + first + (half ? i : 2 * i);
      const std::size_t y = x + (half ? pairs : 1);
      const double weight =
          std::fabs(static_cast<double>(heads.data[x])) + std::fabs(static_cast<double>(heads.data[y]));
      const bool split_output = half || rotation.deinterleaved_output;
      const std::size_t out_x = start + first + (split_output ? i : 2 * i);
      const std::size_t out_y = out_x + (split_output ? pairs : 1);
      worst.see(got[out_x], want[out_x], weight * bound(b, t, i), out_x);
      worst.see(got[out_y], want[out_y], weight * bound(b, t, i), out_y);
    }
    for (std::size_t j = 0; j < static_cast<std::size_t>(rotation.head_dim); ++j) {
      if (j >= first && j < first + 2 * pairs) continue;
      EXPECT_EQ(got[start + j], static_cast<double>(heads.data[start + j])) << what << " outside the rotary slice";
    }
  });
}

}  // namespace locus::testing
