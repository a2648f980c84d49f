// SPDX-License-Identifier: Apache-2.0
// A passkey task in token ids, for models whose tokens are not text; their file describes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace locus::probe {

/// noise ... key_mark key noise ... question; the answer is the key.
struct PasskeyFrame {
  std::int32_t key_mark = 0;
  std::int32_t question = 0;
  std::vector<std::int32_t> noise;              ///< tokens of the noise
  std::vector<std::vector<std::int32_t>> keys;  ///< all of the same length
};

/// From {"key_mark": 10, "question": 11, "noise": [12, 13], "keys": [[0, 1, 5], ...]}; `name` starts every message.
PasskeyFrame parse_passkey_frame(std::string_view json, const std::string& name);
/// Error: an id outside the vocabulary.
void require_within(const PasskeyFrame& frame, std::int64_t vocabulary, const std::string& file);

}  // namespace locus::probe
