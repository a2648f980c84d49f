// SPDX-License-Identifier: Apache-2.0
// The five sites where position enters a transformer, and what a scheme provides at each of them.
//
// These structs are the whole interface between schemes and kernels: plain numbers, no scheme names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "locus/element.h"
#include "locus/position_ids.h"
#include "locus/value.h"

namespace locus {

enum class Site : std::uint8_t { none, hidden, query_key, score, relative_key, output };
std::string_view name_of(Site site);

/// The engine whose float32 arithmetic a table reproduces. `exact` is the true value, rounded once.
enum class Profile : std::uint8_t { exact, hf, ggml, vllm };
std::string_view name_of(Profile profile);

/// Which coordinates form pair i of a rotary slice of width d: `half` (i, i + d/2), `interleaved` (2i, 2i + 1).
enum class Pairing : std::uint8_t { half, interleaved };
std::string_view name_of(Pairing pairing);

/// Whether a vector is a query or a key; only xPos treats them differently.
enum class Role : std::uint8_t { query, key };

/// A frequency in turns per position as a 64-bit binary fraction. Its product with an integer position wraps exactly
/// modulo one turn, so up to 2^31 an angle is off by at most 4e-10 radians.
using Turns = std::uint64_t;

/// How ids map to the coordinates that frequencies multiply.
struct PositionMap {
  enum class Kind : std::uint8_t {
    direct,         ///< axis a of the ids is coordinate a
    row_column,     ///< one id = row * width + column becomes (row, column)
    patch_centres,  ///< one id becomes the centre of a patch of a height x width grid, real, in [-1, 1]
  };
  Kind kind = Kind::direct;
  std::int64_t prefix = 0;  ///< leading ids without coordinates: their vectors do not change
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// The scale of xPos: pair i of a query is multiplied by zeta_i^((p - centre) / scale_base), pair i of a key divided
/// by it.
struct PairScale {
  std::vector<double> zeta;
  double scale_base = 512;
  Position centre = 0;
};

/// A factor on queries by their position p, the query temperature. Keys are not multiplied.
///   steps      1 + beta ln(1 + floor((p + shift) / length))     Llama 4, Ministral 3
///   logarithm  max(1, ln(p + shift) / ln(length))               logN of Qwen, ReRoPE
struct QueryScale {
  enum class Kind : std::uint8_t { steps, logarithm };
  Kind kind = Kind::steps;
  double beta = 0;  ///< of steps
  std::int64_t length = 1;
  std::int64_t shift = 0;

  double at(Position position) const;
  /// The factor of every smaller position is 1.
  Position first_scaled() const;
};

/// An angle that is added to that of a pair at every position.
struct Phase {
  double radians = 0;
  double low = 0;  ///< what the rounding to double dropped
  Turns turns = 0;
};

/// FoPE: the cosines of a head's first `frequencies` pairs are sums over as many frequencies,
/// cos'_j = sum_i cos(p w_i) cos[head, i, j]; sines likewise. The other pairs have cos = sin = 1.
struct HeadMix {
  std::int64_t heads = 0;  ///< key heads; consecutive query heads share one
  std::int64_t frequencies = 0;
  Tensor cos, sin;  ///< [heads, frequencies, frequencies]
};

/// PoPE: before its rotation a head becomes polar. Each of its first `channels` coordinates x becomes a pair of length
/// softplus(x), at the angle 0 in a query and at phases[head, channel] in a key; the other coordinates follow.
struct Polar {
  std::int64_t head_dim = 0;  ///< before: that of the rotation is head_dim + channels
  std::int64_t channels = 0;
  std::int64_t heads = 0;      ///< key heads
  std::vector<double> phases;  ///< [heads, channels], radians
};

/// The arguments of ggml's rope call, for the profile that reproduces it.
struct GgmlRope {
  float freq_base = 10000;
  float freq_scale = 1;
  float ext_factor = 0;
  float attn_factor = 1;
  float beta_fast = 32;
  float beta_slow = 1;
  std::int64_t n_dims = 0;  ///< the width of the frequency exponent
  std::int64_t original_length = 0;
  std::vector<float> freq_factors = {};  ///< divisors of the angle, one per pair; empty for none
};

/// One region of an offset map: the pairs whose key id is at least first_key(query id) and that no earlier region has.
/// Query and key are rotated to query_at / denominator and key_at / denominator in place of their ids.
struct OffsetRegion {
  std::function<Position(Position query)> first_key;
  std::function<Position(Position query)> query_at;
  std::function<Position(Position key)> key_at;
};

/// Offsets remapped: attention turns queries and keys, which come rotated at their ids, to where a region has them.
struct OffsetMap {
  std::vector<OffsetRegion> regions;  ///< nearest keys first; the last one has all other keys
  std::int64_t denominator = 1;       ///< of query_at and key_at
};

/// query_key site: pairs of coordinates are rotated by position times frequency and multiplied by `magnitude`.
struct Rotation {
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;     ///< coordinates that are rotated
  std::int64_t rotary_offset = 0;  ///< the first of them within the head
  Pairing pairing = Pairing::half;
  bool deinterleaved_output = false;  ///< interleaved in, [evens | odds] out

  int axes = 1;  ///< axes of the position ids
  PositionMap map;
  std::vector<std::uint8_t> axis;    ///< per pair: the coordinate that its frequency multiplies
  std::vector<double> inv_freq;      ///< per pair, radians per position, rounded to double
  std::vector<double> inv_freq_low;  ///< what that rounding dropped
  std::vector<Turns> turns;          ///< the same in turns, from more bits than a double has
  double magnitude = 1;              ///< on cos and sin (attention factor)
  double softmax_scale_factor = 1;   ///< on the softmax scale only
  std::optional<PairScale> scale;
  std::vector<Phase> phases;              ///< per pair; empty: none
  std::optional<QueryScale> query_scale;  ///< on all coordinates of a query, also those that are not rotated
  std::optional<HeadMix> mix;
  std::optional<Polar> polar;  ///< polar.h makes heads polar; rotations and caches take polar heads
  /// output site: values are rotated like keys, and what attention returns is rotated back by the query's position.
  bool turns_output = false;

  Profile profile = Profile::exact;
  std::vector<float> single_freq;                 ///< hf, vllm: the frequencies in float32 arithmetic
  std::optional<GgmlRope> ggml;                   ///< ggml: the arguments of its kernel
  bool restarts_per_axis = false;                 ///< the frequency index restarts with each axis
  ElementType table_type = ElementType::float32;  ///< cos and sin are rounded to this type (bfloat16 models in hf)

  std::optional<OffsetMap> offsets;  ///< attention turns far pairs on

  std::int64_t pairs() const { return rotary_dim / 2; }
};

/// One column of a sinusoidal row.
struct Wave {
  Turns turns = 0;
  double inv_freq = 0;      ///< radians per position, rounded to double
  double inv_freq_low = 0;  ///< what that rounding dropped
  bool cosine = false;
  bool silent = false;  ///< a padding column: always 0
  std::uint8_t axis = 0;
};

/// A row made from neighbours: a convolution over the tokens of a run of consecutive ids, then GELU (with erf),
///   row_t[c] = gelu(bias[c] + sum_(i, j) weight[c, i, j] y_(t + j - before)[c / m * m + i]),  m = dim / groups,
///   y = input_scale x + input_shift, and zero outside the run.
struct Neighbours {
  std::int64_t groups = 1;
  std::int64_t kernel = 1;                       ///< taps
  std::int64_t before = 0;                       ///< taps before the token
  std::vector<double> weight;                    ///< [dim, dim / groups, kernel]
  std::vector<double> bias;                      ///< [dim]
  std::vector<double> input_scale, input_shift;  ///< [dim], or empty: 1 and 0
};

/// hidden site: a row added to the token's vector, made of waves, taken from a table or made from neighbours.
struct HiddenRows {
  std::int64_t dim = 0;
  PositionMap map;
  std::vector<Wave> waves;  ///< one per column; empty for a table
  Position first_position = 0;
  std::optional<Position> zero_position;  ///< the padding row of some implementations
  Tensor table;                           ///< [rows, dim]; empty for waves
  std::int64_t row_offset = 0;            ///< position p uses row p + row_offset
  std::optional<Neighbours> neighbours;   ///< then there are neither waves nor a table, and no row of an id alone
};

/// A bias that is piecewise linear in x = by_distance(|key - query|) * by_query(query), as the output of a network with
/// ReLU is: in piece k, where k breaks are below x, it is slopes[k] x + starts[k]. It equals ScoreBias::value to the
/// rounding of double.
struct BiasPieces {
  std::vector<double> breaks;                            ///< not negative, rising
  std::vector<double> slopes, starts;                    ///< [heads][breaks + 1]
  std::function<double(Position distance)> by_distance;  ///< rises from 0
  std::function<double(double number)> distance_of;      ///< its inverse
  std::function<double(Position query)> by_query;        ///< positive

  // For training.
  /// The derivative of by_distance with respect to the parameter that it has.
  std::function<double(Position distance)> distance_slope;
  /// Adds the gradients of the parameters of x. Given are two sums over the keys of a query of the gradient of x: times
  /// by_distance and times distance_slope.
  std::function<void(Position query, double with_distance, double with_slope, std::span<double> sums)>
      add_input_gradient;
  /// Adds the gradients of the network. Given are, by piece, the sums of the gradient of the bias, and of it times x.
  std::function<void(std::int64_t head, std::span<const double> plain, std::span<const double> with_x,
                     std::span<double> sums)>
      add_gradient;
};

/// score site: a number added to the score, by head and by the ids of query and key.
struct ScoreBias {
  std::int64_t heads = 0;
  std::function<double(std::int64_t head, Position query, Position key)> value;
  bool toeplitz = true;                 ///< depends on key - query only
  bool before_scale = false;            ///< added before the softmax scale multiplies the score (Falcon)
  std::optional<double> softmax_scale;  ///< the scheme's own softmax scale (T5: 1)
  std::vector<double> slopes;           ///< if the bias is slope times distance
  std::int64_t buckets = 0;             ///< rows of the table, if a bucket selects one
  std::function<std::int64_t(Position query, Position key)> bucket;
  Tensor table;                        ///< [buckets, heads]
  std::optional<std::int64_t> max_id;  ///< ids from here on are refused (a window)

  // If a few numbers per head are learned instead of a table.
  std::int64_t parameters = 0;
  /// The derivatives of value() with respect to them.
  std::function<void(std::int64_t head, Position query, Position key, std::span<double> slopes)> parameter_slopes;

  // If a network that the heads share is learned: its weights, all in one array.
  std::int64_t network_weights = 0;
  /// Adds `gradient` times the derivatives of value() with respect to them to `sums`.
  std::function<void(std::int64_t head, Position query, Position key, double gradient, std::span<double> sums)>
      add_network_gradient;
  std::optional<BiasPieces> pieces;  ///< if the network is evaluated by pieces

  /// How many numbers every token brings per head (AttentionCall::query_numbers and key_numbers). The score gains
  /// number 0 of the query minus that of the key; with two numbers, a key after the query (by id) adds number 1 of the
  /// key minus that of the query instead. With running sums of gates this is the sum over the tokens between them.
  std::int64_t token_numbers = 0;
};

/// relative_key site: the offset selects a vector that is multiplied by the query (and by the key) or added to the
/// value.
struct RelativeKeys {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  bool scaled = true;                   ///< the position term is multiplied by the softmax scale too
  std::optional<double> softmax_scale;  ///< the scheme's own softmax scale (DeBERTa: one over the root of 3 head_dim)

  // Tables: `index` selects the row.
  using Index = std::function<std::int64_t(Position query, Position key)>;
  Index index;
  bool refuses = false;    ///< index() throws for some offsets, which must then be masked
  bool per_head = false;   ///< every head has separate rows; else the heads share them
  Tensor key_table;        ///< [rows, head_dim], or [rows, heads x head_dim] if per_head
  Tensor value_table;      ///< the same, or empty
  Tensor query_table;      ///< its row is multiplied by the key (DeBERTa), or empty
  bool meets_key = false;  ///< the row of key_table is multiplied by the key too (BERT's relative_key_query)
  bool counted = false;    ///< rows are chosen by counting gates between key and query (CoPE), not by index
  Tensor gate_mix;         ///< counted: the gates of a head mix the products of all heads, [heads, heads], or empty
  Index column_index;      ///< with column_table: selects a second row, which is added to the first (2-D grids)
  Tensor column_table;     ///< [rows, head_dim], or empty
  /// The row of a table that belongs to a head.
  std::span<const float> row(const Tensor& table, std::int64_t chosen, std::int64_t head) const {
    return table.row(chosen).subspan(static_cast<std::size_t>(per_head ? head * head_dim : 0),
                                     static_cast<std::size_t>(head_dim));
  }
  /// Whether a row is multiplied by the key, and the table that holds it.
  bool meets_keys() const { return meets_key || !query_table.data.empty(); }
  const Tensor& meeting_table() const { return query_table.data.empty() ? key_table : query_table; }

  // Transformer-XL: (q + u).k + (q + v).(W_r R(distance)).
  Tensor u, v;  ///< [heads, head_dim], or empty
  Tensor w_r;   ///< [heads * head_dim, model_dim], or empty
  HiddenRows sinusoid;
};

/// What a scheme contributes at its site; monostate: nothing.
using SiteTerm = std::variant<std::monostate, HiddenRows, Rotation, ScoreBias, RelativeKeys>;

}  // namespace locus
