// SPDX-License-Identifier: Apache-2.0
// Random tokens that fit an encoding, prepared for attention at any position and in any type, by kernels or exactly.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "doctor/heads_array.h"
#include "doctor/random_numbers.h"
#include "locus/attention.h"
#include "locus/encoding.h"
#include "locus/positions.h"
#include "locus/reference_attention.h"

namespace locus::doctor {

inline constexpr std::int64_t padding = -1;       ///< a slot without a token
inline constexpr std::int64_t padding_slots = 3;  ///< slots of a padded batch beyond the longest row

/// The tokens of a batch after encoding, ready for attend().
struct Encoded {
  HeadsArray query;
  HeadsArray raw_key;  ///< as a cache receives it
  HeadsArray key;      ///< as attention reads it
  HeadsArray value;
  std::vector<Position> places;  ///< for attend(): ids, or indices if ids have several axes
  std::vector<Position> ids;     ///< [axes, batch, tokens]
  HeadsArray numbers;            ///< brought by the tokens: running sums; of width 0 if they bring none
};

/// The view of numbers for attend(): without data where tokens bring none.
HeadsView numbers_view(const HeadsArray& numbers);

struct SampleShape {
  std::int64_t tokens = 0, heads = 0, key_heads = 0, head_dim = 0;
};

/// Vectors that are exact in every type, and the id of each token. At the site hidden, queries, keys and values are
/// coordinates of the token's vector with a sign: a projection without rounding.
class Sample {
 public:
  Sample(const Encoding& encoding, const SampleShape& shape, Position start, RandomNumbers& random);

  const Encoding& encoding() const { return encoding_; }
  std::int64_t tokens() const { return shape_.tokens; }
  std::int64_t heads() const { return shape_.heads; }
  std::int64_t key_heads() const { return shape_.key_heads; }
  std::int64_t head_dim() const { return shape_.head_dim; }
  Position id(std::int64_t token) const { return ids_.ids[static_cast<std::size_t>(token)]; }
  /// What the first `count` tokens bring.
  HeadsArray numbers_of_first(std::int64_t count) const;
  Position place(std::int64_t token) const { return ids_.axes == 1 ? id(token) : token; }

  /// `slots` are tokens of the sample, or padding, which is filled with NaN. All batch rows have the same length. Tokens
  /// have the ids of those in `placed_as`, or their own.
  Encoded encode(const Encoding& encoding, ElementType type, std::span<const std::int64_t> slots,
                 std::int64_t batch = 1, Position shift = 0, std::span<const std::int64_t> placed_as = {}) const;
  Encoded encode(ElementType type, std::span<const std::int64_t> slots, std::int64_t batch = 1,
                 Position shift = 0) const {
    return encode(encoding_, type, slots, batch, shift);
  }

  /// Site hidden: the query coordinates of one of these tokens after the reference added their rows to them.
  std::vector<double> exact_states(std::span<const std::int64_t> slots, std::int64_t token) const;

  /// Attention over all tokens in double, rotated and added by the reference, with the numbers that error bounds need.
  struct Exact {
    std::vector<double> output;        ///< [tokens, heads, head_dim]
    std::vector<double> log_sum_exp;   ///< [tokens, heads]
    std::vector<double> magnitude;     ///< [tokens, heads]: see reference::Attention
    std::vector<double> norm_product;  ///< [tokens, heads]: scale |q| |k|, the largest over the keys
    double largest_value = 0;
  };
  /// Computes queries with `encoding` and key j with keys_under(j), which is the same unless tables are mixed.
  Exact exact(const Encoding& encoding, Position shift = 0, bool causal = true,
              const std::function<Encoding(std::int64_t)>& keys_under = {}) const;

 private:
  /// Queries, keys and values before rotation, in double, and the largest entry of an added row.
  struct Inputs {
    std::vector<double> query, key, value;
    double largest_row = 0;
  };
  Inputs exact_inputs(const Encoding& encoding, const PositionIds& ids) const;
  PositionIds ids_of(std::span<const std::int64_t> slots, std::int64_t batch, Position shift) const;
  std::vector<double> project(std::span<const double> hidden, std::span<const std::int64_t> choice) const;

  Encoding encoding_;
  SampleShape shape_;
  PositionIds ids_;
  std::vector<double> query_, key_, value_;  // [tokens, heads, head_dim]; empty at the site hidden
  std::int64_t number_count_ = 0;            // that every token brings per head
  std::vector<double> numbers_;              // [tokens, heads, number_count_]
  std::vector<double> hidden_;               // [tokens, dim]
  std::vector<std::int64_t> choose_query_, choose_key_, choose_value_;  // coordinate + 1, negative for a minus sign
};

}  // namespace locus::doctor
