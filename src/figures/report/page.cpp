// SPDX-License-Identifier: Apache-2.0
#include "figures/report/page.h"

#include <utility>

#include "figures/report/assets.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

// Makes JSON for a script element: "<" occurs only in strings, where its escape means the same.
std::string embedded_json(const Json& value) {
  std::string result;
  for (const char c : value.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string class_attribute(std::string_view style) {
  return style.empty() ? std::string() : "class=\"" + escaped(style) + "\"";
}

/// Returns the texts that page.js shows, as attributes of the main element.
std::string script_words(const Words& words) {
  std::string markup;
  const auto add = [&](const char* name, Message message) {
    markup += " data-" + std::string(name) + "=\"" + escaped(words(message)) + "\"";
  };
  add("save", Message::page_save);
  add("save-data", Message::page_save_data);
  add("save-chart", Message::page_save_chart);
  add("failed", Message::page_chart_failed);
  return markup;
}

std::string row_markup(const std::vector<Cell>& cells, std::string_view tag, const std::vector<Cell>& head) {
  std::string markup;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string style = cells[i].style;
    if (i < head.size() && !head[i].style.empty()) style += (style.empty() ? "" : " ") + head[i].style;
    markup += element(tag, cells[i].content, class_attribute(style)).markup();
  }
  return markup;
}

}  // namespace

bool can_write_pages() { return has_assets(); }

std::string html_page(const Figure& figure, const Words& words) {
  Page page(figure.title, {}, words);
  page.figure(figure, false);
  return page.html();
}

Page::Page(std::string title, Html subtitle, Words words)
    : title_(std::move(title)), subtitle_(std::move(subtitle)), words_(words) {}

void Page::end_opening(std::string_view id) {
  opening_ =
      element("section", Html::raw("\n" + body_), "class=\"opening\" id=\"" + unique_id(id) + "\"").markup() + "\n";
  body_.clear();
}

std::string Page::unique_id(std::string_view wanted) {
  const std::string stem = identifier(wanted);
  std::string id = stem;
  for (int i = 2; !ids_.insert(id).second; ++i) id = stem + "-" + std::to_string(i);
  return id;
}

std::string Page::section(int level, const std::string& title, std::string_view id) {
  require(level == 2 || level == 3, "a section's level must be 2 or 3, got ", level);
  headings_.push_back({level, unique_id(id.empty() ? title : id), title});
  const std::string& own = headings_.back().id;
  const Html anchor = element(
      "a", "#",
      "class=\"anchor\" aria-label=\"" + escaped(words_(Message::page_link_to_section)) + "\" href=\"#" + own + "\"");
  add(element("h" + std::to_string(level), Html(title) + Html::raw(" ") + anchor, "id=\"" + own + "\""));
  return own;
}

void Page::paragraph(const Html& content, std::string_view style) {
  add(element("p", content, class_attribute(style)));
}

void Page::list(std::span<const Html> items) {
  Html content;
  for (const Html& item : items) content += element("li", item);
  add(element("ul", content));
}

void Page::table(const Table& table, const Html& caption) {
  if (!caption.empty()) paragraph(caption, "caption");                     // outside of the box: it must not scroll
  const std::string box = table.head.size() > 8 ? "table many" : "table";  // narrower columns
  std::string markup = "<div class=\"" + box + "\" tabindex=\"0\"><table><thead><tr>" +
                       row_markup(table.head, "th", {}) + "</tr></thead><tbody>";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string_view style = i < table.row_styles.size() ? table.row_styles[i] : std::string_view();
    markup += element("tr", Html::raw(row_markup(table.rows[i], "td", table.head)), class_attribute(style)).markup();
  }
  add(Html::raw(markup + "</tbody></table></div>"));
}

void Page::figure(const Figure& figure, bool titled) {
  const std::string id = unique_id(figure.name);
  std::string markup = "<figure id=\"" + id + "\" class=\"chart\" data-name=\"" + escaped(figure.name) + "\">";
  markup += "<figcaption>";
  if (titled) markup += element("strong", figure.title).markup() + " ";
  if (!figure.caption.empty()) markup += element("span", prose(figure.caption)).markup();
  markup += "</figcaption><div class=\"drawing\" role=\"img\" aria-label=\"" + escaped(figure.title) + "\"></div>";
  markup += "<div class=\"save\"></div><script type=\"application/json\">" + embedded_json(figure.spec) + "</script>";
  add(Html::raw(markup + "</figure>"));
}

void Page::add(const Html& content) { body_ += content.markup() + "\n"; }

void Page::begin_details(const Html& summary, bool long_) {
  body_ += (long_ ? "<details class=\"fold long\">" : "<details class=\"fold\">") +
           element("summary", summary).markup() + "\n";
}

void Page::end_details() { body_ += "</details>\n"; }

std::string Page::contents() const {
  if (headings_.empty()) return {};
  const std::string title = escaped(words_(Message::page_contents));
  std::string list = "<nav aria-label=\"" + title + "\"><details><summary>" + title + "</summary><ul>";
  for (const Heading& heading : headings_) {
    list += element("li", link_to(heading.id, heading.title), heading.level == 3 ? "class=\"inner\"" : "").markup();
  }
  return list + "</ul></details></nav>\n";
}

std::string Page::html() const {
  const Assets files = assets();
  const std::string language(code_of(words_.language()));
  std::string page = "<!DOCTYPE html>\n<html lang=\"" + language + "\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  // The page loads nothing; this policy makes the browser enforce it.
  page +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline' "
      "'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'none'\">\n";
  page += "<link rel=\"icon\" href=\"data:,\">\n";
  page += element("title", title_).markup() + "\n<style>\n" + std::string(files.style) + "</style>\n</head>\n<body>\n";
  page += "<header>" + element("h1", title_).markup();
  if (!subtitle_.empty()) page += element("p", subtitle_, "class=\"subtitle\"").markup();
  page += "</header>\n<main" + script_words(words_) + ">\n";
  page += opening_ + contents() + "<div class=\"rest\">\n" + body_ + "</div>\n</main>\n";
  page += "<footer><p>" + escaped(words_(Message::page_made_by, {{"version", LOCUS_VERSION}})) +
          " <span id=\"charts\"></span>" + escaped(words_(Message::page_licences)) + "</p></footer>\n";
  page += "<script>\n" + std::string(files.charts_script) + "</script>\n";
  page += "<script>\n" + std::string(files.page_script) + "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace locus::figures
