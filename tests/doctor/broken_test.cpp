// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/broken.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "locus/error.h"

namespace locus {
namespace {

// The fault that each must be named as.
const std::map<std::string, std::string>& expected_faults() {
  static const std::map<std::string, std::string> all = {
      {"off_by_one_decode", "off by one in decode"},
      {"unreset_packed_ids", "packed ids not reset"},
      {"ids_ignored", "ids ignored"},
      {"wrong_pairing", "wrong pairing"},
      {"float32_angles", "angles in float32"},
      {"bias_from_the_wrong_end", "bias counted from the wrong end"},
      {"inverse_rotation", "inverse rotation"},
      {"magnitude_missing", "magnitude missing"},
  };
  return all;
}

TEST(Broken, EveryOneFailsAndIsNamed) {
  EXPECT_EQ(broken_encodings().size(), expected_faults().size());
  for (const Broken& broken : broken_encodings()) {
    SCOPED_TRACE(broken.name);
    EXPECT_EQ(broken.fault, expected_faults().at(std::string(broken.name)));
    const std::vector<Check> checks = verify_broken(broken.name);
    EXPECT_GT(failed(checks), 0);
    for (const Check& check : checks) {
      if (check.pass) continue;
      EXPECT_TRUE(check.note.ends_with("likely cause: " + std::string(broken.fault)))
          << check.name << ": " << check.value << " against " << check.bound << ": " << check.note;
    }
  }
}

std::vector<std::string> failures(std::string_view name) {
  std::vector<std::string> names;
  for (const Check& check : verify_broken(name)) {
    if (!check.pass) names.push_back(check.name);
  }
  return names;
}

// A fault shows where it lies, and nowhere else.
TEST(Broken, FailsWhereTheFaultIs) {
  EXPECT_EQ(failures("off_by_one_decode"), std::vector<std::string>{"one token at a time = exact"});
  EXPECT_EQ(failures("unreset_packed_ids"),
            (std::vector<std::string>{"scattered ids = exact", "packed = exact", "left-padded = exact"}));
  EXPECT_EQ(failures("float32_angles"),
            (std::vector<std::string>{"positions from 65521 = exact", "positions from 1000003 = exact"}));
}

TEST(Broken, NamesTheKnownOnes) {
  try {
    verify_broken("list_of_faults");
    FAIL() << "unknown, but accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("list_of_faults"), std::string::npos);
    for (const auto& [name, fault] : expected_faults())
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos);
  }
}

}  // namespace
}  // namespace locus
