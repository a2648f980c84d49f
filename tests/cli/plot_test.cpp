// SPDX-License-Identifier: Apache-2.0
// `locus plot`: the list, files, JSON, drawings, and what is refused.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cli/locus_command.h"
#include "support/paths.h"

namespace locus::testing {
namespace {

const char* const llama = R"({"model_type": "llama", "head_dim": 64, "rope_theta": 500000.0,
  "max_position_embeddings": 131072, "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
  "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}})";

TEST(Plot, ListsItsFigures) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "plot --list");
  const std::string text = output_of(folder, "plot --list");
  for (const char* name :
       {"equivariance", "sinusoidal", "waveforms", "similarity", "wavelengths", "rotation", "dot-product",
        "scaling",      "bias",       "distance",  "slopes",     "buckets",     "shaw",     "transformer-xl",
        "offset-map",   "mixed",      "phases",    "gates",      "grid",        "counted",  "neighbours"}) {
    const auto same = [&](const Json& one) { return one["name"] == name; };
    EXPECT_EQ(std::count_if(json["figures"].begin(), json["figures"].end(), same), 1) << name;
    EXPECT_NE(("\n" + text).find("\n" + std::string(name) + " "), std::string::npos) << name;
  }
}

TEST(Plot, WritesTheChartThatItPrints) {
  const TemporaryFolder folder;
  const std::string line = "plot sinusoidal --set dim=8 --positions 0:10";
  const CommandResult result = run_locus(folder, line + " -o pe.vl.json");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "locus: wrote pe.vl.json\n");
  const Json written = Json::parse(folder.read("pe.vl.json"));
  EXPECT_EQ(written, json_of(folder, line));
  EXPECT_EQ(written, Json::parse(output_of(folder, line + " -o -")));
  ASSERT_EQ(written["data"]["values"].size(), 80u);
  const Json& row = written["data"]["values"][8 * 3 + 2];  // position 3, dimension 2: sin(3 x 10000^(-2/8))
  EXPECT_EQ(row["position"], 3);
  EXPECT_EQ(row["dimension"], 2);
  EXPECT_NEAR(row["value"].get<double>(), std::sin(0.3), 5e-6);  // 6 digits are kept
  EXPECT_EQ(json_of(folder, line + " -o again.vl.json")["output"], "again.vl.json");
}

// Every figure that the documentation names.
TEST(Plot, DrawsInTheTerminal) {
  const TemporaryFolder folder;
  folder.write("config.json", llama);
  for (const char* line : {"equivariance",
                           "sinusoidal --set dim=128 --positions 0:100",
                           "waveforms --dims 0,1",
                           "similarity",
                           "wavelengths --config config.json",
                           "wavelengths --scheme sinusoidal",
                           "rotation --pairs 0,4",
                           "dot-product",
                           "dot-product --scheme xpos",
                           "bias --scheme alibi --set heads=8",
                           "bias --scheme t5 --heads 0",
                           "bias --scheme relative_bias",
                           "distance --scheme sandwich",
                           "slopes --set heads=6",
                           "buckets",
                           "buckets --set bidirectional=false --positions=-40:1",
                           "shaw",
                           "transformer-xl",
                           "transformer-xl --scheme conformer",
                           "shaw --scheme deberta",
                           "bias --scheme fire",
                           "distance --scheme dynamic_bias",
                           "offset-map",
                           "mixed",
                           "phases",
                           "gates",
                           "grid",
                           "grid --scheme swin_v2",
                           "counted",
                           "neighbours",
                           "scaling --rules none,linear,ntk,yarn,llama3 --config config.json",
                           "scaling --set factor=4",
                           "scaling --rules none;yarn:2;rope:rule=yarn,factor=8,truncate=false",
                           "similarity --scheme learned"}) {
    const CommandResult result = run_locus(folder, std::string("plot ") + line);
    EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
    EXPECT_EQ(result.err, "") << line;
    EXPECT_GT(std::count(result.out.begin(), result.out.end(), '\n'), 5) << line;
    EXPECT_EQ(result.out.find('\033'), std::string::npos) << line << ": colours in a pipe";
  }
}

TEST(Plot, ReadsTheModelFromItsConfig) {
  const TemporaryFolder folder;
  folder.write("config.json", llama);
  const Json chart = json_of(folder, "plot scaling --rules llama3,linear --config config.json");
  // 32 pairs; the slowest, with a wavelength far beyond 8192, is divided by the factor; linear divides all.
  const Json& rows = chart["data"]["values"];
  ASSERT_EQ(rows.size(), 64u);
  EXPECT_EQ(rows[0]["divisor"], 1.0);
  EXPECT_EQ(rows[31]["divisor"], 32.0);
  EXPECT_EQ(rows[32]["divisor"], 32.0);
}

TEST(Plot, HasTheGivenWidth) {
  const TemporaryFolder folder;
  const auto widest = [&](const std::string& line) {
    std::istringstream lines(output_of(folder, line));
    std::size_t most = 0;
    for (std::string text; std::getline(lines, text);) {
      const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
      most = std::max(most, static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts)));
    }
    return most;
  };
  EXPECT_EQ(widest("plot waveforms --width 60"), 60u);
  EXPECT_EQ(setenv("COLUMNS", "100", 1), 0);
  EXPECT_EQ(widest("plot waveforms"), 100u);
  unsetenv("COLUMNS");
  EXPECT_EQ(widest("plot waveforms"), 80u);
}

TEST(Plot, WritesAPageOrExplains) {
  const TemporaryFolder folder;
  const CommandResult result = run_locus(folder, "plot bias -o bias.html");
  if (result.exit_code == 0) {
    const std::string page = folder.read("bias.html");
    EXPECT_EQ(page.substr(0, 15), "<!DOCTYPE html>");
    EXPECT_NE(page.find("\"vega"), std::string::npos);
  } else {
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find(".vl.json"), std::string::npos) << result.err;
  }
}

const std::string made_up = (locus::testing::source_dir() / "tests/web/fixture/results.json").string();

// The chart is that of the report; its numbers are those of results.json.
TEST(Plot, DrawsTheChartsOfResults) {
  const TemporaryFolder folder;
  std::ifstream stream(made_up);
  const Json results = Json::parse(stream);
  const Json list = json_of(folder, "plot --list --results " + made_up)["results"];
  const std::string text = output_of(folder, "plot --list --results " + made_up);
  ASSERT_GT(list.size(), 10u);
  for (const Json& one : list) {
    const std::string name = one["name"];
    EXPECT_NE(text.find("\n" + name + " "), std::string::npos) << name;
    EXPECT_NE(output_of(folder, "plot " + name + " --width 200 --results " + made_up).find(one["meaning"]),
              std::string::npos);
  }
  folder.write("results.json", results.dump());
  const Json chart = json_of(folder, "plot verbs-loss --results .");  // the folder it is in
  const Json& row = chart["data"]["values"][0];
  const Json& number = results["numbers"][0];
  EXPECT_EQ(row["line"], "No positions");
  EXPECT_EQ(row["x"], number["length"]);
  for (const char* key : {"mean", "low", "high"}) EXPECT_EQ(row[key], number[key]) << key;
  EXPECT_EQ(run_locus(folder, "plot verbs-loss --results . -o loss.vl.json").exit_code, 0);
  EXPECT_EQ(Json::parse(folder.read("loss.vl.json")), chart);
}

TEST(Plot, RefusesInOneLine) {
  const TemporaryFolder folder;
  folder.write("empty.json", "{}");
  folder.write("broken.json", "{\"format\": 1, ");
  folder.write("kept.vl.json", "what was there before");
  struct Case {
    std::string line;
    std::string part;
  };
  for (const Case& one : std::vector<Case>{
           {"plot", "--list"},
           {"plot spiral", "unknown figure 'spiral'"},
           {"plot sinusoidal -o pe.png", ".vl.json or .html, got pe.png"},
           {"plot sinusoidal -o kept.json", "kept.json"},
           {"plot sinusoidal -o kept.vl.json --positions 3:1", "range"},
           {"plot sinusoidal -o nowhere/pe.vl.json", "nowhere"},
           {"plot sinusoidal --set width=3", "unknown sinusoidal parameter 'width'"},
           {"plot sinusoidal --scheme alibi", "alibi acts at the site score"},
           {"plot sinusoidal --dims 1", "no dims to choose"},
           {"plot sinusoidal --width 3", "--width must be from 40"},
           {"plot waveforms --dims 128", "from 0 to 127, got 128"},
           {"plot waveforms --dims x", "--dims must be an integer"},
           {"plot bias --heads 8", "from 0 to 7, got 8"},
           {"plot rotation --pairs -1", "from 0 to 31, got -1"},
           {"plot scaling --rules none,spiral", "spiral"},
           {"plot scaling --rules none,none", "differ"},
           {"plot scaling --rules longrope", "longrope needs short_factor"},
           {"plot distance --positions=-3:1", "distances must not be negative"},
           {"plot equivariance --set dim=2", "no encoding to set"},
           {"plot wavelengths --config absent.json", "absent.json"},
           {"plot beyond --results absent", "absent does not exist; `locus lab` writes it"},
           {"plot beyond --results .", "results.json does not exist"},
           {"plot --list --results absent", "absent does not exist"},
           {"plot beyond --results ''", "empty path"},
           {"plot beyond --results broken.json", "broken.json is not JSON"},
           {"plot beyond --results empty.json", "empty.json: the results has no \"format\""},
           {"plot spiral --results " + (locus::testing::source_dir() / "tests/web/fixture").string(),
            "known: answer, beyond, verbs-loss, "},
           {"plot slopes --results " + (locus::testing::source_dir() / "tests/web/fixture").string(),
            "unknown figure 'slopes'; known: "},
           {"plot beyond --results empty.json --scheme rope", "--scheme does not apply to --results"},
           {"plot beyond --results empty.json --set dim=2", "--set does not apply"},
           {"plot beyond --results empty.json --positions 0:3", "--positions does not apply"},
           {"plot beyond --results empty.json --config config.json", "--config does not apply"},
           {"plot beyond --results empty.json --rules none", "--rules does not apply"},
           {"plot --list --results empty.json --heads 1", "--heads does not apply"},
       }) {
    const CommandResult result = run_locus(folder, one.line);
    EXPECT_EQ(result.exit_code, 2) << one.line << "\n" << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << one.line << "\n" << result.err;
    EXPECT_NE(result.err.find(one.part), std::string::npos) << one.line << "\n" << result.err;
    EXPECT_EQ(result.out, "") << one.line;
  }
  EXPECT_EQ(folder.read("kept.vl.json"), "what was there before");
}

}  // namespace
}  // namespace locus::testing
