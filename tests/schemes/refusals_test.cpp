// SPDX-License-Identifier: Apache-2.0
// Settings that do not fit together are refused in one line that names the thing, the value and the rule.
#include <gtest/gtest.h>

#include "locus/encoding.h"
#include "support/error_of.h"

namespace locus {
namespace {

using List = std::vector<double>;

struct Refused {
  std::string scheme;
  Arguments arguments;
  std::string message;
};

Arguments rope(const Arguments& more) {
  Arguments all{{"head_dim", 16}, {"pairing", "half"}};
  for (const auto& [name, value] : more.all()) all.set(name, value);
  return all;
}

TEST(SchemeRefusals, NameThingValueAndRule) {
  const std::vector<Refused> all = {
      {"rope", rope({{"axes", "sections"}}),
       "rope.sections must be given with axes=sections: pairs per axis, e.g. 16,24,24"},
      {"rope", rope({{"axes", "sections"}, {"sections", List{2, 3, 2}}}),
       "rope.sections must add up to the number of pairs (8), got 2,3,2 = 7"},
      {"rope", rope({{"axes", "sections"}, {"pair_axis", List{0, 1}}}),
       "rope.pair_axis must have one entry per pair (8), got 2"},
      {"rope", rope({{"axes", "sections"}, {"sections", List{8}}, {"pair_axis", List(8, 0)}}),
       "rope.pair_axis and sections exclude each other: give one of them"},
      {"rope", rope({{"axes", "sections"}, {"sections", List{8}}, {"section_order", "balanced"}}),
       "rope.section_order balanced needs at least 2 axes, got 1"},
      {"rope", rope({{"axes", "sections"}, {"sections", List{4, 4}}, {"id_scale", List{0.5}}}),
       "rope.id_scale must have one entry per axis (2), got 1"},
      {"rope", rope({{"axes", "sections"}, {"sections", List{4, 4}}, {"id_scale", List{0.5, 1}}, {"profile", "hf"}}),
       "rope.profile hf does not support id_scale and id_shift"},
      {"rope", rope({{"frequency_index", "restarting"}}), "rope.frequency_index needs axes=sections, got axes=1d"},
      {"rope", rope({{"pair_axis", List(8, 0)}}), "rope.pair_axis needs axes=sections, got axes=1d"},
      {"rope", rope({{"temperature", "steps"}}),
       "rope.temperature_length must be given with temperature=steps: positions per step, e.g. 8192"},
      {"rope", rope({{"temperature", "logarithm"}}),
       "rope.temperature_length must be given with temperature=logarithm: the trained length, e.g. 2048"},
      {"rope", rope({{"temperature_length", 8}}),
       "rope.temperature_length needs temperature=steps or logarithm, got temperature=none"},
      {"rope", rope({{"pairing", "interleaved"}, {"output_order", "deinterleaved"}, {"turned_output", true}}),
       "rope.turned_output needs output_order=same, got deinterleaved"},
      {"query_temperature",
       {{"head_dim", 8}},
       "query_temperature.temperature_length must be given with temperature=steps: positions per step, e.g. 8192"},
      {"fope",
       {{"heads", 1}, {"head_dim", 16}, {"frequencies", 9}},
       "fope.frequencies must be at most head_dim / 2 (8), got 9"},
      {"fope", {{"heads", 1}, {"head_dim", 15}}, "fope.head_dim must be even, got 15"},
      {"alibi",
       {{"heads", 4}, {"total_heads", 12}, {"first_head", 9}},
       "alibi.first_head + heads must be at most total_heads (12), got 9 + 4"},
      {"alibi", {{"heads", 4}, {"biased_heads", 5}}, "alibi.biased_heads must be at most heads (4), got 5"},
  };
  for (const Refused& one : all) {
    EXPECT_EQ(testing::error_of([&] { Encoding(one.scheme, one.arguments); }), one.message);
  }
}

}  // namespace
}  // namespace locus
