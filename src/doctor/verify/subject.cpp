// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/subject.h"

#include <algorithm>
#include <cmath>

#include "locus/add.h"
#include "locus/error.h"
#include "locus/reference.h"
#include "locus/rows.h"

namespace locus {
namespace {

// Returns the encoding with another length, whether or not it depends on it.
Encoding with_length(const Encoding& encoding, std::int64_t length) {
  Arguments arguments = encoding.arguments();
  for (const Parameter& parameter : parameters_of(encoding.scheme(), arguments)) {
    if (parameter.name == "length") arguments.set("length", length);
  }
  return Encoding(encoding.scheme().name, arguments);
}

// A list may hold weights or a setting, such as channels per axis.
bool is_weight(const Encoding& encoding, std::string_view name) {
  const auto learned = encoding.learned_weights();
  return std::any_of(learned.begin(), learned.end(), [&](const LearnedWeight& one) { return one.name == name; });
}

// Uses another seed for random weights; changes given tensors and lists directly.
Encoding reweighted(const Encoding& encoding) {
  Arguments changed = encoding.arguments();
  for (const auto& [name, value] : encoding.arguments().all()) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      Tensor other = *tensor;
      for (float& weight : other.data) weight = 1 - weight;
      changed.set(name, other);
    } else if (const auto* list = std::get_if<std::vector<double>>(&value);
               list != nullptr && is_weight(encoding, name)) {
      std::vector<double> other = *list;
      for (double& weight : other) weight /= 2;
      changed.set(name, other);
    }
  }
  if (changed.has("seed")) changed.set("seed", changed.integer("seed") ^ 1);
  if (changed.has("deviation") && changed.real("deviation") == 0) changed.set("deviation", 0.02);
  return Encoding(encoding.scheme().name, changed);
}

// LongRoPE with two equal lists does not change; every other encoding that is not cache_safe does.
bool length_matters(const Encoding& encoding) {
  const Arguments& arguments = encoding.arguments();
  const bool one_list = arguments.has("short_factor") && arguments.has("long_factor") &&
                        arguments.list("short_factor") == arguments.list("long_factor");
  return encoding.length_dependent() && !one_list;
}

// Positions in rows and columns are not a line, unless there is only one row or one column.
bool is_grid(std::optional<std::int64_t> height, std::optional<std::int64_t> width) {
  return height.value_or(2) > 1 && width.value_or(2) > 1;
}

void take_neighbours(Subject& subject, const Encoding& encoding) {
  subject.add_rows = [encoding](const std::vector<std::vector<double>>& states, std::span<const Position> ids) {
    const std::int64_t dim = encoding.hidden().dim, tokens = static_cast<std::int64_t>(states.size());
    std::vector<double> all;
    for (const std::vector<double>& state : states) all.insert(all.end(), state.begin(), state.end());
    add(encoding, {all.data(), ElementType::float64, 1, tokens, dim, tokens * dim, dim},
        {1, 1, tokens, {ids.begin(), ids.end()}});
    std::vector<std::vector<double>> result;
    for (auto state = all.begin(); state != all.end(); state += dim) result.emplace_back(state, state + dim);
    return result;
  };
}

void take_hidden(Subject& subject, const Encoding& encoding) {
  const HiddenRows& hidden = encoding.hidden();
  subject.width = hidden.dim;
  if (hidden.neighbours) return take_neighbours(subject, encoding);
  subject.waves = hidden.waves;
  subject.absolute = true;
  if (!hidden.waves.empty() && hidden.map.kind == PositionMap::Kind::direct) {
    const Position origin = -hidden.first_position;
    if (hidden.zero_position != origin) subject.origin = origin;
  }
  subject.row = [encoding](Position id) {
    std::vector<double> row(static_cast<std::size_t>(encoding.hidden().dim));
    hidden_row(encoding.hidden(), id, std::span<double>(row));
    return row;
  };
}

// The angles of the exact profile wrap exactly. Those of other profiles are float32 products, each off by a rounding of
// its size; ggml computes each from the previous one. Their cos and sin are off by a rounding and libm's last bit.
void take_errors(Subject& subject, const Rotation& rotation) {
  const double units = rotation.table_type == ElementType::bfloat16  ? 0x1p-8
                       : rotation.table_type == ElementType::float16 ? 0x1p-11
                                                                     : 0x1p-24;
  if (rotation.profile != Profile::exact || rotation.table_type != ElementType::float32)
    subject.entry_error = 2 * units;
  if (rotation.profile == Profile::exact) return;
  double fastest = 0;
  for (const double w : rotation.inv_freq) fastest = std::max(fastest, w);
  const double steps = rotation.profile == Profile::ggml ? static_cast<double>(rotation.pairs()) + 2 : 2;
  subject.angle_error = steps * fastest * 0x1p-24;
}

// The coordinates of a polar head stand for lengths: a key is also turned by the phases of its first head.
std::vector<double> rotated_polar_key(const Encoding& encoding, std::span<const Position> ids,
                                      std::span<const double> head) {
  const Polar& polar = *encoding.rotation().polar;
  std::vector<double> values(head.begin(), head.end());
  for (std::int64_t c = 0; c < polar.channels; ++c) {
    const auto at = static_cast<std::size_t>(2 * c);
    const double cos = std::cos(polar.phases[at / 2]), sin = std::sin(polar.phases[at / 2]);
    values[at] = head[at] * cos - head[at + 1] * sin;
    values[at + 1] = head[at] * sin + head[at + 1] * cos;
  }
  const std::int64_t extents[] = {1, 1, static_cast<std::int64_t>(head.size())};
  rotate(encoding, heads_view(values.data(), ElementType::float64, "thd", extents),
         PositionIds{static_cast<std::int64_t>(ids.size()), 1, 1, {ids.begin(), ids.end()}}, Role::key);
  return values;
}

void take_rotation(Subject& subject, const Encoding& encoding) {
  const Rotation& rotation = encoding.rotation();
  subject.width = rotation.head_dim;
  subject.axes = rotation.axes;
  subject.scale = rotation.softmax_scale_factor / std::sqrt(static_cast<double>(rotation.head_dim));
  const bool grid =
      is_grid(rotation.map.kind == PositionMap::Kind::patch_centres ? std::optional<std::int64_t>(rotation.map.height)
                                                                    : std::nullopt,
              rotation.map.width);
  subject.absolute = (rotation.map.kind != PositionMap::Kind::direct && grid) || rotation.query_scale || rotation.mix;
  subject.keys_placed = rotation.pairs() > 0;
  take_errors(subject, rotation);
  // xPos grows as zeta^-(p/512): within three scale bases, rotated vectors stay within e^4 of their length.
  if (rotation.scale) subject.distances = {100, static_cast<Position>(3 * rotation.scale->scale_base)};
  subject.rotate = [encoding](Role role, std::span<const Position> ids, std::span<const double> head) {
    const auto& mix = encoding.rotation().mix;
    const std::int64_t heads = mix ? mix->heads : 1;
    std::vector<double> values;
    if (encoding.rotation().polar && role == Role::key) return rotated_polar_key(encoding, ids, head);
    for (std::int64_t h = 0; h < heads; ++h) values.insert(values.end(), head.begin(), head.end());
    const std::int64_t extents[] = {1, heads, static_cast<std::int64_t>(head.size())};
    rotate(encoding, heads_view(values.data(), ElementType::float64, "thd", extents),
           PositionIds{static_cast<std::int64_t>(ids.size()), 1, 1, {ids.begin(), ids.end()}}, role);
    values.resize(head.size());
    return values;
  };
}

void take_score(Subject& subject, const Encoding& encoding) {
  const ScoreBias& bias = encoding.score();
  const Arguments& arguments = encoding.arguments();
  subject.heads = bias.heads;
  subject.scale = bias.softmax_scale.value_or(1 / std::sqrt(static_cast<double>(subject.width)));
  subject.absolute =
      !bias.toeplitz && is_grid(arguments.maybe_integer("window_height"), arguments.maybe_integer("window_width"));
  subject.tokens_decide = bias.token_numbers > 0;
  const double factor = bias.before_scale ? subject.scale : 1;
  subject.bias = [encoding, factor](std::int64_t head, Position query, Position key) {
    return factor * encoding.score().value(head, query, key);
  };
}

void take_relative_keys(Subject& subject, const Encoding& encoding) {
  const RelativeKeys& keys = encoding.relative_keys();
  subject.heads = keys.heads;
  subject.width = keys.head_dim;
  subject.scale = keys.softmax_scale.value_or(1 / std::sqrt(static_cast<double>(keys.head_dim)));
  subject.tokens_decide = keys.counted;
  const Arguments& given = encoding.arguments();
  subject.absolute =
      keys.column_index != nullptr && is_grid(given.maybe_integer("grid_height"), given.maybe_integer("grid_width"));
  if (keys.refuses && !subject.absolute) {  // offsets beyond the table are refused
    const Arguments& arguments = encoding.arguments();
    const std::int64_t left = arguments.integer("clip_left");
    subject.reach = std::min(left, arguments.maybe_integer("clip_right").value_or(left));
  }
  subject.relative_score = [encoding, scale = subject.scale](std::int64_t head, std::span<const double> q,
                                                             std::span<const double> k, Position query, Position key) {
    return reference::relative_score(encoding.relative_keys(), head, {q, k, query, key}, scale);
  };
  if (keys.value_table.data.empty()) return;
  subject.relative_value = [encoding](Position query, Position key) {
    const RelativeKeys& own = encoding.relative_keys();
    const std::span<const float> row = own.value_table.row(own.index(query, key));
    return std::vector<double>(row.begin(), row.end());
  };
}

}  // namespace

Subject subject_of(const Encoding& encoding) {
  Subject subject;
  subject.name = encoding.scheme().name;
  subject.site = encoding.site();
  subject.claims = encoding.claims();
  subject.range = encoding.position_range();
  subject.scale = 1 / std::sqrt(static_cast<double>(subject.width));
  subject.length_matters = length_matters(encoding);
  subject.accepts = [encoding](Position id) {
    try {
      encoding.check_positions(std::span(&id, 1));
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  subject.at_length = [encoding](std::int64_t length) { return subject_of(with_length(encoding, length)); };
  if (subject.claims.has(Claim::learned)) {
    subject.with_other_weights = [encoding] { return subject_of(reweighted(encoding)); };
  }
  if (subject.site == Site::hidden) take_hidden(subject, encoding);
  if (subject.site == Site::query_key) take_rotation(subject, encoding);
  if (subject.site == Site::score) take_score(subject, encoding);
  if (subject.site == Site::relative_key) take_relative_keys(subject, encoding);
  return subject;
}

}  // namespace locus
