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

/// The number of ids from the first frame to this one.
std::int64_t elapsed(const Vision& vision, std::int64_t frame) {
  constexpr double limit = 0x1p62;  // far below the overflow of the conversion
  const double ids = std::floor(static_cast<double>(frame) * vision.time_scale);
  require(ids < limit, "multimodal ids must fit into 64 bits, got frame ", frame, " x time_scale ", vision.time_scale);
  return static_cast<std::int64_t>(ids);
}

/// Appends tokens to the three axes; `next` is the largest id so far + 1.
class Writer {
 public:
  explicit Writer(PositionIds& ids) : ids_(ids) {}

  void operator()(const Text& text) {
    const Position first = next_;
    next_ = checked_sum(subject, first, text.tokens);
    for (Position id = first; id < next_; ++id) put(id, id, id);
  }

  void operator()(const Vision& vision) {
    const Position first = next_;
    const std::int64_t extent = std::max({elapsed(vision, vision.frames - 1) + 1, vision.rows, vision.cols});
    next_ = checked_sum(subject, first, extent);
    for (std::int64_t frame = 0; frame < vision.frames; ++frame) {
      const Position time = first + elapsed(vision, frame);
      for (std::int64_t row = 0; row < vision.rows; ++row) {
        for (std::int64_t col = 0; col < vision.cols; ++col) put(time, first + row, first + col);
      }
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
  Position next_ = 0;
};

}  // namespace

Multimodal multimodal(std::span<const Segment> segments) {
  std::int64_t tokens = 0;
  for (const Segment& segment : segments) {
    tokens = checked_sum(subject, tokens, std::visit([](const auto& part) { return count(part); }, segment));
  }
  Multimodal result{make_ids(subject, 3, 1, tokens)};
  Writer writer(result.ids);
  for (const Segment& segment : segments) std::visit(writer, segment);
  result.decode_delta = writer.next() - tokens;
  return result;
}

}  // namespace locus::positions
