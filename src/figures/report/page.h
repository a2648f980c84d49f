// SPDX-License-Identifier: Apache-2.0
// One self-contained HTML file of text, tables and charts; it loads nothing.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "figures/figure.h"
#include "figures/report/html.h"
#include "messages/words.h"

namespace locus::figures {

/// Returns false if Locus was built without npm; making a page is then an Error.
bool can_write_pages();

/// Makes a page with this figure only, under the figure's title.
std::string html_page(const Figure& figure, const Words& words = Words());

struct Cell {
  Cell(Html content_, std::string_view style_ = {}) : content(std::move(content_)), style(style_) {}  // NOLINT
  Cell(const char* text) : content(text) {}                                                           // NOLINT
  Cell(const std::string& text) : content(text) {}                                                    // NOLINT
  Html content;
  std::string style;  ///< "", or words of: number, good, bad, dim
};

struct Table {
  std::vector<Cell> head;  ///< a column has the style of its head
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> row_styles;  ///< per row, or empty
};

/// Builds a page from top to bottom. Ids are unique: a second "results" becomes "results-2".
class Page {
 public:
  explicit Page(std::string title, Html subtitle = {}, Words words = Words());

  const Words& words() const { return words_; }
  /// Puts the contents list after everything added so far; on wide screens the list is a column at the side.
  void end_opening(std::string_view id);

  /// Adds a heading, level 2 or 3, to the page and its contents list; returns the id to link to.
  std::string section(int level, const std::string& title, std::string_view id = {});
  void paragraph(const Html& content, std::string_view style = {});  ///< style: answer, note, warning
  void list(std::span<const Html> items);
  void table(const Table& table, const Html& caption = {});
  /// `titled`: shows the figure's title above it, otherwise only the caption.
  void figure(const Figure& figure, bool titled = true);
  void add(const Html& content);
  /// Starts a section, up to end_details(), that is collapsed at first. Printing expands it, unless it is `long_`:
  /// then it is printed only if the reader has opened it.
  void begin_details(const Html& summary, bool long_ = false);
  void end_details();

  std::string html() const;

 private:
  struct Heading {
    int level;
    std::string id;
    std::string title;
  };
  std::string unique_id(std::string_view wanted);
  std::string contents() const;

  std::string title_;
  Html subtitle_;
  Words words_;
  std::string opening_, body_;
  std::vector<Heading> headings_;
  std::set<std::string> ids_;
};

}  // namespace locus::figures
