// SPDX-License-Identifier: Apache-2.0
// Bad input for rows, rotation, addition and biases.
#include "c/bad_input.h"

namespace locus {
namespace {

using namespace locus::testing;

void add_apply_cases(Cases& all) {
  static float rows[64];
  all.emplace("locus_heads_view",
              [](World& w) { return locus_heads_view(w.data.data(), 0, nullptr, w.four.data(), &w.out); });
  all.emplace("locus_heads_view", [](World& w) { return locus_heads_view(w.data.data(), 0, "td", nullptr, &w.out); });
  all.emplace("locus_heads_view",
              [](World& w) { return locus_heads_view(w.data.data(), 0, "td", w.four.data(), nullptr); });
  all.emplace("locus_heads_view",
              [](World& w) { return locus_heads_view(w.data.data(), 9, "td", w.four.data(), &w.out); });
  all.emplace("locus_heads_view",
              [](World& w) { return locus_heads_view(w.data.data(), 0, "xy", w.four.data(), &w.out); });
  all.emplace("locus_heads_view",
              [](World& w) { return locus_heads_view(w.data.data(), 0, "bthdx", w.four.data(), &w.out); });
  all.emplace("locus_heads_view", [](World& w) {
    const std::int64_t extents[] = {INT64_MAX, 2};
    return locus_heads_view(w.data.data(), 0, "td", extents, &w.out);
  });
  all.emplace("locus_rows", [](World& w) { return locus_rows(nullptr, 0, &w.ids, rows); });
  all.emplace("locus_rows", [](World& w) { return locus_rows(w.rope.get(), 2, &w.ids, rows); });
  all.emplace("locus_rows", [](World& w) { return locus_rows(w.rope.get(), 0, &w.ids, nullptr); });
  all.emplace("locus_rows", [](World& w) { return locus_rows(w.alibi.get(), 0, &w.ids, rows); });
  all.emplace("locus_rows", [](World& w) { return locus_rows(as<locus_encoding>(w.plan.get()), 0, &w.ids, rows); });
  all.emplace("locus_rows_f64", [](World& w) { return locus_rows_f64(w.rope.get(), 0, &w.ids, nullptr); });
  all.emplace("locus_rows_f64", [](World& w) { return locus_rows_f64(nullptr, 0, &w.ids, w.doubles.data()); });
  all.emplace("locus_rows_f64",
              [](World& w) { return locus_rows_f64(w.sinusoidal.get(), 0, nullptr, w.doubles.data()); });

  static const locus_rotation side_unknown{sizeof(locus_rotation), -1, LOCUS_FORWARD, nullptr},
      way_unknown{sizeof(locus_rotation), LOCUS_QUERY, 2, nullptr},
      back{sizeof(locus_rotation), LOCUS_KEY, LOCUS_INVERSE, nullptr};
  all.emplace("locus_rotate", [](World& w) { return locus_rotate(nullptr, &w.view, nullptr, &w.ids, nullptr); });
  all.emplace("locus_rotate", [](World& w) {
    return locus_rotate(as<locus_encoding>(w.cache.get()), &w.view, nullptr, &w.ids, nullptr);
  });
  all.emplace("locus_rotate", [](World& w) { return locus_rotate(w.alibi.get(), &w.view, nullptr, &w.ids, nullptr); });
  all.emplace("locus_rotate",
              [](World& w) { return locus_rotate(w.rope.get(), &w.view, nullptr, &w.ids, &side_unknown); });
  all.emplace("locus_rotate",
              [](World& w) { return locus_rotate(w.rope.get(), &w.view, nullptr, &w.ids, &way_unknown); });
  all.emplace("locus_rotate", [](World& w) {
    const locus_rotation how{sizeof how, LOCUS_QUERY, LOCUS_FORWARD, as<locus_pool>(w.rope.get())};
    return locus_rotate(w.rope.get(), &w.view, nullptr, &w.ids, &how);
  });
  all.emplace("locus_rotate", [](World& w) {
    return each(bad_views(w),
                [&](const locus_heads* v) { return locus_rotate(w.rope.get(), v, nullptr, &w.ids, nullptr); });
  });
  all.emplace("locus_rotate", [](World& w) {
    for (const locus_heads& view : bad_views(w)) {
      EXPECT_EQ(locus_rotate(w.rope.get(), &w.view, &view, &w.ids, nullptr), LOCUS_BAD_INPUT);
    }
    return each(bad_ids(w),
                [&](const locus_ids* v) { return locus_rotate(w.rope.get(), &w.view, nullptr, v, nullptr); });
  });
  all.emplace("locus_rotate_query_key",
              [](World& w) { return locus_rotate_query_key(nullptr, &w.view, &w.out, &w.ids, 0, nullptr); });
  all.emplace("locus_rotate_query_key",
              [](World& w) { return locus_rotate_query_key(w.rope.get(), &w.view, &w.out, &w.ids, 7, nullptr); });
  all.emplace("locus_rotate_query_key", [](World& w) {
    return each(bad_views(w), [&](const locus_heads* v) {
      return locus_rotate_query_key(w.rope.get(), &w.view, v, &w.ids, 0, nullptr);
    });
  });
  all.emplace("locus_rotate_query_key", [](World& w) {
    return each(bad_ids(w), [&](const locus_ids* v) {
      return locus_rotate_query_key(w.rope.get(), &w.view, &w.out, v, 0, nullptr);
    });
  });
  const auto into = [](World& w, const locus_heads* from, const locus_heads* to, locus_span_i64 slots,
                       const locus_ids* ids) { return locus_rotate_into(w.rope.get(), from, to, slots, ids, nullptr); };
  all.emplace("locus_rotate_into", [into](World& w) {
    return each(bad_views(w), [&](const locus_heads* v) { return into(w, v, &w.out, c_span(w.positions), &w.ids); });
  });
  all.emplace("locus_rotate_into", [into](World& w) {
    return each(bad_ids(w), [&](const locus_ids* v) { return into(w, &w.view, &w.out, c_span(w.positions), v); });
  });
  for (const locus_rotation* how : {&side_unknown, &way_unknown, &back}) {
    all.emplace("locus_rotate_into", [how](World& w) {
      return locus_rotate_into(w.rope.get(), &w.view, &w.out, c_span(w.positions), &w.ids, how);
    });
  }
  static const std::int64_t far[2] = {0, 2}, same[2] = {1, 1};
  for (const locus_span_i64 slots : {locus_span_i64{nullptr, 2}, {far, -1}, {far, 1}, {far, 2}, {same, 2}}) {
    all.emplace("locus_rotate_into", [into, slots](World& w) { return into(w, &w.view, &w.out, slots, &w.ids); });
  }
  all.emplace("locus_shift", [](World& w) { return locus_shift(nullptr, &w.view, &w.ids, 0, nullptr); });
  all.emplace("locus_shift", [](World& w) { return locus_shift(w.rope.get(), &w.view, &w.ids, 5, nullptr); });
  all.emplace("locus_shift", [](World& w) {
    return each(bad_views(w), [&](const locus_heads* v) { return locus_shift(w.rope.get(), v, &w.ids, 0, nullptr); });
  });
  all.emplace("locus_shift", [](World& w) { return locus_shift(w.rope.get(), &w.view, nullptr, 0, nullptr); });
  all.emplace("locus_add", [](World& w) { return locus_add(nullptr, &w.hidden, &w.four_ids, nullptr); });
  all.emplace("locus_add", [](World& w) { return locus_add(w.rope.get(), &w.hidden, &w.four_ids, nullptr); });
  all.emplace("locus_add", [](World& w) { return locus_add(w.sinusoidal.get(), &w.hidden, nullptr, nullptr); });
  all.emplace("locus_add", [](World& w) {
    const std::vector<locus_hidden> bad = {changed(w.hidden, [](locus_hidden& v) { v.data = nullptr; }),
                                           changed(w.hidden, [](locus_hidden& v) { v.type = 17; }),
                                           changed(w.hidden, [](locus_hidden& v) { v.tokens = -4; }),
                                           changed(w.hidden, [](locus_hidden& v) { v.dim = 9; }),
                                           changed(w.hidden, [](locus_hidden& v) { v.batch = -1; })};
    return each(bad, [&](const locus_hidden* v) { return locus_add(w.sinusoidal.get(), v, &w.four_ids, nullptr); });
  });
  const auto bias = [](World& w, const locus_encoding* e, locus_span_i64 q, std::int64_t count) {
    return locus_bias(e, q, c_span(w.positions), {w.doubles.data(), count});
  };
  all.emplace("locus_bias", [bias](World& w) { return bias(w, nullptr, c_span(w.positions), 8); });
  all.emplace("locus_bias", [bias](World& w) { return bias(w, w.rope.get(), c_span(w.positions), 8); });
  all.emplace("locus_bias", [bias](World& w) { return bias(w, w.alibi.get(), c_span(w.positions), 7); });
  all.emplace("locus_bias", [bias](World& w) { return bias(w, w.alibi.get(), c_span(w.positions), -8); });
  all.emplace("locus_bias", [bias](World& w) { return bias(w, w.alibi.get(), {nullptr, 2}, 8); });
  all.emplace("locus_bias", [bias](World& w) { return bias(w, w.alibi.get(), {w.four.data(), -2}, 8); });
  all.emplace("locus_bias", [](World& w) {
    return locus_bias(w.alibi.get(), c_span(w.positions), c_span(w.positions), {nullptr, 8});
  });
  all.emplace("locus_turn_output", [](World& w) { return locus_turn_output(nullptr, &w.view, &w.ids, nullptr); });
  all.emplace("locus_turn_output",  // no turned_output
              [](World& w) { return locus_turn_output(w.rope.get(), &w.view, &w.ids, nullptr); });
  static const OwnedEncoding turned =
      c_encoding("rope", {{"head_dim", 8}, {"pairing", "half"}, {"turned_output", true}});
  all.emplace("locus_turn_output", [](World& w) {
    return each(bad_views(w),
                [&](const locus_heads* v) { return locus_turn_output(turned.get(), v, &w.ids, nullptr); });
  });
  all.emplace("locus_turn_output", [](World& w) {
    return each(bad_ids(w),
                [&](const locus_ids* ids) { return locus_turn_output(turned.get(), &w.view, ids, nullptr); });
  });
  static const OwnedEncoding polar = c_encoding("pope", {{"head_dim", 4}, {"heads", 2}});
  all.emplace("locus_to_polar", [](World& w) { return locus_to_polar(w.rope.get(), &w.view, &w.out, 0, nullptr); });
  all.emplace("locus_to_polar", [](World& w) { return locus_to_polar(nullptr, &w.view, &w.out, 0, nullptr); });
  all.emplace("locus_to_polar", [](World& w) { return locus_to_polar(polar.get(), &w.view, &w.out, 0, nullptr); });
  all.emplace("locus_to_polar", [](World& w) {
    const locus_heads narrow = changed(w.view, [](locus_heads& v) { v.head_dim = 4; });
    EXPECT_EQ(locus_to_polar(polar.get(), &narrow, &w.out, 5, nullptr), LOCUS_BAD_INPUT);
    return each(bad_views(w),
                [&](const locus_heads* v) { return locus_to_polar(polar.get(), &narrow, v, 1, nullptr); });
  });
}
const AddedCases added_apply_cases(add_apply_cases);

}  // namespace
}  // namespace locus
