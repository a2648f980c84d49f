// SPDX-License-Identifier: Apache-2.0
// Twenty verbs in English and Spanish: five tenses, three persons of the singular.
#pragma once

#include <string>

namespace locus::lab {

enum class Language { english, spanish };

inline constexpr int verb_count = 20;
inline constexpr int tense_count = 5;   ///< present, past, future, present perfect, present progressive
inline constexpr int person_count = 3;  ///< I, you, he; yo, tú, él

std::string pronoun(Language language, int person);

/// Returns the verb form in that tense after that pronoun, e.g. "has worked", "ha trabajado", in UTF-8.
std::string verb_form(Language language, int verb, int tense, int person);

}  // namespace locus::lab
