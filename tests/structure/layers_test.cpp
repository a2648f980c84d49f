// SPDX-License-Identifier: Apache-2.0
// Includes point from the rooms at the top of the diagram in docs/design.md to those below. No file is exempt.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "locus/registry.h"
#include "locus/scaling.h"
#include "support/paths.h"

namespace locus {
namespace {

using testing::text_of;
namespace fs = std::filesystem;

bool is_source(const fs::directory_entry& entry) {
  static const std::set<fs::path> kinds = {".h", ".cpp", ".def", ".inc"};
  return entry.is_regular_file() && kinds.contains(entry.path().extension());
}

// The files of a folder, without those in folders below it.
std::vector<fs::path> sources_of(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(testing::source_dir() / folder)) {
    if (is_source(entry)) files.push_back(entry.path());
  }
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

std::vector<fs::path> sources_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(testing::source_dir() / folder)) {
    if (is_source(entry)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

std::vector<std::string> includes_of(const std::string& text) {
  static const std::regex pattern(R"((?:^|\n)[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"])");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

bool is_standard(const std::string& include) { return include.find_first_of("./") == std::string::npos; }
bool starts_with_any(const std::string& include, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return include.starts_with(prefix); });
}
// A header outside the project may be at any depth, one of ours only in the named folder.
bool is_allowed(const std::string& include, const std::vector<std::string>& others) {
  static const std::set<std::string> outside = {"hwy/", "nlohmann/", "sys/"};
  return std::any_of(others.begin(), others.end(), [&](const std::string& other) {
    if (!other.ends_with("/")) return include == other;
    return include.starts_with(other) &&
           (outside.contains(other) || include.find('/', other.size()) == std::string::npos);
  });
}

// The height of every public header: it may include only lower ones.
const std::map<std::string, int>& heights() {
  static const std::map<std::string, int> all = {
      {"locus/claims.h", 0},
      {"locus/executor.h", 0},
      {"locus/double_double.h", 0},
      {"locus/element.h", 0},
      {"locus/error.h", 0},
      {"locus/names.h", 0},
      {"locus/text.h", 0},
      {"locus/resize.h", 0},
      {"locus/position_ids.h", 0},
      {"locus/value.h", 0},
      {"locus/positions.h", 1},
      {"locus/document_shards.h", 2},
      {"locus/site.h", 1},
      {"locus/initial_weights.h", 1},
      {"locus/scaling.h", 2},
      {"locus/turns.h", 2},
      {"locus/rows.h", 2},
      {"locus/registry.h", 2},
      {"locus/encoding.h", 3},
      {"locus/settings.h", 3},
      {"locus/stretch.h", 4},
      {"locus/add.h", 4},
      {"locus/bias.h", 4},
      {"locus/rotate.h", 4},
      {"locus/reference.h", 6},
      {"locus/attention.h", 6},
      {"locus/turn_output.h", 6},
      {"locus/polar.h", 5},
      {"locus/attention_backward.h", 7},
      {"locus/named_gradients.h", 8},
      {"locus/attention_shard.h", 8},
      {"locus/mpi/ring_attention.h", 9},
      {"locus/mpi/running_sums.h", 10},
      {"locus/cache.h", 7},
      {"locus/reference_attention.h", 7},
      {"locus/locus.h", 9},
      {"locus/doctor/check.h", 8},
      {"locus/doctor/equivalences.h", 9},
      {"locus/doctor/verify_callable.h", 9},
      {"locus/doctor/broken.h", 9},
      {"locus/doctor/subject.h", 8},
      {"locus/doctor/example_encodings.h", 8},
      {"locus/doctor/properties.h", 9},
      {"locus/doctor/lint.h", 8},
      {"locus/doctor/diagnose.h", 9},
      {"locus/doctor/diagnose_bias.h", 10},
      {"locus/doctor/diagnosis_fields.h", 11},
      {"locus/io/npy.h", 3},
      {"locus/io/hf_config.h", 3},
      {"locus/io/atomic_file.h", 3},
      {"locus/io/mapped_file.h", 3},
      {"locus/io/gguf_value.h", 3},
      {"locus/io/gguf.h", 4},
      {"locus/io/gguf_blocks.h", 5},
      {"locus/io/gguf_rope.h", 5},
      {"locus/io/gguf_encoding.h", 5},
      {"locus/io/encoding_json.h", 5},
      {"locus/io/model_encoding.h", 5},
      {"locus/io/hf_rope_keys.h", 3},
      {"locus/io/convert_pairing.h", 5},
      {"locus/io/convert_table.h", 5},
      {"locus/io/convert_rope.h", 5},
      {"locus/io/convert_layout.h", 5},
      {"locus/io/hf_folder.h", 5},
      {"locus/io/llama2c.h", 4},
      {"locus/io/npz.h", 4},
      {"locus/io/sniff.h", 3},
      {"locus/io/safetensors.h", 4},
  };
  return all;
}

// What the files of a folder of src/ may include besides the standard library and public headers up to a height: whole
// folders, each without those below it, and headers outside the project.
struct Layer {
  int height;
  std::vector<std::string> others;
};

const std::map<std::string, Layer>& layers() {
  static const std::map<std::string, Layer> all = {
      {"base", {1, {"base/"}}},
      {"positions", {2, {"positions/"}}},
      {"simd", {1, {"hwy/"}}},
      {"parse", {1, {"parse/", "nlohmann/"}}},
      {"scaling", {2, {"scaling/"}}},
      {"schemes", {2, {"schemes/"}}},
      {"encoding", {4, {"encoding/", "schemes/", "scaling/"}}},
      {"profiles", {2, {"profiles/", "positions/"}}},
      {"kernels", {5, {"kernels/", "profiles/", "encoding/", "positions/", "simd/", "hwy/"}}},
      {"attention", {8, {"attention/", "kernels/"}}},
      {"cache", {7, {"cache/", "attention/", "kernels/", "sys/"}}},
      {"reference", {7, {"reference/", "profiles/"}}},
      {"io",
       {3,
        {"io/", "io/families/", "parse/", "locus/io/", "nlohmann/", "unistd.h", "fcntl.h", "signal.h", "sys/",
         "zlib.h"}}},
      {"io/families", {0, {}}},  // rows of a table
      {"mpi", {8, {"mpi/", "locus/mpi/", "mpi.h"}}},
      {"doctor", {9, {"doctor/", "base/", "locus/doctor/"}}},
      {"doctor/verify", {9, {"doctor/verify/", "doctor/", "base/", "locus/doctor/"}}},
      {"doctor/diagnose", {9, {"doctor/diagnose/", "doctor/", "locus/doctor/"}}},
      {"doctor/lint", {9, {"doctor/lint/", "doctor/", "locus/doctor/", "locus/io/"}}},
      {"messages", {0, {"messages/"}}},
      {"results", {0, {"results/", "messages/", "locus/io/", "nlohmann/"}}},
      {"learn",
       {9,
        {"learn/", "learn/laws/", "learn/detective/", "messages/", "results/", "locus/doctor/", "locus/io/",
         "nlohmann/", "fcntl.h", "poll.h", "signal.h", "unistd.h", "sys/"}}},
      {"learn/laws", {9, {"learn/laws/", "learn/", "base/", "locus/doctor/"}}},
      {"learn/detective", {9, {"learn/detective/", "learn/", "doctor/", "base/", "locus/doctor/", "locus/io/"}}},
      {"figures", {9, {"figures/", "messages/", "base/", "nlohmann/"}}},
      {"figures/schemes", {9, {"figures/schemes/", "figures/", "messages/", "nlohmann/"}}},
      {"figures/terminal", {9, {"figures/terminal/", "figures/", "base/", "nlohmann/"}}},
      {"figures/report",
       {9, {"figures/report/", "figures/", "results/", "messages/", "locus/doctor/", "locus/io/", "nlohmann/"}}},
      {"probe", {9, {"probe/", "probe/weights/", "base/", "parse/", "locus/io/", "nlohmann/", "hwy/"}}},
      {"probe/tokenizers", {9, {"probe/tokenizers/", "probe/", "parse/", "locus/io/", "nlohmann/"}}},
      {"probe/weights",
       {9, {"probe/weights/", "probe/", "parse/", "simd/", "locus/io/", "nlohmann/", "hwy/", "cblas.h"}}},
      {"probe/families", {9, {"probe/families/", "probe/"}}},
      {"probe/measure",
       {9,
        {"probe/measure/", "probe/tokenizers/", "probe/", "base/", "parse/", "figures/", "locus/doctor/",
         "nlohmann/"}}},
  };
  return all;
}

// A file of a layer, and its wrong includes.
std::vector<std::string> wrong_includes(const Layer& layer, const std::string& text) {
  std::vector<std::string> wrong;
  for (const std::string& include : includes_of(text)) {
    if (is_standard(include) || is_allowed(include, layer.others)) continue;
    const auto known = heights().find(include);
    const bool is_public =
        known != heights().end() && !starts_with_any(include, {"locus/io/", "locus/doctor/", "locus/mpi/"});
    if (!is_public || known->second > layer.height) wrong.push_back(include);
  }
  return wrong;
}

TEST(Layers, TestDetectsAWrongInclude) {
  const std::string text =
      "#include <vector>\n  #  include \"locus/value.h\"\n#include \"locus/encoding.h\"\n#include "
      "\"kernels/rotate_simd.h\"\n#include <hwy/highway.h>\n#include \"locus/io/npy.h\"\n";
  EXPECT_EQ(wrong_includes(layers().at("schemes"), text),
            (std::vector<std::string>{"locus/encoding.h", "kernels/rotate_simd.h", "hwy/highway.h", "locus/io/npy.h"}));
  EXPECT_EQ(wrong_includes(layers().at("kernels"), text), (std::vector<std::string>{"locus/io/npy.h"}));
  EXPECT_EQ(wrong_includes(layers().at("io"), "#include <CLI/CLI.hpp>\n"), (std::vector<std::string>{"CLI/CLI.hpp"}));
  EXPECT_EQ(
      wrong_includes(layers().at("doctor"), "#include \"doctor/faults.h\"\n#include \"doctor/lint/rotation.h\"\n"),
      (std::vector<std::string>{"doctor/lint/rotation.h"}));
}

TEST(Layers, EveryFolderOfTheLibraryHasOne) {
  for (const auto& entry : fs::recursive_directory_iterator(testing::source_dir() / "src")) {
    if (!entry.is_directory()) continue;
    EXPECT_TRUE(layers().contains(fs::relative(entry.path(), testing::source_dir() / "src").generic_string()))
        << entry.path();
  }
}

// A folder may be included or not; no single file is let through.
TEST(Layers, NoFileIsExempt) {
  for (const auto& [folder, layer] : layers()) {
    for (const std::string& other : layer.others) {
      EXPECT_TRUE(other.ends_with("/") || !fs::exists(testing::source_dir() / "src" / other))
          << folder << ": " << other;
      EXPECT_FALSE(heights().contains(other)) << folder << ": " << other;
    }
  }
}

TEST(Layers, IncludesPointDownwards) {
  for (const auto& [folder, layer] : layers()) {
    for (const fs::path& file : sources_of("src/" + folder)) {
      for (const std::string& include : wrong_includes(layer, text_of(file))) {
        ADD_FAILURE() << file << " must not include " << include;
      }
    }
  }
}

TEST(Layers, PublicHeadersIncludeLowerOnesOnly) {
  for (const fs::path& file : sources_in("include")) {
    const std::string name = fs::relative(file, testing::source_dir() / "include").string();
    const auto own = heights().find(name);
    if (own == heights().end()) {
      ADD_FAILURE() << name << " has no height: add it to this test";
      continue;
    }
    for (const std::string& include : includes_of(text_of(file))) {
      if (is_standard(include) || (include == "mpi.h" && name.starts_with("locus/mpi/"))) continue;
      const auto other = heights().find(include);
      EXPECT_TRUE(other != heights().end() && other->second < own->second) << name << " must not include " << include;
      EXPECT_TRUE(name.starts_with("locus/io/") || name.starts_with("locus/doctor/") ||
                  !include.starts_with("locus/io/"))
          << name << " includes " << include;
    }
  }
  for (const auto& [name, height] : heights())
    EXPECT_TRUE(fs::exists(testing::source_dir() / "include" / name)) << name;
}

// The command uses the library like any other program: public headers, its own, and those of the bench and the probe.
TEST(Layers, ToolsUsePublicHeaders) {
  for (const fs::path& file : sources_in("tools")) {
    for (const std::string& include : includes_of(text_of(file))) {
      const bool own = fs::exists(testing::source_dir() / "tools" / include) ||
                       fs::exists(testing::source_dir() / "bench" / include);
      const bool is_public = heights().contains(include);
      const bool outside = starts_with_any(include, {"figures/", "results/", "messages/", "base/", "nlohmann/", "CLI/",
                                                     "unistd.h", "fcntl.h", "sys/", "probe/", "learn/"});
      EXPECT_TRUE(is_standard(include) || own || is_public || outside) << file << " must not include " << include;
    }
  }
}

TEST(Layers, TheCApiUsesPublicHeaders) {
  for (const fs::path& file : sources_in("bindings/c/src")) {
    for (const std::string& include : includes_of(text_of(file))) {
      const bool own = include == "locus.h" || fs::exists(file.parent_path() / include);
      const bool json = include == "nlohmann/json.hpp";  // internal only: a diagnosis is returned as text
      EXPECT_TRUE(is_standard(include) || own || json || heights().contains(include))
          << file << " must not include " << include;
    }
  }
}

// The reference shares no table or helper with what it checks: neither fixed-point angles nor a kernel.
TEST(Layers, TheReferenceHasItsOwnAngles) {
  for (const fs::path& file : sources_in("src/reference")) {
    for (const std::string& include : includes_of(text_of(file))) {
      EXPECT_NE(include, "locus/turns.h") << file;
      EXPECT_NE(include, "locus/double_double.h") << file;
      EXPECT_NE(include, "locus/rows.h") << file;
    }
  }
}

// ---- no scheme is named in the kernels

std::string without_comments(const std::string& text) {
  static const std::regex line(R"(//[^\n]*)");
  static const std::regex block(R"(/\*[\s\S]*?\*/)");
  return std::regex_replace(std::regex_replace(text, block, ""), line, "");
}

// The words of the code; an identifier such as alibi_slope gives two words and the whole.
bool names(const std::string& code, const std::string& word) {
  return std::regex_search(code, std::regex("(^|[^A-Za-z0-9])" + word + "($|[^A-Za-z0-9])", std::regex::icase));
}

TEST(Layers, TestDetectsAName) {
  EXPECT_TRUE(names("if (alibi_slope)", "alibi"));
  EXPECT_TRUE(names("\"T5\"", "t5"));
  EXPECT_TRUE(names("x = relative_bias;", "relative_bias"));
  EXPECT_FALSE(names("europe", "rope"));
  EXPECT_EQ(without_comments("a; // rope\nb; /* t5\n */ c;"), "a; \nb;  c;");
}

TEST(Layers, KernelsNameNoScheme) {
  std::vector<std::string> words;
  for (const Scheme* scheme : schemes()) words.emplace_back(scheme->name);
  const std::set<std::string_view> everyday = {"none", "linear"};
  for (const Rule* rule : rules()) {
    if (!everyday.contains(rule->name)) words.emplace_back(rule->name);
  }
  for (const fs::path& file : sources_in("src/kernels")) {
    const std::string code = without_comments(text_of(file));
    for (const std::string& word : words) EXPECT_FALSE(names(code, word)) << file << " names " << word;
  }
}

}  // namespace
}  // namespace locus
