// SPDX-License-Identifier: Apache-2.0
// What the libtorch peers share: where a result goes.
#pragma once

#include <functional>
#include <string>

#include "measure.h"

namespace locus::bench {

/// The name of a peer, the line of `locus bench` it belongs to, and theirs (`limit`) against ours (`thing`).
using PeerReport =
    std::function<void(const std::string& peer, const std::string& group, const std::string& line, const Comparison&)>;

void torch_rotate(const Pairs& pairs, const PeerReport& report);
void torch_attention(bool quick, const Pairs& pairs, const PeerReport& report);

}  // namespace locus::bench
