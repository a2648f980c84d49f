// SPDX-License-Identifier: Apache-2.0
// Passes our kernels to the verifier of user functions, for ids and shapes that equivalences do not cover.
#include "locus/attention.h"
#include "locus/doctor/equivalences.h"
#include "locus/doctor/verify_callable.h"
#include "locus/rotate.h"

namespace locus {
namespace {

void rotate_by_kernel(const Encoding& encoding, const RotateRequest& request) {
  const std::vector<std::int64_t> extents{request.tokens, request.heads, request.head_dim};
  rotate(encoding, heads_view(request.data.data(), ElementType::float32, "thd", extents),
         {encoding.rotation().axes, 1, request.tokens, {request.ids.begin(), request.ids.end()}}, request.role);
}

void attend_by_kernel(const Encoding& encoding, const AttendRequest& request) {
  std::vector<float> q(request.query.begin(), request.query.end()), k(request.key.begin(), request.key.end()),
      v(request.value.begin(), request.value.end());
  const std::vector<std::int64_t> query{request.queries, request.heads, request.head_dim};
  const std::vector<std::int64_t> key{request.keys, request.key_heads, request.head_dim};
  AttentionCall call{.query = heads_view(q.data(), ElementType::float32, "thd", query),
                     .key = heads_view(k.data(), ElementType::float32, "thd", key),
                     .value = heads_view(v.data(), ElementType::float32, "thd", key),
                     .output = heads_view(request.output.data(), ElementType::float32, "thd", query)};
  if (encoding.site() == Site::query_key) {
    rotate(encoding, call.query, {1, 1, request.queries, {request.query_ids.begin(), request.query_ids.end()}},
           Role::query);
    rotate(encoding, call.key, {1, 1, request.keys, {request.key_ids.begin(), request.key_ids.end()}}, Role::key);
  }
  call.encoding = &encoding;
  call.query_ids = request.query_ids;
  call.key_ids = request.key_ids;
  call.query_boundaries = request.query_boundaries;
  call.key_boundaries = request.key_boundaries;
  call.mask.causal = request.causal;
  call.mask.window = request.window;
  call.mask.keys = request.key_mask;
  attend(call);
}

}  // namespace

std::vector<Check> verify_reach(const Encoding& encoding, const EquivalenceOptions& options) {
  const VerifyOptions asked{.seed = options.seed, .thorough = options.thorough};
  std::vector<Check> all;
  const auto append = [&](const std::string& what, std::vector<Check> checks) {
    for (Check& check : checks) {
      check.name = what + ": " + check.name;
      all.push_back(std::move(check));
    }
  };
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  if (rotation != nullptr) {
    append("rotate", verify_rotate(
                         encoding, [&](const RotateRequest& request) { rotate_by_kernel(encoding, request); }, asked));
  }
  const auto* bias = std::get_if<ScoreBias>(&encoding.term());
  const bool brings = bias != nullptr && bias->token_numbers > 0;  // which a function of q, k, v and ids does not get
  const auto* keys = std::get_if<RelativeKeys>(&encoding.term());
  const bool counts = keys != nullptr && keys->counted;  // its scores are no sums over pairs
  if (encoding.site() != Site::hidden && (rotation == nullptr || rotation->axes == 1) && !brings && !counts) {
    append("attend", verify_attend(
                         encoding, [&](const AttendRequest& request) { attend_by_kernel(encoding, request); }, asked));
  }
  return all;
}

}  // namespace locus
