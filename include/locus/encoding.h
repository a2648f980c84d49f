// SPDX-License-Identifier: Apache-2.0
// An Encoding: a scheme bound to its arguments. Validated once, cheap to copy, safe to share between threads.
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

/// Immutable. Construct it from a scheme's name and arguments:
///   Encoding("rope", {{"head_dim", 128}, {"pairing", "half"}, {"base", 5e5}})
/// Error: an unknown scheme or parameter, a missing, malformed or out-of-range argument.
class Encoding {
 public:
  /// Keeps computed rows of low positions, up to `table_bytes` bytes. Other rows are computed on demand.
  /// Cost: validates the arguments and computes the frequencies or copies the tables; no rows yet.
  explicit Encoding(std::string_view scheme, const Arguments& arguments = {},
                    std::size_t table_bytes = default_table_bytes);
  static constexpr std::size_t default_table_bytes = std::size_t{64} << 20;

  const Scheme& scheme() const;
  Site site() const { return scheme().site; }
  Claims claims() const;
  const Arguments& arguments() const;  ///< with defaults filled in

  // What the scheme contributes at its site. Error: an encoding of another site.
  const SiteTerm& term() const;
  const HiddenRows& hidden() const;
  const Rotation& rotation() const;
  const ScoreBias& score() const;
  const RelativeKeys& relative_keys() const;

  /// Returns the weights that training changes; empty if nothing is learned.
  std::span<const LearnedWeight> learned_weights() const;

  /// Returns the accepted positions for tensors of this type. In float16 a scale that grows with the position (xPos)
  /// has a shorter range.
  PositionRange position_range(ElementType type = ElementType::float32) const;
  /// Error: names the first id outside position_range(type).
  /// Cost: O(ids).
  void check_positions(std::span<const Position> ids, ElementType type = ElementType::float32) const;

  /// Returns whether the numbers depend on the length of the sequence (dynamic NTK, LongRoPE, a moving centre).
  bool length_dependent() const;
  /// Returns the same encoding for a sequence of `length` tokens; itself if the length does not matter.
  /// Cost: that of a new encoding if the length matters, else O(1).
  Encoding at_length(std::int64_t length) const;

  /// The computed rows that kernels read.
  const RowTable& row_table() const;
  /// Returns what the kernels derive from this encoding. `make` runs on the first call only. Only src/kernels knows
  /// the contents.
  const KernelState& kernel_state(std::shared_ptr<const KernelState> (*make)(const Encoding&)) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Returns the parameters that `scheme` takes together with `given` (a RoPE rule adds its own).
std::vector<Parameter> parameters_of(const Scheme& scheme, const Arguments& given);

}  // namespace locus
