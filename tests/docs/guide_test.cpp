// SPDX-License-Identifier: Apache-2.0
// The guide and the README are correct: their commands run and print the shown output, and their code is in compiled
// programs.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/locus_command.h"
#include "locus/io/npy.h"
#include "support/paths.h"

namespace locus {
namespace {

using namespace locus::testing;
namespace fs = std::filesystem;

const fs::path root(locus::testing::source_dir());

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(' ') - first + 1);
}

std::vector<fs::path> pages() {
  std::vector<fs::path> all = {root / "README.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs/guide")) all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

// The lines of all blocks of one language, in order.
std::vector<std::string> blocks(const fs::path& page, const std::string& language) {
  std::vector<std::string> lines;
  bool inside = false;
  for (const std::string& line : lines_of(text_of(page))) {
    if (line.starts_with("```")) {
      inside = !inside && line == "```" + language;
    } else if (inside) {
      lines.push_back(line);
    }
  }
  return lines;
}

// A model's config, queries, and the same queries as a faulty engine rotates them.
void prepare(const TemporaryFolder& folder) {
  folder.write("config.json", R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
    "max_position_embeddings": 131072, "rope_theta": 500000.0, "torch_dtype": "bfloat16", "rope_scaling": {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192}})");
  std::vector<float> queries(2 * 16 * 128);
  for (std::size_t i = 0; i < queries.size(); ++i) queries[i] = static_cast<float>(std::sin(double(i * i % 9973)));
  write_array<float>(folder, "q.npy", {2, 16, 128}, queries);
  output_of(folder,
            "apply --config config.json --pairing interleaved --input q.npy --axes htd --positions 0:16 "
            "--output mine.npy");
}

// The shown lines must occur in this order; `...` matches anything, as a line and at the end of a line.
void expect_shown(const std::vector<std::string>& shown, const std::string& printed, const std::string& command) {
  const std::vector<std::string> lines = lines_of(printed);
  std::size_t at = 0;
  bool anything = false;
  for (const std::string& line : shown) {
    if (line == "...") {
      anything = true;
      continue;
    }
    const bool open = line.ends_with("...");
    const std::string start = open ? trimmed(line.substr(0, line.size() - 3)) : line;
    const auto same = [&](const std::string& other) {
      return open ? trimmed(other).starts_with(start) : other == start;
    };
    while (anything && at < lines.size() && !same(lines[at])) ++at;
    ASSERT_TRUE(at < lines.size() && same(lines[at])) << command << "\ndoes not print\n"
                                                      << line << "\nbut\n"
                                                      << printed;
    ++at;
    anything = false;
  }
  EXPECT_TRUE(anything || shown.empty() || at == lines.size()) << command << " prints more:\n" << printed;
}

void run_page(const fs::path& page) {
  const TemporaryFolder folder;
  prepare(folder);
  const std::vector<std::string> lines = blocks(page, "console");
  for (std::size_t i = 0; i < lines.size();) {
    ASSERT_TRUE(lines[i].starts_with("$ locus ")) << page << ": " << lines[i];
    std::string command = lines[i++].substr(8);
    int expected = 0;
    if (const std::size_t mark = command.find("  # exit "); mark != std::string::npos) {
      expected = std::stoi(command.substr(mark + 9));
      command.resize(mark);
    }
    std::vector<std::string> shown;
    while (i < lines.size() && !lines[i].starts_with("$ ")) shown.push_back(lines[i++]);
    const CommandResult result = run_locus(folder, command);
    EXPECT_EQ(result.exit_code, expected) << page << ": locus " << command << "\n" << result.err;
    expect_shown(shown, result.out, command);
  }
}

TEST(Guide, CommandsRunAndPrintWhatIsShown) {
  std::size_t commands = 0;
  for (const fs::path& page : pages()) {
    SCOPED_TRACE(page.filename());
    commands += blocks(page, "console").size();
    run_page(page);
  }
  EXPECT_GT(commands, 20u);
}

TEST(Guide, CodeIsInTheExamples) {
  std::set<std::string> compiled;
  for (const auto& entry : fs::directory_iterator(root / "examples")) {
    if (!entry.is_regular_file()) continue;
    for (const std::string& line : lines_of(text_of(entry.path()))) compiled.insert(trimmed(line));
  }
  std::size_t count = 0;
  for (const fs::path& page : pages()) {
    for (const char* language : {"cpp", "c"}) {
      for (const std::string& line : blocks(page, language)) {
        ++count;
        EXPECT_TRUE(compiled.contains(trimmed(line))) << page << ": " << line;
      }
    }
  }
  EXPECT_GT(count, 5u);
}

TEST(Guide, LinksHaveTargets) {
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::string target = text.substr(at + 2, text.find(')', at) - at - 2);
      if (target.starts_with("http") || target.find(' ') != std::string::npos) continue;  // or a lambda
      EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << ": " << target;
    }
  }
}

TEST(Examples, AreShort) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(root / "examples")) {
    if (!entry.is_regular_file()) continue;
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".c") continue;
    ++count;
    EXPECT_LT(lines_of(text_of(entry.path())).size(), 60u) << entry.path();
  }
  EXPECT_GE(count, 7);
}

}  // namespace
}  // namespace locus
