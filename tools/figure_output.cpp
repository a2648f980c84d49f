// SPDX-License-Identifier: Apache-2.0
#include "figure_output.h"

#include <iostream>

#include "figures/registry.h"
#include "figures/report/page.h"
#include "figures/terminal/drawing.h"
#include "locus/error.h"
#include "locus/io/atomic_file.h"
#include "terminal.h"

namespace locus::tools {

void add_figure_output(CLI::App& command, std::string& output) {
  command.add_option("-o,--output", output,
                     "Write the figure as a .html page or a .vl.json file; absent: draw it in the terminal");
}

void check_figure_output(const std::string& output) {
  if (output.empty() || output.ends_with(".vl.json")) return;
  require(output.ends_with(".html"), "--output must end in .vl.json or .html, got ", output);
  require(figures::can_write_pages(), "this locus was built without npm and cannot write the page ", output,
          "; write a .vl.json, which any Vega-Lite viewer opens");
}

std::string vega_lite_text(const figures::Figure& figure) { return figures::standalone_spec(figure).dump(1) + "\n"; }

void write_figure(const figures::Figure& figure, const std::string& output) {
  const std::string text = output.ends_with(".html") ? figures::html_page(figure) : vega_lite_text(figure);
  const io::ByteChunk chunk = std::as_bytes(std::span(text));
  io::write_atomically(output, std::span(&chunk, 1));
}

void draw_figure(const figures::Figure& figure, std::optional<std::int64_t> width) {
  const auto columns = static_cast<std::size_t>(width.value_or(terminal_width()));
  std::cout << figures::draw(figure, {.width = columns, .colour = colours_output()});
}

void put_figure(const figures::Figure& figure, const std::string& output, bool quiet) {
  if (!output.empty()) {
    write_figure(figure, output);
    std::cerr << "locus: wrote " << output << '\n';
  } else if (!quiet) {
    std::cout << '\n';
    draw_figure(figure);
  }
}

}  // namespace locus::tools
