// SPDX-License-Identifier: Apache-2.0
#include "locus/rotate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/head_rows.h"
#include "kernels/row_source.h"
#include "kernels/token_access.h"
#include "locus/error.h"
#include "locus/polar.h"
#include "locus/rows.h"

namespace locus {
namespace {

// The inverse of a rotation that de-interleaves takes [evens | odds] and returns interleaved pairs.
Layout layout_of(const Rotation& rotation, Direction direction) {
  const bool interleaved = rotation.pairing == Pairing::interleaved;
  const bool other = interleaved && !rotation.deinterleaved_output;
  return direction == Direction::forward ? Layout{interleaved, other} : Layout{other, interleaved};
}

void check_pair(const HeadsView& input, const HeadsView& output) {
  require(input.type == output.type, "rotate: input and output must have the same type, got ", name_of(input.type),
          " and ", name_of(output.type));
  require(input.batch == output.batch && input.heads == output.heads && input.head_dim == output.head_dim,
          "rotate: input and output must have the same batch, heads and head_dim");
}

// Two tokens in one slot would overwrite each other. Slots usually rise, which is quick to check.
void check_slots(std::span<const std::int64_t> slots, std::int64_t capacity) {
  bool rising = true;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    require(slots[i] >= 0 && slots[i] < capacity, "rotate_into: slots must be from 0 to ", capacity - 1, ", got ",
            slots[i]);
    rising = rising && (i == 0 || slots[i] > slots[i - 1]);
  }
  if (rising) return;
  std::vector<std::int64_t> sorted(slots.begin(), slots.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  require(twice == sorted.end(), "rotate_into: slots must be distinct, got ", twice == sorted.end() ? 0 : *twice,
          " twice");
}

// One token of the input and its place in the output.
struct TokenPlace {
  std::int64_t batch, from, to;
};

void copy_rest(const HeadsView& input, const HeadsView& output, const Rotation& rotation, const TokenPlace& place) {
  const std::size_t size = size_of(input.type);
  const std::int64_t end = rotation.rotary_offset + rotation.rotary_dim;
  const auto before = static_cast<std::size_t>(rotation.rotary_offset) * size;
  const auto after = static_cast<std::size_t>(rotation.head_dim - end) * size;
  if (before + after == 0) return;
  for (std::int64_t head = 0; head < input.heads; ++head) {
    std::memcpy(at(output, place.batch, place.to, head, 0), at(input, place.batch, place.from, head, 0), before);
    std::memcpy(at(output, place.batch, place.to, head, end), at(input, place.batch, place.from, head, end), after);
  }
}

void scale_doubles(const ScaleHeads& all, double factor) {
  const auto* in = static_cast<const double*>(all.in);
  auto* out = static_cast<double*>(all.out);
  for (std::size_t h = 0; h < all.heads; ++h, in += all.in_head_stride, out += all.out_head_stride) {
    for (std::size_t i = 0; i < all.count; ++i) out[i] = in[i] * factor;
  }
}

// The coordinates that are not rotated, times the query's factor.
void scale_rest(const HeadsView& input, const HeadsView& output, const Rotation& rotation, const TokenPlace& place,
                double factor) {
  const std::int64_t end = rotation.rotary_offset + rotation.rotary_dim;
  const auto scale = [&](std::int64_t first, std::int64_t count) {
    if (count == 0) return;
    const ScaleHeads all{.in = at(input, place.batch, place.from, 0, first),
                         .out = at(output, place.batch, place.to, 0, first),
                         .in_head_stride = input.head_stride,
                         .out_head_stride = output.head_stride,
                         .heads = static_cast<std::size_t>(input.heads),
                         .count = static_cast<std::size_t>(count),
                         .factor = static_cast<float>(factor)};
    input.type == ElementType::float64 ? scale_doubles(all, factor) : scale_heads_function(input.type)(all);
  };
  scale(0, rotation.rotary_offset);
  scale(end, rotation.head_dim - end);
}

// Passes tokens and their rows to the kernel: runs of tokens whose rows are in the encoding's table, others one at a
// time. A head that changes its layout in place is copied to scratch first. One object per thread.
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
      turn_ = rotate_tokens_function({input.type, layout_.interleaved_in, layout_.interleaved_out});
      row_scratch_.resize(rotate_scratch(pairs_));
    }
    tokens_ = {.in_token_stride = input.token_stride,
               .out_token_stride = output.token_stride,
               .in_head_stride = input.head_stride,
               .out_head_stride = output.head_stride,
               .heads = static_cast<std::size_t>(input.heads),
               .pairs = pairs_,
               .rows = run_.data(),
               .inverse = inverse_,
               .scratch = row_scratch_.data()};
    runs_ =
        turn_ != nullptr && pairs_ > 0 && scratch_.empty() && (in_place || rotation_.rotary_dim == rotation_.head_dim);
  }

  /// Rotates token `from` of the input into token `to` of the output.
  void rotate(std::span<const Position> ids, const TokenPlace& place) {
    tokens_.in = at(input_, place.batch, place.from, 0, rotation_.rotary_offset);
    tokens_.out = at(output_, place.batch, place.to, 0, rotation_.rotary_offset);
    tokens_.tokens = 1;
    if (!scratch_.empty()) move_to_scratch(place);
    if (pairs_ > 0) turn(ids);
    const double factor = query_factor(rotation_, role_, ids[0]);
    if (factor != 1) {
      scale_rest(input_, output_, rotation_, place, factor);
    } else if (input_.data != output_.data) {
      copy_rest(input_, output_, rotation_, place);
    }
  }

  /// Rotates the tokens from `token` on that have rows in the table and returns their number. `ids` are the ids of
  /// the batch row from there on.
  std::int64_t rotate_run(std::span<const Position> ids, std::int64_t batch, std::int64_t token) {
    if (!runs_) return 0;
    const std::size_t count = rows_.kept_rows(ids.first(std::min(ids.size(), run_.size())), run_);
    if (count == 0) return 0;
    tokens_.in = at(input_, batch, token, 0, rotation_.rotary_offset);
    tokens_.out = at(output_, batch, token, 0, rotation_.rotary_offset);
    tokens_.tokens = count;
    turn_rows();
    return static_cast<std::int64_t>(count);
  }

 private:
  std::size_t slice_bytes() const { return 2 * pairs_ * size_of(input_.type); }

  void turn(std::span<const Position> ids) {
    if (turn_ != nullptr) {
      run_[0] = rows_.row(ids);
      return turn_rows();
    }
    if (rotation_.mix) return turn_doubles_by_head(ids);
    const auto cos = std::span(double_row_).first(pairs_);
    const auto sin = std::span(double_row_).last(pairs_);
    rotation_row(rotation_, role_, ids, cos, sin);
    rotate_token_double(tokens_, layout_, cos.data(), sin.data(), inverse_);
  }

  // What tokens_ says, for the heads of one key head.
  RotateTokens heads_of(std::int64_t key_head) const {
    RotateTokens group = tokens_;
    group.heads = static_cast<std::size_t>(input_.heads / rotation_.mix->heads);
    const std::ptrdiff_t first = key_head * static_cast<std::ptrdiff_t>(group.heads);
    const auto size = static_cast<std::ptrdiff_t>(size_of(input_.type));
    group.in = static_cast<const std::byte*>(tokens_.in) + first * tokens_.in_head_stride * size;
    group.out = static_cast<std::byte*>(tokens_.out) + first * tokens_.out_head_stride * size;
    return group;
  }

  // By the rows in run_. If heads mix frequencies, every key head has its own.
  void turn_rows() {
    if (!rotation_.mix) return turn_(tokens_);
    std::array<const float*, std::tuple_size_v<decltype(run_)>> of_head = run_;
    for (std::int64_t head = 0; head < rotation_.mix->heads; ++head) {
      RotateTokens group = heads_of(head);
      group.rows = of_head.data();
      turn_(group);
      for (std::size_t t = 0; t < tokens_.tokens; ++t) of_head[t] += 2 * pairs_;
    }
  }

  void turn_doubles_by_head(std::span<const Position> ids) {
    std::vector<double> rows(static_cast<std::size_t>(rotation_.mix->heads) * 2 * pairs_);
    head_rows(rotation_, role_, ids, rows);
    const double* row = rows.data();
    for (std::int64_t head = 0; head < rotation_.mix->heads; ++head, row += 2 * pairs_) {
      rotate_token_double(heads_of(head), layout_, row, row + pairs_, inverse_);
    }
  }

  void move_to_scratch(const TokenPlace& place) {
    for (std::int64_t head = 0; head < input_.heads; ++head) {
      std::memcpy(scratch_.data() + static_cast<std::size_t>(head) * slice_bytes(),
                  at(input_, place.batch, place.from, head, rotation_.rotary_offset), slice_bytes());
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
  bool runs_ = false;  // the kernel may get several tokens at once
  std::vector<std::byte> scratch_;
  std::vector<double> double_row_;
  std::vector<float> row_scratch_;
  std::array<const float*, 32> run_{};
  RotateTokens tokens_;
};

}  // namespace

HeadsView heads_view(void* data, ElementType type, std::string_view axes, std::span<const std::int64_t> extents) {
  constexpr std::string_view known[] = {"bthd", "bhtd", "thd", "htd", "td"};
  bool found = false;
  for (const std::string_view name : known) found = found || name == axes;
  require(found, "axes must be bthd, bhtd, thd, htd or td, got ", axes);
  require(extents.size() == axes.size(), "axes ", axes, " need ", axes.size(), " extents, the tensor has ",
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

void rotate(const Encoding& encoding, const RotateViews& views, const PositionIds& ids, Role role, Direction direction,
            Executor* executor) {
  const HeadsView &input = views.input, &output = views.output;
  if (const Polar* polar = polar_of(encoding); polar != nullptr && input.head_dim == polar->head_dim) {
    require(direction == Direction::forward, "rotate: polar heads cannot be turned back to heads of ", input.head_dim);
    check_ids(output, encoding.rotation(), ids);
    encoding.check_positions(ids.ids, output.type);
    to_polar(encoding, views, role, executor);
    return rotate(encoding, output, ids, role, direction, executor);
  }
  check_pair(input, output);
  require(input.tokens == output.tokens, "rotate: input and output must have the same number of tokens, got ",
          input.tokens, " and ", output.tokens);
  check_ids(input, encoding.rotation(), ids);
  encoding.check_positions(ids.ids, input.type);
  for_ranges(executor, input.batch * input.tokens, grain_of(bytes_per_token(input)),
             [&](std::int64_t begin, std::int64_t end) {
               TokenRotator rotator(encoding, role, direction, input, output);
               const auto run = [&](std::int64_t batch, std::int64_t t, std::span<const Position> from) {
                 return rotator.rotate_run(from, batch, t);
               };
               for_tokens(ids, begin, end, run,
                          [&](std::int64_t batch, std::int64_t t, std::span<const Position> place) {
                            rotator.rotate(place, {batch, t, t});
                          });
             });
}

void rotate(const Encoding& encoding, const HeadsView& view, const PositionIds& ids, Role role, Direction direction,
            Executor* executor) {
  rotate(encoding, RotateViews{view, view}, ids, role, direction, executor);
}

void rotate_query_key(const Encoding& encoding, const HeadsView& query, const HeadsView& key, const PositionIds& ids,
                      Direction direction, Executor* executor) {
  check_ids(query, encoding.rotation(), ids);
  check_ids(key, encoding.rotation(), ids);
  require(query.batch == key.batch, "rotate: queries and keys must have the same batch, got ", query.batch, " and ",
          key.batch);
  encoding.check_positions(ids.ids, query.type);
  encoding.check_positions(ids.ids, key.type);
  for_ranges(executor, query.batch * query.tokens, grain_of(bytes_per_token(query) + bytes_per_token(key)),
             [&](std::int64_t begin, std::int64_t end) {
               TokenRotator queries(encoding, Role::query, direction, query, query);
               TokenRotator keys(encoding, Role::key, direction, key, key);
               for_tokens(ids, begin, end, no_runs,
                          [&](std::int64_t batch, std::int64_t t, std::span<const Position> place) {
                            queries.rotate(place, {batch, t, t});
                            keys.rotate(place, {batch, t, t});
                          });
             });
}

void rotate_into(const Encoding& encoding, const HeadsView& input, const CacheSlots& place, const PositionIds& ids,
                 Role role, Executor* executor) {
  const HeadsView& cache = place.cache;
  const std::span<const std::int64_t> slots = place.slots;
  check_pair(input, cache);
  require(input.data != cache.data, "rotate_into: the cache must not be the input");
  require(static_cast<std::int64_t>(slots.size()) == input.tokens, "rotate_into: there are ", slots.size(),
          " slots for ", input.tokens, " tokens");
  check_slots(slots, cache.tokens);
  check_ids(input, encoding.rotation(), ids);
  encoding.check_positions(ids.ids, input.type);
  for_ranges(executor, input.batch * input.tokens, grain_of(bytes_per_token(input)),
             [&](std::int64_t begin, std::int64_t end) {
               TokenRotator rotator(encoding, role, Direction::forward, input, cache);
               for_tokens(ids, begin, end, no_runs,
                          [&](std::int64_t batch, std::int64_t t, std::span<const Position> token_ids) {
                            rotator.rotate(token_ids, {batch, t, slots[static_cast<std::size_t>(t)]});
                          });
             });
}

}  // namespace locus
