// SPDX-License-Identifier: Apache-2.0
// Bad input for making and describing encodings.
#include "c/bad_input.h"

namespace locus {
namespace {

using namespace locus::testing;

void add_encoding_cases(Cases& all) {
  static locus_encoding* e = nullptr;
  all.emplace("locus_pool_new", [](World&) { return locus_pool_new(1, nullptr); });
  all.emplace("locus_pool_new", [](World&) { return locus_pool_new(0, as<locus_pool*>(&e)); });
  all.emplace("locus_encoding_new", [](World&) { return locus_encoding_new(nullptr, nullptr, 0, &e); });
  all.emplace("locus_encoding_new", [](World&) { return locus_encoding_new("nope", nullptr, 0, nullptr); });
  all.emplace("locus_encoding_new", [](World&) { return locus_encoding_new("no such", nullptr, 0, &e); });
  all.emplace("locus_encoding_new", [](World&) { return locus_encoding_new("rope", nullptr, 0, &e); });
  all.emplace("locus_encoding_new", [](World&) { return locus_encoding_new("rope", nullptr, 2, &e); });
  all.emplace("locus_encoding_new", [](World&) { return locus_encoding_new("nope", nullptr, -1, &e); });
  const auto one = [&](const locus_setting& setting) {
    all.emplace("locus_encoding_new", [setting](World&) { return locus_encoding_new("learned", &setting, 1, &e); });
  };
  static const float weights[4] = {};
  static const std::int64_t shape[2] = {2, 2}, odd[2] = {3, 2}, negative[2] = {-2, -2};
  static const std::int64_t huge[2] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  one({nullptr, "1", {}, {}});
  one({"table", nullptr, {}, {}});
  one({"table", "no such.npy", {}, {}});
  one({"table", nullptr, {weights, 4}, {}});
  one({"table", nullptr, {weights, 4}, {odd, 2}});
  one({"table", nullptr, {weights, 4}, {negative, 2}});
  one({"table", nullptr, {weights, 4}, {huge, 2}});
  one({"table", nullptr, {weights, -4}, {shape, 2}});
  one({"table", nullptr, {weights, 4}, {nullptr, 2}});
  one({"table", nullptr, {weights, 4}, {shape, -1}});
  all.emplace("locus_encoding_new", [](World&) {
    const locus_setting twice[] = {{"dim", "2", {}, {}}, {"dim", "2", {}, {}}};
    return locus_encoding_new("sinusoidal", twice, 2, &e);
  });
  const char* file = "no such file";
  all.emplace("locus_encoding_from_config", [](World&) { return locus_encoding_from_config(nullptr, nullptr, &e); });
  all.emplace("locus_encoding_from_config",
              [file](World&) { return locus_encoding_from_config(file, nullptr, nullptr); });
  all.emplace("locus_encoding_from_config", [file](World&) { return locus_encoding_from_config(file, nullptr, &e); });
  all.emplace("locus_encoding_from_config", [file](World&) {
    const locus_config_options options = {sizeof options, nullptr, nullptr, nullptr, -1};
    return locus_encoding_from_config(file, &options, &e);
  });
  all.emplace("locus_encoding_at_length", [](World&) { return locus_encoding_at_length(nullptr, 1, &e); });
  all.emplace("locus_encoding_at_length", [](World& w) { return locus_encoding_at_length(w.rope.get(), 1, nullptr); });
  all.emplace("locus_encoding_at_length",
              [](World& w) { return locus_encoding_at_length(as<locus_encoding>(w.plan.get()), 1, &e); });
  static auto info = sized<locus_info>();
  all.emplace("locus_encoding_info", [](World&) { return locus_encoding_info(nullptr, &info); });
  all.emplace("locus_encoding_info", [](World& w) { return locus_encoding_info(w.rope.get(), nullptr); });
  all.emplace("locus_encoding_info",
              [](World& w) { return locus_encoding_info(as<locus_encoding>(w.cache.get()), &info); });
  static std::int64_t count = 0;
  static auto weight = sized<locus_learned_weight>();
  all.emplace("locus_encoding_learned_count", [](World&) { return locus_encoding_learned_count(nullptr, &count); });
  all.emplace("locus_encoding_learned_count",
              [](World& w) { return locus_encoding_learned_count(w.alibi.get(), nullptr); });
  all.emplace("locus_encoding_learned", [](World&) { return locus_encoding_learned(nullptr, 0, &weight); });
  all.emplace("locus_encoding_learned",
              [](World& w) { return locus_encoding_learned(w.alibi.get(), 0, &weight); });  // learns nothing
  all.emplace("locus_encoding_learned", [](World& w) { return locus_encoding_learned(w.alibi.get(), -1, &weight); });
  static const char* text = nullptr;
  all.emplace("locus_encoding_describe", [](World&) { return locus_encoding_describe(nullptr, &text); });
  all.emplace("locus_encoding_describe", [](World& w) { return locus_encoding_describe(w.rope.get(), nullptr); });
  all.emplace("locus_encoding_describe",
              [](World& w) { return locus_encoding_describe(as<locus_encoding>(w.pool.get()), &text); });
}
const AddedCases added_encoding_cases(add_encoding_cases);

}  // namespace
}  // namespace locus
