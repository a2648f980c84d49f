// SPDX-License-Identifier: Apache-2.0
#include "figures/report/assets.h"

#include <cstddef>

#include "locus/error.h"

#ifdef LOCUS_CHARTS_SCRIPT

// The assembler includes the files directly, so no compiler parses a megabyte of script.
#define LOCUS_EMBED(symbol, file)                              \
  asm(".section .rodata,\"a\",@progbits\n"                     \
      ".global " #symbol "\n.global " #symbol "_end\n" #symbol \
      ":\n"                                                    \
      ".incbin \"" file "\"\n" #symbol                         \
      "_end:\n.byte 0\n"                                       \
      ".text\n");                                              \
  extern "C" const char symbol[];                              \
  extern "C" const char symbol##_end[]

LOCUS_EMBED(locus_charts_script, LOCUS_CHARTS_SCRIPT);
LOCUS_EMBED(locus_page_script, LOCUS_WEB_FOLDER "/page.js");
LOCUS_EMBED(locus_page_style, LOCUS_WEB_FOLDER "/page.css");

namespace locus::figures {

bool has_assets() { return true; }

Assets assets() {
  const auto text = [](const char* begin, const char* end) {
    return std::string_view(begin, static_cast<std::size_t>(end - begin));
  };
  return {text(locus_charts_script, locus_charts_script_end), text(locus_page_script, locus_page_script_end),
          text(locus_page_style, locus_page_style_end)};
}

}  // namespace locus::figures

#else

namespace locus::figures {

bool has_assets() { return false; }

Assets assets() {
  fail("this Locus was built without npm and cannot write pages; build it where npm is, or write figures as .vl.json");
}

}  // namespace locus::figures

#endif
