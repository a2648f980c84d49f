// SPDX-License-Identifier: Apache-2.0
#include "convert.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "handles.h"

namespace locus::c {
namespace {

int checked_enum(const char* name, int value, int most) {
  require(value >= 0 && value <= most, name, " must be from 0 to ", most, ", got ", value);
  return value;
}

}  // namespace

std::int64_t elements(const char* name, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  constexpr std::int64_t most = std::int64_t{1} << 48;
  std::int64_t product = 1;
  for (const std::int64_t extent : {a, b, c, d}) {
    require(extent >= 0, name, ": extents must not be negative, got ", extent);
    require(extent == 0 || product <= most / extent, name, ": more than 2^48 elements (", a, " x ", b, " x ", c, " x ",
            d, ")");
    product *= extent;
  }
  return product;
}

std::int64_t count_of(const LearnedWeight& weight) {
  return std::accumulate(weight.shape.begin(), weight.shape.end(), std::int64_t{1}, std::multiplies<>());
}

ElementType type_of(const char* name, int type) {
  require(type >= 0 && type <= LOCUS_FLOAT16, name, ": type must be one of enum locus_type, got ", type);
  return static_cast<ElementType>(type);
}

Role role_of(int role) { return static_cast<Role>(checked_enum("role", role, LOCUS_KEY)); }

Direction direction_of(int direction) {
  return static_cast<Direction>(checked_enum("direction", direction, LOCUS_INVERSE));
}

HeadsView heads_of(const locus_heads& view, const char* name) {
  const std::int64_t count = elements(name, view.batch, view.tokens, view.heads, view.head_dim);
  require(view.data != nullptr || count == 0, name, ".data must not be NULL");
  return {.data = view.data,
          .type = type_of(name, view.type),
          .batch = view.batch,
          .tokens = view.tokens,
          .heads = view.heads,
          .head_dim = view.head_dim,
          .batch_stride = view.batch_stride,
          .token_stride = view.token_stride,
          .head_stride = view.head_stride};
}

HeadsView heads_of(const locus_heads* view, const char* name) { return heads_of(at(view, name), name); }

locus_heads to_c(const HeadsView& view) {
  return {view.data,         static_cast<std::int32_t>(view.type),
          view.batch,        view.tokens,
          view.heads,        view.head_dim,
          view.batch_stride, view.token_stride,
          view.head_stride};
}

HiddenView hidden_of(const locus_hidden* given) {
  const locus_hidden& view = at(given, "view");
  const std::int64_t count = elements("view", view.batch, view.tokens, view.dim, 1);
  require(view.data != nullptr || count == 0, "view.data must not be NULL");
  return {.data = view.data,
          .type = type_of("view", view.type),
          .batch = view.batch,
          .tokens = view.tokens,
          .dim = view.dim,
          .batch_stride = view.batch_stride,
          .token_stride = view.token_stride};
}

PositionIds ids_of(const locus_ids* given, const char* name) {
  const locus_ids& ids = at(given, name);
  PositionIds result{
      .axes = ids.axes == 0 ? 1 : ids.axes, .batch = ids.batch == 0 ? 1 : ids.batch, .tokens = ids.tokens, .ids = {}};
  const std::int64_t count = elements(name, result.axes, result.batch, result.tokens, 1);
  require(ids.ids != nullptr || count == 0, name, ".ids must not be NULL");
  result.ids.assign(ids.ids, ids.ids + count);
  return result;
}

}  // namespace locus::c

extern "C" int locus_heads_view(void* data, int type, const char* axes, const int64_t* extents, locus_heads* out) {
  using namespace locus::c;
  return guarded([&] {
    const std::string_view names = &at(axes, "axes");
    const std::int64_t* first = &at(extents, "extents");
    locus_heads& place = at(out, "out");
    locus::require(names.size() <= 4, "axes must be bthd, bhtd, thd, htd or td, got ", names);
    std::int64_t all[4] = {1, 1, 1, 1};
    std::copy(first, first + names.size(), all);
    elements("extents", all[0], all[1], all[2], all[3]);
    const std::span<const std::int64_t> given(all, names.size());
    place = to_c(locus::heads_view(data, type_of("view", type), names, given));
  });
}
