// SPDX-License-Identifier: Apache-2.0
// A learned number per head for each index computed from the two positions. Index rules:
//   clipped  clip(key - query, -left, right) + left                                 left + right + 1 rows
//   deberta  log buckets of query - key (He et al. 2020, arXiv 2006.03654, DeBERTa-v2): with mid = bucket_size / 2,
//            |r| <= mid: r; beyond: sign(r) (mid + ceil(ln(|r|/mid) / ln((max_position - 1)/mid) (mid - 1))),
//            then + bucket_size, clamped into the 2 bucket_size rows
//   swin     cells of a height x width window, ids in row-major order (Liu et al. 2021, arXiv 2103.14030):
//            (drow + height - 1)(2 width - 1) + dcolumn + width - 1, d = query - key
//
// Deviation: transformers computes DeBERTa's logarithm in float32, which can fall on the other side of an integer
// (profile `hf`). Its bucket function does not clamp; the lookup does.
#include <algorithm>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"
#include "schemes/log_buckets.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions, Claim::unbounded,
                        Claim::learned};

using Index = RelativeKeys::Index;

Index clipped_index(std::int64_t left, std::int64_t right) {
  return [left, right](Position query, Position key) { return std::clamp(key - query, -left, right) + left; };
}

Index swin_index(std::int64_t height, std::int64_t width) {
  return [=](Position query, Position key) {
    const std::int64_t rows = query / width - key / width;
    const std::int64_t columns = query % width - key % width;
    return (rows + height - 1) * (2 * width - 1) + columns + width - 1;
  };
}

std::int64_t needed(const Arguments& arguments, std::string_view name) {
  require(arguments.has(name), "relative_bias.", name, " must be given with index=", arguments.text("index"));
  return arguments.integer(name);
}

SchemeResult make(const Arguments& arguments) {
  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  const std::string& rule = arguments.text("index");
  Claims kept = claims;
  if (rule == "clipped") {
    const std::int64_t left = needed(arguments, "clip_left");
    const std::int64_t right = arguments.maybe_integer("clip_right").value_or(left);
    bias.buckets = left + right + 1;
    bias.bucket = clipped_index(left, right);
  } else if (rule == "deberta") {
    const std::int64_t bucket_size = needed(arguments, "bucket_size");
    const std::int64_t max_position = needed(arguments, "max_position");
    require(bucket_size >= 4 && bucket_size % 2 == 0, "relative_bias.bucket_size must be even and at least 4, got ",
            bucket_size);
    require(max_position - 1 > bucket_size / 2, "relative_bias.max_position must exceed bucket_size / 2 + 1 (",
            bucket_size / 2 + 1, "), got ", max_position);
    bias.buckets = 2 * bucket_size;
    bias.bucket = log_bucket_index(bucket_size, max_position, arguments.text("profile") == "hf");
  } else {
    const std::int64_t height = needed(arguments, "window_height");
    const std::int64_t width = needed(arguments, "window_width");
    bias.buckets = (2 * height - 1) * (2 * width - 1);
    bias.bucket = swin_index(height, width);
    bias.toeplitz = false;
    bias.max_id = height * width;
    kept = {Claim::learned, Claim::cache_safe};
  }
  bias.table = weights_or_normal("relative_bias", arguments, "table", {bias.buckets, bias.heads});
  bias.value = [bucket = bias.bucket, table = bias.table](std::int64_t head, Position query, Position key) {
    return static_cast<double>(table.row(bucket(query, key))[static_cast<std::size_t>(head)]);
  };
  SchemeResult result{.term = {}, .claims = kept};
  result.learned = {{.name = "table", .shape = bias.table.shape, .gradient = LearnedGradient::bias_table}};
  if (bias.max_id) {
    result.range = {0, *bias.max_id - 1};
    result.range_reason = "the cells of its window";
  }
  result.term = std::move(bias);
  return result;
}

}  // namespace

const Scheme& relative_bias_scheme();
const Scheme& relative_bias_scheme() {
  static const Scheme scheme{
      .name = "relative_bias",
      .title = "relative bias",
      .summary = "a learned number per head and offset: clipped, DeBERTa's log buckets, or Swin's window",
      .paper =
          "Shaw et al. 2018, arXiv 1803.02155; He et al. 2020, arXiv 2006.03654; Liu et al. 2021, arXiv 2103.14030",
      .site = Site::score,
      .claims = claims,
      .parameters = {heads_parameter(),
                     {.name = "index",
                      .kind = ValueKind::choice,
                      .meaning = "how two positions select a row",
                      .fallback = std::string("clipped"),
                      .choices = {"clipped", "deberta", "swin"}},
                     {.name = "clip_left",
                      .kind = ValueKind::integer,
                      .meaning = "clipped: largest past offset with a separate row",
                      .least = 0,
                      .most = 1048576},
                     {.name = "clip_right",
                      .kind = ValueKind::integer,
                      .meaning = "clipped: largest future offset with a separate row; absent: clip_left",
                      .least = 0,
                      .most = 1048576},
                     {.name = "bucket_size",
                      .kind = ValueKind::integer,
                      .meaning = "deberta: rows per sign",
                      .least = 1,
                      .most = 1048576},
                     {.name = "max_position",
                      .kind = ValueKind::integer,
                      .meaning = "deberta: distance from which all share the last bucket",
                      .least = 1,
                      .most = 0x1p31},
                     {.name = "window_height",
                      .kind = ValueKind::integer,
                      .meaning = "swin: rows of the window",
                      .least = 1,
                      .most = 1024},
                     {.name = "window_width",
                      .kind = ValueKind::integer,
                      .meaning = "swin: columns of the window",
                      .least = 1,
                      .most = 1024},
                     {.name = "table", .kind = ValueKind::tensor, .meaning = "learned numbers [rows, heads]"},
                     {.name = "profile",
                      .kind = ValueKind::choice,
                      .meaning = "hf: DeBERTa's logarithm in float32",
                      .fallback = std::string("exact"),
                      .choices = {"exact", "hf"}},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", std::int64_t{8}}, {"clip_left", std::int64_t{16}}},
      .variants =
          {{"clip_right=2", {{"heads", 2}, {"clip_left", 5}, {"clip_right", 2}}},
           {"index=deberta", {{"heads", 2}, {"index", "deberta"}, {"bucket_size", 16}, {"max_position", 128}}},
           {"index=deberta profile=hf",
            {{"heads", 2}, {"index", "deberta"}, {"bucket_size", 16}, {"max_position", 128}, {"profile", "hf"}}},
           {"index=swin", {{"heads", 2}, {"index", "swin"}, {"window_height", 3}, {"window_width", 4}}}},
  };
  return scheme;
}

}  // namespace locus
