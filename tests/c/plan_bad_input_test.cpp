// SPDX-License-Identifier: Apache-2.0
// Bad input for position plans.
#include "c/bad_input.h"

namespace locus {
namespace {

using namespace locus::testing;

void add_plan_cases(Cases& all) {
  static locus_plan* p = nullptr;
  static const std::int64_t bad[2] = {2, -1};
  static const std::uint8_t two[2] = {1, 2};
  const locus_span_i64 fine = {bad, 1}, negative = {bad, 2}, null = {nullptr, 2};
  const auto add = [&](const char* name, const std::function<int()>& call) {
    all.emplace(name, [call](World&) { return call(); });
  };
  add("locus_plan_prefill", [] { return locus_plan_prefill(-1, 0, &p); });
  add("locus_plan_prefill", [] { return locus_plan_prefill(1, 0, nullptr); });
  add("locus_plan_prefill", [] { return locus_plan_prefill(INT64_MAX, INT64_MAX, &p); });
  for (const locus_span_i64 lengths : {negative, null, {bad, -2}, {nullptr, 0}}) {
    add("locus_plan_padded", [=] { return locus_plan_padded(lengths, 0, 1, 0, &p); });
  }
  add("locus_plan_padded", [=] { return locus_plan_padded(fine, 1, 1, 0, &p); });
  add("locus_plan_padded", [=] { return locus_plan_padded(fine, 2, 1, 0, nullptr); });
  add("locus_plan_from_mask", [] { return locus_plan_from_mask({two, 2}, 1, 2, 0, &p); });
  add("locus_plan_from_mask", [] { return locus_plan_from_mask({two, 1}, 1, 2, 0, &p); });
  add("locus_plan_from_mask", [] { return locus_plan_from_mask({nullptr, 2}, 1, 2, 0, &p); });
  add("locus_plan_from_mask", [] { return locus_plan_from_mask({two, 1}, INT64_MAX, INT64_MAX, 0, &p); });
  add("locus_plan_from_mask", [] { return locus_plan_from_mask({two, 1}, 1, 1, 0, nullptr); });
  for (const locus_span_i64 lengths : {negative, null}) {
    add("locus_plan_packed", [=] { return locus_plan_packed(lengths, &p); });
    add("locus_plan_tree", [=] { return locus_plan_tree(lengths, 0, &p); });
  }
  add("locus_plan_packed", [=] { return locus_plan_packed(fine, nullptr); });
  add("locus_plan_tree", [] { return locus_plan_tree({nullptr, 0}, 0, nullptr); });
  add("locus_plan_shard", [] { return locus_plan_shard(3, 8, 2, 0, &p); });
  add("locus_plan_shard", [] { return locus_plan_shard(0, 7, 2, 0, &p); });
  add("locus_plan_shard", [] { return locus_plan_shard(0, 8, 2, 2, &p); });
  add("locus_plan_shard", [] { return locus_plan_shard(0, 8, 0, 0, &p); });
  add("locus_plan_shard", [] { return locus_plan_shard(0, 8, 2, 0, nullptr); });
  add("locus_plan_streaming", [] { return locus_plan_streaming(8, 0, 0, &p); });
  add("locus_plan_streaming", [] { return locus_plan_streaming(8, 1, 1, nullptr); });
  add("locus_plan_grid", [] { return locus_plan_grid(3, 4, 2, &p); });
  add("locus_plan_grid", [] { return locus_plan_grid(0, 4, 1, &p); });
  add("locus_plan_grid", [] { return locus_plan_grid(1, 1, 1, nullptr); });
  static const locus_segment both = {segment_size, 1, 1, 1, 1, 0, 0}, neither = {segment_size, 0, 0, 0, 0, 0, 0},
                             backwards = {segment_size, -1, 0, 0, 0, 0, 0},
                             heard_and_seen = {segment_size, 2, 1, 1, 1, 0, 1},
                             to_the_past = {segment_size, 2, 0, 0, 0, -1, 1};
  for (const locus_segment* segment : {&both, &neither, &backwards, &heard_and_seen, &to_the_past}) {
    add("locus_plan_multimodal", [=] { return locus_plan_multimodal(segment, 1, &p); });
    add("locus_plan_multimodal_after", [=] { return locus_plan_multimodal_after({}, segment, 1, &p); });
  }
  add("locus_plan_multimodal_after", [] { return locus_plan_multimodal_after({-1, 0}, nullptr, 0, &p); });
  add("locus_plan_multimodal_after", [] { return locus_plan_multimodal_after({}, nullptr, 0, nullptr); });
  add("locus_plan_multimodal_decode", [] { return locus_plan_multimodal_decode({4, 0}, -1, &p); });
  add("locus_plan_multimodal_decode", [] { return locus_plan_multimodal_decode({INT64_MAX, INT64_MAX}, 1, &p); });
  add("locus_plan_multimodal_decode", [] { return locus_plan_multimodal_decode({4, 0}, 1, nullptr); });
  for (const locus_span_i64 parents : {negative, null}) {
    add("locus_plan_multimodal_tree", [=] { return locus_plan_multimodal_tree(parents, {}, &p); });
    add("locus_plan_accepted_path", [=] { return locus_plan_accepted_path(parents, 0, 0, &p); });
  }
  static const std::int64_t root[1] = {-1};
  add("locus_plan_accepted_path", [] { return locus_plan_accepted_path({root, 1}, 1, 0, &p); });
  add("locus_plan_accepted_path", [] { return locus_plan_accepted_path({root, 1}, 0, 0, nullptr); });
  all.emplace("locus_plan_chunk", [](World& w) { return locus_plan_chunk(w.plan.get(), 1, 2, &p); });
  all.emplace("locus_plan_chunk", [](World& w) { return locus_plan_chunk(w.plan.get(), -1, 1, &p); });
  all.emplace("locus_plan_chunk", [](World& w) { return locus_plan_chunk(as<locus_plan>(w.rope.get()), 0, 1, &p); });
  add("locus_plan_chunk", [] { return locus_plan_chunk(nullptr, 0, 1, &p); });
  add("locus_plan_compressed", [] { return locus_plan_compressed(3, 0, &p); });
  add("locus_plan_compressed", [] { return locus_plan_compressed(-1, 4, &p); });
  add("locus_plan_compressed", [] { return locus_plan_compressed(3, 4, nullptr); });
  add("locus_plan_document_shard", [=] { return locus_plan_document_shard(7, fine, 2, 0, 0, &p); });
  add("locus_plan_document_shard", [=] { return locus_plan_document_shard(0, negative, 2, 0, 0, &p); });
  add("locus_plan_document_shard", [=] { return locus_plan_document_shard(0, fine, 2, 2, 0, &p); });
  add("locus_plan_document_shard", [=] { return locus_plan_document_shard(0, fine, 0, 0, 0, &p); });
  add("locus_plan_document_shard", [=] { return locus_plan_document_shard(0, fine, 2, 0, 0, nullptr); });
  all.emplace("locus_plan_cut", [](World& w) { return locus_plan_cut(w.plan.get(), w.plan.get(), &p); });
  all.emplace("locus_plan_cut", [](World& w) { return locus_plan_cut(w.plan.get(), nullptr, &p); });
  all.emplace("locus_plan_cut", [](World& w) {  // a shard of more tokens than the plan has
    static const std::int64_t length = 9;
    locus_plan* shard = nullptr;
    EXPECT_OK(locus_plan_document_shard(LOCUS_STRIPED, {&length, 1}, 3, 0, 0, &shard));
    const OwnedPlan owned(shard);
    return locus_plan_cut(w.plan.get(), shard, &p);
  });
  add("locus_plan_multimodal", [] { return locus_plan_multimodal(nullptr, 1, &p); });
  add("locus_plan_multimodal", [] { return locus_plan_multimodal(nullptr, 0, nullptr); });
  static auto view = sized<locus_plan_view>();
  add("locus_plan_get", [] { return locus_plan_get(nullptr, &view); });
  all.emplace("locus_plan_get", [](World& w) { return locus_plan_get(w.plan.get(), nullptr); });
  all.emplace("locus_plan_get", [](World& w) { return locus_plan_get(as<locus_plan>(w.rope.get()), &view); });
}
const AddedCases added_plan_cases(add_plan_cases);

}  // namespace
}  // namespace locus
