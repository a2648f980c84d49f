// SPDX-License-Identifier: Apache-2.0
// Every room has a README.md of at most 20 lines with its purpose, its entry file, its data flow and what it may
// include. docs/design.md shows every room.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

std::string text_at(const std::string& path) { return testing::text_of(testing::source_dir() / path); }

bool holds_code(const fs::path& folder) {
  const std::set<fs::path> kinds = {".cpp", ".h", ".def", ".inc"};
  return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                     [&](const auto& entry) { return kinds.contains(entry.path().extension()); });
}

// The folders of src/ and lab/ with code, and the rooms of the clients.
std::vector<std::string> rooms() {
  const fs::path& root = testing::source_dir();
  std::vector<std::string> all = {"bench", "bench/peers", "bindings/c", "bindings/python", "examples",
                                  "fuzz",  "scripts",     "tests",      "tools",           "lab"};
  for (const char* folder : {"src", "lab"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_directory() && holds_code(entry.path())) {
        all.push_back(fs::relative(entry.path(), root).generic_string());
      }
    }
  }
  return all;
}

TEST(Rooms, OpenWithAMap) {
  EXPECT_GT(rooms().size(), 30u);
  for (const std::string& room : rooms()) {
    const std::string map = text_at(room + "/README.md");
    EXPECT_FALSE(map.empty()) << room << " has no README.md";
    EXPECT_LE(std::count(map.begin(), map.end(), '\n'), 20) << room << "/README.md";
    EXPECT_TRUE(map.starts_with("# ")) << room << "/README.md";
    EXPECT_NE(map.find("Entry: "), std::string::npos) << room << "/README.md names no entry file";
    EXPECT_NE(map.find("include"), std::string::npos) << room << "/README.md does not say what may be included";
  }
}

// Every file that a README names in backquotes exists: in the room, in a room below, or from the root.
TEST(Rooms, MapsNameFilesThatExist) {
  const fs::path& root = testing::source_dir();
  for (const std::string& room : rooms()) {
    const std::string map = text_at(room + "/README.md");
    for (std::size_t at = map.find('`'); at != std::string::npos; at = map.find('`', map.find('`', at + 1) + 1)) {
      const std::string name = map.substr(at + 1, map.find('`', at + 1) - at - 1);
      const bool is_file = name.ends_with(".h") || name.ends_with(".cpp") || name.ends_with(".def");
      if (!is_file || name.find('*') != std::string::npos || std::isupper(name.front())) continue;  // a pattern
      const std::vector<fs::path> places = {
          root / room / name,  root / room / ".." / name, root / name,
          root / "src" / name, root / "include" / name,   root / "include/locus" / name};
      EXPECT_TRUE(std::any_of(places.begin(), places.end(), [](const fs::path& place) { return fs::exists(place); }))
          << room << "/README.md names " << name;
    }
  }
}

TEST(Rooms, AreInTheDesignDocument) {
  const std::string design = text_at("docs/design.md");
  for (const std::string& room : rooms()) {
    const std::string name = fs::path(room).filename().string() + "/";
    EXPECT_TRUE(design.find(name) != std::string::npos || design.find(room) != std::string::npos)
        << "docs/design.md does not show " << room;
  }
}

}  // namespace
}  // namespace locus
