// SPDX-License-Identifier: Apache-2.0
#include "locus/encoding.h"

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
  PositionRange range;
  PositionRange float16_range;
  std::size_t table_bytes;
  RowTable rows;
  mutable std::once_flag kernel_flag = {};
  mutable std::shared_ptr<const KernelState> kernel_state = {};
};

namespace {

PositionRange range_of(const SchemeResult& result) {
  const Position first = result.claims.has(Claim::negative_positions) ? -max_position : 0;
  return result.range.value_or(PositionRange{first, max_position});
}

}  // namespace

std::vector<Parameter> parameters_of(const Scheme& scheme, const Arguments& given) {
  return scheme.parameters_for != nullptr ? scheme.parameters_for(given) : scheme.parameters;
}

Encoding::Encoding(std::string_view scheme_name, const Arguments& arguments, std::size_t table_bytes) {
  const Scheme& scheme = find_scheme(scheme_name);
  Arguments checked = validate(scheme.name, parameters_of(scheme, arguments), arguments);
  SchemeResult result = scheme.make(checked);
  const PositionRange range = range_of(result);
  const PositionRange float16_range = result.float16_range.value_or(range);
  const auto* rotation = std::get_if<Rotation>(&result.term);
  const std::int64_t rows = rotation != nullptr && rotation->mix ? rotation->mix->heads : 1;
  const std::int64_t row_floats = rotation == nullptr ? 0 : rows * rotation->rotary_dim;
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
  require(term != nullptr, encoding.scheme().name, " acts at the site ", name_of(encoding.site()), ", not at ",
          name_of(wanted));
  return *term;
}

}  // namespace

const HiddenRows& Encoding::hidden() const { return term_as<HiddenRows>(*this, Site::hidden); }
const Rotation& Encoding::rotation() const { return term_as<Rotation>(*this, Site::query_key); }
const ScoreBias& Encoding::score() const { return term_as<ScoreBias>(*this, Site::score); }
const RelativeKeys& Encoding::relative_keys() const { return term_as<RelativeKeys>(*this, Site::relative_key); }

std::span<const LearnedWeight> Encoding::learned_weights() const { return state_->result.learned; }

PositionRange Encoding::position_range(ElementType type) const {
  return type == ElementType::float16 ? state_->float16_range : state_->range;
}

void Encoding::check_positions(std::span<const Position> ids, ElementType type) const {
  const PositionRange range = position_range(type);
  for (const Position id : ids) {
    if (id >= range.first && id <= range.last) continue;
    const std::string_view reason = state_->result.range_reason;
    fail(scheme().name, " positions must be from ", range.first, " to ", range.last, reason.empty() ? "" : " (", reason,
         reason.empty() ? "" : ")", ", got ", id);
  }
}

bool Encoding::length_dependent() const {
  const auto* hidden = std::get_if<HiddenRows>(&term());
  const bool by_neighbours = hidden != nullptr && hidden->neighbours;  // not safe because of later tokens
  return !claims().has(Claim::cache_safe) && !by_neighbours;
}

Encoding Encoding::at_length(std::int64_t length) const {
  if (!length_dependent()) return *this;
  Arguments changed = arguments();
  changed.set("length", length);
  return Encoding(scheme().name, changed, state_->table_bytes);
}

const RowTable& Encoding::row_table() const { return state_->rows; }

const KernelState& Encoding::kernel_state(std::shared_ptr<const KernelState> (*make)(const Encoding&)) const {
  std::call_once(state_->kernel_flag, [&] { state_->kernel_state = make(*this); });
  return *state_->kernel_state;
}

}  // namespace locus
