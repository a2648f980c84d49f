// SPDX-License-Identifier: Apache-2.0
// M-RoPE ids for text with images. Text, an image of 2 x 3 tokens, text:
//   time   0 1 | 2 2 2 2 2 2 | 5 6
//   height 0 1 | 2 2 2 3 3 3 | 5 6
//   width  0 1 | 2 3 4 2 3 4 | 5 6        largest id 6, 10 tokens: decode_delta = 7 - 10 = -3
// Deviations of transformers: 4.x multiplies second_per_grid_t in float32, later also without its fraction, so a time
// id may differ; 5.x continues at p + max(rows, cols) after a video, even if its time ids reach further.
#include <algorithm>
#include <cmath>

#include "positions/checks.h"

namespace locus::positions {

namespace {

constexpr std::string_view subject = "multimodal";

std::int64_t count(const Text& text) {
  require_at_least("multimodal.text.tokens", text.tokens, 0);
  return text.tokens;
}

std::int64_t count(const Vision& vision) {
  require_at_least("multimodal.vision.frames", vision.frames, 1);
  require_at_least("multimodal.vision.rows", vision.rows, 1);
  require_at_least("multimodal.vision.cols", vision.cols, 1);
  require(std::isfinite(vision.time_scale) && vision.time_scale >= 0,
          "multimodal.vision.time_scale must be finite and at least 0, got ", vision.time_scale);
  return checked_count(subject, checked_count(subject, vision.frames, vision.rows), vision.cols);
}

std::int64_t count(const Audio& audio) {
  require_at_least("multimodal.audio.tokens", audio.tokens, 0);
  require(std::isfinite(audio.time_scale) && audio.time_scale >= 0,
          "multimodal.audio.time_scale must be finite and at least 0, got ", audio.time_scale);
  return audio.tokens;
}

/// The number of ids from the first frame to this one.
std::int64_t elapsed(double time_scale, std::int64_t frame) {
  constexpr double limit = 0x1p62;  // far below the overflow of the conversion
  const double ids = std::floor(static_cast<double>(frame) * time_scale);
  require(ids < limit, "multimodal ids must fit into 64 bits, got frame ", frame, " x time_scale ", time_scale);
  return static_cast<std::int64_t>(ids);
}

/// Appends tokens to the three axes; `next` is the largest id so far + 1.
class Writer {
 public:
  Writer(PositionIds& ids, Position first) : ids_(ids), next_(first) {}

  void operator()(const Text& text) {
    const Position first = next_;
    next_ = checked_sum(subject, first, text.tokens);
    for (Position id = first; id < next_; ++id) put(id, id, id);
  }

  void operator()(const Vision& vision) {
    const Position first = next_;
    const std::int64_t extent = std::max({elapsed(vision.time_scale, vision.frames - 1) + 1, vision.rows, vision.cols});
    next_ = checked_sum(subject, first, extent);
    for (std::int64_t frame = 0; frame < vision.frames; ++frame) {
      const Position time = first + elapsed(vision.time_scale, frame);
      for (std::int64_t row = 0; row < vision.rows; ++row) {
        for (std::int64_t col = 0; col < vision.cols; ++col) put(time, first + row, first + col);
      }
    }
  }

  void operator()(const Audio& audio) {
    if (audio.tokens == 0) return;
    const Position first = next_;
    next_ = checked_sum(subject, first, elapsed(audio.time_scale, audio.tokens - 1) + 1);
    for (std::int64_t token = 0; token < audio.tokens; ++token) {
      const Position id = first + elapsed(audio.time_scale, token);
      put(id, id, id);
    }
  }

  Position next() const { return next_; }

 private:
  void put(Position time, Position height, Position width) {
    const auto tokens = static_cast<std::size_t>(ids_.tokens);
    ids_.ids[written_] = time;
    ids_.ids[tokens + written_] = height;
    ids_.ids[2 * tokens + written_] = width;
    ++written_;
  }

  PositionIds& ids_;
  std::size_t written_ = 0;
  Position next_;
};

}  // namespace

namespace {

/// The id of the first token after the prefix.
Position next_id(const MultimodalPrefix& prefix) {
  require_at_least("multimodal.prefix.tokens", prefix.tokens, 0);
  const Position next = prefix.decode_delta < 0 ? prefix.tokens + prefix.decode_delta
                                                : checked_sum(subject, prefix.tokens, prefix.decode_delta);
  require(next >= 0, "multimodal.prefix.decode_delta must be at least -tokens (", -prefix.tokens, "), got ",
          prefix.decode_delta);
  return next;
}

PositionIds on_three_axes(const PositionIds& one) {
  PositionIds ids = make_ids(subject, 3, 1, one.tokens);
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    std::copy(one.ids.begin(), one.ids.end(), ids.ids.begin() + axis * one.tokens);
  }
  return ids;
}

}  // namespace

Multimodal multimodal(std::span<const Segment> segments) { return multimodal_after({}, segments); }

Multimodal multimodal_after(const MultimodalPrefix& prefix, std::span<const Segment> segments) {
  std::int64_t tokens = 0;
  for (const Segment& segment : segments) {
    tokens = checked_sum(subject, tokens, std::visit([](const auto& part) { return count(part); }, segment));
  }
  Multimodal result{make_ids(subject, 3, 1, tokens)};
  Writer writer(result.ids, next_id(prefix));
  for (const Segment& segment : segments) std::visit(writer, segment);
  result.decode_delta = writer.next() - checked_sum(subject, prefix.tokens, tokens);
  return result;
}

PositionIds multimodal_decode(const MultimodalPrefix& prefix, std::int64_t tokens) {
  return on_three_axes(prefill(tokens, next_id(prefix)));
}

PositionIds multimodal_tree(std::span<const std::int64_t> parents, const MultimodalPrefix& prefix) {
  return on_three_axes(tree(parents, next_id(prefix)));
}

PositionIds chunk(const PositionIds& plan, std::int64_t first, std::int64_t tokens) {
  require_at_least("chunk.first", first, 0);
  require_at_least("chunk.tokens", tokens, 0);
  require(first <= plan.tokens && tokens <= plan.tokens - first, "chunk must lie within the ", plan.tokens,
          " tokens of its plan, got ", first, " + ", tokens);
  PositionIds part = make_ids("chunk", plan.axes, plan.batch, tokens);
  for (std::int64_t row = 0; row < plan.axes * plan.batch; ++row) {
    std::copy_n(plan.ids.begin() + row * plan.tokens + first, tokens, part.ids.begin() + row * tokens);
  }
  return part;
}

}  // namespace locus::positions
