// SPDX-License-Identifier: Apache-2.0
// Attention, forward and backward.
#include "locus/attention.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "convert.h"
#include "handles.h"
#include "locus/named_gradients.h"
#include "locus/names.h"
#include "sized.h"

namespace locus::c {
namespace {

Mask mask_of(const locus_mask& mask) {
  return {.causal = mask.causal != 0,
          .by_index = mask.by_index != 0,
          .prefix = mask.prefix,
          .window = mask.window,
          .sinks = mask.sinks,
          .keys = span_of(mask.keys, "mask.keys"),
          .pairs = span_of(mask.pairs, "mask.pairs")};
}

AttentionCall call_of(const locus_attention& given) {
  AttentionCall call{.query = heads_of(given.query, "query"),
                     .key = heads_of(given.key, "key"),
                     .value = heads_of(given.value, "value"),
                     .output = heads_of(given.output, "output")};
  if (given.encoding != nullptr) call.encoding = &encoding_of(given.encoding);
  call.query_ids = span_of(given.query_ids, "query_ids");
  call.key_ids = span_of(given.key_ids, "key_ids");
  call.mask = mask_of(given.mask);
  call.query_boundaries = span_of(given.query_boundaries, "query_boundaries");
  call.key_boundaries = span_of(given.key_boundaries, "key_boundaries");
  if (given.scale != 0) call.scale = given.scale;
  if (given.scale_factor != 0) call.scale_factor = given.scale_factor;
  call.soft_cap = given.soft_cap;
  call.sink_logits = span_of(given.sink_logits, "sink_logits");
  call.log_sum_exp = given.log_sum_exp;
  call.rows_wanted = span_of(given.rows_wanted, "rows_wanted");
  call.probabilities = given.probabilities;
  call.executor = executor_of(given.pool);
  if (given.query_numbers.data != nullptr) call.query_numbers = heads_of(given.query_numbers, "query_numbers");
  if (given.key_numbers.data != nullptr) call.key_numbers = heads_of(given.key_numbers, "key_numbers");
  return call;
}

/// Returns the requested weights in the caller's order, after all checks.
std::vector<const LearnedWeight*> wanted_of(std::span<const locus_learned_gradient> given, const Encoding* encoding) {
  std::vector<const LearnedWeight*> wanted;
  for (const locus_learned_gradient& one : given) {
    require(encoding != nullptr, "learned must be empty without an encoding");
    const LearnedWeight& weight =
        find_named("learned weight", encoding->learned_weights(), std::string_view(&at(one.name, "learned.name")),
                   [](const LearnedWeight& known) { return known.name; });
    require(weight.gradient != LearnedGradient::hidden_rows, "learned ", weight.name,
            ": rows added to the hidden state have no gradient in attention");
    require(std::find(wanted.begin(), wanted.end(), &weight) == wanted.end(), "learned ", weight.name,
            " must be given once");
    const auto room = span_of(one.gradient, "learned.gradient");
    require(std::ssize(room) == count_of(weight), "learned ", weight.name, " must have room for ", count_of(weight),
            " numbers, got ", room.size());
    wanted.push_back(&weight);
  }
  return wanted;
}

}  // namespace
}  // namespace locus::c

using namespace locus::c;

extern "C" {

int locus_attend(const locus_attention* call) {
  return guarded([&] { locus::attend(call_of(read_sized(call, "call"))); });
}

int locus_running_sums(const locus_heads* numbers, locus_span_f64 before, locus_out_f64 sums) {
  return guarded([&] {
    const locus::HeadsView view = heads_of(numbers, "numbers");
    const auto place = span_of(sums, "sums");
    const std::int64_t needed = elements("numbers", view.batch, view.tokens, view.heads, view.head_dim);
    locus::require(sums.count == needed, "sums.count must be ", needed, " (batch x tokens x heads x numbers), got ",
                   sums.count);
    const std::vector<double> values = locus::running_sums(view, span_of(before, "before"));
    std::copy(values.begin(), values.end(), place.begin());
  });
}

int locus_attend_backward(const locus_attention_gradient* call) {
  return guarded([&] {
    const locus_attention_gradient given = read_sized(call, "call");
    locus::AttentionGradientCall wanted{.forward = call_of(read_sized(given.forward, "forward")),
                                        .output_gradient = heads_of(given.output_gradient, "output_gradient"),
                                        .query_gradient = heads_of(given.query_gradient, "query_gradient"),
                                        .key_gradient = heads_of(given.key_gradient, "key_gradient"),
                                        .value_gradient = heads_of(given.value_gradient, "value_gradient")};
    const auto given_learned = span_of(given.learned, given.learned_count, "learned");
    const auto weights = wanted_of(given_learned, wanted.forward.encoding);
    std::optional<locus::NamedGradients> gradients;
    if (!weights.empty()) wanted.learned = gradients.emplace(*wanted.forward.encoding).spans();
    if (given.query_numbers_gradient.data != nullptr) {
      wanted.query_numbers_gradient = heads_of(given.query_numbers_gradient, "query_numbers_gradient");
    }
    if (given.key_numbers_gradient.data != nullptr) {
      wanted.key_numbers_gradient = heads_of(given.key_numbers_gradient, "key_numbers_gradient");
    }
    wanted.learned.sink_logits = span_of(given.sink_logits, "sink_logits");
    locus::attend_backward(wanted);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::vector<double> gradient = gradients->of(*weights[i]);
      std::copy(gradient.begin(), gradient.end(), given_learned[i].gradient.data);
    }
  });
}

}  // extern "C"
