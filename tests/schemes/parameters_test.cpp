// SPDX-License-Identifier: Apache-2.0
// The contract of numeric parameters, written down once more: the ends of each range are taken, the next number is not,
// and what is left out is what the paper, or the code of its authors, has.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/registry.h"
#include "locus/scaling.h"

namespace locus {
namespace {

struct Range {
  std::string owner;  ///< a scheme, or a rule of rope
  std::string name;
  std::vector<double> taken;
  std::vector<double> refused;
};

bool is_rule(const std::string& owner) {
  for (const Rule* rule : rules()) {
    if (rule->name == owner) return true;
  }
  return false;
}

/// Valid arguments of a scheme, or of rope under a rule.
Arguments example_of(const std::string& owner) {
  if (!is_rule(owner)) return find_scheme(owner).example;
  Arguments arguments = find_rule(owner).example;
  arguments.set("head_dim", std::int64_t{16});
  arguments.set("pairing", std::string("half"));
  arguments.set("rule", owner);
  return arguments;
}

Arguments validated(const std::string& owner, const Arguments& arguments) {
  const Scheme& scheme = find_scheme(is_rule(owner) ? "rope" : owner);
  return validate(scheme.name, parameters_of(scheme, arguments), arguments);
}

Arguments with_number(const Range& range, double number) {
  Arguments arguments = example_of(range.owner);
  const Scheme& scheme = find_scheme(is_rule(range.owner) ? "rope" : range.owner);
  const std::vector<Parameter> parameters = parameters_of(scheme, arguments);
  const Parameter& parameter = find_parameter(scheme.name, parameters, range.name);
  if (parameter.kind == ValueKind::list) {
    arguments.set(range.name, std::vector<double>{number});
  } else {
    arguments.set(range.name, number);
  }
  return arguments;
}

constexpr double tiny = 1e-300, huge = 1e300;
constexpr double ids = 0x1p31;  // lengths and centres: as many as there are ids from 0 on

std::vector<Range> ranges() {
  std::vector<Range> all = {
      {"alibi", "bias_max", {tiny, 1000}, {0, 1000.5}},
      {"alibi", "length", {1, ids}, {0, ids + 1}},
      {"kerple", "r1", {tiny, huge}, {0, -1}},
      {"kerple", "r2", {tiny, huge}, {0, -1}},
      {"learned", "max_positions", {1, ids}, {0, ids + 1}},
      {"learned", "dim", {1, 0x1p20}, {0, 0x1p20 + 1}},
      {"learned", "row_offset", {0, 0x1p16}, {-1, 0x1p16 + 1}},
      {"relative_bias", "clip_left", {0, 0x1p20}, {-1, 0x1p20 + 1}},
      {"relative_bias", "clip_right", {0, 0x1p20}, {-1, 0x1p20 + 1}},
      {"relative_bias", "bucket_size", {1, 0x1p20}, {0, 0x1p20 + 1}},
      {"relative_bias", "max_position", {1, ids}, {0, ids + 1}},
      {"relative_bias", "window_height", {1, 1024}, {0, 1025}},
      {"relative_bias", "window_width", {1, 1024}, {0, 1025}},
      {"rope", "head_dim", {2, 0x1p16}, {1, 0x1p16 + 1}},
      {"rope", "base", {tiny, huge}, {0, -1}},
      {"rope", "rotary_dim", {2, 0x1p16}, {1, 0x1p16 + 1}},
      {"rope", "rotary_offset", {0, 0x1p16}, {-1, 0x1p16 + 1}},
      {"rope", "sections", {0, 0x1p15}, {-1, 0x1p15 + 1}},
      {"rope", "grid_height", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"rope", "grid_width", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"rope", "prefix", {0, 0x1p16}, {-1, 0x1p16 + 1}},
      {"rope", "max_length", {1, ids}, {0, ids + 1}},
      {"sandwich", "dim", {2, 0x1p16}, {1, 0x1p16 + 1}},
      {"sandwich", "base", {tiny, huge}, {0, -1}},
      {"shaw", "head_dim", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"shaw", "clip_left", {0, 0x1p20}, {-1, 0x1p20 + 1}},
      {"shaw", "clip_right", {0, 0x1p20}, {-1, 0x1p20 + 1}},
      {"sinusoidal", "dim", {1, 0x1p20}, {0, 0x1p20 + 1}},
      {"sinusoidal", "base", {tiny, huge}, {0, -1}},
      {"sinusoidal", "first_position", {-ids, ids}, {-ids - 1, ids + 1}},
      {"sinusoidal", "zero_position", {-ids, ids}, {-ids - 1, ids + 1}},
      {"sinusoidal", "grid_height", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"sinusoidal", "grid_width", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"sinusoidal", "prefix", {0, 0x1p16}, {-1, 0x1p16 + 1}},
      {"t5", "num_buckets", {2, 0x1p16}, {1, 0x1p16 + 1}},
      {"t5", "max_distance", {1, ids}, {0, ids + 1}},
      {"transformer_xl", "head_dim", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"transformer_xl", "model_dim", {1, 0x1p20}, {0, 0x1p20 + 1}},
      {"transformer_xl", "base", {tiny, huge}, {0, -1}},
      {"xpos", "head_dim", {2, 0x1p16}, {1, 0x1p16 + 1}},
      {"xpos", "base", {tiny, huge}, {0, -1}},
      {"xpos", "scale_base", {1, huge}, {0.999}},
      {"xpos", "centre", {-ids, ids}, {-ids - 1, ids + 1}},
      {"xpos", "length", {1, ids}, {0, ids + 1}},
      {"linear", "factor", {1, huge}, {0.999}},
      {"ntk", "factor", {1, huge}, {0.999}},
      {"ntk_mixed", "factor", {1, huge}, {0.999}},
      {"ntk_mixed", "mixed_b", {tiny, 16}, {0, 16.001}},
      {"geometric", "lowest", {tiny, huge}, {0, -1}},
      {"yarn", "magnitude_slope", {0, huge}, {-tiny}},
      {"alibi", "total_heads", {8, 0x1p16}, {0, 0x1p16 + 1}},
      {"alibi", "biased_heads", {1, 8}, {0, 0x1p16 + 1}},
      {"alibi", "first_head", {0, 0x1p16}, {-1, 0x1p16 + 1}},
      {"rope", "pair_axis", {-1, 7}, {-2, 8}},
      {"rope", "temperature_length", {2, ids}, {1, ids + 1}},
      {"rope", "temperature_beta", {tiny, huge}, {0, -1}},
      {"rope", "temperature_shift", {0, ids}, {-1, ids + 1}},
      {"query_temperature", "head_dim", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"query_temperature", "temperature_length", {2, ids}, {1, ids + 1}},
      {"query_temperature", "temperature_beta", {tiny, huge}, {0, -1}},
      {"query_temperature", "temperature_shift", {0, ids}, {-1, ids + 1}},
      {"fope", "base", {tiny, huge}, {0, -1}},
      {"fope", "frequencies", {1, 0x1p15}, {0, 0x1p15 + 1}},
      {"fope", "head_dim", {2, 0x1p16}, {1, 0x1p16 + 1}},
      {"fope", "max_length", {1, ids}, {0, ids + 1}},
      {"offset_map", "window", {1, ids}, {0, ids + 1}},
      {"offset_map", "group", {1, ids}, {0, ids + 1}},
      {"offset_map", "chunk_size", {2, ids}, {1, ids + 1}},
      {"offset_map", "local_size", {0, ids}, {-1, ids + 1}},
      {"offset_map", "unscaled_length", {1, ids}, {0, ids + 1}},
      {"offset_map", "length", {1, ids}, {0, ids + 1}},
      {"conv_position", "dim", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"conv_position", "groups", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"conv_position", "kernel", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"conv_position", "norm_epsilon", {0, huge}, {-tiny}},
      {"pope", "channels", {1, 0x1p15}, {0, 0x1p15 + 1}},
      {"pope", "axis_channels", {1, 0x1p15}, {0, 0x1p15 + 1}},
      {"conformer", "head_dim", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"conformer", "model_dim", {1, 0x1p20}, {0, 0x1p20 + 1}},
      {"conformer", "base", {tiny, huge}, {0, -1}},
      {"cope", "head_dim", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"cope", "max_positions", {1, 4096}, {0, 4097}},
      {"deberta", "head_dim", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"deberta", "max_relative_positions", {1, 0x1p20}, {0, 0x1p20 + 1}},
      {"deberta", "position_buckets", {0, 0x1p20}, {-1, 0x1p20 + 1}},
      {"decomposed_2d", "head_dim", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"decomposed_2d", "grid_height", {1, 4096}, {0, 4097}},
      {"decomposed_2d", "grid_width", {1, 4096}, {0, 4097}},
      {"decomposed_2d", "key_height", {1, 4096}, {0, 4097}},
      {"decomposed_2d", "key_width", {1, 4096}, {0, 4097}},
      {"dynamic_bias", "width", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"dynamic_bias", "depth", {1, 64}, {0, 65}},
      {"fire", "width", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"fire", "c", {tiny, huge}, {0, -1}},
      {"fire", "threshold", {tiny, huge}, {0, -1}},
      {"swin_v2", "window_height", {1, 1024}, {0, 1025}},
      {"swin_v2", "window_width", {1, 1024}, {0, 1025}},
      {"swin_v2", "pretrained_height", {0, 1024}, {-1, 1025}},
      {"swin_v2", "pretrained_width", {0, 1024}, {-1, 1025}},
      {"swin_v2", "width", {1, 0x1p16}, {0, 0x1p16 + 1}},
      {"dynamic_ntk", "factor", {1, huge}, {0.999}},
      {"dynamic_ntk", "max_length", {1, ids}, {0, ids + 1}},
      {"dynamic_ntk", "length", {1, ids}, {0, ids + 1}},
      {"ntk_by_parts", "factor", {1, huge}, {0.999}},
      {"ntk_by_parts", "original_length", {1, ids}, {0, ids + 1}},
      {"ntk_by_parts", "ntk_factor", {0, 1}, {-tiny, 1.001}},
      {"ntk_by_parts", "ext_factor", {0, 1}, {-tiny, 1.001}},
      {"yarn", "factor", {tiny, huge}, {0, -1}},
      {"yarn", "original_length", {1, ids}, {0, ids + 1}},
      {"yarn", "max_length", {1, ids}, {0, ids + 1}},
      {"yarn", "beta_fast", {tiny, huge}, {0, -1}},
      {"yarn", "beta_slow", {tiny, huge}, {0, -1}},
      {"yarn", "ext_factor", {0, 1}, {-tiny, 1.001}},
      {"yarn", "mscale", {0, huge}, {-tiny}},
      {"yarn", "mscale_all_dim", {0, huge}, {-tiny}},
      {"yarn", "attention_factor", {tiny, huge}, {0, -1}},
      {"longrope", "short_factor", {tiny, huge}, {0, -1}},
      {"longrope", "long_factor", {tiny, huge}, {0, -1}},
      {"longrope", "original_length", {2, ids}, {1, ids + 1}},  // its logarithm divides
      {"longrope", "max_length", {1, ids}, {0, ids + 1}},
      {"longrope", "factor", {tiny, huge}, {0, -1}},
      {"longrope", "attention_factor", {tiny, huge}, {0, -1}},
      {"longrope", "short_mscale", {tiny, huge}, {0, -1}},
      {"longrope", "long_mscale", {tiny, huge}, {0, -1}},
      {"longrope", "length", {1, ids}, {0, ids + 1}},
      {"llama3", "factor", {1, huge}, {0.999}},
      {"llama3", "low_freq_factor", {tiny, huge}, {0, -1}},
      {"llama3", "high_freq_factor", {tiny, huge}, {0, -1}},
      {"llama3", "original_length", {1, ids}, {0, ids + 1}},
      {"proportional", "rotary_fraction", {tiny, 1}, {0, 1.001}},
      {"proportional", "factor", {1, huge}, {0.999}},
  };
  for (const Scheme* scheme : schemes()) {
    for (const Parameter& one : scheme->parameters) {
      const std::string name(scheme->name);
      if (one.name == "heads") all.push_back({name, "heads", {1, 0x1p16}, {0, 0x1p16 + 1}});
      if (one.name == "deviation") all.push_back({name, "deviation", {0, huge}, {-tiny}});
    }
  }
  return all;
}

TEST(ParameterRanges, EndsAreTakenAndTheNextNumberIsNot) {
  for (const Range& range : ranges()) {
    for (const double number : range.taken) {
      EXPECT_NO_THROW(validated(range.owner, with_number(range, number)))
          << range.owner << "." << range.name << " = " << number;
    }
    for (const double number : range.refused) {
      EXPECT_THROW(validated(range.owner, with_number(range, number)), Error)
          << range.owner << "." << range.name << " = " << number;
    }
  }
}

struct Default {
  std::string owner;
  std::string name;
  Value value;
};

TEST(ParameterDefaults, AreThoseOfThePapers) {
  const std::vector<Default> defaults = {
      {"alibi", "bias_max", 8.0},  // slopes 2^-1 .. 2^-8 of eight heads
      {"alibi", "form", "causal"},
      {"kerple", "form", "log"},
      {"kerple", "r1", std::vector<double>{1}},
      {"kerple", "r2", std::vector<double>{1}},
      {"learned", "row_offset", std::int64_t{0}},
      {"relative_bias", "index", "clipped"},
      {"rope", "base", 10000.0},
      {"rope", "rotary_offset", std::int64_t{0}},
      {"rope", "prefix", std::int64_t{0}},
      {"rope", "rule", "none"},
      {"rope", "axes", "1d"},
      {"sandwich", "dim", std::int64_t{128}},
      {"sandwich", "base", 10000.0},
      {"shaw", "clip_left", std::int64_t{16}},
      {"shaw", "clip", true},
      {"shaw", "values", false},
      {"shaw", "scaled", true},
      {"shaw", "meets_key", false},
      {"sinusoidal", "base", 10000.0},
      {"sinusoidal", "first_position", std::int64_t{0}},
      {"sinusoidal", "prefix", std::int64_t{0}},
      {"t5", "num_buckets", std::int64_t{32}},
      {"t5", "max_distance", std::int64_t{128}},
      {"t5", "bidirectional", true},
      {"transformer_xl", "base", 10000.0},
      {"xpos", "base", 10000.0},
      {"xpos", "scale_base", 512.0},
      {"xpos", "centre", std::int64_t{0}},
      {"xpos", "moving_centre", false},
      {"ntk_by_parts", "ntk_factor", 1.0},
      {"ntk_by_parts", "ext_factor", 1.0},
      {"yarn", "beta_fast", 32.0},
      {"yarn", "beta_slow", 1.0},
      {"yarn", "ext_factor", 1.0},
      {"yarn", "truncate", true},
      {"yarn", "magnitude_slope", 0.1},
      {"ntk_mixed", "mixed_b", 1.0},
      {"geometric", "lowest", 0.5},
      {"query_temperature", "temperature", "steps"},
      {"query_temperature", "temperature_beta", 0.1},
      {"fope", "base", 10000.0},
      {"rope", "temperature", "none"},
      {"rope", "turned_output", false},
      {"llama3", "low_freq_factor", 1.0},
      {"llama3", "high_freq_factor", 4.0},
      {"proportional", "factor", 1.0},
  };
  for (const Default& one : defaults) {
    const Arguments arguments = validated(one.owner, example_of(one.owner));
    const Value* const found = arguments.find(one.name);
    ASSERT_NE(found, nullptr) << one.owner << "." << one.name;
    EXPECT_EQ(to_text(*found), to_text(one.value)) << one.owner << "." << one.name;
  }
}

// Parameters that no paper determines, or that engines disagree about, are required.
TEST(ParameterDefaults, SomeMustBeGiven) {
  const std::vector<std::pair<std::string, std::string>> required = {
      {"alibi", "heads"},
      {"kerple", "heads"},
      {"relative_bias", "heads"},
      {"sandwich", "heads"},
      {"shaw", "heads"},
      {"shaw", "head_dim"},
      {"t5", "heads"},
      {"transformer_xl", "heads"},
      {"transformer_xl", "head_dim"},
      {"sinusoidal", "dim"},
      {"rope", "head_dim"},
      {"rope", "pairing"},
      {"xpos", "head_dim"},
      {"xpos", "pairing"},
      {"linear", "factor"},
      {"ntk", "factor"},
      {"ntk_mixed", "factor"},
      {"query_temperature", "head_dim"},
      {"fope", "heads"},
      {"fope", "head_dim"},
      {"dynamic_ntk", "factor"},
      {"dynamic_ntk", "max_length"},
      {"ntk_by_parts", "factor"},
      {"ntk_by_parts", "original_length"},
      {"longrope", "short_factor"},
      {"longrope", "long_factor"},
      {"longrope", "original_length"},
      {"llama3", "factor"},
      {"llama3", "original_length"},
      {"proportional", "rotary_fraction"},
  };
  for (const auto& [owner, name] : required) {
    Arguments without;
    const Arguments complete = example_of(owner);
    ASSERT_TRUE(complete.has(name)) << owner << "." << name;
    for (const auto& [other, value] : complete.all()) {
      if (other != name) without.set(other, value);
    }
    EXPECT_THROW(validated(owner, without), Error) << owner << "." << name;
  }
}

}  // namespace
}  // namespace locus
