// SPDX-License-Identifier: Apache-2.0
// Batches of rows of different lengths. A mask marks the slots with tokens; the ids follow from the mask alone.
#include <algorithm>

#include "positions/checks.h"

namespace locus::positions {

namespace {

enum class Side : std::uint8_t { left, right };

Padded padded(std::string_view name, Side side, std::span<const std::int64_t> lengths,
              std::optional<std::int64_t> given_width, Position pad_id) {
  require(!lengths.empty(), name, ".lengths must have at least one row");
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    require(lengths[row] >= 0, name, ".lengths[", row, "] must be at least 0, got ", lengths[row]);
  }
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const std::int64_t width = given_width.value_or(longest);
  require(width >= longest, name, ".width must be at least the longest row (", longest, "), got ", width);

  const auto batch = static_cast<std::int64_t>(lengths.size());
  auto mask = checked_vector<std::uint8_t>(name, checked_count(name, batch, width));
  for (std::int64_t row = 0; row < batch; ++row) {
    const std::int64_t length = lengths[static_cast<std::size_t>(row)];
    const std::int64_t first = row * width + (side == Side::left ? width - length : 0);
    std::fill_n(mask.begin() + first, length, std::uint8_t{1});
  }
  return from_mask(mask, batch, width, pad_id);
}

}  // namespace

Padded left_padded(std::span<const std::int64_t> lengths, std::optional<std::int64_t> width, Position pad_id) {
  return padded("left_padded", Side::left, lengths, width, pad_id);
}

Padded right_padded(std::span<const std::int64_t> lengths, std::optional<std::int64_t> width, Position pad_id) {
  return padded("right_padded", Side::right, lengths, width, pad_id);
}

Padded from_mask(std::span<const std::uint8_t> mask, std::int64_t batch, std::int64_t tokens, Position pad_id) {
  require_at_least("mask.batch", batch, 1);
  require_at_least("mask.tokens", tokens, 0);
  const std::int64_t size = checked_count("mask", batch, tokens);
  require(mask.size() == static_cast<std::size_t>(size), "mask must have ", batch, " x ", tokens, " entries, got ",
          mask.size());
  for (std::size_t slot = 0; slot < mask.size(); ++slot) {
    require(mask[slot] <= 1, "mask[", slot, "] must be 0 or 1, got ", int{mask[slot]});
  }

  Padded result{make_ids("mask", 1, batch, tokens), {mask.begin(), mask.end()}};
  Position next = 0;
  for (std::size_t slot = 0; slot < mask.size(); ++slot) {
    if (slot % static_cast<std::size_t>(tokens) == 0) next = 0;
    result.ids.ids[slot] = mask[slot] != 0 ? next++ : pad_id;
  }
  return result;
}

}  // namespace locus::positions
