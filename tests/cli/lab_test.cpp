// SPDX-License-Identifier: Apache-2.0
// `locus lab` runs locus-lab from its folder with all arguments, or says how to build it if it is missing.
#include <fstream>

#include "cli/locus_command.h"

namespace locus::testing {
namespace {

namespace fs = std::filesystem;

/// A copy of the command alone in a folder.
std::string lonely_locus(const TemporaryFolder& folder) {
  fs::copy_file(LOCUS_COMMAND, folder / "locus");
  return folder / "locus";
}

TEST(Lab, PassesEveryArgumentToLocusLab) {
  const TemporaryFolder folder;
  const std::string locus = lonely_locus(folder);
  folder.write("locus-lab", "#!/bin/sh\nfor word; do echo \"<$word>\"; done\nexit 7\n");
  fs::permissions(folder / "locus-lab", fs::perms::owner_all);
  const CommandResult result =
      run_command(locus, {"lab", "plan", "--help", "--seeds", "1,2", "", "a b"}, folder.path());
  EXPECT_EQ(result.out, "<plan>\n<--help>\n<--seeds>\n<1,2>\n<>\n<a b>\n") << result.err;
  EXPECT_EQ(result.exit_code, 7);
}

TEST(Lab, SaysHowToBuildAMissingLab) {
  const TemporaryFolder folder;
  const CommandResult result = run_command(lonely_locus(folder), {"lab", "--preset", "quick"}, folder.path());
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("./bootstrap lab"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace locus::testing
