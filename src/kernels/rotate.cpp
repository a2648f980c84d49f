// SPDX-License-Identifier: Apache-2.0
#include "locus/rotate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/rotate_simd.h"
#include "kernels/row_source.h"
#include "locus/error.h"
#include "locus/rows.h"

namespace locus {
namespace {

// Less work than this per thread is not worth waking one.
constexpr std::int64_t bytes_per_thread = std::int64_t{1} << 18;

// Time, height, width, and one to spare; an encoding has no more.
constexpr std::size_t max_axes = 4;

struct Layout {
  bool interleaved_in;
  bool interleaved_out;
};

// The inverse of a rotation that de-interleaves takes [evens | odds] and gives pairs back.
Layout layout_of(const Rotation& rotation, Direction direction) {
  const bool interleaved = rotation.pairing == Pairing::interleaved;
  const bool other = interleaved && !rotation.deinterleaved_output;
  return direction == Direction::forward ? Layout{interleaved, other} : Layout{other, interleaved};
}

std::byte* at(const HeadsView& view, std::int64_t batch, std::int64_t token, std::int64_t head, std::int64_t offset) {
  const std::int64_t index = batch * view.batch_stride + token * view.token_stride + head * view.head_stride + offset;
  return static_cast<std::byte*>(view.data) + index * static_cast<std::int64_t>(size_of(view.type));
}

std::int64_t bytes_per_token(const HeadsView& view) {
  return view.heads * view.head_dim * static_cast<std::int64_t>(size_of(view.type));
}

void check_ids(const HeadsView& view, const Rotation& rotation, const PositionIds& ids) {
  require(view.batch >= 0 && view.tokens >= 0 && view.heads >= 0, "rotate: extents must not be negative");
  require(view.head_dim == rotation.head_dim, "rotate: the encoding has head_dim ", rotation.head_dim, ", the tensor ",
          view.head_dim);
  require(ids.axes == rotation.axes, "rotate: the encoding needs ", rotation.axes,
          " axes of position ids (time, height, width ...), got ", ids.axes);
  require(ids.batch == 1 || ids.batch == view.batch, "rotate: position ids must have 1 or ", view.batch,
          " batch rows, got ", ids.batch);
  require(ids.tokens == view.tokens, "rotate: the tensor has ", view.tokens, " tokens, the position ids ", ids.tokens);
  require(static_cast<std::int64_t>(ids.ids.size()) == ids.axes * ids.batch * ids.tokens, "rotate: position ids have ",
          ids.ids.size(), " values, their shape asks for ", ids.axes * ids.batch * ids.tokens);
}

void check_pair(const HeadsView& input, const HeadsView& output) {
  require(input.type == output.type, "rotate: input and output must have the same type, got ", name_of(input.type),
          " and ", name_of(output.type));
  require(input.batch == output.batch && input.heads == output.heads && input.head_dim == output.head_dim,
          "rotate: input and output must have the same batch, heads and head_dim");
}

void copy_rest(const HeadsView& input, const HeadsView& output, const Rotation& rotation, std::int64_t batch,
               std::int64_t from, std::int64_t to) {
  const std::size_t size = size_of(input.type);
  const std::int64_t end = rotation.rotary_offset + rotation.rotary_dim;
  const auto before = static_cast<std::size_t>(rotation.rotary_offset) * size;
  const auto after = static_cast<std::size_t>(rotation.head_dim - end) * size;
  if (before + after == 0) return;
  for (std::int64_t head = 0; head < input.heads; ++head) {
    std::memcpy(at(output, batch, to, head, 0), at(input, batch, from, head, 0), before);
    std::memcpy(at(output, batch, to, head, end), at(input, batch, from, head, end), after);
  }
}

void rotate_token_double(const RotateTokens& token, const Layout& layout, const double* cos, const double* sin,
                         bool inverse) {
  const auto* in = static_cast<const double*>(token.in);
  auto* out = static_cast<double*>(token.out);
  for (std::size_t h = 0; h < token.heads; ++h, in += token.in_head_stride, out += token.out_head_stride) {
    for (std::size_t i = 0; i < token.pairs; ++i) {
      const double x = in[layout.interleaved_in ? 2 * i : i];
      const double y = in[layout.interleaved_in ? 2 * i + 1 : token.pairs + i];
      const double s = inverse ? -sin[i] : sin[i];
      out[layout.interleaved_out ? 2 * i : i] = x * cos[i] - y * s;
      out[layout.interleaved_out ? 2 * i + 1 : token.pairs + i] = x * s + y * cos[i];
    }
  }
}

// Hands tokens to the kernel with their rows: runs of tokens whose rows are in the encoding's table, others one at a
// time. A head that changes its layout in place goes through scratch. One per thread.
class TokenRotator {
 public:
  TokenRotator(const Encoding& encoding, Role role, Direction direction, const HeadsView& input,
               const HeadsView& output)
      : rotation_(encoding.rotation()),
        role_(role),
        inverse_(direction == Direction::inverse),
        input_(input),
        output_(output),
        layout_(layout_of(rotation_, direction)),
        pairs_(static_cast<std::size_t>(rotation_.pairs())),
        rows_(encoding, role) {
    const bool in_place = input.data == output.data;
    if (in_place && layout_.interleaved_in != layout_.interleaved_out) {
      scratch_.resize(slice_bytes() * static_cast<std::size_t>(input.heads));
    }
    if (input.type == ElementType::float64) {
      double_row_.resize(2 * pairs_);
    } else {
      turn_ = rotate_tokens_function({input.type, layout_.interleaved_in, layout_.interleaved_out, inverse_});
      spread_.resize(2 * pairs_);
    }
    tokens_ = {.in_token_stride = input.token_stride,
               .out_token_stride = output.token_stride,
               .in_head_stride = input.head_stride,
               .out_head_stride = output.head_stride,
               .heads = static_cast<std::size_t>(input.heads),
               .pairs = pairs_,
               .rows = run_.data(),
               .spread = spread_.data()};
    runs_ = turn_ != nullptr && scratch_.empty() && (in_place || rotation_.rotary_dim == rotation_.head_dim);
  }

  /// Token `from` of the input becomes token `to` of the output.
  void rotate(std::span<const Position> ids, std::int64_t batch, std::int64_t from, std::int64_t to) {
    tokens_.in = at(input_, batch, from, 0, rotation_.rotary_offset);
    tokens_.out = at(output_, batch, to, 0, rotation_.rotary_offset);
    tokens_.tokens = 1;
    if (!scratch_.empty()) move_to_scratch(batch, from);
    if (turn_ == nullptr) {
      const auto cos = std::span(double_row_).first(pairs_);
      const auto sin = std::span(double_row_).last(pairs_);
      rotation_row(rotation_, role_, ids, cos, sin);
      rotate_token_double(tokens_, layout_, cos.data(), sin.data(), inverse_);
    } else {
      run_[0] = rows_.row(ids);
      turn_(tokens_);
    }
    if (input_.data != output_.data) copy_rest(input_, output_, rotation_, batch, from, to);
  }

  /// Turns as many tokens from `token` on as have rows in the table; `ids` are those of the batch row from there.
  std::int64_t rotate_run(std::span<const Position> ids, std::int64_t batch, std::int64_t token) {
    if (!runs_) return 0;
    const std::size_t count = rows_.kept_rows(ids.first(std::min(ids.size(), run_.size())), run_);
    if (count == 0) return 0;
    tokens_.in = at(input_, batch, token, 0, rotation_.rotary_offset);
    tokens_.out = at(output_, batch, token, 0, rotation_.rotary_offset);
    tokens_.tokens = count;
    turn_(tokens_);
    return static_cast<std::int64_t>(count);
  }

 private:
  std::size_t slice_bytes() const { return 2 * pairs_ * size_of(input_.type); }

  void move_to_scratch(std::int64_t batch, std::int64_t from) {
    for (std::int64_t head = 0; head < input_.heads; ++head) {
      std::memcpy(scratch_.data() + static_cast<std::size_t>(head) * slice_bytes(),
                  at(input_, batch, from, head, rotation_.rotary_offset), slice_bytes());
    }
    tokens_.in = scratch_.data();
    tokens_.in_head_stride = static_cast<std::ptrdiff_t>(2 * pairs_);
  }

  const Rotation& rotation_;
  Role role_;
  bool inverse_;
  const HeadsView& input_;
  const HeadsView& output_;
  Layout layout_;
  std::size_t pairs_;
  RowSource rows_;
  RotateTokensFunction turn_ = nullptr;
  bool runs_ = false;  // several tokens may go to the kernel at once
  std::vector<std::byte> scratch_;
  std::vector<double> double_row_;
  std::vector<float> spread_;
  std::array<const float*, 32> run_{};
  RotateTokens tokens_;
};

// Calls `token(batch, token, ids of that token)` for a range of batch x tokens; where `run(batch, token, ids from there
// on)` says that it took some, these are passed over. Runs need ids of one axis.
template <class Run, class Function>
void for_tokens(const PositionIds& ids, std::int64_t begin, std::int64_t end, const Run& run, const Function& token) {
  const std::int64_t axis_stride = ids.batch * ids.tokens;
  std::array<Position, max_axes> place{};
  const std::span<const Position> places = std::span(place).first(static_cast<std::size_t>(ids.axes));
  while (begin < end) {
    const std::int64_t batch = begin / ids.tokens;
    const std::int64_t first = begin % ids.tokens;
    const std::int64_t last = std::min(ids.tokens, first + end - begin);  // of this batch row
    const std::int64_t row = ids.batch == 1 ? 0 : batch * ids.tokens;
    for (std::int64_t t = first; t < last;) {
      const std::int64_t index = row + t;
      if (ids.axes == 1) {
        const std::int64_t taken = run(
            batch, t, std::span(ids.ids).subspan(static_cast<std::size_t>(index), static_cast<std::size_t>(last - t)));
        t += taken;
        if (taken > 0) continue;
      }
      for (std::int64_t axis = 0; axis < ids.axes; ++axis) {
        place[static_cast<std::size_t>(axis)] = ids.ids[static_cast<std::size_t>(axis * axis_stride + index)];
      }
      token(batch, t, places);
      ++t;
    }
    begin += last - first;
  }
}

constexpr auto no_runs = [](std::int64_t, std::int64_t, std::span<const Position>) { return std::int64_t{0}; };

std::int64_t grain_of(std::int64_t token_bytes) {
  return std::max<std::int64_t>(1, bytes_per_thread / std::max<std::int64_t>(token_bytes, 1));
}

}  // namespace

HeadsView heads_view(void* data, ElementType type, std::string_view axes, std::span<const std::int64_t> extents) {
  constexpr std::string_view known[] = {"bthd", "bhtd", "thd", "htd", "td"};
  bool found = false;
  for (const std::string_view name : known) found = found || name == axes;
  require(found, "axes must be bthd, bhtd, thd, htd or td, got ", axes);
  require(extents.size() == axes.size(), "axes ", axes, " name ", axes.size(), " extents, the tensor has ",
          extents.size());
  HeadsView view{.data = data, .type = type};
  std::int64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    switch (axes[i]) {
      case 'd':
        view.head_dim = extents[i];
        break;
      case 'h':
        view.heads = extents[i];
        view.head_stride = stride;
        break;
      case 't':
        view.tokens = extents[i];
        view.token_stride = stride;
        break;
      default:
        view.batch = extents[i];
        view.batch_stride = stride;
        break;
    }
    stride *= extents[i];
  }
  return view;
}

void rotate(const Encoding& encoding, const HeadsView& input, const HeadsView& output, const PositionIds& ids,
            Role role, Direction direction, Executor* executor) {
  check_pair(input, output);
  require(input.tokens == output.tokens, "rotate: input and output must have the same number of tokens, got ",
          input.tokens, " and ", output.tokens);
  check_ids(input, encoding.rotation(), ids);
  encoding.check_positions(ids.ids);
  for_ranges(executor, input.batch * input.tokens, grain_of(bytes_per_token(input)),
             [&](std::int64_t begin, std::int64_t end) {
               TokenRotator rotator(encoding, role, direction, input, output);
               const auto run = [&](std::int64_t batch, std::int64_t t, std::span<const Position> from) {
                 return rotator.rotate_run(from, batch, t);
               };
               for_tokens(ids, begin, end, run,
                          [&](std::int64_t batch, std::int64_t t, std::span<const Position> place) {
                            rotator.rotate(place, batch, t, t);
                          });
             });
}

void rotate(const Encoding& encoding, const HeadsView& view, const PositionIds& ids, Role role, Direction direction,
            Executor* executor) {
  rotate(encoding, view, view, ids, role, direction, executor);
}

void rotate_query_key(const Encoding& encoding, const HeadsView& query, const HeadsView& key, const PositionIds& ids,
                      Direction direction, Executor* executor) {
  check_ids(query, encoding.rotation(), ids);
  check_ids(key, encoding.rotation(), ids);
  require(query.batch == key.batch, "rotate: queries and keys must have the same batch, got ", query.batch, " and ",
          key.batch);
  encoding.check_positions(ids.ids);
  for_ranges(executor, query.batch * query.tokens, grain_of(bytes_per_token(query) + bytes_per_token(key)),
             [&](std::int64_t begin, std::int64_t end) {
               TokenRotator queries(encoding, Role::query, direction, query, query);
               TokenRotator keys(encoding, Role::key, direction, key, key);
               for_tokens(ids, begin, end, no_runs,
                          [&](std::int64_t batch, std::int64_t t, std::span<const Position> place) {
                            queries.rotate(place, batch, t, t);
                            keys.rotate(place, batch, t, t);
                          });
             });
}

void rotate_into(const Encoding& encoding, const HeadsView& input, const HeadsView& cache,
                 std::span<const std::int64_t> slots, const PositionIds& ids, Role role, Executor* executor) {
  check_pair(input, cache);
  require(input.data != cache.data, "rotate_into: the cache must not be the input");
  require(static_cast<std::int64_t>(slots.size()) == input.tokens, "rotate_into: there are ", slots.size(),
          " slots for ", input.tokens, " tokens");
  for (const std::int64_t slot : slots) {
    require(slot >= 0 && slot < cache.tokens, "rotate_into: slots must be from 0 to ", cache.tokens - 1, ", got ",
            slot);
  }
  check_ids(input, encoding.rotation(), ids);
  encoding.check_positions(ids.ids);
  for_ranges(executor, input.batch * input.tokens, grain_of(bytes_per_token(input)),
             [&](std::int64_t begin, std::int64_t end) {
               TokenRotator rotator(encoding, role, Direction::forward, input, cache);
               for_tokens(ids, begin, end, no_runs,
                          [&](std::int64_t batch, std::int64_t t, std::span<const Position> place) {
                            rotator.rotate(place, batch, t, slots[static_cast<std::size_t>(t)]);
                          });
             });
}

namespace {

// The rotation that moves a rotated key: no magnitude, no centre, and the order that the keys came out in.
class Shifter {
 public:
  Shifter(const Encoding& encoding, Role role) : role_(role), rotation_(encoding.rotation()) {
    require(rotation_.map.kind == PositionMap::Kind::direct, "shift: the ids of this encoding name places of a grid");
    if (rotation_.deinterleaved_output) rotation_.pairing = Pairing::half;
    rotation_.deinterleaved_output = false;
    rotation_.magnitude = 1;
    rotation_.profile = Profile::exact;
    rotation_.table_type = ElementType::float32;
    if (rotation_.scale) rotation_.scale->centre = 0;
    row_.resize(2 * static_cast<std::size_t>(rotation_.pairs()));
  }
  const Rotation& rotation() const { return rotation_; }
  const float* row(std::span<const Position> deltas) {
    const auto pairs = static_cast<std::size_t>(rotation_.pairs());
    rotation_row(rotation_, role_, deltas, std::span(row_).first(pairs), std::span(row_).last(pairs));
    return row_.data();
  }

 private:
  Role role_;
  Rotation rotation_;
  std::vector<float> row_;
};

// A delta scales a key like a position that far from the centre, and its scale must stay inside float32 as well.
Position largest_delta(const Encoding& encoding) {
  const auto& scale = encoding.rotation().scale;
  if (!scale) return max_position;
  const PositionRange range = encoding.position_range();
  return std::min(max_position, std::max(range.last - scale->centre, scale->centre - range.first));
}

}  // namespace

void shift(const Encoding& encoding, const HeadsView& view, const PositionIds& deltas, Role role, Executor* executor) {
  check_ids(view, encoding.rotation(), deltas);
  const Position most = largest_delta(encoding);
  for (const Position delta : deltas.ids) {
    require(delta >= -most && delta <= most, "shift: deltas must be within +-", most, ", got ", delta);
  }
  for_ranges(
      executor, view.batch * view.tokens, grain_of(bytes_per_token(view)), [&](std::int64_t begin, std::int64_t end) {
        Shifter shifter(encoding, role);
        const Rotation& rotation = shifter.rotation();
        const bool interleaved = rotation.pairing == Pairing::interleaved;
        const bool wide = view.type == ElementType::float64;
        const auto pairs = static_cast<std::size_t>(rotation.pairs());
        std::vector<float> spread(2 * pairs);
        std::vector<double> row(2 * pairs);
        for_tokens(deltas, begin, end, no_runs, [&](std::int64_t batch, std::int64_t t, std::span<const Position> by) {
          std::byte* data = at(view, batch, t, 0, rotation.rotary_offset);
          RotateTokens token{.in = data,
                             .out = data,
                             .in_head_stride = view.head_stride,
                             .out_head_stride = view.head_stride,
                             .heads = static_cast<std::size_t>(view.heads),
                             .pairs = pairs,
                             .spread = spread.data()};
          if (wide) {
            rotation_row(rotation, role, by, std::span(row).first(pairs), std::span(row).last(pairs));
            rotate_token_double(token, {interleaved, interleaved}, row.data(), row.data() + pairs, false);
            return;
          }
          const float* turned_by = shifter.row(by);
          token.rows = &turned_by;
          rotate_tokens_function({view.type, interleaved, interleaved, false})(token);
        });
      });
}

}  // namespace locus
