// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_state.h"

namespace locus {

KernelState::KernelState(const Encoding& encoding) {
  if (encoding.site() == Site::query_key) rotation.emplace(encoding.rotation().turns, start_of(encoding.rotation()));
  if (encoding.site() == Site::score && encoding.score().toeplitz && encoding.score().network_weights > 0) {
    bias.emplace(encoding.score());
  }
  if (encoding.site() == Site::score && encoding.score().pieces) pieces.emplace(*encoding.score().pieces);
  if (encoding.site() != Site::hidden) return;
  hidden.emplace(encoding.hidden());
  if (encoding.hidden().neighbours) neighbours.emplace(encoding.hidden());
}

const KernelState& kernel_state_of(const Encoding& encoding) {
  return encoding.kernel_state([](const Encoding& one) { return std::make_shared<const KernelState>(one); });
}

}  // namespace locus
