// SPDX-License-Identifier: Apache-2.0
// Ranks compare what must be the same on all of them before any block moves, so that all of them refuse together.
#pragma once

#include <string>
#include <vector>

#include "mpi/channel.h"

namespace locus::mpi {

/// A number that every rank must have. A hash is compared but not shown.
struct Agreed {
  const char* name;
  std::int64_t value = 0;
  bool is_hash = false;
};
/// Collective. Returns what the ranks agree on, in the order given, which is the same on each.
/// Error: on every rank, if a rank has an error of its own or differs from the ranks before it.
std::vector<std::int64_t> agree_on(Channel& channel, const std::vector<Agreed>& numbers, const std::string& own_error);

/// What a rank without tokens cannot know of itself.
struct Agreement {
  std::int64_t masked_rows = 0;   ///< of mask.keys
  std::int64_t pair_columns = 0;  ///< of mask.pairs, over all batch rows
};

/// Checks the call of this rank alone. Returns the message of the first error, or an empty text.
std::string local_error(const RingCall& call, const Channel& channel);

/// Collective. What must be the same in the calls of all ranks. Error: as agree_on().
Agreement agree(Channel& channel, const RingCall& call, std::int64_t gradients, const std::string& own_error);

}  // namespace locus::mpi
