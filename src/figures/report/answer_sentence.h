// SPDX-License-Identifier: Apache-2.0
// The answer in one sentence: which schemes hold beyond the trained length, and which do not.
#pragma once

#include <string>

#include "messages/words.h"
#include "results/holding.h"

namespace locus::figures {

/// Returns the name of a scheme for use in a sentence: "RoPE", "the learned table".
std::string spoken_scheme(const results::Results& results, const std::string& scheme, const Words& words);

/// "Beyond the length they were trained on, ALiBi holds; RoPE needs YaRN or a short fine-tune; the learned table
/// fails." The groups are those of `answer`. The sentence says so if nothing was tested there or no scheme learned the
/// task.
std::string answer_sentence(const results::Results& results, const results::LengthAnswer& answer, const Words& words);

}  // namespace locus::figures
