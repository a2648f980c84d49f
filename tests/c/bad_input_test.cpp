// SPDX-License-Identifier: Apache-2.0
// For any bad input a function returns a code and a message; it neither crashes nor writes. The cases are in the
// files *_bad_input_test.cpp.
#include "c/bad_input.h"
#include "support/paths.h"

#include <fstream>
#include <thread>

namespace locus {
namespace {

using namespace locus::testing;

// All that the world's cache holds.
struct Contents {
  std::vector<float> keys, values;
  std::vector<std::int64_t> ids;
  std::int64_t free_pages = 0;
  friend bool operator==(const Contents&, const Contents&) = default;
};

Contents contents_of(const World& world) {
  locus_cached* gathered = nullptr;
  EXPECT_OK(locus_cache_gather(world.cache.get(), world.sequence, &gathered));
  const OwnedCached owned(gathered);
  locus_cached_view view = {};
  view.size = sizeof view;
  EXPECT_OK(locus_cached_get(gathered, &view));
  const auto count = view.keys.tokens * view.keys.heads * view.keys.head_dim;
  const auto* keys = static_cast<const float*>(view.keys.data);
  const auto* values = static_cast<const float*>(view.values.data);
  Contents all{{keys, keys + count}, {values, values + count}, {view.ids.data, view.ids.data + view.ids.count}};
  EXPECT_OK(locus_cache_free_pages(world.cache.get(), &all.free_pages));
  return all;
}

TEST(CBadInput, IsRefusedWithAMessageAndNothingIsWritten) {
  World world;
  const std::vector<float> data = world.data, other = world.other;
  const Contents contents = contents_of(world);
  ASSERT_EQ(contents.ids, world.positions);
  std::size_t index = 0;
  for (const auto& [name, call] : all_cases()) {
    SCOPED_TRACE(name + ", case " + std::to_string(index++));
    locus_plan* none = nullptr;
    ASSERT_NE(locus_plan_shard(99, 0, 0, 0, &none), LOCUS_OK);  // sets a message that a new one must replace
    const std::string before = locus_last_error();
    EXPECT_EQ(call(world), LOCUS_BAD_INPUT);
    EXPECT_NE(locus_last_error(), before);
    EXPECT_EQ(world.data, data);
    EXPECT_EQ(world.other, other);
    EXPECT_EQ(contents_of(world), contents) << "the cache has changed";
  }
}

// Fails for a function of the API without cases.
TEST(CBadInput, EveryFunctionThatCanFailHasCases) {
  std::ifstream list((locus::testing::source_dir() / "bindings/c/abi.txt").string());
  const std::set<std::string> cannot_fail = {"locus_version",    "locus_last_error",  "locus_simd_target",
                                             "locus_pool_free",  "locus_plan_free",   "locus_encoding_free",
                                             "locus_cache_free", "locus_cached_free", "locus_diagnosis_free"};
  int count = 0;
  for (std::string name, version; list >> name >> version; ++count) {
    EXPECT_TRUE(cannot_fail.contains(name) || all_cases().contains(name)) << name;
  }
  EXPECT_GT(count, 50);
}

TEST(CBadInput, FreeAcceptsNullAndRejectsOtherKinds) {
  World world;
  locus_encoding_free(nullptr);
  locus_pool_free(nullptr);
  locus_plan_free(nullptr);
  locus_cache_free(nullptr);
  locus_cached_free(nullptr);
  locus_diagnosis_free(nullptr);
  locus_encoding_free(as<locus_encoding>(world.plan.get()));
  auto view = sized<locus_plan_view>();
  EXPECT_OK(locus_plan_get(world.plan.get(), &view));
}

TEST(CErrors, BelongToTheirThread) {
  ASSERT_NE(locus_encoding_new("no such scheme", nullptr, 0, nullptr), LOCUS_OK);
  const std::string mine = locus_last_error();
  std::string at_first = "?", theirs;
  std::thread([&] {
    at_first = locus_last_error();
    locus_plan* plan = nullptr;
    EXPECT_NE(locus_plan_prefill(-3, 0, &plan), LOCUS_OK);
    theirs = locus_last_error();
  }).join();
  EXPECT_EQ(at_first, "");
  EXPECT_NE(theirs.find("-3"), std::string::npos) << theirs;
  EXPECT_EQ(locus_last_error(), mine);
}

TEST(CErrors, TruncatesLongMessages) {
  const std::string path(5000, 'x');
  locus_encoding* encoding = nullptr;
  ASSERT_EQ(locus_encoding_from_config(path.c_str(), nullptr, &encoding), LOCUS_BAD_INPUT);
  EXPECT_EQ(std::string(locus_last_error()).size(), 1023u);
}

TEST(CLibrary, ReportsItsVersionAndTarget) {
  EXPECT_STREQ(locus_version(), LOCUS_EXPECTED_VERSION);
  EXPECT_EQ(locus_simd_target(), simd_target());
}

}  // namespace
}  // namespace locus
