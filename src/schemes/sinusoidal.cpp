// SPDX-License-Identifier: Apache-2.0
// Sinusoidal rows: sines and cosines of the position at geometrically spaced rates, added to the hidden state.
//   vaswani  rate_i = base^(-2i/d)            Vaswani et al. 2017 (arXiv 1706.03762), section 3.5; XLM, Marian,
//                                             Transformer-XL, and (over d/4 per block) MAE
//   fairseq  rate_i = base^(-i/(d/2 - 1))     fairseq, tensor2tensor, Whisper
// Arrangement: interleaved (sin, cos, sin, cos, ..) or concatenated [sin | cos].
// axes = grid (MAE): [sin row | cos row | sin column | cos column], each d/4 wide; ids count `prefix` class tokens (a
// row of zeros) and then patches in row-major order.
//
// Odd widths: with vaswani the sines have one more column; with fairseq the last column is 0, as in each project.
#include "locus/error.h"
#include "locus/registry.h"
#include "locus/turns.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::linear_shift, Claim::cache_safe, Claim::negative_positions, Claim::unbounded};

Wave wave(double base, std::int64_t index, std::int64_t denominator, bool cosine, std::uint8_t axis = 0) {
  const DoubleDouble exponent =
      DoubleDouble(static_cast<double>(-index)) / DoubleDouble(static_cast<double>(denominator));
  const DoubleDouble w = pow(DoubleDouble(base), exponent);
  return {.turns = to_turns(w), .inv_freq = w.hi, .inv_freq_low = w.lo, .cosine = cosine, .axis = axis};
}

std::vector<Wave> line_waves(const Arguments& arguments, std::int64_t dim) {
  const double base = arguments.real("base");
  const bool fairseq = arguments.text("rate") == "fairseq";
  const std::int64_t cosines = dim / 2;
  const std::int64_t sines = fairseq ? cosines : dim - cosines;
  const auto column = [&](std::int64_t i, bool cosine) {
    return fairseq ? wave(base, i, std::max<std::int64_t>(cosines - 1, 1), cosine) : wave(base, 2 * i, dim, cosine);
  };
  std::vector<Wave> waves;
  if (arguments.text("arrangement") == "interleaved") {
    for (std::int64_t i = 0; i < sines; ++i) {
      waves.push_back(column(i, false));
      if (i < cosines) waves.push_back(column(i, true));
    }
  } else {
    for (std::int64_t i = 0; i < sines; ++i) waves.push_back(column(i, false));
    for (std::int64_t i = 0; i < cosines; ++i) waves.push_back(column(i, true));
  }
  while (static_cast<std::int64_t>(waves.size()) < dim) waves.push_back({.silent = true});
  return waves;
}

std::vector<Wave> grid_waves(const Arguments& arguments, std::int64_t dim) {
  require(dim % 4 == 0, "sinusoidal.dim must be a multiple of 4 with axes=grid, got ", dim);
  require(arguments.text("rate") == "vaswani" && arguments.text("arrangement") == "concatenated",
          "sinusoidal.axes grid needs rate=vaswani and arrangement=concatenated");
  std::vector<Wave> waves;
  for (std::int64_t block = 0; block < 4; ++block) {
    const bool cosine = block % 2 == 1;
    for (std::int64_t i = 0; i < dim / 4; ++i) {
      waves.push_back(wave(arguments.real("base"), i, dim / 4, cosine, static_cast<std::uint8_t>(block / 2)));
    }
  }
  return waves;
}

SchemeResult make(const Arguments& arguments) {
  HiddenRows rows;
  rows.dim = arguments.integer("dim");
  rows.first_position = arguments.integer("first_position");
  rows.zero_position = arguments.maybe_integer("zero_position");
  if (arguments.text("axes") == "1d") {
    rows.waves = line_waves(arguments, rows.dim);
    // A sine without its cosine, or a row of zeros among the others, is no linear map of its neighbours: no claim
    // then.
    const bool unpaired = rows.dim % 2 == 1 && arguments.text("rate") == "vaswani";
    const bool linear = !unpaired && !rows.zero_position;
    return {std::move(rows), linear ? claims : claims.without(Claim::linear_shift)};
  }
  require(arguments.has("grid_height") && arguments.has("grid_width"),
          "sinusoidal.grid_height and grid_width must be given with axes=grid");
  require(rows.first_position == 0, "sinusoidal.first_position must be 0 with axes=grid, got ", rows.first_position);
  rows.waves = grid_waves(arguments, rows.dim);
  rows.map = {.kind = PositionMap::Kind::row_column,
              .prefix = arguments.integer("prefix"),
              .height = arguments.integer("grid_height"),
              .width = arguments.integer("grid_width")};
  const Position places = rows.map.prefix + rows.map.height * rows.map.width;
  return {.term = std::move(rows),
          .claims = {Claim::cache_safe},
          .range = PositionRange{0, places - 1},
          .range_reason = "the patches of its grid"};
}

}  // namespace

const Scheme& sinusoidal_scheme();
const Scheme& sinusoidal_scheme() {
  static const Scheme scheme{
      .name = "sinusoidal",
      .title = "sinusoidal",
      .summary = "sines and cosines of the position, added to the hidden state",
      .paper = "Vaswani et al. 2017, arXiv 1706.03762",
      .site = Site::hidden,
      .claims = claims,
      .parameters =
          {{.name = "dim",
            .kind = ValueKind::integer,
            .meaning = "width of the hidden state",
            .required = true,
            .least = 1,
            .most = 1048576},
           base_parameter("wavelengths run from 2 pi towards 2 pi base"),
           {.name = "arrangement",
            .kind = ValueKind::choice,
            .meaning = "sin, cos, sin, cos, .. or [sin | cos]",
            .fallback = std::string("interleaved"),
            .choices = {"interleaved", "concatenated"}},
           {.name = "rate",
            .kind = ValueKind::choice,
            .meaning = "exponent 2i/d or i/(d/2 - 1)",
            .fallback = std::string("vaswani"),
            .choices = {"vaswani", "fairseq"}},
           {.name = "first_position",
            .kind = ValueKind::integer,
            .meaning = "added to every id",
            .fallback = std::int64_t{0},
            .least = -0x1p31,
            .most = 0x1p31},
           {.name = "zero_position",
            .kind = ValueKind::integer,
            .meaning = "the id whose row is zero (fairseq's padding index)",
            .least = -0x1p31,
            .most = 0x1p31},
           {.name = "axes",
            .kind = ValueKind::choice,
            .meaning = "one axis, or rows and columns of a grid of patches",
            .fallback = std::string("1d"),
            .choices = {"1d", "grid"}},
           {.name = "grid_height", .kind = ValueKind::integer, .meaning = "grid: rows", .least = 1, .most = 65536},
           {.name = "grid_width", .kind = ValueKind::integer, .meaning = "grid: columns", .least = 1, .most = 65536},
           {.name = "prefix",
            .kind = ValueKind::integer,
            .meaning = "grid: class tokens before the patches",
            .fallback = std::int64_t{0},
            .least = 0,
            .most = 65536}},
      .make = make,
      .example = {{"dim", std::int64_t{64}}},
      .variants =
          {{"arrangement=concatenated", {{"dim", 16}, {"arrangement", "concatenated"}}},
           {"rate=fairseq", {{"dim", 16}, {"rate", "fairseq"}}},
           {"dim=17", {{"dim", 17}}},
           {"dim=17 rate=fairseq", {{"dim", 17}, {"rate", "fairseq"}}},
           {"zero_position=1", {{"dim", 16}, {"first_position", 2}, {"zero_position", 1}}},
           {"axes=grid",
            {{"dim", 16}, {"axes", "grid"}, {"arrangement", "concatenated"}, {"grid_height", 3}, {"grid_width", 5}}}},
      .compared = ComparedIn::quick,
  };
  return scheme;
}

}  // namespace locus
