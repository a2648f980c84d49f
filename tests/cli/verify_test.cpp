// SPDX-License-Identifier: Apache-2.0
// `locus verify`: the checks as JSON and as text, exit codes, and which encodings are verified.
#include <set>
#include <sstream>

#include "cli/locus_command.h"
#include "locus/registry.h"

namespace locus::testing {
namespace {

void expect_report(const Json& json) {
  ASSERT_TRUE(json["checks"].is_array());
  std::int64_t passed = 0;
  for (const Json& check : json["checks"]) {
    EXPECT_TRUE(check["name"].is_string() && check["scheme"].is_string() && check["note"].is_string()) << check;
    EXPECT_TRUE(check["value"].is_number() && check["bound"].is_number() && check["pass"].is_boolean()) << check;
    passed += check["pass"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(json["passed"], passed);
  EXPECT_EQ(json["failed"], static_cast<std::int64_t>(json["checks"].size()) - passed);
}

bool asks(const Json& json, std::string_view scheme, const std::string& start) {
  for (const Json& check : json["checks"]) {
    if (check["scheme"] == scheme && check["name"].get<std::string>().starts_with(start)) return true;
  }
  return false;
}

TEST(Verify, ChecksEveryClaimOfEveryScheme) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "verify --shapes 1");
  expect_report(json);
  EXPECT_EQ(json["failed"], 0);
  for (const Scheme* scheme : schemes()) {
    for (const Claim claim : scheme->claims.all()) {
      EXPECT_TRUE(asks(json, scheme->name, std::string(name_of(claim)) + ":")) << scheme->name << ' ' << name_of(claim);
    }
  }
  EXPECT_TRUE(asks(json, "nope", "three tokens:"));
  EXPECT_TRUE(asks(json, "positions", "decode ids after a prefix of 12"));
}

TEST(Verify, SummarisesEveryScheme) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "verify --shapes 1 --scheme alibi --scheme nope");
  std::istringstream lines(output_of(folder, "verify --shapes 1 --scheme alibi --scheme nope"));
  std::vector<std::string> printed;
  for (std::string line; std::getline(lines, line);) printed.push_back(line);
  ASSERT_EQ(printed.size(), 3u);
  for (const std::string scheme : {"alibi", "nope"}) {
    std::set<std::string> encodings;
    std::int64_t passed = 0;
    for (const Json& check : json["checks"]) {
      const auto name = check["scheme"].get<std::string>();
      if (name.substr(0, name.find(' ')) != scheme) continue;
      encodings.insert(name);
      ++passed;
    }
    std::istringstream words(printed[scheme == "alibi" ? 0 : 1]);
    std::string first, count, noun, number;
    words >> first >> count >> noun >> number;
    EXPECT_EQ(first, scheme);
    EXPECT_EQ(count, std::to_string(encodings.size()));
    EXPECT_EQ(number, std::to_string(passed));
  }
  EXPECT_EQ(printed.back(), std::to_string(json["checks"].size()) + " passed, 0 failed");
}

// NoPE cannot tell permuted tokens apart, ALiBi must: the value has to exceed its bound there.
TEST(Verify, SaysWhichBoundsAreLowerOnes) {
  const TemporaryFolder folder;
  const std::string name = "permuting tokens under fixed ids changes the outputs";
  std::size_t lower = 0, upper = 0;
  const Json json = json_of(folder, "verify --shapes 1 --scheme alibi");
  for (const Json& check : json["checks"]) {
    const double value = check["value"], bound = check["bound"];
    const bool at_least = check["relation"] == "at_least";
    EXPECT_TRUE(at_least || check["relation"] == (value == bound ? "equal" : "at_most")) << check;
    EXPECT_EQ(at_least ? value >= bound : value <= bound, check["passed"].get<bool>()) << check;
    EXPECT_TRUE(at_least || check["name"] != name) << check;
    (at_least ? lower : upper) += 1;
  }
  EXPECT_GT(lower, 0u);
  EXPECT_GT(upper, 0u);
  const std::string text = output_of(folder, "verify --shapes 1 --scheme alibi --all");
  const std::size_t line = text.find("pass " + name);
  ASSERT_NE(line, std::string::npos) << text;
  EXPECT_NE(text.substr(line, text.find('\n', line) - line).find("   at least "), std::string::npos) << text;
}

TEST(Verify, PrintsOneLinePerCheckAndASummary) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "verify --shapes 1 --scheme alibi");
  std::istringstream lines(output_of(folder, "verify --shapes 1 --scheme alibi --all"));
  std::size_t checks = 0;
  std::string line, last;
  while (std::getline(lines, line)) {
    checks += line.starts_with("  pass ") ? 1u : 0u;
    EXPECT_EQ(line.find("FAIL"), std::string::npos) << line;
    last = line;
  }
  EXPECT_EQ(checks, json["checks"].size());
  EXPECT_EQ(last, std::to_string(checks) + " passed, 0 failed");
}

TEST(Verify, ABareSchemeIncludesItsVariantsAndExamples) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "verify --shapes 1 --scheme alibi");
  expect_report(json);
  std::set<std::string> names;
  for (const Json& check : json["checks"]) names.insert(check["scheme"].get<std::string>());
  EXPECT_TRUE(names.contains("alibi") && names.contains("alibi form=symmetric"));
  for (const std::string& name : names) EXPECT_TRUE(name.starts_with("alibi")) << name;
  EXPECT_TRUE(asks(json, "alibi", "slopes of 8 heads"));
}

TEST(Verify, SettingsChooseOneEncoding) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "verify --shapes 1 --scheme rope --set head_dim=16 --pairing half");
  expect_report(json);
  for (const Json& check : json["checks"]) EXPECT_EQ(check["scheme"], "rope");
  EXPECT_TRUE(asks(json, "rope", "norm_preserving:"));
  EXPECT_FALSE(asks(json, "rope", "q = (1,0)"));
}

// With a deviation of 0 all rows of the learned table are zero, so positions cannot be distinguished.
TEST(Verify, ExitsWith1IfACheckFails) {
  const TemporaryFolder folder;
  const std::string line = "verify --shapes 1 --scheme learned --set max_positions=16 --set dim=4 --set deviation=0";
  const CommandResult text = run_locus(folder, line);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("  FAIL permuting tokens under fixed ids changes the outputs"), std::string::npos);
  const CommandResult json_result = run_locus(folder, line + " --json");
  EXPECT_EQ(json_result.exit_code, 1);
  const Json json = Json::parse(json_result.out);
  expect_report(json);
  EXPECT_GE(json["failed"], 1);
}

TEST(Verify, VerifiesTheLayersOfAConfig) {
  const TemporaryFolder folder;
  folder.write("llama.json", R"({"model_type": "llama", "head_dim": 64, "num_attention_heads": 4, "rope_theta": 500000,
    "max_position_embeddings": 131072, "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
    "high_freq_factor": 4, "original_max_position_embeddings": 8192}})");
  const Json llama = json_of(folder, "verify --shapes 1 --config llama.json");
  expect_report(llama);
  EXPECT_TRUE(asks(llama, "rope", "relative:"));
  EXPECT_FALSE(asks(llama, "nope", ""));
  folder.write("gemma.json", R"({"model_type": "gemma3_text", "head_dim": 32, "num_attention_heads": 4,
    "rope_theta": 1000000, "rope_local_base_freq": 10000, "max_position_embeddings": 32768,
    "layer_types": ["sliding_attention", "full_attention"], "num_hidden_layers": 2})");
  const Json gemma = json_of(folder, "verify --shapes 1 --config gemma.json");
  expect_report(gemma);
  std::set<std::string> kinds;
  for (const Json& check : gemma["checks"]) kinds.insert(check.value("layer_type", ""));
  EXPECT_EQ(kinds, (std::set<std::string>{"full_attention", "sliding_attention"}));
  const Json one = json_of(folder, "verify --shapes 1 --config gemma.json --layer-type full_attention");
  EXPECT_EQ(2 * one["checks"].size(), gemma["checks"].size());
}

TEST(Verify, ListsTheNamesOfTheChecksOnce) {
  const TemporaryFolder folder;
  std::istringstream lines(output_of(folder, "verify --list --scheme rope"));
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(names.insert(line).second) << line;
  const Json json = json_of(folder, "verify --shapes 1 --scheme rope");
  std::set<std::string> used;
  for (const Json& check : json["checks"]) used.insert(check["name"].get<std::string>());
  EXPECT_EQ(names, used);
  EXPECT_EQ(json_of(folder, "verify --list --scheme rope")["names"].size(), names.size());
}

TEST(Verify, FindsAndNamesEveryBrokenEncoding) {
  const TemporaryFolder folder;
  const Json list = json_of(folder, "verify --broken list");
  EXPECT_GE(list["broken"].size(), 6u);
  for (const Json& broken : list["broken"]) {
    const CommandResult result = run_locus(folder, "verify --json --broken " + broken["name"].get<std::string>());
    EXPECT_EQ(result.exit_code, 1) << broken;
    const Json report = Json::parse(result.out);
    expect_report(report);
    EXPECT_GT(report["failed"], 0) << broken;
    bool named = false;
    for (const Json& check : report["checks"]) {
      const std::string note = check["note"];
      named = named || (!check["pass"].get<bool>() && note.find(broken["fault"].get<std::string>()) != note.npos);
    }
    EXPECT_TRUE(named) << broken;
  }
}

TEST(Verify, ComparesTheWaysOfCuttingTheSameTokens) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "verify --shapes 1 --scheme rope --set head_dim=16 --pairing half");
  for (const std::string way : {"chunked", "padded", "packed", "forked", "zigzag", "shifted"}) {
    bool found = false;
    for (const Json& check : json["checks"]) found = found || check["name"].get<std::string>().find(way) != way.npos;
    EXPECT_TRUE(found) << way;
  }
}

TEST(Verify, RefusesBadInputInOneLine) {
  const TemporaryFolder folder;
  folder.write("broken.json", "{");
  for (const std::string line :
       {"verify --shapes 1 --scheme spiral", "verify --shapes 1 --scheme rope --set head_dim=7 --set pairing=half",
        "verify --set heads=8", "verify --shapes 1 --scheme alibi --config broken.json",
        "verify --shapes 1 --config broken.json", "verify --shapes 1 --config absent.json", "verify --pairing half",
        "verify --layer-type full_attention", "verify --shapes 1 --scheme rope --nonsense", "verify --shapes 0",
        "verify --broken nonsense", "verify --broken ids_ignored --scheme rope"}) {
    const CommandResult result = run_locus(folder, line);
    EXPECT_EQ(result.exit_code, 2) << line;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace locus::testing
