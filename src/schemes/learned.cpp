// SPDX-License-Identifier: Apache-2.0
// Learned absolute positions: row p of a trained table is added to the hidden state.
// Gehring et al. 2017 (arXiv 1705.03122); GPT-2, BERT, OPT, ViT.
//
// A position outside the table is an error; it never wraps around. Deviations: OPT's rows start at +2, RoBERTa's at
// its padding index + 1 (row_offset). max_positions counts the usable positions, so the table has max_positions +
// row_offset rows.
#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::learned, Claim::cache_safe};

SchemeResult make(const Arguments& arguments) {
  HiddenRows rows;
  rows.row_offset = arguments.integer("row_offset");
  if (arguments.has("table")) {
    rows.table = weights_or_normal(
        "learned", arguments, "table",
        {arguments.has("max_positions") ? arguments.integer("max_positions") + rows.row_offset : std::int64_t{-1},
         arguments.maybe_integer("dim").value_or(-1)});
  } else {
    require(arguments.has("max_positions") && arguments.has("dim"), "learned needs max_positions and dim, or a table");
    const std::int64_t count = arguments.integer("max_positions") + rows.row_offset;
    require(count <= (std::int64_t{1} << 32) / arguments.integer("dim"), "learned.max_positions x dim must be at most ",
            "2^32 values, got ", count, " x ", arguments.integer("dim"));
    rows.table = weights_or_normal("learned", arguments, "table", {count, arguments.integer("dim")});
  }
  require(rows.table.dim(0) > rows.row_offset && rows.table.dim(1) > 0,
          "learned.table must have more rows than row_offset (", rows.row_offset, ") and at least one column, got ",
          [&] { return to_text(Value(rows.table)); });
  rows.dim = rows.table.dim(1);
  SchemeResult result{.term = {}, .claims = claims};
  result.learned = {
      {.name = "table", .shape = rows.table.shape, .deviation = 1, .gradient = LearnedGradient::hidden_rows}};
  result.range = {0, rows.table.dim(0) - rows.row_offset - 1};
  result.range_reason = "the rows of its table";
  result.term = std::move(rows);
  return result;
}

}  // namespace

const Scheme& learned_scheme();
const Scheme& learned_scheme() {
  static const Scheme scheme{
      .name = "learned",
      .title = "learned",
      .summary = "a trained row per position, added to the hidden state",
      .paper = "Gehring et al. 2017, arXiv 1705.03122",
      .site = Site::hidden,
      .claims = claims,
      .parameters = {{.name = "max_positions",
                      .kind = ValueKind::integer,
                      .meaning = "number of usable positions",
                      .least = 1,
                      .most = 0x1p31},
                     {.name = "dim",
                      .kind = ValueKind::integer,
                      .meaning = "width of the hidden state",
                      .least = 1,
                      .most = 1048576},
                     {.name = "row_offset",
                      .kind = ValueKind::integer,
                      .meaning = "position p uses row p + row_offset (OPT 2, RoBERTa padding index + 1)",
                      .fallback = std::int64_t{0},
                      .least = 0,
                      .most = 65536},
                     {.name = "table", .kind = ValueKind::tensor, .meaning = "trained rows [rows, dim]"},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"max_positions", std::int64_t{512}}, {"dim", std::int64_t{64}}},
      .variants = {{"row_offset=2", {{"max_positions", 32}, {"dim", 8}, {"row_offset", 2}}}},
  };
  return scheme;
}

}  // namespace locus
