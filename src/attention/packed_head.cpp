// SPDX-License-Identifier: Apache-2.0
#include "attention/packed_head.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace locus {
namespace {

bool nan_is_largest(float a, float b) { return !std::isnan(a) && !(b <= a); }

float largest_norm_of(const StoredRows& rows, const AttendKernels& kernels) {
  std::vector<float> squares(static_cast<std::size_t>(rows.rows));
  kernels.squares(rows, squares.data());
  return norm_bound(*std::max_element(squares.begin(), squares.end(), nan_is_largest), rows.dim);
}

}  // namespace

PackedHead::PackedHead(const Problem& problem, const Document& document, std::int64_t key_head, std::int64_t block,
                       const RegionTurns& turns)
    : dim_(problem.head_dim()),
      value_panel_(attend_kernels(problem.call().query.type, dim_).value_panel),
      room_(round_up(document.keys, attend_kernels(problem.call().query.type, dim_).key_panel)),
      turned_(turns.present() ? turns.regions() : 0, nullptr) {
  const auto starts = [&](std::size_t region) { return !turns.keys_stay(region) && turns.keys_like(region) == region; };
  std::int64_t sets = 1;  // of keys
  for (std::size_t region = 0; region < turned_.size(); ++region) sets += starts(region);
  const std::int64_t padded_dim = round_up(dim_, value_panel_);
  all_ = AlignedFloats(room_ * (sets * dim_ + padded_dim));
  values_ = all_.data();
  keys_ = values_ + room_ * padded_dim;
  float* next = keys_ + room_ * dim_;
  for (std::size_t region = 0; region < turned_.size(); ++region) {
    if (starts(region)) {
      turned_[region] = next;
      next += room_ * dim_;
    }
    const std::size_t like = turns.keys_like(region);
    met_.push_back(turns.keys_met(region));
    met_[like] = {std::min(met_[like].begin, met_[region].begin), std::max(met_[like].end, met_[region].end)};
    in_region_.push_back(turns.keys_stay(region) ? keys_ : turned_[like]);
  }
  std::vector<std::byte> room;
  for (std::int64_t first = 0; first < document.keys; first += block) {
    const std::int64_t count = std::min(block, document.keys - first);
    const TypedRows keys = problem.rows(RowSupply::Part::keys, document, key_head, first, count, room);
    const AttendKernels kernels = attend_kernels(keys.type);
    kernels.pack_keys(keys.rows, keys_ + first * dim_);
    norms_.push_back(largest_norm_of(keys.rows, kernels));
    if (turns.present()) pack_turned(keys.rows, keys.type, turns, first);
    const TypedRows values = problem.rows(RowSupply::Part::values, document, key_head, first, count, room);
    attend_kernels(values.type).pack_values(values.rows, value_panel_, values_ + first * value_panel_, values_stride());
  }
  up_to_.resize(norms_.size());
  from_.resize(norms_.size());
  const auto larger = [](float a, float b) { return nan_is_largest(a, b) ? b : a; };
  std::partial_sum(norms_.begin(), norms_.end(), up_to_.begin(), larger);
  std::partial_sum(norms_.rbegin(), norms_.rend(), from_.rbegin(), larger);
}

void PackedHead::pack_turned(const StoredRows& keys, ElementType type, const RegionTurns& turns, std::int64_t first) {
  const AttendKernels plain = attend_kernels(ElementType::float32);
  AlignedFloats rows(keys.rows * dim_);
  for (std::size_t region = 0; region < turned_.size(); ++region) {
    if (turned_[region] == nullptr || first >= met_[region].end || first + keys.rows <= met_[region].begin) continue;
    RegionTurns::Rows turned{.first = first, .count = keys.rows, .data = rows.data(), .stride = dim_};
    if (type == ElementType::float32) {
      turned.from = static_cast<const float*>(keys.data);
      turned.from_stride = keys.stride;
    } else {
      attend_kernels(type).widen_rows(keys, 1.0f, rows.data(), dim_);
    }
    turns.turn_keys(region, turned);
    plain.pack_keys({.data = rows.data(), .stride = dim_, .rows = keys.rows, .dim = dim_},
                    turned_[region] + first * dim_);
  }
}

}  // namespace locus
