// SPDX-License-Identifier: Apache-2.0
// Runs the peer programs next to `locus`, if they were built. They time other projects on the same work; `locus`
// itself links none of them. A peer program prints one JSON object per line:
//   {"peer": ..., "group": ..., "line": ..., "times": our seconds into theirs, "interval": [low, high], ...}
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cases.h"

namespace locus::tools {

struct PeerResult {
  std::string peer;  ///< e.g. "torch rotate_half"
  std::string group, line;
  bench::Ratio times;  ///< the peer's time / ours: above 1 the peer is slower
  double seconds = 0;  ///< of the peer

  std::string text() const;  ///< e.g. "torch rotate_half 11.3x slower"
};

/// Returns the paths of the peer programs that were found.
std::vector<std::string> peer_programs();
/// Returns one line that says how to build them.
std::string how_to_get_peers();

/// Runs a peer program and passes each result to `heard` as it arrives. Stops it when `heard` returns false. Error:
/// the program fails; the message has its last line.
void run_peer_program(const std::string& program, const bench::Plan& plan,
                      const std::function<bool(const PeerResult&)>& heard);

}  // namespace locus::tools
