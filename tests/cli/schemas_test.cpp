// SPDX-License-Identifier: Apache-2.0
// docs/schemas: what commands print with --json is valid under the schema of the command.
#include <algorithm>
#include <filesystem>
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
      {"positions", "positions left-padded 3,5,2"},
      {"positions", "positions shards 16 --ranks 2 --kind zigzag"},
      {"positions", "positions tree --parents -1,0,0,1"},
      {"positions", "positions mrope text:5 image:1x4x6 text:3"},
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
  };
  return all;
}

TEST_F(Schemas, DescribeWhatCommandsPrint) {
  for (const Row& row : rows()) {
    const CommandResult result = run_locus(folder_, row.line + " --json");
    EXPECT_LE(result.exit_code, 1) << row.line << "\n" << result.err;
    const Json json = Json::parse(result.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << row.line << "\n" << result.out.substr(0, 200);
    EXPECT_EQ(schema_complaint(json, schema_path(row.schema)), "") << row.line;
  }
  const CommandResult refused = run_locus(folder_, "show --scheme spiral --json");
  EXPECT_EQ(schema_complaint(Json::parse(refused.err, nullptr, false), schema_path("error")), "") << refused.err;
}

TEST_F(Schemas, AreAllUsedAndRefuseOtherObjects) {
  std::set<std::string> used = {"error", "mpi-verify", "mpi-bench"};  // tests/mpi checks those of locus-mpi
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
