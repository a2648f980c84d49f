// SPDX-License-Identifier: Apache-2.0
// Unicode's normalization forms: one spelling of texts that are the same characters (Unicode Standard Annex 15).
#pragma once

#include <string>
#include <string_view>

namespace locus::probe {

/// nfd and nfkd decompose; nfc and nfkc compose again. The k forms also replace characters by compatible ones (U+FB01 by
/// "fi").
enum class NormalForm : unsigned char { nfc, nfd, nfkc, nfkd };

/// Returns a text in a form. Bytes that are not UTF-8 stay as they are.
std::string to_form(std::string_view text, NormalForm form);

}  // namespace locus::probe
