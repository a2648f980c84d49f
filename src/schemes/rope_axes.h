// SPDX-License-Identifier: Apache-2.0
// The axes of RoPE: which coordinate rotates each pair, and with which of its frequencies. rope.cpp lists the forms.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "locus/error.h"
#include "locus/site.h"
#include "locus/value.h"

namespace locus {

using Sections = std::vector<std::int64_t>;

inline std::vector<Parameter> axes_parameters() {
  return {
      {.name = "axes",
       .kind = ValueKind::choice,
       .meaning = "how position axes map to pairs",
       .fallback = std::string("1d"),
       .choices = {"1d", "mrope", "mrope_interleaved", "grid", "pixtral", "dinov3", "sections"}},
      {.name = "sections",
       .kind = ValueKind::list,
       .meaning = "mrope and sections: pairs per axis",
       .least = 0,
       .most = 32768},
      {.name = "section_order",
       .kind = ValueKind::choice,
       .meaning = "sections: chunked, one axis after the other; in_turn; first_last, the other axes in turn before "
                  "axis 0 (Ernie 4.5-VL); balanced (openPangu)",
       .fallback = std::string("chunked"),
       .choices = {"chunked", "in_turn", "first_last", "balanced"}},
      {.name = "pair_axis",
       .kind = ValueKind::list,
       .meaning = "sections: the axis of each pair, instead of sections; -1: not rotated",
       .least = -1,
       .most = 7},
      {.name = "frequency_index",
       .kind = ValueKind::choice,
       .meaning = "sections: whether the index of the frequencies runs on over all pairs or restarts in each axis, "
                  "with the axis's own width",
       .fallback = std::string("running"),
       .choices = {"running", "restarting"}},
      {.name = "id_scale",
       .kind = ValueKind::list,
       .meaning = "sections: per axis, what an id is multiplied by before it meets the frequencies (real "
                  "coordinates, such as seconds)"},
      {.name = "id_shift", .kind = ValueKind::list, .meaning = "sections: per axis, what is added to the scaled id"},
      {.name = "grid_height", .kind = ValueKind::integer, .meaning = "dinov3: rows", .least = 1, .most = 65536},
      {.name = "grid_width",
       .kind = ValueKind::integer,
       .meaning = "pixtral: ids per row; dinov3: columns",
       .least = 1,
       .most = 65536},
      {.name = "prefix",
       .kind = ValueKind::integer,
       .meaning = "dinov3: leading tokens that are not rotated",
       .fallback = std::int64_t{0},
       .least = 0,
       .most = 65536}};
}

inline Sections sections_of(const Arguments& arguments, std::int64_t pairs) {
  require(arguments.has("sections"), "rope.sections must be given with axes=", arguments.text("axes"),
          ": pairs per axis, e.g. 16,24,24");
  Sections sections;
  for (const double count : arguments.list("sections")) {
    require(count == std::floor(count), "rope.sections must be whole numbers, got ", count);
    sections.push_back(static_cast<std::int64_t>(count));
  }
  const std::int64_t sum = std::accumulate(sections.begin(), sections.end(), std::int64_t{0});
  require(
      sum == pairs, "rope.sections must add up to the number of pairs (", pairs, "), got ",
      [&] { return to_text(*arguments.find("sections")); }, " = ", sum);
  return sections;
}

/// Every axis in turn, as long as it has pairs left.
inline std::vector<int> axes_in_turn(const Sections& sections) {
  std::vector<int> order;
  const std::int64_t most = *std::max_element(sections.begin(), sections.end());
  for (std::int64_t round = 0; round < most; ++round) {
    for (std::size_t axis = 0; axis < sections.size(); ++axis) {
      if (round < sections[axis]) order.push_back(static_cast<int>(axis));
    }
  }
  return order;
}

/// The axes but the first in turn, whatever their counts, then the first.
inline std::vector<int> axes_first_last(const Sections& sections) {
  std::vector<int> order;
  const std::int64_t others = std::accumulate(sections.begin() + 1, sections.end(), std::int64_t{0});
  const auto count = static_cast<std::int64_t>(sections.size()) - 1;
  for (std::int64_t i = 0; i < others; ++i) order.push_back(static_cast<int>(1 + i % count));
  order.insert(order.end(), static_cast<std::size_t>(sections[0]), 0);
  return order;
}

/// openPangu: always the axis with the smallest share of its pairs placed, the lower one of two, and not the last one
/// again unless no other is left. With three axes the last pair is kept for axis 0.
inline std::vector<int> axes_balanced(Sections sections) {
  const bool keeps_last = sections.size() == 3 && sections[0] > 0;
  if (keeps_last) --sections[0];
  Sections placed(sections.size(), 0);
  std::vector<int> order;
  const std::int64_t total = std::accumulate(sections.begin(), sections.end(), std::int64_t{0});
  const auto better = [&](std::size_t a, std::size_t b) {  // placed_a / sections_a < placed_b / sections_b
    return placed[a] * sections[b] < placed[b] * sections[a];
  };
  for (std::int64_t i = 0; i < total; ++i) {
    int best = -1;
    for (const bool repeats : {false, true}) {
      for (std::size_t axis = 0; axis < sections.size() && (best < 0 || !repeats); ++axis) {
        const bool last = !order.empty() && order.back() == static_cast<int>(axis);
        if (placed[axis] == sections[axis] || last != repeats) continue;
        if (best < 0 || better(axis, static_cast<std::size_t>(best))) best = static_cast<int>(axis);
      }
    }
    ++placed[static_cast<std::size_t>(best)];
    order.push_back(best);
  }
  if (keeps_last) order.push_back(0);
  return order;
}

inline std::vector<int> axes_chunked(const Sections& sections) {
  std::vector<int> order;
  for (std::size_t axis = 0; axis < sections.size(); ++axis) {
    order.insert(order.end(), static_cast<std::size_t>(sections[axis]), static_cast<int>(axis));
  }
  return order;
}

/// The axis of each pair, -1 for none.
inline std::vector<int> pair_axes_of(const Arguments& arguments, std::int64_t pairs) {
  if (arguments.has("pair_axis")) {
    require(!arguments.has("sections"), "rope.pair_axis and sections exclude each other: give one of them");
    const std::vector<double>& given = arguments.list("pair_axis");
    require(static_cast<std::int64_t>(given.size()) == pairs, "rope.pair_axis must have one entry per pair (", pairs,
            "), got ", given.size());
    std::vector<int> axes;
    for (const double axis : given) {
      require(axis == std::floor(axis), "rope.pair_axis must be whole numbers, got ", axis);
      axes.push_back(static_cast<int>(axis));
    }
    return axes;
  }
  const Sections sections = sections_of(arguments, pairs);
  require(!sections.empty() && sections.size() <= 8, "rope.sections must have 1 to 8 axes, got ", sections.size());
  const std::string& order = arguments.text("section_order");
  if (order == "chunked") return axes_chunked(sections);
  if (order == "in_turn") return axes_in_turn(sections);
  require(sections.size() >= 2, "rope.section_order ", order, " needs at least 2 axes, got ", sections.size());
  return order == "first_last" ? axes_first_last(sections) : axes_balanced(sections);
}

inline void set_sections(Rotation& rotation, const Arguments& arguments) {
  std::vector<int> axes = pair_axes_of(arguments, rotation.pairs());
  rotation.axes = arguments.has("pair_axis") ? 1 + std::max(0, *std::max_element(axes.begin(), axes.end()))
                                             : static_cast<int>(arguments.list("sections").size());
  for (const int axis : axes) rotation.axis.push_back(static_cast<std::uint8_t>(std::max(axis, 0)));
  rotation.restarts_per_axis = arguments.text("frequency_index") == "restarting";
}

inline void set_chunked_sections(Rotation& rotation, const Sections& sections) {
  require(sections.size() >= 2 && sections.size() <= 4, "rope.sections must have 2 to 4 axes, got ", sections.size());
  rotation.axes = static_cast<int>(sections.size());
  for (const int axis : axes_chunked(sections)) rotation.axis.push_back(static_cast<std::uint8_t>(axis));
}

inline void set_interleaved_sections(Rotation& rotation, const Sections& sections) {
  const bool ggml = rotation.profile == Profile::ggml;
  const bool fourth_is_empty = sections.size() == 4 && sections[3] == 0;
  require(sections.size() == 3 || (ggml && fourth_is_empty),
          "rope.sections must have 3 axes with axes=mrope_interleaved, got ", sections.size());
  rotation.axes = ggml ? 4 : 3;
  for (std::int64_t i = 0; i < rotation.pairs(); ++i) {
    const auto turn = static_cast<std::size_t>(i % 3);
    const bool inside = i < 3 * sections[turn];
    rotation.axis.push_back(static_cast<std::uint8_t>(inside ? turn : ggml ? 3 : 0));
  }
}

/// Error: an argument that these axes do not use.
inline void check_read_by(const std::string& axes, const Arguments& arguments) {
  struct Reader {
    const char* argument;
    std::vector<std::string> axes;
  };
  const Reader readers[] = {{"sections", {"mrope", "mrope_interleaved", "sections"}},
                            {"pair_axis", {"sections"}},
                            {"id_scale", {"sections"}},
                            {"id_shift", {"sections"}},
                            {"grid_height", {"dinov3"}},
                            {"grid_width", {"pixtral", "dinov3"}}};
  for (const Reader& reader : readers) {
    const bool reads = std::find(reader.axes.begin(), reader.axes.end(), axes) != reader.axes.end();
    require(
        reads || !arguments.has(reader.argument), "rope.", reader.argument, " needs axes=", reader.axes.front(),
        [&] { return reader.axes.size() > 1 ? " or " + reader.axes.back() : std::string(); }, ", got axes=", axes);
  }
  for (const auto& [name, usual] : {std::pair{"section_order", "chunked"}, std::pair{"frequency_index", "running"}}) {
    require(axes == "sections" || arguments.text(name) == usual, "rope.", name,
            " needs axes=sections, got axes=", axes);
  }
}

inline void set_axes(Rotation& rotation, const Arguments& arguments) {
  const std::string& axes = arguments.text("axes");
  check_read_by(axes, arguments);
  const std::int64_t pairs = rotation.pairs();
  const auto halves = [&] {
    require(pairs % 2 == 0, "rope.rotary_dim must be a multiple of 4 with axes=", axes, ", got ", rotation.rotary_dim);
    rotation.axis.assign(static_cast<std::size_t>(pairs), 0);
    std::fill(rotation.axis.begin() + pairs / 2, rotation.axis.end(), std::uint8_t{1});
  };
  if (axes == "1d") {
    rotation.axis.assign(static_cast<std::size_t>(pairs), 0);
  } else if (axes == "mrope") {
    set_chunked_sections(rotation, sections_of(arguments, pairs));
  } else if (axes == "mrope_interleaved") {
    set_interleaved_sections(rotation, sections_of(arguments, pairs));
  } else if (axes == "sections") {
    set_sections(rotation, arguments);
  } else if (axes == "grid") {
    halves();
    rotation.axes = 2;
    rotation.restarts_per_axis = true;
  } else if (axes == "pixtral") {
    halves();
    require(arguments.has("grid_width"), "rope.grid_width must be given with axes=pixtral: ids per row of patches");
    rotation.map = {.kind = PositionMap::Kind::row_column, .width = arguments.integer("grid_width")};
  } else {
    halves();
    require(arguments.has("grid_height") && arguments.has("grid_width"),
            "rope.grid_height and grid_width must be given with axes=dinov3");
    rotation.map = {.kind = PositionMap::Kind::patch_centres,
                    .prefix = arguments.integer("prefix"),
                    .height = arguments.integer("grid_height"),
                    .width = arguments.integer("grid_width")};
  }
}

/// A number per axis of `name`; empty if it is not given.
inline std::vector<double> per_axis(const Rotation& rotation, const Arguments& arguments, const char* name) {
  if (!arguments.has(name)) return {};
  const std::vector<double>& given = arguments.list(name);
  require(static_cast<int>(given.size()) == rotation.axes, "rope.", name, " must have one entry per axis (",
          rotation.axes, "), got ", given.size());
  return given;
}

}  // namespace locus
