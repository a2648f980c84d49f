// SPDX-License-Identifier: Apache-2.0
// Position plans.
#include "convert.h"
#include "handles.h"
#include "locus/document_shards.h"
#include "locus/positions.h"
#include "sized.h"

namespace locus::c {
namespace {

positions::Segment segment_of(const locus_segment& given) {
  const double time_scale = given.time_scale == 0 ? 1 : given.time_scale;
  if (given.tokens != 0 || given.sound != 0) {
    require(given.frames == 0 && given.rows == 0 && given.cols == 0,
            "a segment is text or sound (tokens) or vision (frames, rows, cols), not both");
    if (given.sound != 0) return positions::Audio{given.tokens, time_scale};
    return positions::Text{given.tokens};
  }
  return positions::Vision{given.frames, given.rows, given.cols, time_scale};
}

std::vector<positions::Segment> segments_of(const locus_segment* segments, std::int64_t count) {
  std::vector<positions::Segment> parts;
  for (const locus_segment& one : read_all_sized(segments, count, "segments")) parts.push_back(segment_of(one));
  return parts;
}

positions::MultimodalPrefix prefix_of(const locus_multimodal_prefix& prefix) {
  return {.tokens = prefix.tokens, .decode_delta = prefix.decode_delta};
}

positions::ShardKind kind_of(int kind) {
  require(kind >= 0 && kind <= LOCUS_ZIGZAG, "kind must be one of enum locus_shard, got ", kind);
  return static_cast<positions::ShardKind>(kind);
}

locus_plan* plan_of(PositionIds ids) { return new locus_plan{.ids = std::move(ids)}; }

locus_plan* plan_of(positions::Padded padded) {
  return new locus_plan{.ids = std::move(padded.ids), .mask = std::move(padded.mask)};
}

locus_plan* plan_of(positions::Multimodal plan) {
  return new locus_plan{.ids = std::move(plan.ids), .decode_delta = plan.decode_delta};
}

locus_span_i64 to_c(const std::vector<std::int64_t>& values) { return {values.data(), std::ssize(values)}; }

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
  return give(out, [&] { return plan_of(positions::shard(kind_of(kind), tokens, ranks, rank)); });
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
  return give(out, [&] { return plan_of(positions::multimodal(segments_of(segments, count))); });
}

int locus_plan_multimodal_after(locus_multimodal_prefix prefix, const locus_segment* segments, int64_t count,
                                locus_plan** out) {
  return give(out,
              [&] { return plan_of(positions::multimodal_after(prefix_of(prefix), segments_of(segments, count))); });
}

int locus_plan_multimodal_decode(locus_multimodal_prefix prefix, int64_t tokens, locus_plan** out) {
  return give(out, [&] { return plan_of(positions::multimodal_decode(prefix_of(prefix), tokens)); });
}

int locus_plan_multimodal_tree(locus_span_i64 parents, locus_multimodal_prefix prefix, locus_plan** out) {
  return give(out, [&] {
    const auto nodes = span_of(parents, "parents");
    return new locus_plan{.ids = positions::multimodal_tree(nodes, prefix_of(prefix)),
                          .mask = positions::ancestor_mask(nodes)};
  });
}

int locus_plan_chunk(const locus_plan* plan, int64_t first, int64_t tokens, locus_plan** out) {
  return give(out, [&] { return plan_of(positions::chunk(valid(plan, "plan").ids, first, tokens)); });
}

int locus_plan_accepted_path(locus_span_i64 parents, int64_t last, int64_t prefix, locus_plan** out) {
  return give(out, [&] {
    std::vector<std::int64_t> path = positions::accepted_path(span_of(parents, "parents"), last);
    locus::PositionIds ids = positions::prefill(std::ssize(path), prefix);
    return new locus_plan{.ids = std::move(ids), .kept = std::move(path)};
  });
}

int locus_plan_compressed(int64_t entries, int64_t rate, locus_plan** out) {
  return give(out, [&] {
    positions::Compressed plan = positions::compressed(entries, rate);
    return new locus_plan{.ids = std::move(plan.ids), .visible_from = std::move(plan.visible_from)};
  });
}

int locus_plan_document_shard(int kind, locus_span_i64 lengths, int64_t ranks, int64_t rank, int uneven,
                              locus_plan** out) {
  return give(out, [&] {
    const auto remainder = uneven != 0 ? positions::Remainder::uneven : positions::Remainder::padded;
    positions::DocumentShard shard =
        positions::document_shard(kind_of(kind), span_of(lengths, "lengths"), ranks, rank, remainder);
    return new locus_plan{.ids = std::move(shard.ids),
                          .mask = std::move(shard.mask),
                          .kept = std::move(shard.tokens),
                          .slots = std::move(shard.slots)};
  });
}

int locus_plan_cut(const locus_plan* plan, const locus_plan* shard, locus_plan** out) {
  return give(out, [&] {
    const locus_plan& from = valid(shard, "shard");
    locus::require(std::ssize(from.slots) == from.ids.tokens, "shard must be made by locus_plan_document_shard");
    positions::DocumentShard held;
    held.tokens = from.kept;  // all that cut() reads
    return plan_of(positions::cut(valid(plan, "plan").ids, held));
  });
}

int locus_plan_get(const locus_plan* plan, locus_plan_view* view) {
  return guarded([&] {
    const locus_plan& from = valid(plan, "plan");
    const locus_plan_view found = {.size = sizeof found,
                                   .ids = {from.ids.ids.data(), from.ids.axes, from.ids.batch, from.ids.tokens},
                                   .mask = {from.mask.data(), std::ssize(from.mask)},
                                   .kept = to_c(from.kept),
                                   .decode_delta = from.decode_delta,
                                   .visible_from = to_c(from.visible_from),
                                   .slots = to_c(from.slots)};
    write_sized(view, found, "view");
  });
}

void locus_plan_free(locus_plan* plan) { release(plan); }

}  // extern "C"
