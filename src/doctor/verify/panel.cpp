// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/panel.h"

#include <map>

namespace locus {
namespace {

using List = std::vector<double>;

// What sets a variant apart, and the scheme's other arguments.
struct Variant {
  std::string label;
  Arguments arguments;
};

Arguments rope_with(const Arguments& more) {
  Arguments arguments{{"head_dim", 16}, {"pairing", "half"}};
  for (const auto& [name, value] : more.all()) arguments.set(name, value);
  return arguments;
}

std::vector<Variant> rope_variants() {
  return {
      {"pairing=interleaved", rope_with({{"pairing", "interleaved"}})},
      {"rule=linear", rope_with({{"rule", "linear"}, {"factor", 4}})},
      {"rule=ntk", rope_with({{"rule", "ntk"}, {"factor", 4}})},
      {"rule=dynamic_ntk", rope_with({{"rule", "dynamic_ntk"}, {"factor", 2}, {"max_length", 2048}})},
      {"rule=ntk_by_parts", rope_with({{"rule", "ntk_by_parts"}, {"factor", 4}, {"original_length", 4096}})},
      {"rule=yarn", rope_with({{"rule", "yarn"}, {"factor", 4}, {"original_length", 4096}})},
      {"rule=longrope", rope_with({{"rule", "longrope"},
                                   {"short_factor", List(8, 1.5)},
                                   {"long_factor", List(8, 4.0)},
                                   {"original_length", 4096},
                                   {"max_length", 32768}})},
      {"rule=llama3", rope_with({{"rule", "llama3"}, {"factor", 8}, {"original_length", 8192}})},
      {"rule=proportional", rope_with({{"rule", "proportional"}, {"rotary_fraction", 0.25}})},
      {"rotary_dim=8", rope_with({{"rotary_dim", 8}})},
      {"axes=mrope", rope_with({{"axes", "mrope"}, {"sections", List{2, 3, 3}}})},
      {"axes=mrope_interleaved", rope_with({{"axes", "mrope_interleaved"}, {"sections", List{4, 2, 2}}})},
      {"axes=grid", rope_with({{"axes", "grid"}})},
      {"axes=pixtral", rope_with({{"axes", "pixtral"}, {"grid_width", 64}})},
      {"axes=dinov3", rope_with({{"axes", "dinov3"}, {"grid_height", 3}, {"grid_width", 5}, {"prefix", 1}})},
  };
}

const std::map<std::string_view, std::vector<Variant>>& variants() {
  static const std::map<std::string_view, std::vector<Variant>> all = {
      {"sinusoidal",
       {{"arrangement=concatenated", {{"dim", 16}, {"arrangement", "concatenated"}}},
        {"rate=fairseq", {{"dim", 16}, {"rate", "fairseq"}}},
        {"axes=grid",
         {{"dim", 16}, {"axes", "grid"}, {"arrangement", "concatenated"}, {"grid_height", 3}, {"grid_width", 5}}}}},
      {"learned", {{"row_offset=2", {{"max_positions", 32}, {"dim", 8}, {"row_offset", 2}}}}},
      {"rope", rope_variants()},
      {"xpos",
       {{"moving_centre=true",
         {{"head_dim", 16}, {"pairing", "interleaved"}, {"moving_centre", true}, {"length", 100}}}}},
      {"alibi",
       {{"heads=12", {{"heads", 12}}},
        {"form=symmetric", {{"heads", 8}, {"form", "symmetric"}}},
        {"form=bloom", {{"heads", 8}, {"form", "bloom"}}},
        {"form=mpt", {{"heads", 8}, {"form", "mpt"}, {"length", 100}}},
        {"form=falcon", {{"heads", 8}, {"form", "falcon"}}}}},
      {"t5", {{"bidirectional=false", {{"heads", 8}, {"bidirectional", false}}}}},
      {"relative_bias",
       {{"index=deberta", {{"heads", 2}, {"index", "deberta"}, {"bucket_size", 16}, {"max_position", 128}}},
        {"index=swin", {{"heads", 2}, {"index", "swin"}, {"window_height", 3}, {"window_width", 4}}}}},
      {"kerple", {{"form=power", {{"heads", 2}, {"form", "power"}, {"r1", List{1, 0.5}}, {"r2", List{1.5}}}}}},
      {"shaw",
       {{"values=true", {{"heads", 2}, {"head_dim", 8}, {"values", true}, {"index", "query_minus_key"}}},
        {"clip=false", {{"heads", 2}, {"head_dim", 8}, {"clip", false}}}}},
  };
  return all;
}

void append(std::vector<NamedEncoding>& panel, const Scheme& scheme) {
  const std::string name(scheme.name);
  panel.push_back({name, Encoding(name, scheme.example)});
  const auto more = variants().find(scheme.name);
  if (more == variants().end()) return;
  for (const Variant& variant : more->second) {
    panel.push_back({name + " " + variant.label, Encoding(name, variant.arguments)});
  }
}

}  // namespace

std::vector<NamedEncoding> verification_panel() {
  std::vector<NamedEncoding> panel;
  for (const Scheme* scheme : schemes()) append(panel, *scheme);
  return panel;
}

std::vector<NamedEncoding> verification_panel(std::string_view scheme) {
  std::vector<NamedEncoding> panel;
  append(panel, find_scheme(scheme));
  return panel;
}

}  // namespace locus
