// SPDX-License-Identifier: Apache-2.0
// The effect of permutations, shifts and reversal on the output of attention.
#include "doctor/verify/property_list.h"
#include "doctor/verify/small_attention.h"

namespace locus::doctor {
namespace {

constexpr int equivariance_trials = 8;
// A difference counts if it is a thousand times the rounding error.
constexpr double clearly = 1000;

std::int64_t token_count(const Subject& subject) {
  return std::min({std::int64_t{6}, subject.range.last - subject.range.first + 1, subject.reach + 1});
}

// Returns consecutive ids from 0, or from the nearest id that leaves room.
std::vector<Position> first_ids(const Subject& subject, std::int64_t count) {
  const Position start =
      std::min(std::clamp<Position>(0, subject.range.first, subject.range.last), subject.range.last - count + 1);
  std::vector<Position> ids;
  for (std::int64_t t = 0; t < count; ++t) ids.push_back(start + t);
  return ids;
}

template <class T>
std::vector<T> permuted(const std::vector<T>& values, std::span<const std::size_t> order) {
  std::vector<T> result;
  for (const std::size_t from : order) result.push_back(values[from]);
  return result;
}

std::vector<Position> moved(std::vector<Position> ids, Position shift) {
  for (Position& id : ids) id += shift;
  return ids;
}

struct Measured {
  double value = 0;
  double bound = 0;
};

// Returns the largest difference between permuted outputs and the outputs of permuted tokens, over random permutations.
Measured after_permutations(const Subject& subject, bool ids_too) {
  Samples samples(11);
  const std::int64_t count = token_count(subject);
  const std::vector<Position> ids = first_ids(subject, count);
  Measured measured;
  for (int trial = 0; trial < equivariance_trials; ++trial) {
    const Tokens tokens = random_tokens(samples, count, subject.width);
    const std::vector<std::size_t> order = samples.permutation(ids.size());
    const SmallAttention before = attend_small(subject, tokens, ids);
    const SmallAttention after = attend_small(subject, tokens.permuted(order), ids_too ? permuted(ids, order) : ids);
    measured.value = worse(difference_after(before, after, order), measured.value);
    measured.bound = worse(before.rounding() + after.rounding(), measured.bound);
  }
  return measured;
}

}  // namespace

Checks ids_decide(const Subject& subject) {
  if (subject.add_rows) return {};  // neighbours are found by their order
  const Measured measured = after_permutations(subject, true);
  return {
      at_most("permuting tokens with their ids permutes the outputs", subject.name, measured.value, measured.bound)};
}

Checks order_is_seen(const Subject& subject) {
  const Measured measured = after_permutations(subject, false);
  if (subject.site == Site::none) {
    return {at_most("without positions permuting tokens permutes the outputs", subject.name, measured.value,
                    measured.bound)};
  }
  if (!subject.keys_placed) return {};      // queries alone have a place, and the softmax has no order
  if (subject.tokens_decide) return {};     // the order is in what tokens bring, not in their ids
  if (token_count(subject) < 3) return {};  // two tokens and a distance show no order
  return {at_least("permuting tokens under fixed ids changes the outputs", subject.name, measured.value,
                   clearly * measured.bound)};
}

Checks outputs_keep_shifts(const Subject& subject) {
  Samples samples(12);
  const std::int64_t count = token_count(subject);
  const Tokens tokens = random_tokens(samples, count, subject.width);
  const std::vector<Position> ids = first_ids(subject, count);
  const SmallAttention before = attend_small(subject, tokens, ids);
  std::vector<std::size_t> same(ids.size());
  for (std::size_t i = 0; i < same.size(); ++i) same[i] = i;
  double value = 0, bound = 0;
  for (const Position distance : subject.distances) {
    const double error = subject.entry_error + subject.angle_error * static_cast<double>(distance);
    if (ids.back() + distance > subject.range.last || error > 0.01) continue;
    const SmallAttention after = attend_small(subject, tokens, moved(ids, distance));
    value = worse(difference_after(before, after, same), value);
    bound = worse(before.bound(error) + after.bound(error), bound);
  }
  return {at_most("relative: shifting all ids leaves the outputs", subject.name, value, bound)};
}

Checks outputs_show_shifts(const Subject& subject) {
  Samples samples(13);
  const std::int64_t count = std::min(token_count(subject), subject.range.last - subject.range.first);
  const PositionRange range = around_zero(subject.range, 4096);
  if (count < 1) return {};  // a single position cannot be shifted
  double value = 0, bound = 0;
  for (int trial = 0; trial < equivariance_trials; ++trial) {
    const Position shift = samples.integer(1, std::max<Position>(1, (range.last - range.first) / 2));
    std::vector<Position> ids;
    for (std::int64_t t = 0; t < count; ++t) ids.push_back(samples.integer(range.first, range.last - shift));
    const Tokens tokens = random_tokens(samples, count, subject.width);
    const SmallAttention before = attend_small(subject, tokens, ids);
    const SmallAttention after = attend_small(subject, tokens, moved(ids, shift));
    for (std::size_t row = 0; row < before.output.size(); ++row) {
      value = worse(largest_difference(before.output[row], after.output[row]), value);
    }
    bound = worse(before.rounding() + after.rounding(), bound);
  }
  return {at_least("not relative: shifting all ids changes the outputs", subject.name, value, clearly * bound)};
}

Checks outputs_follow_reversal(const Subject& subject) {
  Samples samples(14);
  const std::int64_t count = token_count(subject);
  const Tokens tokens = random_tokens(samples, count, subject.width);
  const std::vector<Position> ids = first_ids(subject, count);
  std::vector<std::size_t> backwards(ids.size());
  for (std::size_t i = 0; i < backwards.size(); ++i) backwards[i] = backwards.size() - 1 - i;
  const SmallAttention before = attend_small(subject, tokens, ids);
  const SmallAttention after = attend_small(subject, tokens.permuted(backwards), ids);
  return {at_most("distance_only: reversing the tokens reverses the outputs", subject.name,
                  difference_after(before, after, backwards), before.rounding() + after.rounding())};
}

}  // namespace locus::doctor
