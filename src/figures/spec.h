// SPDX-License-Identifier: Apache-2.0
// The vocabulary of figures: data rows, channels, and palettes that colour-blind readers can tell apart.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "figures/figure.h"
#include "locus/position_ids.h"
#include "locus/text.h"
#include "messages/words.h"

namespace locus::figures {

/// Rounds to 6 significant digits, enough for a figure. Error where the number is not finite.
double rounded(double value);

/// A chart of these rows as wide as its container, without mark and encoding.
Json chart(Json rows);

/// Small charts side by side, one per value of `facet`; a page puts as many in a row as fit.
Json faceted(Json spec, Json facet, int columns, Json inner);

Json quantitative(std::string_view field, std::string_view title);
Json nominal(std::string_view field, std::string_view title);
/// One band per value, in ascending order, labelled at round values.
Json bands(std::string_view field, std::string_view title, std::span<const std::int64_t> values);
/// A quantitative channel whose axis ends where the data does.
Json snug(std::string_view field, std::string_view title);
/// Adds a logarithmic scale to a quantitative channel.
Json logarithmic(Json channel, int base = 10);

/// A colour per name, in the order of `names`.
Json category_colour(std::string_view field, std::string_view title, const std::vector<std::string>& names);
/// Colour by value from `low` to `high`: two hues around 0, the same length both ways, where both signs occur.
Json value_colour(std::string_view field, std::string_view title, double low, double high);

/// At most `most` evenly spaced values, and a note for the caption where some are left out: `note` says one of how many.
struct Thinned {
  std::vector<Position> values;
  std::string note;
};
Thinned thinned(std::span<const Position> values, std::size_t most, Message note, const Words& words);

/// The most rows of data in a figure.
constexpr std::size_t most_rows = 16384;

/// first, first + 1, ..., last.
std::vector<Position> range(Position first, Position last);

/// At most `most` of 0 .. count - 1, spread from the first to the last.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t most);

/// `12,345` for whole and large numbers, else three significant digits.
std::string pretty(double value);

}  // namespace locus::figures
