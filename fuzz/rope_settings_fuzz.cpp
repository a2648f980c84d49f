// SPDX-License-Identifier: Apache-2.0
// Any text as a config.json, and any bytes as a GGUF file, either converts to the other format or throws
// locus::Error. The result can be read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "locus/error.h"
#include "locus/io/convert_rope.h"
#include "locus/io/hf_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto settings = locus::io::gguf_rope_settings({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const auto& factors : settings.factors) {
      if (factors.values.empty()) std::abort();
    }
    for (const auto& entry : settings.entries) {
      if (!entry.key.starts_with(settings.architecture + ".")) std::abort();
    }
  } catch (const locus::Error&) {
  }
  try {
    const auto file = locus::io::parse_gguf(std::as_bytes(std::span(data, size)), "fuzz");
    const auto settings = locus::io::hf_rope_settings(file);
    locus::io::resolve_hf_config(settings.json, "fuzz");
  } catch (const locus::Error&) {
  }
  return 0;
}
