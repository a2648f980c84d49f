// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "doctor/fault_models.h"
#include "doctor/heads_array.h"
#include "doctor/random_numbers.h"
#include "doctor/verify/comparison.h"
#include "locus/doctor/verify_callable.h"
#include "locus/error.h"
#include "locus/positions.h"
#include "locus/reference.h"
#include "locus/reference_attention.h"

namespace locus {
namespace {

using namespace doctor;

constexpr std::int64_t tokens = 12;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// One call: queries [first_query, keys) of the tokens against keys [0, keys).
struct Call {
  std::int64_t first_query = 0;
  std::int64_t keys = tokens;
  std::vector<double> got = {};
};

struct Case {
  std::string name;
  std::vector<Position> ids;
  std::vector<Call> calls = {{}};
  std::vector<std::int64_t> boundaries = {};
  std::vector<std::uint8_t> mask = {};
  bool far = false;

  std::int64_t document(std::int64_t token) const {
    return std::upper_bound(boundaries.begin(), boundaries.end(), token) - boundaries.begin();
  }
  bool sees(std::int64_t query, std::int64_t key) const {
    return ids[at(key)] <= ids[at(query)] && document(query) == document(key) && (mask.empty() || mask[at(key)] != 0);
  }
};

class AttendVerifier {
 public:
  AttendVerifier(const Encoding& encoding, const AttendFunction& attend, std::uint64_t seed)
      : encoding_(encoding), attend_(attend), random_(seed), models_(fault_models_for(encoding)) {
    rotation_ = std::get_if<Rotation>(&encoding.term());
    if (rotation_ != nullptr) head_dim_ = rotation_->head_dim;
    if (const auto* bias = std::get_if<ScoreBias>(&encoding.term())) heads_ = bias->heads;
    if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) {
      heads_ = keys->heads;
      head_dim_ = keys->head_dim;
    }
    key_heads_ = heads_ % 2 == 0 ? heads_ / 2 : heads_;
    query_ = random_.elements(tokens * heads_ * head_dim_);
    key_ = random_.elements(tokens * key_heads_ * head_dim_);
    value_ = random_.elements(tokens * key_heads_ * head_dim_);
  }

  std::vector<Check> run() {
    make_cases();
    for (Case& one : cases_) {
      for (Call& call : one.calls) make(one, call);
    }
    std::vector<Check> checks;
    for (std::size_t i = 0; i < cases_.size(); ++i) checks.push_back(against_reference(i));
    return checks;
  }

 private:
  void add(Case one) {
    for (const Position id : one.ids) {
      if (id < encoding_.position_range().first || id > encoding_.position_range().last) return;
    }
    cases_.push_back(std::move(one));
  }

  void make_cases() {
    const std::vector<Position> plain = positions::prefill(tokens).ids;
    add({.name = "prefill = exact", .ids = plain});
    add({.name = "chunked = exact", .ids = plain, .calls = {{0, 5}, {5, 10}, {10, 12}}});
    std::vector<Call> steps;
    for (std::int64_t t = 0; t < tokens; ++t) steps.push_back({t, t + 1});
    add({.name = "one token at a time = exact", .ids = plain, .calls = steps});
    add({.name = "positions from 100 = exact", .ids = positions::prefill(tokens, 100).ids});
    add({.name = "ids with gaps = exact", .ids = {0, 1, 2, 5, 6, 9, 10, 11, 14, 15, 18, 19}});
    const std::vector<std::int64_t> lengths{5, 1, 6};
    add({.name = "packed = exact", .ids = positions::packed(lengths).ids, .boundaries = {0, 5, 6, 12}});
    const positions::Padded left = positions::left_padded(std::vector<std::int64_t>{9}, tokens);
    add({.name = "left-padded = exact", .ids = left.ids.ids, .mask = left.mask});
    const positions::Padded right = positions::right_padded(std::vector<std::int64_t>{9}, tokens);
    add({.name = "right-padded = exact", .ids = right.ids.ids, .mask = right.mask});
    add({.name = "positions from 65521 = exact", .ids = positions::prefill(tokens, 65'521).ids, .far = true});
  }

  void make(const Case& one, Call& call) const {
    const auto floats = [](std::span<const double> values, std::int64_t first, std::int64_t end) {
      return std::vector<float>(values.begin() + first, values.begin() + end);
    };
    const std::int64_t row = heads_ * head_dim_, key_row = key_heads_ * head_dim_;
    const std::vector<float> q = floats(query_, call.first_query * row, call.keys * row);
    const std::vector<float> k = floats(key_, 0, call.keys * key_row), v = floats(value_, 0, call.keys * key_row);
    std::vector<float> output(q.size());
    const std::span<const Position> ids(one.ids);
    attend_({.query = q,
             .key = k,
             .value = v,
             .output = output,
             .queries = call.keys - call.first_query,
             .keys = call.keys,
             .heads = heads_,
             .key_heads = key_heads_,
             .head_dim = head_dim_,
             .query_ids = query_ids(one, call),
             .key_ids = ids.first(at(call.keys)),
             .query_boundaries = one.boundaries,
             .key_boundaries = one.boundaries,
             .key_mask = one.mask});
    call.got.assign(output.begin(), output.end());
  }

  static std::span<const Position> query_ids(const Case& one, const Call& call) {
    return std::span(one.ids).subspan(at(call.first_query), at(call.keys - call.first_query));
  }

  // Rows of heads, turned in double as is assumed.
  HeadsArray turned(std::span<const double> rows, std::int64_t heads, std::span<const Position> ids, Role role,
                    const FaultModel& model) const {
    std::vector<double> result(rows.begin(), rows.end());
    const Extents extents{1, static_cast<std::int64_t>(ids.size()), heads, head_dim_};
    if (rotation_ == nullptr) return HeadsArray(ElementType::float64, extents, result);
    if (model.roles_exchanged) role = role == Role::query ? Role::key : Role::query;
    result.clear();
    for (std::int64_t i = 0; i < extents.tokens * heads; ++i) {
      const std::vector<double> head =
          reference::rotate(model.rotation ? *model.rotation : *rotation_, role, model.direction,
                            ids.subspan(at(i / heads), 1), rows.subspan(at(i * head_dim_), at(head_dim_)));
      result.insert(result.end(), head.begin(), head.end());
    }
    return HeadsArray(ElementType::float64, extents, result);
  }

  // One query of a call as is assumed: [heads, head_dim], and the largest error allowed in each head.
  struct Row {
    std::vector<double> output;
    std::vector<double> tolerance;
  };
  std::optional<Row> predicted(const Case& one, const Call& call, std::int64_t index, const FaultModel& model) const {
    const std::span<const Position> ids(one.ids);
    const std::int64_t token = call.first_query + index;
    Position query_id = ids[at(token)];
    std::vector<Position> key_ids(ids.begin(), ids.begin() + call.keys);
    if (model.ids) {
      const CallIds given{query_ids(one, call), ids.first(at(call.keys)), !one.boundaries.empty(), !one.mask.empty()};
      model.ids(given, index, query_id, key_ids);
    }
    std::vector<std::uint8_t> seen;
    for (std::int64_t key = 0; key < call.keys; ++key) seen.push_back(one.sees(token, key) ? 1 : 0);
    const std::int64_t row = heads_ * head_dim_, key_values = call.keys * key_heads_ * head_dim_;
    const HeadsArray q =
        turned(std::span(query_).subspan(at(token * row), at(row)), heads_, {&query_id, 1}, Role::query, model);
    const HeadsArray k = turned(std::span(key_).first(at(key_values)), key_heads_, key_ids, Role::key, model);
    const HeadsArray v(ElementType::float64, {1, call.keys, key_heads_, head_dim_},
                       std::span(value_).first(at(key_values)));
    AttentionCall exact{.query = q.view(), .key = k.view(), .value = v.view(), .output = q.view()};
    exact.encoding = &encoding_;
    exact.query_ids = {&query_id, 1};
    exact.key_ids = key_ids;
    exact.mask.pairs = seen;
    try {
      const reference::Attention result = reference::attend(exact);
      return Row{result.output, tolerances(one, token, q.values(), k.values(), result.magnitude, model)};
    } catch (const Error&) {
      return {};  // what is assumed asks for a row that the encoding does not have
    }
  }

  // Twice the bound that attend() keeps (attention.h), for plain loops in float32; and queries and keys that are off by
  // 16 float32 roundings and an angle, see RotateVerifier, which change the weights by e^(4 e scale |q| |k|).
  std::vector<double> tolerances(const Case& one, std::int64_t token, const std::vector<double>& q,
                                 const std::vector<double>& k, const std::vector<double>& magnitude,
                                 const FaultModel& model) const {
    const auto longest = [&](const std::vector<double>& rows, std::int64_t head, std::int64_t heads) {
      double most = 0;
      for (std::int64_t i = head; i * head_dim_ < static_cast<std::int64_t>(rows.size()); i += heads) {
        double squares = 0;
        for (std::int64_t j = i * head_dim_; j < (i + 1) * head_dim_; ++j) squares += rows[at(j)] * rows[at(j)];
        most = std::max(most, std::sqrt(squares));
      }
      return most;
    };
    const double d = static_cast<double>(head_dim_), n = static_cast<double>(tokens), u = 0x1p-24;
    double e = 0, scale = 1 / std::sqrt(d);
    if (rotation_ != nullptr) {
      const double position = std::fabs(static_cast<double>(one.ids[at(token)])) + 1;
      const double per_radian = one.far && !model.float32_angles ? 0x1p-52 : float32_angle_error;
      e = 16 * u + position * per_radian * *std::max_element(rotation_->inv_freq.begin(), rotation_->inv_freq.end());
      scale *= rotation_->softmax_scale_factor;
    }
    std::vector<double> all;
    for (std::int64_t h = 0; h < heads_; ++h) {
      const double product = longest(q, h, heads_) * longest(k, h / (heads_ / key_heads_), key_heads_);
      const double own = 2 * (2 * (d + 16) * magnitude[at(h)] + 4 * n + 16) * u;
      all.push_back(largest_value() * (own + std::expm1(4 * e * scale * product)));
    }
    return all;
  }

  double largest_value() const {
    double most = 0, more = 0;
    for (const double v : value_) most = std::max(most, std::fabs(v));
    if (const auto* keys = std::get_if<RelativeKeys>(&encoding_.term())) {
      for (const float v : keys->value_table.data) more = std::max(more, std::fabs(static_cast<double>(v)));
    }
    return most + more;
  }

  // Rows in the order of the tokens; those of padding are left out.
  Comparison compared(const Case& one, const FaultModel& model) const {
    std::vector<double> got, want, tolerance;
    for (const Call& call : one.calls) {
      for (std::int64_t index = 0; index < call.keys - call.first_query; ++index) {
        if (!one.mask.empty() && one.mask[at(call.first_query + index)] == 0) continue;
        const std::optional<Row> row = predicted(one, call, index, model);
        const auto from = call.got.begin() + index * heads_ * head_dim_;
        got.insert(got.end(), from, from + heads_ * head_dim_);
        if (row) {
          want.insert(want.end(), row->output.begin(), row->output.end());
          tolerance.insert(tolerance.end(), row->tolerance.begin(), row->tolerance.end());
        } else {
          want.insert(want.end(), at(heads_ * head_dim_), std::nan(""));
          tolerance.insert(tolerance.end(), at(heads_), 0.0);
        }
      }
    }
    return compare(got, want, heads_, head_dim_,
                   [&](const Entry& entry, double) { return tolerance[at(entry.row * heads_ + entry.head)]; });
  }

  Check against_reference(std::size_t index) const {
    const Case& one = cases_[index];
    const Comparison comparison = compared(one, {});
    std::string note;
    if (comparison.first) {
      std::int64_t token = comparison.first->row;  // left padding comes before all rows that are compared
      if (!one.mask.empty()) token += std::find(one.mask.begin(), one.mask.end(), 1) - one.mask.begin();
      note = divergence(comparison, token, one.ids[at(token)],
                        likely_cause(models_, cases_.size(), index, [&](const FaultModel& model, std::size_t i) {
                          return !compared(cases_[i], model).first;
                        }));
    }
    return at_most(one.name, std::string(encoding_.scheme().name), comparison.value, comparison.bound, note);
  }

  const Encoding& encoding_;
  const AttendFunction& attend_;
  RandomNumbers random_;
  std::vector<FaultModel> models_;
  const Rotation* rotation_ = nullptr;
  std::int64_t heads_ = 4, key_heads_ = 2, head_dim_ = 16;
  std::vector<double> query_, key_, value_;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Check> verify_attend(const Encoding& encoding, const AttendFunction& attend, std::uint64_t seed) {
  require(static_cast<bool>(attend), "verify_attend: there is no function to call");
  require(encoding.site() != Site::hidden, "verify_attend: ", encoding.scheme().name,
          " adds its rows before attention; there is nothing of it to verify in here");
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  require(rotation == nullptr || rotation->axes == 1, "verify_attend: ids must have one axis");
  std::vector<Check> checks = AttendVerifier(encoding, attend, seed).run();
  require(!checks.empty(), "verify_attend: ", encoding.scheme().name, " has fewer than ", tokens, " positions");
  return checks;
}

}  // namespace locus
