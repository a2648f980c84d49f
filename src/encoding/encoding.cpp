// SPDX-License-Identifier: Apache-2.0
#include "locus/encoding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "encoding/row_table.h"
#include "locus/error.h"

namespace locus {

namespace {

struct Range {
  PositionRange range;
  std::string_view reason;
};

}  // namespace

struct Encoding::State {
  const Scheme* scheme;
  Arguments arguments;
  SchemeResult result;
  Range range;
  Range float16_range;
  std::size_t table_bytes;
  RowTable rows;
  mutable std::once_flag prepared_flag = {};
  mutable std::shared_ptr<const void> prepared = {};
};

namespace {

// How far from its centre xPos's smallest zeta keeps scale and inverse scale inside the type's normal numbers. The
// smallest of these is 2^-126 in float32 and bfloat16, 2^-14 in float16; the inverse of either is a number too.
Position scale_reach(const PairScale& scale, ElementType type) {
  const double smallest = *std::min_element(scale.zeta.begin(), scale.zeta.end());
  const double widest = (type == ElementType::float16 ? 14 : 126) * std::log(2.0);
  const double reach = std::floor(widest * scale.scale_base / -std::log(smallest));
  return static_cast<Position>(std::min(reach, static_cast<double>(2 * max_position)));
}

Range range_of(const SchemeResult& result, ElementType type) {
  const Range open{{result.claims.has(Claim::negative_positions) ? -max_position : 0, max_position}, ""};
  const auto places = [](const PositionMap& map) { return map.prefix + map.height * map.width - 1; };
  if (const auto* hidden = std::get_if<HiddenRows>(&result.term)) {
    if (hidden->waves.empty()) return {{0, hidden->table.dim(0) - hidden->row_offset - 1}, "the rows of its table"};
    if (hidden->map.kind != PositionMap::Kind::direct) return {{0, places(hidden->map)}, "the places of its grid"};
  } else if (const auto* rotation = std::get_if<Rotation>(&result.term)) {
    if (rotation->map.kind == PositionMap::Kind::patch_centres) {
      return {{0, places(rotation->map)}, "the places of its grid"};
    }
    if (rotation->scale) {
      const Position reach = scale_reach(*rotation->scale, type);
      return {{std::max(rotation->scale->centre - reach, -max_position),
               std::min(rotation->scale->centre + reach, max_position)},
              type == ElementType::float16 ? "beyond, its scale leaves float16" : "beyond, its scale leaves float32"};
    }
  } else if (const auto* bias = std::get_if<ScoreBias>(&result.term)) {
    if (bias->max_id) return {{0, *bias->max_id - 1}, "the places of its window"};
  }
  return open;
}

}  // namespace

std::vector<Parameter> parameters_of(const Scheme& scheme, const Arguments& given) {
  return scheme.parameters_for != nullptr ? scheme.parameters_for(given) : scheme.parameters;
}

Encoding::Encoding(std::string_view scheme_name, const Arguments& arguments, std::size_t table_bytes) {
  const Scheme& scheme = find_scheme(scheme_name);
  Arguments checked = validate(scheme.name, parameters_of(scheme, arguments), arguments);
  SchemeResult result = scheme.make(checked);
  const Range range = range_of(result, ElementType::float32), float16_range = range_of(result, ElementType::float16);
  const auto* rotation = std::get_if<Rotation>(&result.term);
  const std::int64_t row_floats = rotation == nullptr ? 0 : rotation->rotary_dim;
  state_ =
      std::shared_ptr<const State>(new State{&scheme, std::move(checked), std::move(result), range, float16_range,
                                             table_bytes, RowTable(row_floats, rotation == nullptr ? 0 : table_bytes)});
}

const Scheme& Encoding::scheme() const { return *state_->scheme; }
Claims Encoding::claims() const { return state_->result.claims; }
const Arguments& Encoding::arguments() const { return state_->arguments; }
const SiteTerm& Encoding::term() const { return state_->result.term; }

namespace {

template <class Term>
const Term& term_as(const Encoding& encoding, Site wanted) {
  const Term* term = std::get_if<Term>(&encoding.term());
  require(term != nullptr, encoding.scheme().name, " enters at the site ", name_of(encoding.site()), ", not at ",
          name_of(wanted));
  return *term;
}

}  // namespace

const HiddenRows& Encoding::hidden() const { return term_as<HiddenRows>(*this, Site::hidden); }
const Rotation& Encoding::rotation() const { return term_as<Rotation>(*this, Site::query_key); }
const ScoreBias& Encoding::score() const { return term_as<ScoreBias>(*this, Site::score); }
const RelativeKeys& Encoding::relative_keys() const { return term_as<RelativeKeys>(*this, Site::relative_key); }

PositionRange Encoding::position_range(ElementType type) const {
  return (type == ElementType::float16 ? state_->float16_range : state_->range).range;
}

void Encoding::check_positions(std::span<const Position> ids, ElementType type) const {
  const auto& [range, reason] = type == ElementType::float16 ? state_->float16_range : state_->range;
  for (const Position id : ids) {
    if (id >= range.first && id <= range.last) continue;
    fail(scheme().name, " positions must be from ", range.first, " to ", range.last, reason.empty() ? "" : " (", reason,
         reason.empty() ? "" : ")", ", got ", id);
  }
}

bool Encoding::length_dependent() const { return !claims().has(Claim::cache_safe); }

Encoding Encoding::at_length(std::int64_t length) const {
  if (!length_dependent()) return *this;
  Arguments changed = arguments();
  changed.set("length", length);
  return Encoding(scheme().name, changed, state_->table_bytes);
}

const RowTable& Encoding::row_table() const { return state_->rows; }

const void* Encoding::prepared_once(const std::function<std::shared_ptr<const void>()>& make) const {
  std::call_once(state_->prepared_flag, [&] { state_->prepared = make(); });
  return state_->prepared.get();
}

}  // namespace locus
