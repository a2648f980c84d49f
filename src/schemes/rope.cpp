// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding = pairing x rotary width and offset x frequency rule x position axes.
//
// Pair (x, y) of a query or key at position p is rotated by the angle p w_i:
//   (x, y) -> (x cos - y sin, x sin + y cos)
// so that the dot product of a query at m and a key at n depends on m - n only.
// Su et al. 2021, "RoFormer" (arXiv 2104.09864), equation 15; the rules w_i are in scaling/.
//
// Axes: which coordinate rotates pair i, and with which frequency (d = rotary_dim, n = d/2 pairs)
//   1d                 the position;                             w_i = base^(-2i/d)
//   mrope              sections count pairs: the first s_0 by time, the next s_1 by height, ...; the index continues
//   mrope_interleaved  time, height, width in turn; height at 1, 4, .. below 3 s_1, width at 2, 5, .. below 3 s_2, all
//                      others time (ggml: those beyond their section take a fourth row)
//   grid               [n/2 by row | n/2 by column], the index restarts: w_k = base^(-2k/(d/2))      (Qwen2-VL vision)
//   pixtral            id = row * grid_width + column; the first n/2 pairs by row with w_0, w_2, .., the others by
//                      column with w_1, w_3, ..
//   dinov3             patch centres in [-1, 1], angle 2 pi coordinate base^(-4k/d), [row | column]; `prefix` leading
//                      tokens are not rotated
//   sections           any number of axes, as data: pairs per axis and their order, or the axis of each pair; the index
//                      runs on, or restarts in each axis with the axis's own width (Flux, Wan, HunyuanVideo). The
//                      coordinate is id_scale * id + id_shift (LTX: fractions of a picture)
// The query may have a factor by position (query_scale.h), and the output of attention may be turned back by the
// query's position (turned_output: DeepSeek V4, where values are keys).
// Bai et al. 2024, Qwen2-VL (arXiv 2409.12191); Agrawal et al. 2024, Pixtral (arXiv 2410.07073); Simeoni et al. 2025,
// DINOv3 (arXiv 2508.10104).
//
// Deviations: engines disagree on the pairing, so it has no default. DeepSeek-V3 in transformers takes interleaved
// pairs and returns them as [evens | odds] (output_order = deinterleaved).
#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/registry.h"
#include "locus/scaling.h"
#include "locus/turns.h"
#include "schemes/common_parameters.h"
#include "schemes/query_scale.h"
#include "schemes/rope_axes.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::norm_preserving, Claim::cache_safe, Claim::negative_positions,
                        Claim::unbounded};

const std::vector<Parameter>& own_parameters() {
  static const std::vector<Parameter> parameters = [] {
    std::vector<std::string_view> rule_names;
    for (const Rule* rule : rules()) rule_names.push_back(rule->name);
    std::vector<Parameter> all{
        head_dim_parameter(2),
        {.name = "pairing",
         .kind = ValueKind::choice,
         .meaning =
             "which coordinates rotate together: (i, i + d/2) or (2i, 2i + 1); no default, because engines disagree",
         .required = true,
         .choices = {"half", "interleaved"}},
        base_parameter("theta: wavelengths run from 2 pi towards 2 pi base"),
        {.name = "rotary_dim",
         .kind = ValueKind::integer,
         .meaning = "number of rotated coordinates; absent: all",
         .least = 2,
         .most = 65536},
        {.name = "rotary_offset",
         .kind = ValueKind::integer,
         .meaning = "first rotated coordinate of the head",
         .fallback = std::int64_t{0},
         .least = 0,
         .most = 65536},
        {.name = "rule",
         .kind = ValueKind::choice,
         .meaning = "frequency rule",
         .fallback = std::string("none"),
         .choices = rule_names},
        {.name = "turned_output",
         .kind = ValueKind::boolean,
         .meaning = "rotates values like keys and the output of attention back by the query's position",
         .fallback = false},
        {.name = "output_order",
         .kind = ValueKind::choice,
         .meaning = "deinterleaved: returns interleaved pairs as [evens | odds]",
         .fallback = std::string("same"),
         .choices = {"same", "deinterleaved"}},
        {.name = "max_length",
         .kind = ValueKind::integer,
         .meaning = "length that the model was trained or extended to",
         .least = 1,
         .most = 0x1p31},
        {.name = "profile",
         .kind = ValueKind::choice,
         .meaning = "engine whose float32 arithmetic the tables reproduce",
         .fallback = std::string("exact"),
         .choices = {"exact", "hf", "ggml", "vllm"}},
        {.name = "table_type",
         .kind = ValueKind::choice,
         .meaning = "type that cos and sin are rounded to, as in bfloat16 models of transformers",
         .fallback = std::string("float32"),
         .choices = {"float32", "bfloat16", "float16"}},
    };
    const auto after_rule = std::find_if(all.begin(), all.end(), [](const Parameter& p) { return p.name == "rule"; });
    const std::vector<Parameter> axes = axes_parameters(), temperature = query_scale_parameters("none");
    all.insert(after_rule + 1, axes.begin(), axes.end());
    const auto before_order =
        std::find_if(all.begin(), all.end(), [](const Parameter& p) { return p.name == "turned_output"; });
    all.insert(before_order, temperature.begin(), temperature.end());
    return all;
  }();
  return parameters;
}

// The rule's parameters follow. The rule's declaration replaces one of the same name.
std::vector<Parameter> parameters_for(const Arguments& given) {
  std::vector<Parameter> parameters = own_parameters();
  const Value* name = given.find("rule");
  const std::string* text = name == nullptr ? nullptr : std::get_if<std::string>(name);
  if (text == nullptr) return parameters;
  for (const Parameter& parameter : find_rule(*text).parameters) {
    const auto same = std::find_if(parameters.begin(), parameters.end(),
                                   [&](const Parameter& own) { return own.name == parameter.name; });
    if (same != parameters.end()) {
      *same = parameter;
    } else {
      parameters.push_back(parameter);
    }
  }
  return parameters;
}

template <class Real>
using RuleFunction = Frequencies<Real> (*)(const RuleContext&, const Arguments&);

// The frequencies of axes=sections, before id_scale.
template <class Real>
Frequencies<Real> section_frequencies(const Rotation& rotation, RuleContext context, const Arguments& arguments,
                                      RuleFunction<Real> rule) {
  if (!rotation.restarts_per_axis) return rule(context, arguments);
  Frequencies<Real> all;
  all.inv_freq.resize(rotation.axis.size(), Real(0));
  for (int axis = 0; axis < rotation.axes; ++axis) {
    context.rotary_dim = 2 * std::count(rotation.axis.begin(), rotation.axis.end(), axis);
    if (context.rotary_dim == 0) continue;
    const Frequencies<Real> own = rule(context, arguments);
    std::size_t next = 0;
    for (std::size_t i = 0; i < rotation.axis.size(); ++i) {
      if (rotation.axis[i] == axis) all.inv_freq[i] = own.inv_freq[next++];
    }
    all.attention_factor = own.attention_factor;
    all.softmax_scale_factor = own.softmax_scale_factor;
  }
  return all;
}

// The rule's frequencies in pair order.
template <class Real>
Frequencies<Real> arranged(const Rotation& rotation, const RuleContext& context, const Arguments& arguments,
                           RuleFunction<Real> rule) {
  const std::string& axes = arguments.text("axes");
  if (axes == "sections") return section_frequencies(rotation, context, arguments, rule);
  Frequencies<Real> all = rule(context, arguments);
  if (axes == "grid" || axes == "dinov3") {  // one set of frequencies for both axes
    const std::vector<Real> once = all.inv_freq;
    all.inv_freq.insert(all.inv_freq.end(), once.begin(), once.end());
  } else if (axes == "pixtral") {  // even ones for rows, odd ones for columns
    std::vector<Real> split;
    for (const std::size_t start : {std::size_t{0}, std::size_t{1}}) {
      for (std::size_t i = start; i < all.inv_freq.size(); i += 2) split.push_back(all.inv_freq[i]);
    }
    all.inv_freq = split;
  }
  return all;
}

GgmlRope ggml_call(const Rule& rule, const RuleContext& context, const Arguments& arguments) {
  GgmlRope rope;
  if (rule.ggml != nullptr) {
    rope = rule.ggml(context, arguments);
  } else {
    // A rule that ggml does not know is passed as divisors of the plain frequencies.
    rope.freq_base = static_cast<float>(context.base);
    const std::vector<DoubleDouble> plain = plain_frequencies(context.rotary_dim, DoubleDouble(context.base));
    const std::vector<DoubleDouble> ruled = rule.exact(context, arguments).inv_freq;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      rope.freq_factors.push_back(ruled[i].hi == 0 ? 1e30f : static_cast<float>(plain[i].hi / ruled[i].hi));
    }
  }
  rope.n_dims = context.rotary_dim;
  return rope;
}

// Coordinates id_scale * id + id_shift: the scale becomes part of the frequency, the shift an angle that all positions
// share. A pair without an axis stays as it is.
void place_coordinates(Rotation& rotation, const Arguments& arguments, std::vector<DoubleDouble>& inv_freq) {
  if (arguments.has("pair_axis")) {
    for (std::size_t i = 0; i < inv_freq.size(); ++i) {
      if (arguments.list("pair_axis")[i] < 0) inv_freq[i] = DoubleDouble(0);
    }
  }
  const std::vector<double> scale = per_axis(rotation, arguments, "id_scale");
  const std::vector<double> shift = per_axis(rotation, arguments, "id_shift");
  require((scale.empty() && shift.empty()) || rotation.profile == Profile::exact, "rope.profile ",
          name_of(rotation.profile), " does not support id_scale and id_shift");
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    if (!shift.empty()) {
      const DoubleDouble angle = inv_freq[i] * DoubleDouble(shift[rotation.axis[i]]);
      rotation.phases.push_back({angle.hi, angle.lo, to_turns(angle)});
    }
    if (!scale.empty()) inv_freq[i] = inv_freq[i] * DoubleDouble(scale[rotation.axis[i]]);
  }
}

void set_frequencies(Rotation& rotation, const Arguments& arguments) {
  const Rule& rule = find_rule(arguments.text("rule"));
  const std::string& axes = arguments.text("axes");
  const bool half_width = axes == "grid" || axes == "dinov3";
  require(rule.name == "none" || !(half_width || axes == "pixtral"), "rope.rule must be none with axes=", axes,
          ", got ", rule.name);
  require(!rule.whole_head || rotation.rotary_dim == rotation.head_dim, "rope.rotary_dim must be head_dim (",
          rotation.head_dim, ") with rule=", rule.name, ", got ", rotation.rotary_dim);
  require(!rule.whole_head || !rotation.restarts_per_axis, "rope.frequency_index must be running with rule=", rule.name,
          ", got restarting");
  const RuleContext context{.rotary_dim = half_width ? rotation.rotary_dim / 2 : rotation.rotary_dim,
                            .base = arguments.real("base"),
                            .profile = rotation.profile};
  Frequencies<DoubleDouble> exact = arranged<DoubleDouble>(rotation, context, arguments, rule.exact);
  rotation.magnitude = exact.attention_factor;
  rotation.softmax_scale_factor = exact.softmax_scale_factor;
  place_coordinates(rotation, arguments, exact.inv_freq);
  for (const DoubleDouble w : exact.inv_freq) {
    require(std::isfinite(w.hi), "rope.base ", arguments.real("base"), " gives a frequency that is not finite");
    rotation.inv_freq.push_back(w.hi);
    rotation.inv_freq_low.push_back(w.lo);
    rotation.turns.push_back(to_turns(w));
  }
  if (rotation.profile == Profile::hf || rotation.profile == Profile::vllm) {
    rotation.single_freq = arranged<float>(rotation, context, arguments, rule.single).inv_freq;
    for (std::size_t i = 0; i < rotation.turns.size(); ++i) {
      if (rotation.inv_freq[i] == 0) rotation.single_freq[i] = 0;  // a pair without an axis
    }
    rotation.inv_freq.assign(rotation.single_freq.begin(), rotation.single_freq.end());
    rotation.inv_freq_low.assign(rotation.inv_freq.size(), 0);
    for (std::size_t i = 0; i < rotation.turns.size(); ++i) rotation.turns[i] = to_turns(rotation.inv_freq[i]);
  } else if (rotation.profile == Profile::ggml) {
    require(axes != "pixtral" && axes != "dinov3" && axes != "sections",
            "rope.profile ggml does not support axes=", axes);
    rotation.ggml = ggml_call(rule, context, arguments);
  }
}

Profile profile_of(const std::string& name) {
  for (const Profile profile : {Profile::hf, Profile::ggml, Profile::vllm}) {
    if (name == name_of(profile)) return profile;
  }
  return Profile::exact;
}

ElementType table_type_of(const std::string& name) {
  if (name == "bfloat16") return ElementType::bfloat16;
  return name == "float16" ? ElementType::float16 : ElementType::float32;
}

SchemeResult make(const Arguments& arguments) {
  Rotation rotation;
  rotation.head_dim = arguments.integer("head_dim");
  rotation.rotary_dim = arguments.maybe_integer("rotary_dim").value_or(rotation.head_dim);
  rotation.rotary_offset = arguments.integer("rotary_offset");
  require(rotation.rotary_dim % 2 == 0 && rotation.rotary_dim <= rotation.head_dim,
          "rope.rotary_dim must be even and at most head_dim (", rotation.head_dim, "), got ", rotation.rotary_dim);
  require(rotation.rotary_offset + rotation.rotary_dim <= rotation.head_dim,
          "rope.rotary_offset + rotary_dim must be at most head_dim (", rotation.head_dim, "), got ",
          rotation.rotary_offset, " + ", rotation.rotary_dim);
  rotation.pairing = arguments.text("pairing") == "half" ? Pairing::half : Pairing::interleaved;
  rotation.deinterleaved_output = arguments.text("output_order") == "deinterleaved";
  require(!rotation.deinterleaved_output || rotation.pairing == Pairing::interleaved,
          "rope.output_order deinterleaved needs pairing=interleaved, got pairing=half");
  rotation.profile = profile_of(arguments.text("profile"));
  rotation.table_type = table_type_of(arguments.text("table_type"));
  set_axes(rotation, arguments);
  set_frequencies(rotation, arguments);
  rotation.query_scale = query_scale_of("rope", arguments);
  require(!rotation.query_scale || rotation.map.kind == PositionMap::Kind::direct,
          "rope.temperature needs ids that are positions, got axes=", arguments.text("axes"));
  rotation.turns_output = arguments.boolean("turned_output");
  require(!rotation.turns_output || !rotation.deinterleaved_output,
          "rope.turned_output needs output_order=same, got deinterleaved");

  Claims kept = claims;
  if (rotation.query_scale) kept = kept.without(Claim::relative).without(Claim::norm_preserving);
  if (rotation.magnitude != 1) kept = kept.without(Claim::norm_preserving);
  if (find_rule(arguments.text("rule")).length_dependent) kept = kept.without(Claim::cache_safe);
  if (rotation.map.kind != PositionMap::Kind::direct) {
    kept = kept.without(Claim::relative).without(Claim::negative_positions).without(Claim::unbounded);
  }
  SchemeResult result{.term = {}, .claims = kept};
  if (rotation.map.kind == PositionMap::Kind::patch_centres) {
    result.range = {0, rotation.map.prefix + rotation.map.height * rotation.map.width - 1};
    result.range_reason = "the patches of its grid";
  }
  result.term = std::move(rotation);
  return result;
}

Arguments small_rope(const Arguments& more) {
  Arguments arguments{{"head_dim", 16}, {"pairing", "half"}};
  for (const auto& [name, value] : more.all()) arguments.set(name, value);
  return arguments;
}

// The example of every rule, then the layouts.
std::vector<Example> variants() {
  using List = std::vector<double>;
  static const std::vector<std::string> rule_labels = [] {
    std::vector<std::string> labels;
    for (const Rule* rule : rules()) labels.push_back("rule=" + std::string(rule->name));
    return labels;
  }();
  std::vector<Example> all = {{"pairing=interleaved", small_rope({{"pairing", "interleaved"}})}};
  for (std::size_t i = 0; i < rules().size(); ++i) {
    const Rule& rule = *rules()[i];
    if (rule.name == "none") continue;  // the default
    Arguments arguments = small_rope(rule.example);
    arguments.set("rule", std::string(rule.name));
    all.push_back({rule_labels[i], arguments});
  }
  const Example layouts[] = {
      {"output_order=deinterleaved", small_rope({{"pairing", "interleaved"}, {"output_order", "deinterleaved"}})},
      {"rotary_dim=8", small_rope({{"rotary_dim", 8}})},
      {"rotary_offset=4", small_rope({{"head_dim", 24}, {"rotary_dim", 16}, {"rotary_offset", 4}, {"base", 1e6}})},
      {"axes=mrope", small_rope({{"axes", "mrope"}, {"sections", List{2, 3, 3}}})},
      {"axes=mrope sections=2,2,2,2", small_rope({{"axes", "mrope"}, {"sections", List{2, 2, 2, 2}}})},
      {"axes=mrope_interleaved", small_rope({{"axes", "mrope_interleaved"}, {"sections", List{4, 2, 2}}})},
      {"axes=grid", small_rope({{"axes", "grid"}})},
      {"axes=pixtral", small_rope({{"axes", "pixtral"}, {"grid_width", 64}})},
      {"axes=dinov3", small_rope({{"axes", "dinov3"}, {"grid_height", 3}, {"grid_width", 5}, {"prefix", 1}})},
      {"axes=sections frequency_index=restarting",
       small_rope({{"axes", "sections"}, {"sections", List{2, 3, 3}}, {"frequency_index", "restarting"}})},
      {"axes=sections section_order=first_last",
       small_rope({{"axes", "sections"}, {"sections", List{2, 3, 3}}, {"section_order", "first_last"}})},
      {"axes=sections section_order=balanced",
       small_rope({{"axes", "sections"}, {"sections", List{4, 2, 2}}, {"section_order", "balanced"}})},
      {"axes=sections pair_axis", small_rope({{"axes", "sections"}, {"pair_axis", List{4, 0, 3, -1, 1, 2, 2, 0}}})},
      {"axes=sections id_scale", small_rope({{"axes", "sections"},
                                             {"sections", List{3, 3, 2}},
                                             {"section_order", "in_turn"},
                                             {"frequency_index", "restarting"},
                                             {"rule", "geometric"},
                                             {"id_scale", List{0.25, 0.03125, 0.03125}},
                                             {"id_shift", List{-1, -1, -1}}})},
      {"turned_output=true", small_rope({{"rotary_dim", 8}, {"rotary_offset", 8}, {"turned_output", true}})},
      {"temperature=steps", small_rope({{"temperature", "steps"}, {"temperature_length", 8}})},
      {"temperature=logarithm",
       small_rope({{"rotary_dim", 8}, {"temperature", "logarithm"}, {"temperature_length", 8}})},
  };
  all.insert(all.end(), std::begin(layouts), std::end(layouts));
  return all;
}

}  // namespace

const Scheme& rope_scheme();
const Scheme& rope_scheme() {
  static const Scheme scheme{
      .name = "rope",
      .title = "RoPE",
      .summary = "rotary embedding: rotates pairs of Q and K by the position",
      .paper = "Su et al. 2021, arXiv 2104.09864",
      .site = Site::query_key,
      .claims = claims,
      .parameters = own_parameters(),
      .make = make,
      .parameters_for = parameters_for,
      .example = {{"head_dim", std::int64_t{64}}, {"pairing", std::string("half")}},
      .variants = variants(),
      .compared = ComparedIn::quick,
  };
  return scheme;
}

}  // namespace locus
