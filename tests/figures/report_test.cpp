// SPDX-License-Identifier: Apache-2.0
// The report of the invented results of the browser test: its contents, and the messages for bad input.
#include "figures/report/report.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "figures/registry.h"
#include "figures/report/page.h"
#include "figures/report/results_figures.h"
#include "locus/error.h"
#include "results/json.h"
#include "results/made_results.h"
#include "support/error_of.h"
#include "support/paths.h"

namespace locus::figures {
namespace {

Json made_up() {
  std::ifstream stream((locus::testing::source_dir() / "tests/web/fixture/results.json").string());
  return Json::parse(stream);
}

results::Results results_of_fixture() { return results::read_results(made_up()); }

std::string reading_error(const Json& results) {
  return testing::error_of([&] { results::read_results(results); });
}

TEST(Report, ReportsTheFaultOfBadResults) {
  EXPECT_EQ(reading_error(made_up()), "no error");
  EXPECT_EQ(reading_error(Json::array()), "the results must be an object, got array");
  Json results = made_up();
  results["format"] = 2;
  EXPECT_EQ(reading_error(results), "the results have format 2; this Locus reads 1");
  results = made_up();
  results["tasks"][1]["better"] = "sideways";
  EXPECT_EQ(reading_error(results), "tasks[1].better must be lower or higher, got sideways");
  results = made_up();
  results["numbers"][3]["mean"] = "much";
  EXPECT_EQ(reading_error(results), "numbers[3].mean must be a number, got \"much\"");
  results = made_up();
  results["lines"][0].erase("label");
  EXPECT_EQ(reading_error(results), "lines[0] has no \"label\"");
}

TEST(Report, ReadsWhatVerifyPrints) {
  const Json file = Json::parse(
      R"({"checks":[{"name":"n","scheme":"s","value":null,"bound":1,"pass":false,"note":""}],"passed":0,"failed":1})");
  const std::vector<Check> checks = checks_from_json(file);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].value, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(checks[0].pass);
  EXPECT_THROW(checks_from_json(Json::object()), Error);
  EXPECT_THROW(checks_from_json(Json::parse(R"({"checks":[{"name":"n"}]})")), Error);
}

TEST(Report, HasAChartForEverythingMeasured) {
  const results::Results results = results_of_fixture();
  const auto names_of = [](const std::vector<Figure>& figures) {
    std::vector<std::string> names;
    for (const Figure& figure : figures) names.push_back(figure.name);
    return names;
  };
  using Names = std::vector<std::string>;
  const Words words;
  EXPECT_EQ(names_of(length_figures(results, results.tasks[0], words)),
            (Names{"verbs-loss", "verbs-loss-rope", "verbs-agreement", "verbs-agreement-rope"}));
  EXPECT_EQ(names_of(position_figures(results, results.tasks[0], words)),
            (Names{"verbs-loss-by-position", "verbs-loss-by-position-rope"}));
  EXPECT_EQ(names_of(training_figures(results, results.tasks[0], words)), Names{"verbs-training"});
  EXPECT_EQ(names_of(grid_figures(results, results.tasks[1], words)), Names{"passkey-grid"});
  EXPECT_TRUE(grid_figures(results, results.tasks[2], words).empty());
  EXPECT_EQ(names_of(cost_figures(results, words)), Names{"cost"});
  EXPECT_EQ(names_of(answer_figures(results, words)), Names{"answer"});
  EXPECT_EQ(names_of(beyond_figures(results, results::ranking_of(results), words)), Names{"beyond"});
  std::vector<std::string> all = {"answer", "beyond"};
  for (const results::Task& task : results.tasks) {
    for (const std::string& name : names_of(task_figures(results, task, words))) all.push_back(name);
  }
  all.emplace_back("cost");
  EXPECT_EQ(names_of(results_figures(results)), all);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  const Figure first = length_figures(results, results.tasks[1], words).front();
  EXPECT_NE(first.caption.find("Not learned, grey and dashed: No positions."), std::string::npos) << first.caption;
}

TEST(Report, HasEverySectionAndEveryCheck) {
  if (!can_write_pages()) GTEST_SKIP() << "built without npm: no pages";
  std::vector<Check> checks = {at_most("first <check>", "rope", 0.5, 1), at_most("second check", "rope", 2, 1)};
  const std::string page = report_html(results_of_fixture(), checks);
  EXPECT_NE(page.find("<section class=\"opening\" id=\"opening\">"), std::string::npos);
  for (const char* id : {"when", "results", "why", "schemes", "verification", "run"}) {
    EXPECT_NE(page.find("<h2 id=\"" + std::string(id) + "\">"), std::string::npos) << id;
  }
  EXPECT_NE(page.find("first &lt;check&gt;"), std::string::npos);
  EXPECT_NE(page.find("Checks that fail"), std::string::npos);
  EXPECT_NE(page.find("T5 &lt;b&gt;buckets&lt;/b&gt; &amp; &lt;/script&gt;"), std::string::npos);
  EXPECT_EQ(page.find("<b>buckets"), std::string::npos);
  EXPECT_NE(page.find("Not every trial finished."), std::string::npos);
}

/// The longest part of a message between its blanks: what to look for.
std::string longest_piece(std::string_view text) {
  std::string longest, piece;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == '{') {
      if (piece.size() > longest.size()) longest = piece;
      piece.clear();
      i = std::min(text.find('}', i), text.size());
    } else {
      piece += text[i];
    }
  }
  return longest;
}

TEST(Report, InSpanishSaysNothingOfTheEnglishCatalogue) {
  if (!can_write_pages()) GTEST_SKIP() << "built without npm: no pages";
  const std::vector<Check> checks = {at_most("a check", "rope", 0.5, 1)};
  const std::string page = report_html(results_of_fixture(), checks, Language::spanish);
  EXPECT_NE(page.find("<html lang=\"es\">"), std::string::npos);
  const std::string own = page.substr(page.find("<body>"), page.find("<script>\n/*!") - page.find("<body>"));
  std::size_t looked = 0;
  for (const CatalogueEntry& entry : catalogue()) {
    const std::string piece = longest_piece(entry.english);
    if (piece.size() < 16 || entry.spanish.find(piece) != std::string::npos) continue;
    ++looked;
    EXPECT_EQ(own.find(escaped(piece)), std::string::npos) << entry.key << ": " << piece;
    EXPECT_EQ(own.find(piece), std::string::npos) << entry.key << ": " << piece;  // in the data of a chart
  }
  EXPECT_GT(looked, 100u);
}

// `locus plot` lists exactly the charts of the report.
TEST(Report, ShowsEveryFigureThatCanBePlotted) {
  if (!can_write_pages()) GTEST_SKIP() << "built without npm: no pages";
  std::multiset<std::string> wanted, shown;
  for (const FigureKind* kind : figure_kinds()) wanted.emplace(kind->name);
  for (const Figure& figure : results_figures(results_of_fixture())) wanted.insert(figure.name);
  const std::string page = report_html(results_of_fixture(), {});
  const std::regex chart("<figure id=\"[^\"]*\" class=\"chart\" data-name=\"([^\"]*)\"");
  for (std::sregex_iterator at(page.begin(), page.end(), chart), end; at != end; ++at) shown.insert((*at)[1]);
  EXPECT_EQ(shown, wanted);
}

// 0.9 and 1: mean 0.95, and with one degree of freedom 12.7 x 0.05 = 0.635 to both sides.
TEST(Report, TheChartDrawsNoShareAboveOneAndKeepsTheData) {
  results::Results results;
  results::add_task(results, "one", true, {{"a", {1, 1}, {0.9, 1}}});
  const Figure figure = beyond_figures(results, results::ranking_of(results), Words()).at(0);
  const Json& row = figure.spec["concat"][0]["data"]["values"][0];
  EXPECT_NEAR(row["high"].get<double>(), 1.585, 1e-3);
  EXPECT_EQ(row["shown_high"], 1.0);
  EXPECT_NEAR(row["low"].get<double>(), 0.315, 1e-3);
  EXPECT_EQ(row["shown_low"], row["low"]);
  EXPECT_NE(figure.caption.find("cut at the bounds of the number"), std::string::npos);
}

}  // namespace
}  // namespace locus::figures
