// SPDX-License-Identifier: Apache-2.0
// Position plans.
#include "convert.h"
#include "handles.h"
#include "locus/positions.h"

namespace locus::c {
namespace {

positions::Segment segment_of(const locus_segment& given) {
  if (given.tokens != 0) {
    require(given.frames == 0 && given.rows == 0 && given.cols == 0, "a segment is text (tokens) or vision (frames, ",
            "rows, cols), not both");
    return positions::Text{given.tokens};
  }
  return positions::Vision{given.frames, given.rows, given.cols, given.time_scale == 0 ? 1 : given.time_scale};
}

locus_plan* plan_of(PositionIds ids) { return new locus_plan{.ids = std::move(ids)}; }

locus_plan* plan_of(positions::Padded padded) {
  return new locus_plan{.ids = std::move(padded.ids), .mask = std::move(padded.mask)};
}

}  // namespace
}  // namespace locus::c

using namespace locus::c;
namespace positions = locus::positions;

extern "C" {

int locus_plan_prefill(int64_t tokens, int64_t start, locus_plan** out) {
  return give(out, [&] { return plan_of(positions::prefill(tokens, start)); });
}

int locus_plan_padded(locus_span_i64 lengths, int64_t width, int left, int64_t pad_id, locus_plan** out) {
  return give(out, [&] {
    const auto rows = span_of(lengths, "lengths");
    const auto slots = width == 0 ? std::optional<std::int64_t>() : width;
    return plan_of(left != 0 ? positions::left_padded(rows, slots, pad_id)
                             : positions::right_padded(rows, slots, pad_id));
  });
}

int locus_plan_from_mask(locus_span_u8 mask, int64_t batch, int64_t tokens, int64_t pad_id, locus_plan** out) {
  return give(out, [&] { return plan_of(positions::from_mask(span_of(mask, "mask"), batch, tokens, pad_id)); });
}

int locus_plan_packed(locus_span_i64 lengths, locus_plan** out) {
  return give(out, [&] { return plan_of(positions::packed(span_of(lengths, "lengths"))); });
}

int locus_plan_shard(int kind, int64_t tokens, int64_t ranks, int64_t rank, locus_plan** out) {
  return give(out, [&] {
    locus::require(kind >= 0 && kind <= LOCUS_ZIGZAG, "kind must be one of enum locus_shard, got ", kind);
    return plan_of(positions::shard(static_cast<positions::ShardKind>(kind), tokens, ranks, rank));
  });
}

int locus_plan_tree(locus_span_i64 parents, int64_t prefix, locus_plan** out) {
  return give(out, [&] {
    const auto nodes = span_of(parents, "parents");
    return new locus_plan{.ids = positions::tree(nodes, prefix), .mask = positions::ancestor_mask(nodes)};
  });
}

int locus_plan_streaming(int64_t seen, int64_t sinks, int64_t window, locus_plan** out) {
  return give(out, [&] {
    positions::Streaming plan = positions::streaming(seen, sinks, window);
    return new locus_plan{.ids = std::move(plan.ids), .kept = std::move(plan.kept)};
  });
}

int locus_plan_grid(int64_t rows, int64_t cols, int64_t merge, locus_plan** out) {
  return give(out, [&] { return plan_of(positions::grid(rows, cols, merge)); });
}

int locus_plan_multimodal(const locus_segment* segments, int64_t count, locus_plan** out) {
  return give(out, [&] {
    std::vector<positions::Segment> parts;
    for (const locus_segment& segment : span_of(segments, count, "segments")) parts.push_back(segment_of(segment));
    positions::Multimodal plan = positions::multimodal(parts);
    return new locus_plan{.ids = std::move(plan.ids), .decode_delta = plan.decode_delta};
  });
}

int locus_plan_get(const locus_plan* plan, locus_plan_view* view) {
  return guarded([&] {
    const locus_plan& from = valid(plan, "plan");
    at(view, "view") = {.ids = {from.ids.ids.data(), from.ids.axes, from.ids.batch, from.ids.tokens},
                        .mask = {from.mask.data(), static_cast<std::int64_t>(from.mask.size())},
                        .kept = {from.kept.data(), static_cast<std::int64_t>(from.kept.size())},
                        .decode_delta = from.decode_delta};
  });
}

void locus_plan_free(locus_plan* plan) { release(plan); }

}  // extern "C"
