// SPDX-License-Identifier: Apache-2.0
#include "locus/rotate.h"

#include <cstring>
#include <vector>

#include "kernels/rotate_simd.h"
#include "locus/error.h"
#include "locus/rows.h"

namespace locus {
namespace {

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

void check(const Encoding& encoding, const HeadsView& input, const HeadsView& output, const PositionIds& ids) {
  const Rotation& rotation = encoding.rotation();
  require(input.type == output.type, "rotate: input and output must have the same type, got ", name_of(input.type),
          " and ", name_of(output.type));
  require(input.batch == output.batch && input.tokens == output.tokens && input.heads == output.heads &&
              input.head_dim == output.head_dim,
          "rotate: input and output must have the same shape");
  require(input.batch >= 0 && input.tokens >= 0 && input.heads >= 0, "rotate: extents must not be negative");
  require(input.head_dim == rotation.head_dim, "rotate: the encoding has head_dim ", rotation.head_dim, ", the tensor ",
          input.head_dim);
  require(ids.axes == rotation.axes, "rotate: the encoding needs ", rotation.axes,
          " axes of position ids (time, height, width ...), got ", ids.axes);
  require(ids.batch == 1 || ids.batch == input.batch, "rotate: position ids must have 1 or ", input.batch,
          " batch rows, got ", ids.batch);
  require(ids.tokens == input.tokens, "rotate: the tensor has ", input.tokens, " tokens, the position ids ",
          ids.tokens);
  require(static_cast<std::int64_t>(ids.ids.size()) == ids.axes * ids.batch * ids.tokens, "rotate: position ids have ",
          ids.ids.size(), " values, their shape asks for ", ids.axes * ids.batch * ids.tokens);
  encoding.check_positions(ids.ids);
}

void copy_rest(const HeadsView& input, const HeadsView& output, const Rotation& rotation, std::int64_t batch,
               std::int64_t token) {
  const std::size_t size = size_of(input.type);
  const std::int64_t end = rotation.rotary_offset + rotation.rotary_dim;
  for (std::int64_t head = 0; head < input.heads; ++head) {
    std::memcpy(at(output, batch, token, head, 0), at(input, batch, token, head, 0),
                static_cast<std::size_t>(rotation.rotary_offset) * size);
    std::memcpy(at(output, batch, token, head, end), at(input, batch, token, head, end),
                static_cast<std::size_t>(rotation.head_dim - end) * size);
  }
}

void rotate_token_double(const RotateToken& token, Layout layout, const double* cos, const double* sin) {
  const auto* in = static_cast<const double*>(token.in);
  auto* out = static_cast<double*>(token.out);
  for (std::size_t h = 0; h < token.heads; ++h, in += token.in_head_stride, out += token.out_head_stride) {
    for (std::size_t i = 0; i < token.pairs; ++i) {
      const double x = in[layout.interleaved_in ? 2 * i : i];
      const double y = in[layout.interleaved_in ? 2 * i + 1 : token.pairs + i];
      out[layout.interleaved_out ? 2 * i : i] = x * cos[i] - y * sin[i];
      out[layout.interleaved_out ? 2 * i + 1 : token.pairs + i] = x * sin[i] + y * cos[i];
    }
  }
}

// Rotates token by token; T is float (tables for every type but float64) or double.
template <class T, class Turn>
void for_each_token(const Encoding& encoding, const HeadsView& input, const HeadsView& output, const PositionIds& ids,
                    Role role, Direction direction, const Turn& turn) {
  const Rotation& rotation = encoding.rotation();
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  const Layout layout = layout_of(rotation, direction);
  const bool in_place = input.data == output.data;
  const bool through_scratch = in_place && layout.interleaved_in != layout.interleaved_out;
  const std::size_t slice_bytes = 2 * pairs * size_of(input.type);
  std::vector<T> row(2 * pairs);
  std::vector<std::byte> scratch(through_scratch ? slice_bytes * static_cast<std::size_t>(input.heads) : 0);
  std::vector<Position> place(static_cast<std::size_t>(ids.axes));
  for (std::int64_t batch = 0; batch < input.batch; ++batch) {
    for (std::int64_t t = 0; t < input.tokens; ++t) {
      const auto index = static_cast<std::size_t>((ids.batch == 1 ? 0 : batch) * ids.tokens + t);
      for (std::int64_t axis = 0; axis < ids.axes; ++axis)
        place[static_cast<std::size_t>(axis)] = ids.axis(axis)[index];
      const auto cos = std::span(row).first(pairs);
      const auto sin = std::span(row).last(pairs);
      rotation_row(rotation, role, place, cos, sin);
      if (direction == Direction::inverse) {
        for (T& value : sin) value = -value;
      }
      RotateToken token{.in = at(input, batch, t, 0, rotation.rotary_offset),
                        .out = at(output, batch, t, 0, rotation.rotary_offset),
                        .in_head_stride = input.head_stride,
                        .out_head_stride = output.head_stride,
                        .heads = static_cast<std::size_t>(input.heads),
                        .pairs = pairs};
      if (through_scratch) {
        for (std::int64_t head = 0; head < input.heads; ++head) {
          std::memcpy(scratch.data() + static_cast<std::size_t>(head) * slice_bytes,
                      at(input, batch, t, head, rotation.rotary_offset), slice_bytes);
        }
        token.in = scratch.data();
        token.in_head_stride = static_cast<std::ptrdiff_t>(2 * pairs);
      }
      turn(token, layout, cos.data(), sin.data());
      if (!in_place) copy_rest(input, output, rotation, batch, t);
    }
  }
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
            Role role, Direction direction) {
  check(encoding, input, output, ids);
  if (input.type == ElementType::float64) {
    for_each_token<double>(encoding, input, output, ids, role, direction, rotate_token_double);
    return;
  }
  const Layout layout = layout_of(encoding.rotation(), direction);
  const RotateTokenFunction turn_token =
      rotate_token_function(input.type, layout.interleaved_in, layout.interleaved_out);
  for_each_token<float>(encoding, input, output, ids, role, direction,
                        [&](RotateToken& token, Layout, const float* cos, const float* sin) {
                          token.cos = cos;
                          token.sin = sin;
                          turn_token(token);
                        });
}

void rotate(const Encoding& encoding, const HeadsView& view, const PositionIds& ids, Role role, Direction direction) {
  rotate(encoding, view, view, ids, role, direction);
}

}  // namespace locus
