// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/broken.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "locus/error.h"

namespace locus {
namespace {

// The name that each fault must get.
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

void expect_failures(std::string_view broken, const std::vector<std::string>& wrong,
                     const std::vector<std::string>& right) {
  SCOPED_TRACE(broken);
  const std::vector<std::string> all = failures(broken);
  const auto fails = [&](const std::string& name) { return std::find(all.begin(), all.end(), name) != all.end(); };
  for (const std::string& name : wrong) EXPECT_TRUE(fails(name)) << name;
  for (const std::string& name : right) EXPECT_FALSE(fails(name)) << name;
}

// A fault fails the checks of its own site, and no others.
TEST(Broken, FailsWhereTheFaultIs) {
  expect_failures("off_by_one_decode", {"one token at a time = exact", "decoded across pages = exact"},
                  {"prefill = exact", "chunked = exact", "packed = exact", "positions from 65521 = exact"});
  expect_failures("unreset_packed_ids",
                  {"scattered ids = exact", "packed = exact", "left-padded = exact", "repeated ids = exact"},
                  {"prefill = exact", "chunked = exact", "positions below 0 = exact", "positions around 2^16 = exact"});
  expect_failures("float32_angles", {"positions from 65521 = exact", "positions from 1000003 = exact"},
                  {"prefill = exact", "prefill of 300 tokens = exact", "positions around 2^12 = exact"});
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
