// SPDX-License-Identifier: Apache-2.0
// Converts C structs to those of the library, and checks what only C can get wrong: NULL, negative counts, numbers that
// are not enumerators.
#pragma once

#include <cstdint>
#include <span>

#include "guard.h"
#include "locus.h"
#include "locus/add.h"
#include "locus/position_ids.h"
#include "locus/registry.h"
#include "locus/rotate.h"

namespace locus::c {

/// Converts a span of the C API. `name` starts messages.
template <class T>
std::span<T> span_of(T* data, std::int64_t count, const char* name) {
  require(count >= 0, name, ".count must not be negative, got ", count);
  require(data != nullptr || count == 0, name, ".data must not be NULL if count is ", count);
  return {data, static_cast<std::size_t>(count)};
}
template <class Span>
auto span_of(const Span& span, const char* name) {
  return span_of(span.data, span.count, name);
}

/// Returns a x b x c x d. Error: a negative factor, or more than 2^48, which exceeds any memory.
std::int64_t elements(const char* name, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d);

/// Returns the number of values of a learned weight.
std::int64_t count_of(const LearnedWeight& weight);

ElementType type_of(const char* name, int type);
Role role_of(int role);
Direction direction_of(int direction);

HeadsView heads_of(const locus_heads& view, const char* name);
HeadsView heads_of(const locus_heads* view, const char* name);
locus_heads to_c(const HeadsView& view);
HiddenView hidden_of(const locus_hidden* view);
PositionIds ids_of(const locus_ids* ids, const char* name = "ids");

}  // namespace locus::c
