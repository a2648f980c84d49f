// SPDX-License-Identifier: Apache-2.0
// Other projects doing the same work, timed by programs that stand beside `locus` if they were built: the command
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

/// Full names of the peer programs that are there.
std::vector<std::string> peer_programs();
/// How to get them, in one line.
std::string how_to_get_peers();

/// Runs a peer program and hands on each result as it comes. Stops it when `heard` returns false. Error where it fails,
/// with the last line of what it said.
void run_peer_program(const std::string& program, const bench::Plan& plan,
                      const std::function<bool(const PeerResult&)>& heard);

}  // namespace locus::tools
