// SPDX-License-Identifier: Apache-2.0
// The catalogue of faults that verify and diagnose name. A fault has one id, one name and one sentence everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace locus::doctor {

/// The part of a computation that a fault affects.
enum class FaultSite : std::uint8_t {
  none,         ///< nothing is wrong
  ids,          ///< position ids
  frequencies,  ///< the rule, its parameters, the sections of several axes
  rotation,     ///< direction and number of rotations
  slice,        ///< pairing, width, offset, output order
  magnitude,    ///< the factor on cos and sin
  precision,    ///< the arithmetic type of angles and tables
  coverage,     ///< tokens, heads or coordinates that were treated differently from the rest
  heads,        ///< the order and the number of heads
  bias,         ///< numbers added to the scores
  mask,         ///< which keys a query sees
  cache,        ///< which keys and values are read
  softmax,      ///< scale, sum, merging of partial results
  unknown       ///< no fault of the catalogue explains the measurement
};

struct Fault {
  std::string_view id;    ///< stable, for programs: "position_offset"
  std::string_view name;  ///< for people: "positions shifted"
  FaultSite site = FaultSite::unknown;
  std::string_view text;  ///< one sentence
};

std::span<const Fault> all_faults();

/// Error: an unknown id; names the nearest known one.
const Fault& find_fault(std::string_view id);

}  // namespace locus::doctor
