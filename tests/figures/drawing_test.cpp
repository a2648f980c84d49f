// SPDX-License-Identifier: Apache-2.0
// Figures in the terminal: small ones with every character worked out by hand, and properties of all figures.
#include "figures/terminal/drawing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/text_layout.h"
#include "figures/registry.h"
#include "figures/report/results_figures.h"
#include "figures/terminal/canvas.h"
#include "figures/terminal/panel.h"
#include "locus/error.h"
#include "results/json.h"
#include "support/paths.h"

namespace locus::testing {
namespace {

using figures::draw;
using figures::Figure;
using figures::Json;

Json channel(const char* field, const char* type) { return {{"field", field}, {"type", type}, {"title", field}}; }

Figure figure(const Json& rows, const char* mark, const Json& encoding) {
  return {.name = "tiny",
          .title = "Title",
          .caption = "Caption.",
          .spec = {{"data", {{"values", rows}}}, {"mark", {{"type", mark}}}, {"encoding", encoding}}};
}

std::string times(int count, const std::string& text) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

Figure tiny_heatmap() {
  Json colour = channel("v", "quantitative");
  colour["scale"] = {{"domain", {-1, 1}}};
  return figure(Json::parse(R"([{"x": 0, "y": 0, "v": -1}, {"x": 1, "y": 0, "v": 0},
                                {"x": 0, "y": 1, "v": 0.5}, {"x": 1, "y": 1, "v": 1}])"),
                "rect", {{"x", channel("x", "ordinal")}, {"y", channel("y", "ordinal")}, {"color", colour}});
}

// Five shades over [-1, 1]: -1 is the first, 0 the third, 0.5 the fourth, 1 the last; a cell is two characters wide.
TEST(Drawing, RectsAreShades) {
  EXPECT_EQ(draw(tiny_heatmap(), {.width = 40}),
            "Title\n"
            "\n"
            "y\n"
            "0 ┤  ▒▒\n"
            "1 ┤▓▓██\n"
            "  └┬─┬─\n"
            "   0 1\n"
            "    x\n"
            "v:  [ ] -1  [░] -0.5  [▒] 0  [▓] 0.5\n"
            "[█] 1\n"
            "\n"
            "Caption.\n");
}

// In colour the shade is the size, 0.5 of 1 the third, and the sign is the hue.
TEST(Drawing, ColourAddsTheSign) {
  const std::string text = draw(tiny_heatmap(), {.width = 40, .colour = true});
  const auto in = [](int colour, const std::string& glyph) {
    return "\033[38;5;" + std::to_string(colour) + "m" + glyph + "\033[0m";
  };
  EXPECT_NE(text.find("0 ┤" + in(32, "█") + in(32, "█") + "\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 ┤" + times(2, in(214, "▒")) + times(2, in(214, "█")) + "\n"), std::string::npos) << text;
}

// A constant is drawn in the middle: dots 24 of 0 .. 47, the upper ones of row 6 of 12. The label 1 leaves 37
// columns, with 0, 0.5 and 1 at columns 0, 18 and 36.
TEST(Drawing, OneLineIsDots) {
  const Figure made = figure(Json::parse(R"([{"x": 0, "y": 1}, {"x": 1, "y": 1}])"), "line",
                             {{"x", channel("x", "quantitative")}, {"y", channel("y", "quantitative")}});
  const std::string empty = "  │\n", gap = times(16, " ");
  EXPECT_EQ(draw(made, {.width = 40}), "Title\n\ny\n" + times(6, empty) + "1 ┤" + times(37, "⠉") + "\n" +
                                           times(5, empty) + "  └┬" + times(17, "─") + "┬" + times(17, "─") + "┬\n" +
                                           "   0" + gap + "0.5" + gap + "1\n" + times(21, " ") + "x\n\nCaption.\n");
}

// Two series, points at the corners: the first is A, the second B, with any colours.
TEST(Drawing, SeriesAreLetters) {
  const Figure made = figure(
      Json::parse(R"([{"x": 0, "y": 0, "s": "low"}, {"x": 1, "y": 0, "s": "low"},
                                             {"x": 0, "y": 1, "s": "high"}])"),
      "point",
      {{"x", channel("x", "quantitative")}, {"y", channel("y", "quantitative")}, {"color", channel("s", "nominal")}});
  const std::string text = draw(made, {.width = 40});
  EXPECT_NE(text.find("  1 ┤B\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  0 ┤A" + times(33, " ") + "A\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nA low  B high\n"), std::string::npos) << text;
}

// 34 columns for bars of 1 and 2: 17 and 34 blocks; with signs, 17 to each side.
TEST(Drawing, BarsAreBlocks) {
  const Json encoding = {{"x", channel("what", "nominal")}, {"y", channel("length", "quantitative")}};
  const Figure made =
      figure(Json::parse(R"([{"what": "a", "length": 1}, {"what": "bb", "length": 2}])"), "bar", encoding);
  EXPECT_EQ(draw(made, {.width = 40}),
            "Title\n\nlength, by what\n a │" + times(17, "█") + " 1\nbb │" + times(34, "█") + " 2\n\nCaption.\n");
  const Figure two_ways =
      figure(Json::parse(R"([{"what": "a", "length": -1}, {"what": "b", "length": 1}])"), "bar", encoding);
  EXPECT_EQ(draw(two_ways, {.width = 40}), "Title\n\nlength, by what\na " + times(17, "█") + "│ -1\nb " +
                                               times(17, " ") + "│" + times(17, "█") + " 1\n\nCaption.\n");
}

// Labels of 2, numbers of 11 and two blanks leave 25 of 40 columns for 0 .. 24: one unit is a column.
TEST(Drawing, RangesHaveEndsADotAndNumbers) {
  const Json spec = Json::parse(R"({
    "data": {"values": [{"n": "a", "low": 0, "mean": 2, "high": 5, "g": "good"},
                        {"n": "bb", "low": 13, "mean": 18, "high": 24, "g": "bad"},
                        {"n": "c", "low": 7, "mean": 7, "high": 7, "g": "bad"}]},
    "encoding": {"y": {"field": "n", "type": "nominal"}, "color": {"field": "g", "type": "nominal"}},
    "layer": [{"mark": "rule", "encoding": {"x": {"field": "low"}, "x2": {"field": "high"}}},
              {"mark": "point", "encoding": {"x": {"field": "mean", "type": "quantitative"}}}]})");
  const Figure made{.name = "r", .title = "T", .caption = "C.", .spec = spec};
  const std::string first = " a ├─●──┤" + times(19, " ") + " 2 [0, 5]\n";
  const std::string second = "bb " + times(13, " ") + "├────○─────┤ 18 [13, 24]\n";
  const std::string third = " c " + times(7, " ") + "○" + times(17, " ") + " 7\n";
  EXPECT_EQ(draw(made, {.width = 40}), "T\n\n" + first + second + third + "● good  ○ bad\n\nC.\n");
}

// A chart with numbers in its rects: a shade, the number, a blank; the labels are centred below the 6 columns.
TEST(Drawing, RectsContainNumbers) {
  Figure made = tiny_heatmap();
  const Json encoding = made.spec["encoding"];
  Json text = encoding;
  text["text"] = {{"field", "v"}, {"type", "quantitative"}, {"format", ".1f"}};
  made.spec.erase("mark");
  made.spec.erase("encoding");
  made.spec["layer"] = {{{"mark", "rect"}, {"encoding", encoding}}, {{"mark", "text"}, {"encoding", text}}};
  const std::string drawn = draw(made, {.width = 40});
  EXPECT_NE(drawn.find("0 ┤ -1.0 ▒ 0.0\n1 ┤▓ 0.5 █ 1.0\n  └───┬─────┬──\n      0     1\n"), std::string::npos) << drawn;
  EXPECT_EQ(drawn.find("Not drawn"), std::string::npos);
}

TEST(Drawing, ShortLogarithmicAxesHaveLabelsBetweenThePowers) {
  Json y = channel("y", "quantitative");
  y["scale"] = {{"type", "log"}, {"domain", {0.4, 3}}};
  const Figure made = figure(Json::parse(R"([{"x": 0, "y": 0.5}, {"x": 1, "y": 2}])"), "line",
                             {{"x", channel("x", "quantitative")}, {"y", y}});
  const std::string drawn = draw(made, {.width = 40});
  for (const char* label : {"0.5 ┤", "  1 ┤", "  2 ┤"}) EXPECT_NE(drawn.find(label), std::string::npos) << drawn;
  EXPECT_EQ(drawn.find("0.8"), std::string::npos) << drawn;
}

TEST(Drawing, FacetsArePanels) {
  const Json spec = Json::parse(R"({
    "datasets": {"all": [{"f": "b", "x": 1, "y": 1}, {"f": "a", "x": 2, "y": 5}, {"f": "b", "x": 3, "y": 2}]},
    "data": {"name": "all"},
    "facet": {"field": "f", "type": "nominal", "title": "kind"}, "columns": 2,
    "spec": {"layer": [
      {"mark": "line", "encoding": {"x": {"field": "x", "type": "quantitative"},
                                    "y": {"field": "y", "type": "quantitative"}}},
      {"mark": "rule", "data": {"values": [{"limit": 7}]},
       "encoding": {"y": {"field": "limit", "type": "quantitative"}}},
      {"mark": "text", "encoding": {}}]}})");
  const std::vector<figures::Panel> panels = figures::panels_of(spec);
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[0].title, "kind b");  // names in the order of the data
  EXPECT_EQ(panels[1].title, "kind a");
  ASSERT_EQ(panels[0].layers.size(), 3u);
  EXPECT_EQ(panels[0].layers[0].rows.size(), 2u);
  EXPECT_EQ(panels[1].layers[0].rows.size(), 1u);
  EXPECT_EQ(panels[0].layers[1].rows.size(), 1u);
  const std::string text = draw({.name = "f", .title = "T", .caption = "C", .spec = spec}, {.width = 80});
  EXPECT_NE(text.find("── kind b" + times(32, " ") + "── kind a\n"), std::string::npos) << text;  // 39 + 2 columns
  EXPECT_NE(text.find("Not drawn here, but in what -o writes: marks of the kinds text."), std::string::npos) << text;
}

TEST(Drawing, EveryFigureFits) {
  std::ifstream stream((locus::testing::source_dir() / "tests/web/fixture/results.json").string());
  std::vector<Figure> all = figures::results_figures(results::read_results(Json::parse(stream)));
  for (const figures::FigureKind* kind : figures::figure_kinds()) all.push_back(figures::make_figure(*kind));
  for (const Figure& made : all) {
    for (const std::size_t width : {40U, 80U, 133U}) {
      for (const bool colour : {false, true}) {
        std::istringstream lines(draw(made, {.width = width, .colour = colour}));
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
          EXPECT_LE(columns_of(line), width) << made.name << "\n" << line;
          EXPECT_EQ(!colour && line.find('\033') != std::string::npos, false) << made.name;
        }
        EXPECT_GE(count, 5u) << made.name;
      }
    }
  }
  EXPECT_THROW(draw(tiny_heatmap(), {.width = 39}), Error);
}

TEST(Drawing, TextHasNoControlCharacters) {
  const std::string evil = "a\033[31m\n\x07<b>\"";
  figures::Request request{
      .encodings = {{evil, Encoding("rope", {{"head_dim", 4}, {"pairing", "half"}})},
                    {"other", Encoding("rope", {{"head_dim", 4}, {"pairing", "half"}, {"base", 5e5}})}}};
  Figure made = figures::make_figure(figures::find_figure("wavelengths"), request);
  made.title += evil;
  const std::string text = draw(made);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_NE(text.find("A a?[31m?"
                      "?<b>\""),
            std::string::npos)
      << text;
  const Json read = Json::parse(figures::standalone_spec(made).dump());
  EXPECT_EQ(read["data"]["values"][0]["layers"], evil);
}

TEST(Drawing, WrapsAtBlanks) {
  EXPECT_EQ(locus::wrapped("one two three", 7), "one two\nthree\n");
  EXPECT_EQ(locus::wrapped("", 7), "");
  EXPECT_EQ(shortened("a█bc", 4), "a█bc");
  EXPECT_EQ(shortened("a█bc", 3), "a█…");
  EXPECT_EQ(columns_of("a█\033[38;5;32mb\033[0m"), 3u);
}

}  // namespace
}  // namespace locus::testing
