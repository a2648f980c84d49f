// SPDX-License-Identifier: Apache-2.0
// Shared by the libtorch peers: the callback for a result.
#pragma once

#include <functional>
#include <string>

#include "measure.h"

namespace locus::bench {

/// The name of a peer, the group and name of the case, and the peer (`limit`) against ours (`ours`).
using PeerReport =
    std::function<void(const std::string& peer, const std::string& group, const std::string& line, const Comparison&)>;

void torch_rotate(const Pairs& pairs, const PeerReport& report);
void torch_attention(bool quick, const Pairs& pairs, const PeerReport& report);

}  // namespace locus::bench
