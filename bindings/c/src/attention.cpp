// SPDX-License-Identifier: Apache-2.0
// Attention, forward and backward.
#include "locus/attention.h"

#include "convert.h"
#include "handles.h"
#include "locus/attention_backward.h"

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
  return call;
}

}  // namespace
}  // namespace locus::c

using namespace locus::c;

extern "C" {

int locus_attend(const locus_attention* call) {
  return guarded([&] { locus::attend(call_of(at(call, "call"))); });
}

int locus_attend_backward(const locus_attention_gradient* call) {
  return guarded([&] {
    const locus_attention_gradient& given = at(call, "call");
    locus::AttentionGradientCall wanted{.forward = call_of(at(given.forward, "forward")),
                                        .output_gradient = heads_of(given.output_gradient, "output_gradient"),
                                        .query_gradient = heads_of(given.query_gradient, "query_gradient"),
                                        .key_gradient = heads_of(given.key_gradient, "key_gradient"),
                                        .value_gradient = heads_of(given.value_gradient, "value_gradient")};
    wanted.learned = {.sink_logits = span_of(given.sink_logits, "sink_logits"),
                      .bias_table = span_of(given.bias_table, "bias_table"),
                      .bias_parameters = span_of(given.bias_parameters, "bias_parameters"),
                      .key_table = span_of(given.key_table, "key_table"),
                      .value_table = span_of(given.value_table, "value_table"),
                      .u = span_of(given.u, "u"),
                      .v = span_of(given.v, "v"),
                      .w_r = span_of(given.w_r, "w_r")};
    locus::attend_backward(wanted);
  });
}

}  // extern "C"
