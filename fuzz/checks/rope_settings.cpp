// SPDX-License-Identifier: Apache-2.0
// Any text as a config.json, and any bytes as a GGUF file, either converts to the other format or throws
// locus::Error. The result can be read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "checks.h"
#include "locus/error.h"
#include "locus/io/convert_rope.h"
#include "locus/io/hf_config.h"

namespace locus::fuzz {

void check_rope_settings(Bytes bytes) {
  try {
    const auto settings = locus::io::gguf_rope_settings(text_in(bytes), "fuzz");
    for (const auto& factors : settings.factors) {
      if (factors.values.empty()) std::abort();
    }
    for (const auto& entry : settings.entries) {
      if (!entry.key.starts_with(settings.architecture + ".")) std::abort();
    }
  } catch (const locus::Error&) {
  }
  try {
    const auto file = locus::io::parse_gguf(bytes, "fuzz");
    const auto settings = locus::io::hf_rope_settings(file);
    locus::io::resolve_hf_config(settings.json, "fuzz");
  } catch (const locus::Error&) {
  }
}

}  // namespace locus::fuzz
