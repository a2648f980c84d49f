// SPDX-License-Identifier: Apache-2.0
// Results whose texts are in another language.
#pragma once

#include "messages/words.h"
#include "results/results.h"

namespace locus::results {

/// The same results with titles, measures and labels that the catalogue knows in the words' language, and with reasons and
/// paper claims made again in it from the numbers. Names, which identify, stay. English changes nothing.
Results in_language(Results results, const Words& words);

}  // namespace locus::results
