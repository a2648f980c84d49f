// SPDX-License-Identifier: Apache-2.0
// One plain sentence: what holds beyond the trained length, and what does not.
#pragma once

#include <string>

#include "messages/words.h"
#include "results/holding.h"

namespace locus::figures {

/// A scheme as a sentence names it: "RoPE", "the learned table".
std::string spoken_scheme(const results::Results& results, const std::string& scheme, const Words& words);

/// "Beyond the length they were trained on, ALiBi holds; RoPE needs YaRN or a short fine-tune; the learned table fails."
/// The groups are those of `answer`. Says so where nothing was tested there, and where no scheme learned the task.
std::string answer_sentence(const results::Results& results, const results::LengthAnswer& answer, const Words& words);

}  // namespace locus::figures
