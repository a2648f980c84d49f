// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/fault_model.h"

#include <algorithm>

namespace locus::doctor {

std::int64_t document_of(std::span<const std::int64_t> boundaries, std::int64_t token) {
  return std::upper_bound(boundaries.begin(), boundaries.end(), token) - boundaries.begin();
}

bool visible(const AskedCall& call, std::int64_t query, std::int64_t key) {
  const auto i = static_cast<std::size_t>(query), j = static_cast<std::size_t>(key);
  const Position distance = call.query_ids[i] - call.key_ids[j];
  if (call.causal && distance < 0) return false;
  if (call.window > 0 && std::abs(distance) >= call.window) return false;
  if (!call.key_mask.empty() && call.key_mask[j] == 0) return false;
  return document_of(call.query_boundaries, query) == document_of(call.key_boundaries, key);
}

std::span<const Condition> conditions() {
  static constexpr Condition all[] = {
      {"", [](const AskedCall&) { return true; }},
      {"in decode", [](const AskedCall& c) { return c.one_token(); }},
      {"in prefill", [](const AskedCall& c) { return c.first == 0 && !c.one_token(); }},
      {"after the first chunk", [](const AskedCall& c) { return c.cached > 0; }},
      {"in chunks after the first", [](const AskedCall& c) { return c.cached > 0 && !c.one_token(); }},
      {"where documents are packed", [](const AskedCall& c) { return !c.key_boundaries.empty(); }},
      {"where rows are padded", [](const AskedCall& c) { return !c.key_mask.empty(); }},
      {"after a fork", [](const AskedCall& c) { return c.forked; }},
      {"unless packed or padded", [](const AskedCall& c) { return c.key_boundaries.empty() && c.key_mask.empty(); }},
      {"in decode, unless packed or padded",
       [](const AskedCall& c) { return c.one_token() && c.key_boundaries.empty() && c.key_mask.empty(); }},
      {"unless in decode", [](const AskedCall& c) { return !c.one_token(); }},
      {"unless packed", [](const AskedCall& c) { return c.key_boundaries.empty(); }},
      {"unless padded", [](const AskedCall& c) { return c.key_mask.empty(); }},
  };
  return all;
}

const FaultModel& active(const FaultModel& model, const AskedCall& call) {
  static const FaultModel right;
  return model.when == nullptr || model.when->holds(call) ? model : right;
}

std::string of_tokens(std::int64_t count) { return "of " + std::to_string(count) + " tokens"; }

Models fault_models(const Encoding& encoding, bool attention) {
  Models all;
  const auto append = [&](Models more) {
    for (FaultModel& one : more) all.push_back(std::move(one));
  };
  append(declared_faults(encoding, attention));
  if (encoding.site() == Site::query_key) append(rotation_faults(encoding, attention));
  if (attention) append(score_faults(encoding));
  append(id_faults(encoding));
  if (encoding.site() == Site::query_key) append(precision_faults());
  if (attention) {
    append(mask_faults(encoding));
    append(window_faults());
    append(head_faults());
    append(cache_faults());
    append(softmax_faults(encoding));
  }
  return all;
}

}  // namespace locus::doctor
