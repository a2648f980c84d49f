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
// Bai et al. 2024, Qwen2-VL (arXiv 2409.12191); Agrawal et al. 2024, Pixtral (arXiv 2410.07073); Simeoni et al. 2025,
// DINOv3 (arXiv 2508.10104).
//
// Deviations: engines disagree on the pairing, so it has no default. DeepSeek-V3 in transformers takes interleaved
// pairs and returns them as [evens | odds] (output_order = deinterleaved).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "locus/error.h"
#include "locus/registry.h"
#include "locus/scaling.h"
#include "locus/turns.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::norm_preserving, Claim::cache_safe, Claim::negative_positions,
                        Claim::unbounded};

const std::vector<Parameter>& own_parameters() {
  static const std::vector<Parameter> parameters = [] {
    std::vector<std::string_view> rule_names;
    for (const Rule* rule : rules()) rule_names.push_back(rule->name);
    return std::vector<Parameter>{
        head_dim_parameter(2),
        {.name = "pairing",
         .kind = ValueKind::choice,
         .meaning =
             "which coordinates rotate together: (i, i + d/2) or (2i, 2i + 1); no default, because engines disagree",
         .required = true,
         .choices = {"half", "interleaved"}},
        {.name = "base",
         .kind = ValueKind::real,
         .meaning = "theta: wavelengths run from 2 pi towards 2 pi base",
         .fallback = 10000.0,
         .least = 0,
         .above_least = true},
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
        {.name = "axes",
         .kind = ValueKind::choice,
         .meaning = "how position axes map to pairs",
         .fallback = std::string("1d"),
         .choices = {"1d", "mrope", "mrope_interleaved", "grid", "pixtral", "dinov3"}},
        {.name = "sections", .kind = ValueKind::list, .meaning = "mrope: pairs per axis", .least = 0, .most = 32768},
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
         .most = 65536},
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

std::vector<std::int64_t> sections_of(const Arguments& arguments, std::int64_t pairs) {
  require(arguments.has("sections"), "rope.sections must be given with axes=", arguments.text("axes"),
          ": pairs per axis, e.g. 16,24,24");
  std::vector<std::int64_t> sections;
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

void set_chunked_sections(Rotation& rotation, const std::vector<std::int64_t>& sections) {
  require(sections.size() >= 2 && sections.size() <= 4, "rope.sections must have 2 to 4 axes, got ", sections.size());
  rotation.axes = static_cast<int>(sections.size());
  for (std::size_t axis = 0; axis < sections.size(); ++axis) {
    rotation.axis.insert(rotation.axis.end(), static_cast<std::size_t>(sections[axis]),
                         static_cast<std::uint8_t>(axis));
  }
}

void set_interleaved_sections(Rotation& rotation, const std::vector<std::int64_t>& sections) {
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

// Error: an argument that these axes do not use.
void check_read_by(const std::string& axes, const Arguments& arguments) {
  struct Reader {
    const char* argument;
    std::vector<std::string> axes;
  };
  const Reader readers[] = {
      {"sections", {"mrope", "mrope_interleaved"}}, {"grid_height", {"dinov3"}}, {"grid_width", {"pixtral", "dinov3"}}};
  for (const Reader& reader : readers) {
    const bool reads = std::find(reader.axes.begin(), reader.axes.end(), axes) != reader.axes.end();
    require(reads || !arguments.has(reader.argument), "rope.", reader.argument, " needs axes=", reader.axes.front(),
            reader.axes.size() > 1 ? " or " + reader.axes.back() : "", ", got axes=", axes);
  }
}

void set_axes(Rotation& rotation, const Arguments& arguments) {
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

// Arranges the rule's frequencies in pair order.
template <class Real>
std::vector<Real> arrange(const std::string& axes, std::vector<Real> inv_freq) {
  if (axes == "grid" || axes == "dinov3") {  // one set of frequencies for both axes
    const std::vector<Real> once = inv_freq;
    inv_freq.insert(inv_freq.end(), once.begin(), once.end());
  } else if (axes == "pixtral") {  // even ones for rows, odd ones for columns
    std::vector<Real> split;
    for (const std::size_t start : {std::size_t{0}, std::size_t{1}}) {
      for (std::size_t i = start; i < inv_freq.size(); i += 2) split.push_back(inv_freq[i]);
    }
    return split;
  }
  return inv_freq;
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

void set_frequencies(Rotation& rotation, const Arguments& arguments) {
  const Rule& rule = find_rule(arguments.text("rule"));
  const std::string& axes = arguments.text("axes");
  const bool half_width = axes == "grid" || axes == "dinov3";
  require(rule.name == "none" || !(half_width || axes == "pixtral"), "rope.rule must be none with axes=", axes,
          ", got ", rule.name);
  require(!rule.whole_head || rotation.rotary_dim == rotation.head_dim, "rope.rotary_dim must be head_dim (",
          rotation.head_dim, ") with rule=", rule.name, ", got ", rotation.rotary_dim);
  const RuleContext context{.rotary_dim = half_width ? rotation.rotary_dim / 2 : rotation.rotary_dim,
                            .base = arguments.real("base"),
                            .profile = rotation.profile};
  const Frequencies<DoubleDouble> exact = rule.exact(context, arguments);
  rotation.magnitude = exact.attention_factor;
  rotation.softmax_scale_factor = exact.softmax_scale_factor;
  for (const DoubleDouble w : arrange(axes, exact.inv_freq)) {
    require(std::isfinite(w.hi), "rope.base ", arguments.real("base"), " gives a frequency that is not finite");
    rotation.inv_freq.push_back(w.hi);
    rotation.inv_freq_low.push_back(w.lo);
    rotation.turns.push_back(to_turns(w));
  }
  if (rotation.profile == Profile::hf || rotation.profile == Profile::vllm) {
    rotation.single_freq = arrange(axes, rule.single(context, arguments).inv_freq);
    rotation.inv_freq.assign(rotation.single_freq.begin(), rotation.single_freq.end());
    rotation.inv_freq_low.assign(rotation.inv_freq.size(), 0);
    for (std::size_t i = 0; i < rotation.turns.size(); ++i) rotation.turns[i] = to_turns(rotation.inv_freq[i]);
  } else if (rotation.profile == Profile::ggml) {
    require(axes != "pixtral" && axes != "dinov3", "rope.profile ggml does not support axes=", axes);
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

  Claims kept = claims;
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
  };
  return scheme;
}

}  // namespace locus
