// SPDX-License-Identifier: Apache-2.0
// docs/schemas: what commands print with --json is valid under the schema of the command, and no command lacks one.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/locus_command.h"
#include "results/schema_check.h"

namespace locus::testing {
namespace {

namespace fs = std::filesystem;

std::string schema_path(const std::string& name) { return "docs/schemas/" + name + ".schema.json"; }

/// A copy of examples/data, in which the commands run.
class Schemas : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy(source_dir() / "examples/data", folder_.path(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    fs::copy(source_dir() / "tests/web/fixture", folder_.path());
    output_of(folder_, "learn start exercises");
  }
  TemporaryFolder folder_;
};

struct Row {
  std::string schema, line;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"list", "list"},
      {"show", "show --config config.json"},
      {"show", "show --scheme alibi --set heads=4"},
      {"plot", "plot slopes --scheme alibi --set heads=4"},
      {"plot-list", "plot --list"},
      {"positions", "positions prefill 5"},
      {"positions", "positions decode 12 3"},
      {"positions", "positions left-padded 3,5,2"},
      {"positions", "positions right-padded 3,5,2"},
      {"positions", "positions mask 0011,1111"},
      {"positions", "positions packed 3,5,2"},
      {"positions", "positions cumulative 0,3,8,10"},
      {"positions", "positions shards 16 --ranks 2 --kind zigzag"},
      {"positions", "positions tree --parents -1,0,0,1"},
      {"positions", "positions compressed 6 --rate 4"},
      {"positions", "positions sinks 10 --sinks 4 --window 4"},
      {"positions", "positions mrope text:5 image:1x4x6 text:3"},
      {"positions", "positions grid 4x6 --merge 2"},
      {"bias", "bias --scheme alibi --set heads=8 --queries 5 --keys 5"},
      {"bias", "bias --scheme alibi --set heads=8 --queries 5 --keys 5 --output bias.npy"},
      {"diagnose", "diagnose --before q.npy --after mine.npy --axes htd --config config.json"},
      {"diagnose-bias", "diagnose --bias bias.npy --scheme alibi:heads=8"},
      {"verify", "verify --scheme alibi --shapes 1"},
      {"verify", "verify --broken ids_ignored"},
      {"lint", "lint config.json"},
      {"apply", "apply --config config.json --input q.npy --axes htd --positions 0:16 --output q_rot.npy"},
      {"attend", "attend --scheme alibi:heads=8 --query q.npy --key k.npy --value v.npy --axes htd -o out.npy"},
      {"resize", "resize --table bert.npy --from 512 --to 1024 --method linear --output longer.npy"},
      {"convert-table", "convert table gpt2/ --tensor transformer.wpe.weight --to 128 --output gpt2-128/"},
      {"convert-config", "convert config config.json --to v5 --output v5.json"},
      {"convert-config", "convert to-gguf longer.json --gguf model.gguf --output longer.gguf"},
      {"convert-config", "convert to-config model.gguf --output back.json"},
      {"convert-pairing", "convert pairing model.gguf --to half --output half.gguf"},
      {"probe-generate", "probe generate model.gguf --max-tokens 3"},
      {"probe-logits", "probe logits model.gguf --prompt Once --at 0:1"},
      {"probe-check", "probe check model.gguf --length 16"},
      {"probe-loss", "probe loss model.gguf --text book.txt --rules own,linear:2 --buckets 0,16,32"},
      {"probe-attention", "probe attention model.gguf --text book.txt --length 24 --queries 2"},
      {"probe-retrieve", "probe retrieve model.gguf --lengths 192 --depths 0.5 --trials 1"},
      {"learn-check", "learn check interpolation --dir exercises"},
      {"report", "report results.json --verification verification.json -o report.html"},
      {"bench", "bench tables --quick --rounds 1"},
  };
  return all;
}

TEST_F(Schemas, DescribeWhatCommandsPrint) {
  for (const Row& row : rows()) {
    const CommandResult result = run_locus(folder_, row.line + " --json");
    if (result.err.find("built without npm") != std::string::npos) continue;  // no pages, so no report
    EXPECT_LE(result.exit_code, 1) << row.line << "\n" << result.err;
    const Json json = Json::parse(result.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << row.line << "\n" << result.out.substr(0, 200);
    EXPECT_EQ(schema_complaint(json, schema_path(row.schema)), "") << row.line;
  }
  const CommandResult refused = run_locus(folder_, "show --scheme spiral --json");
  EXPECT_EQ(schema_complaint(Json::parse(refused.err, nullptr, false), schema_path("error")), "") << refused.err;
}

/// The commands of docs/commands.md that have --json, without `locus`: "show", "positions grid", ...
std::set<std::string> commands_with_json() {
  std::ifstream page(source_dir() / "docs/commands.md");
  std::set<std::string> result;
  std::string line, command;
  while (std::getline(page, line)) {
    const std::size_t heading = line.find("# locus ");
    if (line.starts_with('#') && heading != std::string::npos) command = line.substr(heading + 8);
    if (line.starts_with("  --json ")) result.insert(command);
  }
  return result;
}

TEST(SchemaFiles, ExistForEveryCommandWithJson) {
  const std::set<std::string> commands = commands_with_json();
  EXPECT_GE(commands.size(), 30u);
  for (const std::string& command : commands) {
    if (command == "lab") continue;  // tests/lab_run checks its outputs
    const auto runs = [&](const Row& row) { return row.line == command || row.line.starts_with(command + ' '); };
    EXPECT_TRUE(std::any_of(rows().begin(), rows().end(), runs))
        << "locus " << command << " has --json, but no row here with a schema";
  }
}

TEST(SchemaFiles, AreAllUsedAndRefuseOtherObjects) {
  // tests/mpi and tests/lab_run check those of locus-mpi and locus-lab.
  std::set<std::string> used = {"error", "mpi-verify", "mpi-bench", "lab-plan", "lab-submit", "lab-status"};
  for (const Row& row : rows()) used.insert(row.schema);
  std::set<std::string> kept;
  for (const auto& entry : fs::directory_iterator(source_dir() / "docs/schemas")) {
    const std::string name = entry.path().filename().string();
    kept.insert(name.substr(0, name.find('.')));
    EXPECT_NE(schema_complaint(Json::object(), "docs/schemas/" + name), "") << name << " accepts anything";
  }
  EXPECT_EQ(kept, used);
}

}  // namespace
}  // namespace locus::testing
