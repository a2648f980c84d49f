// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/equivalences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "doctor/verify/comparison.h"
#include "locus/error.h"
#include "locus/registry.h"
#include "locus/scaling.h"

namespace locus {
namespace {

void expect_equivalent(const std::vector<Check>& checks) {
  EXPECT_GT(checks.size(), 20u);
  for (const Check& check : checks) {
    EXPECT_TRUE(check.pass) << check.scheme << ": " << check.name << ": " << check.value << " against " << check.bound
                            << ": " << check.note;
    EXPECT_GT(check.bound, 0) << check.name << ": nothing could fail this";
  }
}

bool has(const std::vector<Check>& checks, const std::string& start) {
  return std::any_of(checks.begin(), checks.end(), [&](const Check& c) { return c.name.starts_with(start); });
}

TEST(Equivalences, EverySchemeOfTheRegistry) {
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    const Encoding encoding(scheme->name, scheme->example);
    const std::vector<Check> checks = verify_equivalences(encoding);
    expect_equivalent(checks);
    if (scheme->name == "conv_position") {  // cut tokens have other neighbours
      for (const char* name : {"prefill = exact reference", "left-padded = alone", "right-padded = alone",
                               "packed = alone", "a token with the neighbours of its row = whole",
                               "a token without its neighbours differs from the whole", "shifted = whole"}) {
        EXPECT_TRUE(has(checks, std::string(name) + " (float32)")) << name;
      }
      continue;
    }
    for (const char* type : {" (float32)", " (bfloat16)", " (float16)"}) {
      for (const char* name : {"prefill = exact reference", "chunked prefill = whole", "one token at a time = whole",
                               "left-padded = whole", "right-padded = whole", "packed = whole",
                               "forked from a shared prefix = whole", "a random history of the cache = whole"}) {
        EXPECT_TRUE(has(checks, std::string(name) + type)) << name << type;
      }
      // A shard of the keys does not know what the others count.
      const bool mergeable = scheme->name != "cope";
      for (const char* name : {"sharded contiguous, merged = whole", "sharded striped, merged = whole",
                               "sharded zigzag, merged = whole"}) {
        EXPECT_EQ(has(checks, std::string(name) + type), mergeable) << name << type;
      }
    }
    const bool relative = scheme->claims.has(Claim::relative);
    EXPECT_EQ(has(checks, "shifted = whole (float32)"), relative);
    EXPECT_EQ(has(checks, "shifted differs from whole (float32)"), !relative);
    const bool keys_move =
        scheme->site == Site::query_key && !encoding.rotation().mix && !encoding.rotation().turns_output;
    EXPECT_EQ(has(checks, "stored elsewhere in the cache and moved = whole (float32)"), keys_move);
    EXPECT_EQ(has(checks, "full attention, decoded, differs from the whole (float32)"),
              !scheme->claims.has(Claim::causal_only));
  }
}

TEST(Equivalences, EveryRule) {
  for (const Rule* rule : rules()) {
    SCOPED_TRACE(rule->name);
    Arguments arguments{{"head_dim", 16}, {"pairing", "half"}, {"rule", std::string(rule->name)}};
    for (const auto& [name, value] : rule->example.all()) arguments.set(name, value);
    const std::vector<Check> checks = verify_equivalences(Encoding("rope", arguments));
    expect_equivalent(checks);
    // Coarser types may hide the difference; float32 must show it.
    for (const char* name : {"decoded at growing lengths differs from the whole (float32)",
                             "keys left under the tables of their time differ (float32)",
                             "a cache refuses to mix the tables of two lengths (float32)",
                             "re-rotated to the table of the whole = whole (bfloat16)"}) {
      EXPECT_EQ(has(checks, name), rule->length_dependent) << name;
    }
  }
}

TEST(Equivalences, EveryKindOfIdsAndForms) {
  const std::vector<std::pair<std::string, Arguments>> all = {
      {"rope", {{"head_dim", 16}, {"pairing", "interleaved"}, {"output_order", "deinterleaved"}}},
      {"rope", {{"head_dim", 24}, {"pairing", "half"}, {"rotary_dim", 16}, {"rotary_offset", 4}}},
      {"rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "mrope"}, {"sections", std::vector<double>{2, 3, 3}}}},
      {"rope",
       {{"head_dim", 16}, {"pairing", "half"}, {"axes", "mrope"}, {"sections", std::vector<double>{2, 2, 2, 2}}}},
      {"rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "grid"}}},
      {"rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "pixtral"}, {"grid_width", 16}}},
      {"rope",
       {{"head_dim", 16},
        {"pairing", "half"},
        {"axes", "dinov3"},
        {"grid_height", 3},
        {"grid_width", 5},
        {"prefix", 1}}},
      {"rope", {{"head_dim", 16}, {"pairing", "half"}, {"profile", "hf"}, {"table_type", "bfloat16"}}},
      {"rope", {{"head_dim", 16}, {"pairing", "half"}, {"profile", "ggml"}}},
      {"xpos", {{"head_dim", 16}, {"pairing", "half"}, {"centre", 100}}},
      {"xpos", {{"head_dim", 16}, {"pairing", "interleaved"}, {"moving_centre", true}, {"length", 100}}},
      {"sinusoidal",
       {{"dim", 16}, {"axes", "grid"}, {"arrangement", "concatenated"}, {"grid_height", 3}, {"grid_width", 5}}},
      {"learned", {{"max_positions", 1}, {"dim", 4}}},
      {"alibi", {{"heads", 4}, {"form", "symmetric"}}},
      {"alibi", {{"heads", 4}, {"form", "bloom"}}},
      {"alibi", {{"heads", 4}, {"form", "mpt"}, {"length", 100}}},
      {"alibi", {{"heads", 4}, {"form", "falcon"}}},
      {"t5", {{"heads", 2}, {"bidirectional", false}}},
      {"relative_bias", {{"heads", 2}, {"index", "swin"}, {"window_height", 3}, {"window_width", 4}}},
      {"shaw", {{"heads", 2}, {"head_dim", 4}, {"meets_key", true}, {"values", true}, {"scaled", false}}},
      {"shaw", {{"heads", 2}, {"head_dim", 4}, {"clip", false}}},
  };
  for (const auto& [scheme, arguments] : all) {
    const Encoding encoding(scheme, arguments);
    SCOPED_TRACE(scheme + " " + (arguments.has("axes") ? arguments.text("axes") : ""));
    const std::vector<Check> checks = verify_equivalences(encoding, {.seed = 7, .shapes = 2});
    expect_equivalent(checks);
    if (encoding.arguments().has("moving_centre")) {
      EXPECT_EQ(has(checks, "keys left under the tables of their time differ (float32)"),
                encoding.arguments().boolean("moving_centre"));
    }
  }
}

TEST(Equivalences, SeedsGiveOtherNumbers) {
  const Encoding encoding("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const auto one = verify_equivalences(encoding, {.seed = 1, .shapes = 1});
  const auto two = verify_equivalences(encoding, {.seed = 2, .shapes = 1});
  const auto again = verify_equivalences(encoding, {.seed = 1, .shapes = 1});
  ASSERT_EQ(one.size(), two.size());
  EXPECT_NE(one[0].value, two[0].value);
  EXPECT_EQ(one[0].value, again[0].value);
}

TEST(Equivalences, RefusesNoShapes) { EXPECT_THROW(verify_equivalences(Encoding("nope"), {.shapes = 0}), Error); }

// Rows 0 and 1 of two heads of width two: the second entry of head 1 in row 1 is off by 0.5, the next one is NaN.
TEST(Comparison, NamesTheFirstDivergence) {
  std::vector<double> want{1, 2, 3, 4, 5, 6, 7, 8}, got = want;
  const auto bound = [](const doctor::Entry&, double) { return 0.25; };
  EXPECT_EQ(doctor::divergence(doctor::compare(got, want, 2, 2, bound), 0, 0, "x"), "");
  got[6] = 7.5;
  const doctor::Comparison off = doctor::compare(got, want, 2, 2, bound);
  ASSERT_TRUE(off.first);
  EXPECT_EQ(off.first->row, 1);
  EXPECT_EQ(off.value, 0.5);
  EXPECT_EQ(doctor::divergence(off, 1, 101, "y"),
            "diverges first at token 1, head 1, position 101: 7.5 instead of 7; likely cause: y");
  got[7] = std::nan("");
  EXPECT_TRUE(std::isnan(doctor::compare(got, want, 2, 2, bound).value));
}

}  // namespace
}  // namespace locus
