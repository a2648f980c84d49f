// SPDX-License-Identifier: Apache-2.0
// `locus list`: the whole registry.
#include "cli/locus_command.h"
#include "locus/registry.h"
#include "locus/scaling.h"

namespace locus::testing {
namespace {

TEST(List, NamesEverySchemeWithSiteClaimsAndPaper) {
  const TemporaryFolder folder;
  const std::string text = output_of(folder, "list");
  const Json json = json_of(folder, "list");
  ASSERT_EQ(json["schemes"].size(), schemes().size());
  ASSERT_GE(schemes().size(), 12u);
  for (std::size_t i = 0; i < schemes().size(); ++i) {
    const Scheme& scheme = *schemes()[i];
    const Json& shown = json["schemes"][i];
    EXPECT_EQ(shown["name"], scheme.name);
    EXPECT_EQ(shown["site"], name_of(scheme.site));
    EXPECT_EQ(shown["paper"], scheme.paper);
    EXPECT_EQ(shown["claims"].size(), scheme.claims.all().size());
    EXPECT_EQ(shown["parameters"].size(), scheme.parameters.size());
    for (const std::string_view part : {scheme.name, name_of(scheme.site), scheme.paper}) {
      EXPECT_NE(text.find(part), std::string::npos) << part;
    }
  }
  EXPECT_EQ(json["rules"].size(), rules().size());
}

TEST(List, ListsParametersInTheLongForm) {
  const TemporaryFolder folder;
  const std::string text = output_of(folder, "list --long");
  for (const Scheme* scheme : schemes()) {
    for (const Parameter& parameter : scheme->parameters) {
      EXPECT_NE(text.find(parameter.meaning), std::string::npos) << scheme->name << '.' << parameter.name;
    }
  }
}

}  // namespace
}  // namespace locus::testing
