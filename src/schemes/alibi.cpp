// SPDX-License-Identifier: Apache-2.0
// ALiBi: a penalty on the score that grows linearly with distance, one slope per head.
//   n = largest power of two <= heads;  slope_h = 2^(-b (h + 1) / n) for h < n, with b = bias_max = 8;
//   the other heads use every second slope of the series for 2n heads: 2^(-b (2 (h - n) + 1) / (2 n)).
// Press et al. 2021, "Train Short, Test Long" (arXiv 2108.12409), section 3. Not monotone over heads, by design.
//
// Forms (all equal under a causal softmax, which a constant per row does not change):
//   causal     -slope (query - key) on the past, 0 elsewhere
//   symmetric  -slope |query - key|
//   bloom      slope * key                      the key's running index among unmasked tokens
//   mpt        slope * (key - (length - 1))     needs `length`, the number of keys
//   falcon     slope * key with slope and product in bfloat16, added before the softmax scale
// One more form is a separate function:
//   sqrt       -slope sqrt(query - key) on the past, 0 elsewhere     Step 1 (StepFun 2024, as published in vLLM)
//
// A tensor-parallel rank holds heads first_head .. first_head + heads - 1 of total_heads, with the slopes that these
// have in the whole model. With biased_heads, only the first heads have a bias, with the slopes of that many heads
// (x-transformers); the others have none.
#include <algorithm>
#include <bit>
#include <cmath>

#include "locus/element.h"
#include "locus/error.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative,           Claim::linear_in_distance, Claim::decaying,   Claim::cache_safe,
                        Claim::negative_positions, Claim::unbounded,          Claim::causal_only};

std::vector<double> slopes_of(std::int64_t heads, double bias_max) {
  const auto n = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  std::vector<double> slopes;
  for (std::int64_t h = 0; h < heads; ++h) {
    const double steps = h < n ? static_cast<double>(h + 1) : static_cast<double>(2 * (h - n) + 1) / 2;
    slopes.push_back(std::exp2(-bias_max * steps / static_cast<double>(n)));
  }
  return slopes;
}

double to_bfloat16_and_back(double value) { return static_cast<double>(to_float(to_bfloat16(value))); }

// The slopes of the heads of this rank; 0 for heads without a bias.
std::vector<double> slopes_here(const Arguments& arguments) {
  const std::int64_t heads = arguments.integer("heads");
  const std::int64_t total = arguments.maybe_integer("total_heads").value_or(heads);
  const std::int64_t first = arguments.integer("first_head");
  require(first + heads <= total, "alibi.first_head + heads must be at most total_heads (", total, "), got ", first,
          " + ", heads);
  const std::int64_t biased = arguments.maybe_integer("biased_heads").value_or(total);
  require(biased <= total, "alibi.biased_heads must be at most ",
          arguments.has("total_heads") ? "total_heads" : "heads", " (", total, "), got ", biased);
  std::vector<double> slopes = slopes_of(biased, arguments.real("bias_max"));
  slopes.resize(static_cast<std::size_t>(total), 0.0);
  return {slopes.begin() + first, slopes.begin() + first + heads};
}

SchemeResult make(const Arguments& arguments) {
  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  bias.slopes = slopes_here(arguments);
  const std::string& form = arguments.text("form");
  const auto slope = [slopes = bias.slopes](std::int64_t head) { return slopes[static_cast<std::size_t>(head)]; };
  Claims kept = claims;
  const bool some_have_none = std::find(bias.slopes.begin(), bias.slopes.end(), 0.0) != bias.slopes.end();
  if (some_have_none) kept = kept.without(Claim::linear_in_distance);
  if (form == "causal") {
    bias.value = [slope](std::int64_t head, Position query, Position key) {
      return key < query ? -slope(head) * static_cast<double>(query - key) : 0.0;
    };
  } else if (form == "sqrt") {
    bias.value = [slope](std::int64_t head, Position query, Position key) {
      return key < query ? -slope(head) * std::sqrt(static_cast<double>(query - key)) : 0.0;
    };
    bias.slopes.clear();  // no slope times distance
    kept = kept.without(Claim::linear_in_distance);
  } else if (form == "symmetric") {
    bias.value = [slope](std::int64_t head, Position query, Position key) {
      return -slope(head) * std::fabs(static_cast<double>(query - key));
    };
    kept = kept.with(Claim::distance_only).without(Claim::causal_only);
  } else {
    // These depend on the key alone. They are relative only after the softmax, so the numbers make no such claim.
    kept = {Claim::cache_safe, Claim::unbounded, Claim::causal_only};
    bias.toeplitz = false;
    if (form == "bloom") {
      bias.value = [slope](std::int64_t head, Position, Position key) {
        return slope(head) * static_cast<double>(key);
      };
    } else if (form == "mpt") {
      require(arguments.has("length"), "alibi.length must be given with form=mpt: the number of keys");
      bias.value = [slope, last = arguments.integer("length") - 1](std::int64_t head, Position, Position key) {
        return slope(head) * static_cast<double>(key - last);
      };
      kept = kept.without(Claim::cache_safe);
    } else {
      bias.before_scale = true;
      bias.value = [slope](std::int64_t head, Position, Position key) {
        const double rounded_key = to_bfloat16_and_back(static_cast<double>(key));
        return to_bfloat16_and_back(to_bfloat16_and_back(slope(head)) * rounded_key);
      };
    }
  }
  return {std::move(bias), kept};
}

}  // namespace

const Scheme& alibi_scheme();
const Scheme& alibi_scheme() {
  static const Scheme scheme{
      .name = "alibi",
      .title = "ALiBi",
      .summary = "a penalty linear in distance, one slope per head",
      .paper = "Press et al. 2021, arXiv 2108.12409",
      .site = Site::score,
      .claims = claims,
      .parameters =
          {heads_parameter(),
           {.name = "bias_max",
            .kind = ValueKind::real,
            .meaning = "the last slope of a power of two is 2^-bias_max",
            .fallback = 8.0,
            .least = 0,
            .most = 1000,
            .above_least = true},
           {.name = "form",
            .kind = ValueKind::choice,
            .meaning = "form of the bias",
            .fallback = std::string("causal"),
            .choices = {"causal", "symmetric", "bloom", "mpt", "falcon", "sqrt"}},
           {.name = "length", .kind = ValueKind::integer, .meaning = "mpt: number of keys", .least = 1, .most = 0x1p31},
           {.name = "total_heads",
            .kind = ValueKind::integer,
            .meaning = "heads of the whole model, of which these are a slice (tensor parallel); absent: heads",
            .least = 1,
            .most = 65536},
           {.name = "first_head",
            .kind = ValueKind::integer,
            .meaning = "index in the whole model of the first of these heads",
            .fallback = std::int64_t{0},
            .least = 0,
            .most = 65536},
           {.name = "biased_heads",
            .kind = ValueKind::integer,
            .meaning = "only so many heads of the model, the first ones, have a bias; absent: all",
            .least = 1,
            .most = 65536}},
      .make = make,
      .example = {{"heads", std::int64_t{8}}},
      .variants = {{"heads=12", {{"heads", 12}}},
                   {"form=symmetric", {{"heads", 8}, {"form", "symmetric"}}},
                   {"form=bloom", {{"heads", 8}, {"form", "bloom"}}},
                   {"form=mpt", {{"heads", 8}, {"form", "mpt"}, {"length", 100}}},
                   {"form=falcon", {{"heads", 8}, {"form", "falcon"}}},
                   {"form=sqrt", {{"heads", 6}, {"form", "sqrt"}}},
                   {"first_head=3 total_heads=12", {{"heads", 3}, {"first_head", 3}, {"total_heads", 12}}},
                   {"biased_heads=3", {{"heads", 8}, {"biased_heads", 3}}}},
      .compared = ComparedIn::quick,
  };
  return scheme;
}

}  // namespace locus
