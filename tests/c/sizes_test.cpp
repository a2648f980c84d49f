// SPDX-License-Identifier: Apache-2.0
// Programs compiled with another version of locus.h: their structs are shorter or longer than the library's.
#include <cstddef>
#include <fstream>

#include "c/bad_input.h"
#include "support/paths.h"

namespace locus::testing {
namespace {

/// A struct in memory of `size` bytes, as another version of the header would declare it, with `filler` behind it. The
/// members that both have are those of `value`.
template <class Struct>
class OtherVersion {
 public:
  OtherVersion(Struct value, std::size_t size, std::byte tail, std::byte filler = std::byte{0xEE})
      : bytes_(size + sizeof(Struct), filler) {
    value.size = size;
    std::fill_n(bytes_.begin(), size, tail);
    std::memcpy(bytes_.data(), &value, std::min(size, sizeof(Struct)));
  }
  Struct* get() { return reinterpret_cast<Struct*>(bytes_.data()); }
  std::byte operator[](std::size_t i) const { return bytes_[i]; }

 private:
  std::vector<std::byte> bytes_;  // new aligns it for every struct
};

/// Calls each function that takes a struct of a given size, with a size of its own.
std::map<std::string, std::function<int(World&, std::size_t)>> calls_with_size() {
  const auto read = [](auto value, auto call) {
    return [value, call](World& w, std::size_t size) mutable {
      value.size = size;
      return call(w, &value);
    };
  };
  return {
      {"locus_config_options", read(locus_config_options{},
                                    [](World&, auto* value) {
                                      locus_encoding* made = nullptr;
                                      return locus_encoding_from_config("no such file", value, &made);
                                    })},
      {"locus_info",
       read(locus_info{}, [](World& w, auto* value) { return locus_encoding_info(w.rope.get(), value); })},
      {"locus_learned_weight", read(locus_learned_weight{},
                                    [](World&, auto* value) {
                                      const OwnedEncoding kerple = c_encoding("kerple", {{"heads", 2}});
                                      return locus_encoding_learned(kerple.get(), 0, value);
                                    })},
      {"locus_rotation",
       read(locus_rotation{},
            [](World& w, auto* value) { return locus_rotate(w.rope.get(), &w.view, nullptr, &w.ids, value); })},
      {"locus_attention",
       [](World& w, std::size_t size) {
         locus_attention call = w.call;
         call.size = size;
         return locus_attend(&call);
       }},
      {"locus_attention_gradient",
       read(locus_attention_gradient{}, [](World&, auto* value) { return locus_attend_backward(value); })},
      {"locus_dump",
       [](World& w, std::size_t size) {
         locus_dump dump = w.dump;
         dump.size = size;
         locus_diagnosis* made = nullptr;
         return locus_diagnose(&dump, &made);
       }},
      {"locus_verdict",
       read(locus_verdict{},
            [](World& w, auto* value) { return locus_diagnosis_verdict(w.diagnosis.get(), 0, value); })},
      {"locus_cache_shape",
       [](World& w, std::size_t size) {
         locus_cache_shape shape = w.shape;
         shape.size = size;
         locus_cache* made = nullptr;
         return locus_cache_new(w.rope.get(), &shape, &made);
       }},
      {"locus_new_tokens", read(locus_new_tokens{},
                                [](World& w, auto* value) {
                                  return locus_cache_append_tokens(w.cache.get(), w.sequence, value, nullptr);
                                })},
      {"locus_cache_attention",
       read(locus_cache_attention{}, [](World& w, auto* value) { return locus_cache_attend(w.cache.get(), value); })},
      {"locus_cache_queries", read(locus_cache_queries{},
                                   [](World& w, auto* value) {
                                     auto call = sized<locus_cache_attention>();
                                     call.queries = value;
                                     call.count = 1;
                                     return locus_cache_attend(w.cache.get(), &call);
                                   })},
      {"locus_cached_view",
       read(locus_cached_view{}, [](World& w, auto* value) { return locus_cached_get(w.cached.get(), value); })},
      {"locus_segment", read(locus_segment{},
                             [](World&, auto* value) {
                               value->tokens = 1;
                               locus_plan* made = nullptr;
                               return locus_plan_multimodal(value, 1, &made);
                             })},
      {"locus_plan_view",
       read(locus_plan_view{}, [](World& w, auto* value) { return locus_plan_get(w.plan.get(), value); })},
  };
}

// Every struct of the header that starts with a size is in calls_with_size(): abi_test.cpp compares the names.
TEST(CSizes, ThatWereNotSetAreNamed) {
  World world;
  for (const auto& [name, call] : calls_with_size()) {
    SCOPED_TRACE(name);
    for (const std::size_t size : {std::size_t{0}, std::size_t{9}, std::size_t{1} << 40}) {
      ASSERT_EQ(call(world, size), LOCUS_BAD_INPUT);
      const std::string message = locus_last_error();
      EXPECT_NE(message.find(".size must be the sizeof of its struct ("), std::string::npos) << message;
      EXPECT_NE(message.find("got " + std::to_string(size)), std::string::npos) << message;
    }
  }
}

TEST(CSizes, OfEveryStructThatStartsWithOne) {
  std::set<std::string> sized_structs, called;
  std::ifstream list((source_dir() / "bindings/c/structs.txt").string());
  std::size_t size = 0;
  for (std::string name, kind; list >> name >> size >> kind;) {
    if (kind == "sized") sized_structs.insert(name);
  }
  for (const auto& [name, call] : calls_with_size()) called.insert(name);
  EXPECT_EQ(called, sized_structs);
}

TEST(CSizes, OfAnOlderCallerMeanDefaults) {
  World world;
  ASSERT_OK(locus_attend(&world.call));
  const std::vector<float> expected = world.other;
  std::fill(world.other.begin(), world.other.end(), 0.0f);
  // A header without the numbers that tokens bring; what follows in the caller's memory is not part of the struct.
  OtherVersion<locus_attention> older(world.call, offsetof(locus_attention, query_numbers), std::byte{0});
  ASSERT_OK(locus_attend(older.get()));
  EXPECT_EQ(world.other, expected);

  auto rotation = sized<locus_rotation>();
  rotation.role = LOCUS_KEY;
  OtherVersion<locus_rotation> without_pool(rotation, offsetof(locus_rotation, pool), std::byte{0});
  EXPECT_OK(locus_rotate(world.rope.get(), &world.view, nullptr, &world.ids, without_pool.get()));
}

TEST(CSizes, OfAnOlderCallerLimitWhatIsWritten) {
  World world;
  auto whole = sized<locus_info>();
  ASSERT_OK(locus_encoding_info(world.rope.get(), &whole));
  const std::size_t size = offsetof(locus_info, turned_output);
  OtherVersion<locus_info> older({}, size, std::byte{0});
  ASSERT_OK(locus_encoding_info(world.rope.get(), older.get()));
  EXPECT_EQ(older.get()->size, size);
  EXPECT_EQ(older.get()->width, 8);
  EXPECT_EQ(older.get()->magnitude, whole.magnitude);
  for (std::size_t i = size; i < sizeof(locus_info); ++i) EXPECT_EQ(older[i], std::byte{0xEE}) << i;
}

TEST(CSizes, OfANewerCallerMayNotAskForMore) {
  World world;
  ASSERT_OK(locus_attend(&world.call));
  const std::vector<float> expected = world.other;
  std::fill(world.other.begin(), world.other.end(), 0.0f);
  OtherVersion<locus_attention> unused(world.call, sizeof(locus_attention) + 16, std::byte{0});
  ASSERT_OK(locus_attend(unused.get()));
  EXPECT_EQ(world.other, expected);
  OtherVersion<locus_attention> used(world.call, sizeof(locus_attention) + 16, std::byte{1});
  EXPECT_EQ(locus_attend(used.get()), LOCUS_BAD_INPUT);
  EXPECT_NE(std::string(locus_last_error()).find("does not know"), std::string::npos) << locus_last_error();
}

TEST(CSizes, OfANewerCallerAreFilledWithZeros) {
  World world;
  const std::size_t size = sizeof(locus_plan_view) + 24;
  OtherVersion<locus_plan_view> newer({}, size, std::byte{0xAA});
  ASSERT_OK(locus_plan_get(world.plan.get(), newer.get()));
  EXPECT_EQ(newer.get()->size, size);
  EXPECT_EQ(newer.get()->ids.tokens, 2);
  for (std::size_t i = sizeof(locus_plan_view); i < size; ++i) EXPECT_EQ(newer[i], std::byte{0}) << i;
  EXPECT_EQ(newer[size], std::byte{0xEE});
}

TEST(CSizes, AreTheDistanceOfElements) {
  constexpr std::size_t size = offsetof(locus_segment, sound);  // of a header without sound
  std::vector<std::byte> bytes(3 * size, std::byte{0});
  for (std::int64_t i = 0; i < 3; ++i) {
    locus_segment one = {};
    one.size = size;
    one.tokens = i + 1;
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * size, &one, size);
  }
  const auto* segments = reinterpret_cast<const locus_segment*>(bytes.data());
  locus_plan* made = nullptr;
  ASSERT_OK(locus_plan_multimodal(segments, 3, &made));
  const OwnedPlan owned(made);
  auto view = sized<locus_plan_view>();
  ASSERT_OK(locus_plan_get(made, &view));
  EXPECT_EQ(view.ids.tokens, 1 + 2 + 3);

  locus_segment mixed[2] = {sized<locus_segment>(), sized<locus_segment>()};
  mixed[0].tokens = mixed[1].tokens = 1;
  mixed[1].size = size;
  EXPECT_EQ(locus_plan_multimodal(mixed, 2, &made), LOCUS_BAD_INPUT);
  EXPECT_NE(std::string(locus_last_error()).find("at index 1"), std::string::npos) << locus_last_error();
}

}  // namespace
}  // namespace locus::testing
