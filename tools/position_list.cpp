// SPDX-License-Identifier: Apache-2.0
#include "position_list.h"

#include <charconv>
#include <system_error>

#include "locus/error.h"
#include "locus/io/npy.h"

namespace locus::tools {

namespace {

constexpr std::uint64_t max_listed = std::uint64_t{1} << 26;

void require_size(std::uint64_t size) {
  require(size <= max_listed, "positions must be at most ", max_listed, " ids, got ", size);
}

/// Returns the number of values from start up to stop. Unsigned, because stop - start may need 64 bits.
std::uint64_t range_size(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const auto low = static_cast<std::uint64_t>(step > 0 ? start : stop);
  const auto high = static_cast<std::uint64_t>(step > 0 ? stop : start);
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  return (high - low - 1) / stride + 1;
}

void append_range(std::vector<Position>& ids, std::string_view item) {
  const std::vector<std::string_view> parts = split(item, ':');
  require(parts.size() <= 3, "positions range must be start:stop or start:stop:step, got ", item);
  const std::int64_t start = parse_integer("positions range start", parts[0]);
  const std::int64_t stop = parse_integer("positions range stop", parts[1]);
  const std::int64_t step = parts.size() == 3 ? parse_integer("positions range step", parts[2]) : 1;
  require(step != 0, "positions range step must not be 0, got ", item);
  require(step > 0 ? start < stop : start > stop, "positions range must hold a position, got ", item);
  const std::uint64_t size = range_size(start, stop, step);
  require(size <= max_listed, "positions range must hold at most ", max_listed, " ids, got ", item);
  require_size(ids.size() + size);
  // Unsigned again: index * step may wrap before the sum fits.
  for (std::uint64_t index = 0; index < size; ++index) {
    ids.push_back(static_cast<Position>(static_cast<std::uint64_t>(start) + index * static_cast<std::uint64_t>(step)));
  }
}

PositionIds read_positions(const std::string& path) {
  const io::NpyArray array = io::read_npy(path);
  const std::vector<std::int64_t>& shape = array.shape;
  require(!shape.empty() && shape.size() <= 3, path, " must have shape [tokens], [batch, tokens] or ",
          "[axes, batch, tokens], got ", shape.size(), " dimensions");
  require(array.size() > 0, path, " must hold at least one position, got none");
  require_size(static_cast<std::uint64_t>(array.size()));
  PositionIds result;
  result.tokens = shape.back();
  if (shape.size() >= 2) result.batch = shape[shape.size() - 2];
  if (shape.size() == 3) result.axes = shape.front();
  result.ids = io::to_integers(array, path);
  return result;
}

}  // namespace

std::int64_t parse_integer(std::string_view name, std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  require(error != std::errc::result_out_of_range, name, " must fit into 64 bits, got ", text);
  require(error == std::errc{} && stopped == end, name, " must be an integer, got '", text, "'");
  return value;
}

double parse_real(std::string_view name, std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  require(error == std::errc{} && stopped == end, name, " must be a number, got '", text, "'");
  return value;
}

std::vector<std::int64_t> parse_integers(std::string_view name, std::string_view text) {
  std::vector<std::int64_t> values;
  for (const std::string_view item : split(text, ',')) values.push_back(parse_integer(name, item));
  return values;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

PositionIds parse_position_list(const std::string& text) {
  if (text.ends_with(".npy")) return read_positions(text);
  PositionIds result;
  for (const std::string_view item : split(text, ',')) {
    if (item.find(':') != std::string_view::npos) {
      append_range(result.ids, item);
    } else {
      require_size(result.ids.size() + 1);
      result.ids.push_back(parse_integer("positions", item));
    }
  }
  result.tokens = static_cast<std::int64_t>(result.ids.size());
  return result;
}

}  // namespace locus::tools
