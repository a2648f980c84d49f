// SPDX-License-Identifier: Apache-2.0
// Parts of figures: data rows, channels, and palettes that colour-blind readers can distinguish.
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

/// Rounds to 6 significant digits, enough for a figure. Error: the number is not finite.
double rounded(double value);

/// Makes a chart of these rows, as wide as its container, without mark and encoding.
Json chart(Json rows);

/// Makes small charts side by side, one per value of `facet`; a page puts as many in a row as fit.
Json faceted(Json spec, Json facet, int columns, Json inner);

Json quantitative(std::string_view field, std::string_view title);
Json nominal(std::string_view field, std::string_view title);
/// Makes a channel with one band per value, in ascending order, labelled at round values.
Json bands(std::string_view field, std::string_view title, std::span<const std::int64_t> values);
/// Makes a quantitative channel whose axis ends with the data.
Json snug(std::string_view field, std::string_view title);
/// Adds a logarithmic scale to a quantitative channel.
Json logarithmic(Json channel, int base = 10);

/// Makes a channel with one colour per name, in the order of `names`.
Json category_colour(std::string_view field, std::string_view title, const std::vector<std::string>& names);
/// Makes a colour channel from `low` to `high`. If both signs occur, it has two hues and is symmetric around 0.
Json value_colour(std::string_view field, std::string_view title, double low, double high);

/// Keeps at most `most` evenly spaced values. If some are omitted, `note`, for the caption, says that one in how many
/// is drawn.
struct Thinned {
  std::vector<Position> values;
  std::string note;
};
Thinned thinned(std::span<const Position> values, std::size_t most, Message note, const Words& words);

/// The largest number of data rows in a figure.
constexpr std::size_t most_rows = 16384;

/// Returns first, first + 1, ..., last.
std::vector<Position> range(Position first, Position last);

/// Returns at most `most` of 0 .. count - 1, evenly spread from the first to the last.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t most);

/// Formats whole and large numbers as `12,345`, others with three significant digits.
std::string pretty(double value);

}  // namespace locus::figures
