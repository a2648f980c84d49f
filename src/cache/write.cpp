// SPDX-License-Identifier: Apache-2.0
// Writes new tokens into their slots: keys rotated, or raw with their turns; as elements or as integers.
#include <algorithm>
#include <cstring>
#include <limits>

#include "cache/state.h"

namespace locus {
namespace {

HeadsView tokens_of(HeadsView view, std::int64_t first, std::int64_t count) {
  view.data =
      static_cast<std::byte*>(view.data) + first * view.token_stride * static_cast<std::int64_t>(size_of(view.type));
  view.tokens = count;
  return view;
}

const std::byte* head_of(const HeadsView& view, std::int64_t token, std::int64_t head) {
  const std::int64_t index = token * view.token_stride + head * view.head_stride;
  return static_cast<const std::byte*>(view.data) + index * static_cast<std::int64_t>(size_of(view.type));
}

void copy_heads(const HeadsView& from, const HeadsView& to) {
  const auto bytes = static_cast<std::size_t>(from.head_dim) * size_of(from.type);
  for (std::int64_t head = 0; head < from.heads; ++head) {
    for (std::int64_t t = 0; t < from.tokens; ++t) {
      std::memcpy(const_cast<std::byte*>(head_of(to, t, head)), head_of(from, t, head), bytes);
    }
  }
}

std::vector<float> widened(const HeadsView& from) {
  std::vector<float> all;
  all.reserve(static_cast<std::size_t>(from.tokens * from.heads * from.head_dim));
  const auto add = [&]<class T>(const T* head) {
    for (std::int64_t j = 0; j < from.head_dim; ++j) all.push_back(to_float(head[j]));
  };
  for (std::int64_t t = 0; t < from.tokens; ++t) {
    for (std::int64_t head = 0; head < from.heads; ++head) {
      const std::byte* row = head_of(from, t, head);
      if (from.type == ElementType::float32) add(reinterpret_cast<const float*>(row));
      if (from.type == ElementType::bfloat16) add(reinterpret_cast<const BFloat16*>(row));
      if (from.type == ElementType::float16) add(reinterpret_cast<const Float16*>(row));
    }
  }
  return all;
}

}  // namespace

void KvCache::State::write(const std::vector<Run>& runs, const NewTokens& tokens, Executor* executor) {
  std::vector<std::int64_t> firsts;
  std::int64_t first = 0;
  for (const Run& run : runs) {
    firsts.push_back(first);
    first += run.count;
  }
  constexpr std::int64_t bytes_per_thread = std::int64_t{1} << 18;  // less does not justify another thread
  const std::int64_t page_bytes = 2 * shape.heads * pages.head_stride() * pages.element_size();
  for_ranges(executor, std::ssize(runs), bytes_per_thread / page_bytes + 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      write_run(runs[i], tokens, firsts[i]);
    }
  });
}

std::vector<double> KvCache::State::numbers_of(const Sequence& sequence, std::int64_t begin, std::int64_t end) const {
  std::vector<double> all;
  const std::int64_t size = number_size();
  for (const Run& run : cut(sequence, begin, end)) {
    const double* from = pages.numbers(run.page, run.first);
    all.insert(all.end(), from, from + run.count * size);
  }
  return all;
}

void KvCache::State::write_run(const Run& run, const NewTokens& tokens, std::int64_t first) {
  const auto* bias = std::get_if<ScoreBias>(&encoding.term());
  for (std::int64_t i = 0; i < run.count * number_size(); ++i) {
    const std::int64_t token = i / number_size(), within = i % number_size();
    double& to = pages.numbers(run.page, run.first)[i];
    to = std::numeric_limits<double>::quiet_NaN();
    if (tokens.numbers.data == nullptr) continue;
    const std::byte* from = head_of(tokens.numbers, first + token, within / bias->token_numbers);
    const std::int64_t n = within % bias->token_numbers;
    to = tokens.numbers.type == ElementType::float64 ? reinterpret_cast<const double*>(from)[n]
                                                     : static_cast<double>(reinterpret_cast<const float*>(from)[n]);
  }
  const HeadsView keys = tokens_of(tokens.keys, first, run.count), values = tokens_of(tokens.values, first, run.count);
  PositionIds plan{.axes = axes, .tokens = run.count, .ids = {}};
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const auto ids = tokens.ids.subspan(static_cast<std::size_t>(axis * tokens.keys.tokens + first),
                                        static_cast<std::size_t>(run.count));
    std::copy(ids.begin(), ids.end(), pages.ids(run.page, axis) + run.first);
    plan.ids.insert(plan.ids.end(), ids.begin(), ids.end());
  }
  const bool rotated = rotates() && !raw();
  if (!pages.integers()) {
    const HeadsView to = pages.view(Part::keys, run.page, run.first, run.count);
    rotated ? rotate(encoding, {keys, to}, plan, Role::key) : copy_heads(keys, to);
    copy_heads(values, pages.view(Part::values, run.page, run.first, run.count));
  } else {
    for (const Part part : {Part::keys, Part::values}) {
      std::vector<float> numbers = widened(part == Part::keys ? keys : values);
      if (rotated && part == Part::keys) {
        const std::int64_t extents[] = {run.count, shape.heads, shape.head_dim};
        rotate(encoding, heads_view(numbers.data(), ElementType::float32, "thd", extents), plan, Role::key);
      }
      for (std::int64_t i = 0; i < run.count * shape.heads; ++i) {
        pages.write_integers(part, run.page, i % shape.heads, run.first + i / shape.heads,
                             numbers.data() + i * shape.head_dim);
      }
    }
  }
  if (!raw()) return;
  const KeyTurn& turns = turn();
  for (std::int32_t slot = run.first; slot < run.end(); ++slot) {
    const std::vector<Position> ids = stored_ids(run.page, slot);
    turns.fill(ids, ids, pages.turn(run.page, slot));
  }
}

}  // namespace locus
