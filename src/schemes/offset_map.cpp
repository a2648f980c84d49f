// SPDX-License-Identifier: Apache-2.0
// RoPE with remapped offsets: far keys are seen at smaller offsets than they have, so that a model reads beyond the
// length that it was trained for, without training. With i the query's and j the key's position:
//   rerope        i - j below the window w, else w
//   leaky_rerope  i - j below w, else w + (i - j - w) / group
//   self_extend   i - j below w, else floor(i / g) - floor(j / g) + w - w / g, g = group
//   dual_chunk    chunks of c = chunk_size - local_size tokens; in the same chunk i - j; in the previous one
//                 min(i % c + c, chunk_size) - j % c; in earlier ones min(2c - 1, chunk_size) - j % c
// Su 2023 (kexue.fm/archives/9706 and 9731), Jin et al. 2024 (arXiv 2401.01325), An et al. 2024 (arXiv 2402.17463).
// Offsets may be fractions: w / g need not be whole. Queries and keys are rotated at their positions as always (and
// cached so); attention turns those of far pairs by the difference.
//
// Deviations. The code of SelfExtend leaves the map out while the longest position is below w, which changes nothing.
// Qwen's dual chunk attention also multiplies keys and softmax scale by m = max(1, 1 + 0.1 ln(length /
// unscaled_length)), so that scores carry m^2. ReRoPE's code also multiplies the query by max(1, ln(i + 1) / ln(trained
// length)), and SelfExtend's if asked: temperature=logarithm.
#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/registry.h"
#include "schemes/rope_axes.h"

namespace locus {

const Scheme& rope_scheme();  // whose parameters and frequencies this one takes

namespace {

constexpr Claims claims{Claim::relative, Claim::norm_preserving, Claim::cache_safe, Claim::unbounded};

std::vector<Parameter> own_parameters() {
  const auto count = [](std::string_view name, std::string_view meaning, double least) {
    return Parameter{.name = name, .kind = ValueKind::integer, .meaning = meaning, .least = least, .most = 0x1p31};
  };
  return {{.name = "map",
           .kind = ValueKind::choice,
           .meaning = "how offsets are remapped",
           .required = true,
           .choices = {"rerope", "leaky_rerope", "self_extend", "dual_chunk"}},
          count("window", "rerope, leaky_rerope, self_extend: offsets below this stay as they are", 1),
          count("group", "leaky_rerope, self_extend: far offsets are divided by this", 1),
          count("chunk_size", "dual_chunk: largest offset", 2),
          count("local_size", "dual_chunk: offsets of the previous chunk that stay as they are", 0),
          count("unscaled_length", "dual_chunk: length beyond which scores grow; absent: they do not", 1),
          count("length", "dual_chunk with unscaled_length: tokens of the sequence", 1)};
}

bool has(const std::vector<Parameter>& parameters, std::string_view name) {
  return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& one) { return one.name == name; });
}

// RoPE's, but for those of several axes, since an offset is one number, and of an output that turns back by the id.
std::vector<Parameter> rope_parameters(const Arguments& given) {
  std::vector<Parameter> all = rope_scheme().parameters_for(given);
  const std::vector<Parameter> axes = axes_parameters();
  std::erase_if(all, [&](const Parameter& one) { return has(axes, one.name) || one.name == "turned_output"; });
  return all;
}

std::vector<Parameter> parameters_for(const Arguments& given) {
  std::vector<Parameter> all = own_parameters();
  const std::vector<Parameter> of_rope = rope_parameters(given);
  std::erase_if(all, [&](const Parameter& own) { return has(of_rope, own.name); });
  all.insert(all.end(), of_rope.begin(), of_rope.end());
  return all;
}

std::int64_t needed(const Arguments& arguments, std::string_view name) {
  require(arguments.has(name), "offset_map.", name, " must be given with map=", arguments.text("map"));
  return arguments.integer(name);
}

Position floor_divided(Position p, std::int64_t by) { return (p >= 0 ? p : p - by + 1) / by; }
Position remainder(Position p, std::int64_t by) { return p - floor_divided(p, by) * by; }

OffsetRegion near_region(std::int64_t window, std::int64_t denominator) {
  const auto own = [denominator](Position p) { return p * denominator; };
  return {.first_key = [window](Position query) { return query - window + 1; }, .query_at = own, .key_at = own};
}

OffsetMap rerope(std::int64_t window) {
  return {.regions = {near_region(window, 1),
                      {.first_key = {},
                       .query_at = [window](Position) { return window; },
                       .key_at = [](Position) { return Position{0}; }}}};
}

// w + (i - j - w) / k = (i + w k - w) / k - j / k
OffsetMap leaky_rerope(std::int64_t window, std::int64_t group) {
  return {.regions = {near_region(window, group),
                      {.first_key = {},
                       .query_at = [=](Position query) { return query + window * group - window; },
                       .key_at = [](Position key) { return key; }}},
          .denominator = group};
}

OffsetMap self_extend(std::int64_t window, std::int64_t group) {
  return {
      .regions = {near_region(window, group),
                  {.first_key = {},
                   .query_at =
                       [=](Position query) { return floor_divided(query, group) * group + window * group - window; },
                   .key_at = [=](Position key) { return floor_divided(key, group) * group; }}},
      .denominator = group};
}

OffsetMap dual_chunk(std::int64_t chunk_size, std::int64_t local_size) {
  require(local_size < chunk_size, "offset_map.local_size must be below chunk_size (", chunk_size, "), got ",
          local_size);
  const std::int64_t c = chunk_size - local_size;
  const auto key_at = [c](Position key) { return remainder(key, c); };
  const auto chunk_start = [c](Position query) { return floor_divided(query, c) * c; };
  return {
      .regions = {
          {.first_key = chunk_start, .query_at = [c](Position query) { return remainder(query, c); }, .key_at = key_at},
          {.first_key = [=](Position query) { return chunk_start(query) - c; },
           .query_at = [=](Position query) { return std::min(remainder(query, c) + c, chunk_size); },
           .key_at = key_at},
          {.first_key = {}, .query_at = [=](Position) { return std::min(2 * c - 1, chunk_size); }, .key_at = key_at}}};
}

OffsetMap map_of(const Arguments& arguments) {
  const std::string& map = arguments.text("map");
  if (map == "rerope") return rerope(needed(arguments, "window"));
  if (map == "leaky_rerope") return leaky_rerope(needed(arguments, "window"), needed(arguments, "group"));
  if (map == "self_extend") return self_extend(needed(arguments, "window"), needed(arguments, "group"));
  return dual_chunk(needed(arguments, "chunk_size"), needed(arguments, "local_size"));
}

SchemeResult make(const Arguments& arguments) {
  Arguments of_rope;
  const std::vector<Parameter> known = rope_parameters(arguments);
  for (const auto& [name, value] : arguments.all()) {
    if (has(known, name)) of_rope.set(name, value);
  }
  SchemeResult result = rope_scheme().make(validate("offset_map", rope_scheme().parameters_for(of_rope), of_rope));
  Rotation& rotation = std::get<Rotation>(result.term);
  rotation.offsets = map_of(arguments);
  const std::string& map = arguments.text("map");
  result.claims = result.claims.without(Claim::negative_positions);
  if (map == "self_extend" || map == "dual_chunk") result.claims = result.claims.without(Claim::relative);
  if (map == "dual_chunk" && arguments.has("unscaled_length")) {
    result.claims = result.claims.without(Claim::cache_safe);
    const double ratio = static_cast<double>(arguments.maybe_integer("length").value_or(1)) /
                         static_cast<double>(arguments.integer("unscaled_length"));
    const double m = std::max(1.0, 1 + 0.1 * std::log(ratio));
    rotation.softmax_scale_factor *= m * m;
  }
  return result;
}

}  // namespace

const Scheme& offset_map_scheme();
const Scheme& offset_map_scheme() {
  static const Scheme scheme = [] {
    const Arguments rope{{"head_dim", 16}, {"pairing", "half"}};
    const auto with = [&](std::initializer_list<std::pair<const std::string, Value>> more) {
      Arguments all = rope;
      for (const auto& [name, value] : more) all.set(name, value);
      return all;
    };
    return Scheme{
        .name = "offset_map",
        .title = "offset map",
        .summary = "RoPE that sees far keys at smaller offsets: ReRoPE, SelfExtend, dual chunk attention",
        .paper = "Jin et al. 2024, arXiv 2401.01325; An et al. 2024, arXiv 2402.17463",
        .site = Site::query_key,
        .claims = claims,
        .parameters = parameters_for({}),
        .make = make,
        .parameters_for = parameters_for,
        .example = with({{"map", "rerope"}, {"window", 8}}),
        .variants = {{"map=leaky_rerope", with({{"map", "leaky_rerope"}, {"window", 6}, {"group", 4}})},
                     {"map=self_extend", with({{"map", "self_extend"}, {"window", 8}, {"group", 3}})},
                     {"map=dual_chunk", with({{"map", "dual_chunk"}, {"chunk_size", 12}, {"local_size", 4}})}},
    };
  }();
  return scheme;
}

}  // namespace locus
