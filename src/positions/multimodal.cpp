// SPDX-License-Identifier: Apache-2.0
// M-RoPE ids for text with images. Text, an image of 2 x 3 tokens, text:
//   time   0 1 | 2 2 2 2 2 2 | 5 6
//   height 0 1 | 2 2 2 3 3 3 | 5 6
//   width  0 1 | 2 3 4 2 3 4 | 5 6        largest id 6, 10 tokens: decode_delta = 7 - 10 = -3
// Video and sound: 4 frames of one token and 6 tokens of sound, a frame lasts 2 ids, chunks of 4 ids:
//   time   0 0 | 1 3 | 1 2 3 4 | 5 7 | 5 6 | 7 7      two tokens begin it, two end it; the largest id is 7
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

std::int64_t count(const VideoWithSound& both) {
  require_at_least("multimodal.audio.tokens", both.audio.tokens, 1);
  require_at_least("multimodal.ids_per_chunk", both.ids_per_chunk, 1);
  constexpr std::int64_t marks = 4;
  return checked_sum(subject, checked_sum(subject, count(both.video), count(both.audio)), marks);
}

/// The number of ids from the first frame to this one.
std::int64_t elapsed(double time_scale, std::int64_t frame) {
  constexpr double limit = 0x1p62;  // far below the overflow of the conversion
  const double ids = std::floor(static_cast<double>(frame) * time_scale);
  require(ids < limit, "multimodal ids must fit into 64 bits, got frame ", frame, " x time_scale ", time_scale);
  return static_cast<std::int64_t>(ids);
}

/// Where pieces of at most ids_per_chunk ids end, for tokens at these times. As in transformers' get_chunked_index, a
/// token ends one piece at most: after a jump over several, the next tokens have pieces of one token.
std::vector<std::int64_t> piece_ends(const std::vector<std::int64_t>& times, std::int64_t ids_per_chunk) {
  std::vector<std::int64_t> ends;
  for (std::size_t token = 0; token < times.size(); ++token) {
    const auto pieces = static_cast<std::int64_t>(ends.size()) + 1;
    if (times[token] / ids_per_chunk >= pieces) ends.push_back(static_cast<std::int64_t>(token));
  }
  ends.push_back(std::ssize(times));
  return ends;
}

/// Appends tokens to the three axes; `next` is the id after the last segment.
class Writer {
 public:
  Writer(PositionIds& ids, Position first) : ids_(ids), next_(first), after_largest_(first) {}

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

  void operator()(const VideoWithSound& both) {
    put_twice(next_);
    const Position first = checked_sum(subject, next_, 1);
    const Vision& video = both.video;
    const std::int64_t cells = video.rows * video.cols;
    std::vector<std::int64_t> seen, heard;  // times
    for (std::int64_t token = 0; token < video.frames * cells; ++token) {
      seen.push_back(elapsed(video.time_scale, token / cells));
    }
    for (std::int64_t token = 0; token < both.audio.tokens; ++token) {
      heard.push_back(elapsed(both.audio.time_scale, token));
    }
    checked_sum(subject, first, std::max(seen.back(), heard.back()) + 2);  // no id overflows
    const auto frames = piece_ends(seen, both.ids_per_chunk), sounds = piece_ends(heard, both.ids_per_chunk);
    for (std::size_t piece = 0; piece < std::max(frames.size(), sounds.size()); ++piece) {
      const auto tokens = [&](const std::vector<std::int64_t>& ends, const auto& token_at) {
        if (piece >= ends.size()) return;
        next_ = first;
        for (std::int64_t token = piece == 0 ? 0 : ends[piece - 1]; token < ends[piece]; ++token) token_at(token);
      };
      tokens(frames, [&](std::int64_t token) {
        put(first + seen[static_cast<std::size_t>(token)], first + token % cells / video.cols,
            first + token % video.cols);
      });
      tokens(sounds, [&](std::int64_t token) {
        const Position id = first + heard[static_cast<std::size_t>(token)];
        put(id, id, id);
      });
    }
    put_twice(next_);
    ++next_;
  }

  /// The id after the largest of all.
  Position after_largest() const { return after_largest_; }

 private:
  void put(Position time, Position height, Position width) {
    const auto tokens = static_cast<std::size_t>(ids_.tokens);
    ids_.ids[written_] = time;
    ids_.ids[tokens + written_] = height;
    ids_.ids[2 * tokens + written_] = width;
    ++written_;
    next_ = std::max({next_, time + 1, height + 1, width + 1});
    after_largest_ = std::max(after_largest_, next_);
  }

  // The tokens that begin or end picture and sound share an id, which next_ stays at.
  void put_twice(Position id) {
    put(id, id, id);
    put(id, id, id);
    next_ = id;
  }

  PositionIds& ids_;
  std::size_t written_ = 0;
  Position next_, after_largest_;
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
  result.decode_delta = writer.after_largest() - checked_sum(subject, prefix.tokens, tokens);
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
