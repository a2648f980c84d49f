// SPDX-License-Identifier: Apache-2.0
// The languages of reports and charts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace locus {

enum class Language : std::uint8_t { english, spanish };

inline constexpr std::array all_languages = {Language::english, Language::spanish};

/// "en" or "es", as in `--lang` and in the `lang` of a page.
std::string_view code_of(Language language);
/// Error naming the known codes.
Language find_language(std::string_view code);

}  // namespace locus
