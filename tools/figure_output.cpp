// SPDX-License-Identifier: Apache-2.0
#include "figure_output.h"

#include <iostream>

#include "figures/drawing.h"
#include "figures/page.h"
#include "figures/registry.h"
#include "locus/error.h"
#include "locus/io/atomic_file.h"
#include "terminal.h"

namespace locus::tools {

void add_figure_output(CLI::App& command, std::string& output) {
  command.add_option("-o,--output", output,
                     "The figure as a .html page or a .vl.json file; absent: drawn in the terminal");
}

void check_figure_output(const std::string& output) {
  if (output.empty() || output.ends_with(".vl.json")) return;
  require(output.ends_with(".html"), "--output must end in .vl.json or .html, got ", output);
  require(figures::can_write_pages(), "this build of locus writes no pages, so it cannot write ", output,
          "; write a .vl.json, which any Vega-Lite viewer opens");
}

void put_figure(const figures::Figure& figure, const std::string& output, bool quiet) {
  if (output.empty()) {
    if (quiet) return;
    std::cout << '\n'
              << figures::draw(figure,
                               {.width = static_cast<std::size_t>(terminal_width()), .colour = terminal_has_colour()});
    return;
  }
  const std::string text = output.ends_with(".html") ? figures::html_page(figure.title, std::span(&figure, 1))
                                                     : figures::standalone_spec(figure).dump(1) + "\n";
  const io::ByteChunk chunk = std::as_bytes(std::span(text));
  io::write_atomically(output, std::span(&chunk, 1));
  std::cerr << "locus: wrote " << output << '\n';
}

}  // namespace locus::tools
