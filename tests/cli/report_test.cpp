// SPDX-License-Identifier: Apache-2.0
// `locus report`: the path of the page, and the messages for bad input before anything is measured.
#include <filesystem>
#include <fstream>

#include "cli/locus_command.h"
#include "support/paths.h"

namespace locus::testing {
namespace {

const std::string fixture = (locus::testing::source_dir() / "tests/web/fixture/").string();

void write_text(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

bool pages_are_built(const TemporaryFolder& folder) {
  return run_locus(folder, "report nowhere").err.find("built without npm") == std::string::npos;
}

TEST(Report, RefusesBadResultsWithOneLine) {
  const TemporaryFolder folder;
  if (!pages_are_built(folder)) GTEST_SKIP() << "built without npm: no pages";
  write_text(folder / "text.json", "not json");
  write_text(folder / "other.json", "{\"format\": 7}");
  write_text(folder / "checks.json", "{}");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"report missing.json", "missing.json does not exist; `locus lab` writes it"},
      {"report text.json", "text.json is not JSON"},
      {"report other.json", "the results have format 7; this Locus reads 1"},
      {"report " + fixture + "results.json --verification checks.json -o page.html", "it has no \"checks\""}};
  for (const auto& [line, message] : cases) {
    const CommandResult result = run_locus(folder, line);
    EXPECT_EQ(result.exit_code, 2) << line;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "page.html"));
}

TEST(Report, WritesThePageToTheFolderOfTheResults) {
  const TemporaryFolder folder;
  if (!pages_are_built(folder)) GTEST_SKIP() << "built without npm: no pages";
  std::filesystem::create_directory(folder / "run");
  std::filesystem::copy_file(fixture + "results.json", folder / "run/results.json");
  const Json json = json_of(folder, "report run --verification " + fixture + "verification.json");
  EXPECT_EQ(json["report"], "run/report.html");
  EXPECT_EQ(json["checks"], 3);
  EXPECT_EQ(json["failed"], 1);
  std::ifstream page(folder / "run/report.html");
  std::string first;
  std::getline(page, first);
  EXPECT_EQ(first, "<!DOCTYPE html>");
}

}  // namespace
}  // namespace locus::testing
