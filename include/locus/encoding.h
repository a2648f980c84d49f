// SPDX-License-Identifier: Apache-2.0
// An Encoding: a scheme bound to its parameters, validated once, cheap to copy, safe to share between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "locus/claims.h"
#include "locus/registry.h"
#include "locus/site.h"
#include "locus/value.h"

namespace locus {

class RowTable;
class KernelState;

/// Made once from a scheme's name and arguments, as in
///   Encoding("rope", {{"head_dim", 128}, {"pairing", "half"}, {"base", 5e5}})
/// Throws Error for anything that the registry does not allow.
class Encoding {
 public:
  /// Rows of low positions are kept once computed, at most `table_bytes` of them; what is far is computed when asked.
  explicit Encoding(std::string_view scheme, const Arguments& arguments = {},
                    std::size_t table_bytes = default_table_bytes);
  static constexpr std::size_t default_table_bytes = std::size_t{64} << 20;

  const Scheme& scheme() const;
  Site site() const { return scheme().site; }
  Claims claims() const;
  const Arguments& arguments() const;  ///< with defaults filled in

  // What the scheme yields at its site; Error where the encoding enters elsewhere.
  const SiteTerm& term() const;
  const HiddenRows& hidden() const;
  const Rotation& rotation() const;
  const ScoreBias& score() const;
  const RelativeKeys& relative_keys() const;

  /// The weights that training changes; none where nothing is learned.
  std::span<const LearnedWeight> learned_weights() const;

  /// For tensors of this type: in float16, a scale that grows with the position (xPos) ends sooner than in the others.
  PositionRange position_range(ElementType type = ElementType::float32) const;
  /// Error naming the first id outside position_range(type).
  void check_positions(std::span<const Position> ids, ElementType type = ElementType::float32) const;

  /// Whether the numbers depend on the length of the sequence (dynamic NTK, LongRoPE, a moving centre).
  bool length_dependent() const;
  /// The same encoding for a sequence of `length` tokens; itself where the length does not matter.
  Encoding at_length(std::int64_t length) const;

  /// The rows kept for kernels.
  const RowTable& row_table() const;
  /// What the kernels derive from this encoding: made by `make` on the first call, kept from then on. Only src/kernels
  /// knows what is inside.
  const KernelState& kernel_state(std::shared_ptr<const KernelState> (*make)(const Encoding&)) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// The parameters that `scheme` takes together with `given` (a RoPE rule brings its own).
std::vector<Parameter> parameters_of(const Scheme& scheme, const Arguments& given);

}  // namespace locus
