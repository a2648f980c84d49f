// SPDX-License-Identifier: Apache-2.0
// A passkey task in token ids, for models whose tokens are no text: what the file of such a model says of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace locus::probe {

/// noise ... key_mark key noise ... question, and then the key is wanted.
struct PasskeyFrame {
  std::int32_t key_mark = 0;
  std::int32_t question = 0;
  std::vector<std::int32_t> noise;              ///< any of these may stand around
  std::vector<std::vector<std::int32_t>> keys;  ///< to choose from, all of one length
};

/// From {"key_mark": 10, "question": 11, "noise": [12, 13], "keys": [[0, 1, 5], ...]}; `name` starts messages.
PasskeyFrame parse_passkey_frame(std::string_view json, const std::string& name);
/// Error where an id is outside a vocabulary of so many.
void require_within(const PasskeyFrame& frame, std::int64_t vocabulary, const std::string& file);

}  // namespace locus::probe
