// SPDX-License-Identifier: Apache-2.0
// Bad input for attention, forward and backward.
#include "c/bad_input.h"

namespace locus {
namespace {

using namespace locus::testing;

void add_attention_cases(Cases& all) {
  const auto attend_with = [&](const std::function<void(World&, locus_attention&)>& change) {
    all.emplace("locus_attend", [change](World& w) {
      locus_attention call = w.call;
      change(w, call);
      return locus_attend(&call);
    });
  };
  all.emplace("locus_attend", [](World&) { return locus_attend(nullptr); });
  attend_with([](World& w, locus_attention& c) { c.encoding = as<locus_encoding>(w.plan.get()); });
  attend_with([](World& w, locus_attention& c) { c.pool = as<locus_pool>(w.plan.get()); });
  attend_with([](World& w, locus_attention& c) { c.query_ids = c_span(w.positions); });
  attend_with([](World&, locus_attention& c) { c.query_ids.count = -1; });
  attend_with([](World&, locus_attention& c) { c.query_ids.count = 2; });
  attend_with([](World&, locus_attention& c) { c.mask.keys.count = 2; });
  attend_with([](World&, locus_attention& c) { c.mask.pairs.count = -4; });
  attend_with([](World&, locus_attention& c) { c.mask.window = -4; });
  attend_with([](World& w, locus_attention& c) { c.query_boundaries = c_span(w.four); });
  attend_with([](World&, locus_attention& c) { c.sink_logits.count = 2; });
  attend_with([](World& w, locus_attention& c) { c.rows_wanted = c_span(w.positions); });
  attend_with([](World&, locus_attention& c) { c.soft_cap = -1; });
  attend_with([](World&, locus_attention& c) { c.scale = std::numeric_limits<double>::infinity(); });
  for (locus_heads locus_attention::*part :
       {&locus_attention::query, &locus_attention::key, &locus_attention::value, &locus_attention::output}) {
    all.emplace("locus_attend", [part](World& w) {
      for (const locus_heads& view : bad_views(w)) {
        locus_attention call = w.call;
        call.*part = view;
        EXPECT_EQ(locus_attend(&call), LOCUS_BAD_INPUT);
      }
      return int{LOCUS_BAD_INPUT};
    });
  }
  all.emplace("locus_attend_backward", [](World&) { return locus_attend_backward(nullptr); });
  all.emplace("locus_attend_backward", [](World&) {
    const auto gradient = sized<locus_attention_gradient>();
    return locus_attend_backward(&gradient);
  });
  all.emplace("locus_attend_backward", [](World& w) {
    auto gradient = sized<locus_attention_gradient>();
    gradient.forward = &w.call;  // no gradients, no log_sum_exp
    return locus_attend_backward(&gradient);
  });
  all.emplace("locus_attend_backward", [](World& w) {  // learned weights that there are not, or not so
    auto gradient = sized<locus_attention_gradient>();
    gradient.forward = &w.call;
    gradient.output_gradient = gradient.query_gradient = gradient.key_gradient = gradient.value_gradient = w.view;
    static double numbers[8];
    const locus_learned_gradient bad[] = {
        {"slopes", {numbers, 4}}, {nullptr, {numbers, 4}}, {"slopes", {nullptr, 4}}, {"slopes", {numbers, -1}}};
    for (const locus_learned_gradient& one : bad) {
      gradient.learned = &one;
      gradient.learned_count = 1;
      EXPECT_EQ(locus_attend_backward(&gradient), LOCUS_BAD_INPUT);
    }
    gradient.learned = nullptr;
    return locus_attend_backward(&gradient);
  });
  static double sums[32];
  all.emplace("locus_running_sums", [](World&) { return locus_running_sums(nullptr, {}, {sums, 32}); });
  all.emplace("locus_running_sums", [](World& w) { return locus_running_sums(&w.view, {}, {sums, 31}); });
  all.emplace("locus_running_sums", [](World& w) { return locus_running_sums(&w.view, {}, {nullptr, 32}); });
  all.emplace("locus_running_sums", [](World& w) { return locus_running_sums(&w.view, {sums, 3}, {sums, 32}); });
}
const AddedCases added_attention_cases(add_attention_cases);

}  // namespace
}  // namespace locus
