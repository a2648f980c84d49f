// SPDX-License-Identifier: Apache-2.0
// Pages: all text is escaped, nothing is loaded, ids are unique.
#include "figures/report/page.h"

#include <gtest/gtest.h>

#include <regex>

#include "figures/report/assets.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

Figure hostile_figure() {
  const std::string hostile = "</script><script>alert(1)</script><!-- \" ' &";
  return {.name = "demo",
          .title = hostile,
          .caption = hostile,
          .spec = {{"data", {{"values", {{{"text", hostile}}}}}}, {"mark", "point"}}};
}

/// The page without the bundled scripts.
std::string own_part(const std::string& page) {
  const std::size_t scripts = page.find("<script>\n/*!");
  EXPECT_NE(scripts, std::string::npos);
  const std::size_t body = page.find("<body>");
  return page.substr(body, scripts - body);
}

class Pages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_write_pages()) GTEST_SKIP() << "built without npm: no pages";
  }
};

TEST(PagesOrNot, WithoutNpmAPageIsAnError) {
  if (can_write_pages()) {
    EXPECT_NO_THROW(html_page(hostile_figure()));
  } else {
    EXPECT_THROW(html_page(hostile_figure()), Error);
  }
}

TEST_F(Pages, EscapeHostileText) {
  const std::string page = html_page(hostile_figure());
  EXPECT_NE(page.find("<title>&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
  const std::string own = own_part(page);
  EXPECT_EQ(count(own, "<script"), 1u);  // the chart's data
  EXPECT_EQ(count(own, "</script"), 1u);
  EXPECT_EQ(count(own, "alert(1)"), 4u);  // heading, label, caption, data
  EXPECT_EQ(own.find("<!--"), std::string::npos);
}

// Visible once; the drawing repeats it for screen readers.
TEST_F(Pages, OfOneFigureShowItsTitleOnce) {
  const std::string own = own_part(html_page({.name = "n", .title = "Slopes", .caption = "Read it.", .spec = {}}));
  EXPECT_EQ(count(own, ">Slopes<"), 1u);
  EXPECT_NE(own.find("<h1>Slopes</h1>"), std::string::npos);
  EXPECT_NE(own.find("<figcaption><span>Read it.</span></figcaption>"), std::string::npos);
  EXPECT_EQ(count(own, "Slopes"), 2u);
}

TEST_F(Pages, KeepTheDataOfAChart) {
  const Figure figure = hostile_figure();
  const std::string own = own_part(html_page(figure));
  const std::string opening = "<script type=\"application/json\">";
  const std::size_t begin = own.find(opening) + opening.size();
  EXPECT_EQ(Json::parse(own.substr(begin, own.find("</script>") - begin)), figure.spec);
}

TEST_F(Pages, EscapeTheEndOfScripts) {
  const Assets files = assets();
  for (const std::string_view file : {files.charts_script, files.page_script}) {
    EXPECT_EQ(file.find("</script"), std::string_view::npos);
    EXPECT_EQ(file.find("<!--"), std::string_view::npos);
  }
  EXPECT_EQ(files.style.find("</style"), std::string_view::npos);
  EXPECT_NE(files.charts_script.find("Redistribution and use in source and binary forms"), std::string_view::npos);
}

// The browser test checks that nothing is requested; this one, that nothing of ours could request anything.
TEST_F(Pages, LoadNothing) {
  const std::string page = html_page(hostile_figure());
  const std::string head = page.substr(0, page.find("<body>"));
  EXPECT_NE(head.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(head.find("url("), std::string::npos);
  EXPECT_EQ(head.find("@import"), std::string::npos);
  EXPECT_FALSE(std::regex_search(own_part(page), std::regex("(src|href)=\"[^#]")));
}

TEST_F(Pages, ListTheirSectionsWithUniqueIds) {
  Page page("x");
  EXPECT_EQ(page.section(2, "Results & more"), "results-more");
  EXPECT_EQ(page.section(3, "Results more"), "results-more-2");
  page.figure({.name = "results-more", .title = "", .caption = "", .spec = Json::object()});
  const std::string html = page.html();
  EXPECT_NE(html.find("<a href=\"#results-more\">Results &amp; more</a>"), std::string::npos);
  EXPECT_NE(html.find("<h3 id=\"results-more-2\">"), std::string::npos);
  EXPECT_NE(html.find("<figure id=\"results-more-3\""), std::string::npos);
  EXPECT_THROW(page.section(1, "x"), Error);
}

TEST_F(Pages, WrapTablesAndStyleColumns) {
  Page page("x");
  Table table;
  table.head = {"name", {"value", "number"}};
  table.rows = {{"a<b", "1"}, {"c", {"2", "good"}}};
  table.row_styles = {"", "first"};
  page.table(table, "caption");
  EXPECT_NE(page.html().find("<p class=\"caption\">caption</p>\n<div class=\"table\" tabindex=\"0\"><table><thead><tr>"
                             "<th>name</th><th class=\"number\">value</th></tr></thead><tbody><tr><td>a&lt;b</td>"
                             "<td class=\"number\">1</td></tr><tr class=\"first\"><td>c</td>"
                             "<td class=\"good number\">2</td></tr></tbody></table></div>"),
            std::string::npos);
}

}  // namespace
}  // namespace locus::figures
