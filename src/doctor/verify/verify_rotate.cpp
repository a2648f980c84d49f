// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "doctor/faults.h"
#include "doctor/verify/comparison.h"
#include "doctor/verify/diagnosed.h"
#include "doctor/verify/index.h"
#include "doctor/verify/naming.h"
#include "doctor/verify/predicted_rotation.h"
#include "doctor/verify/rotate_cases.h"
#include "doctor/verify/rounding.h"
#include "doctor/verify/served_positions.h"
#include "locus/error.h"

namespace locus {
namespace {

using namespace doctor;

class RotateVerifier {
 public:
  RotateVerifier(const Encoding& encoding, const RotateFunction& rotate, const VerifyOptions& options)
      : encoding_(encoding), rotation_(encoding.rotation()), rotate_(rotate), options_(options) {
    rounding_.float32_angles = rotation_.profile != Profile::exact;
    rounding_.table = table_rounding() / 2;
  }

  std::vector<Check> run() {
    cases_ = rotate_cases(encoding_, options_);
    served_.run(
        cases_, options_, [](const RotateCase& one) { return std::span<const Position>(one.ids); },
        [&](RotateCase& one) { one.got = call(one, one.ids); }, [&](Position id) { call_at(id); });
    require(!cases_.empty(), "verify_rotate: ", encoding_.scheme().name,
            " and the function have no positions in common");
    for (const RotateCase& one : cases_) types_.see(one.got);
    rounding_.type = options_.arithmetic.value_or(types_.found());
    for (const RotateCase& one : cases_) {
      compared_.push_back(compared(one, {}, rounding_));
      checks_.push_back(at_most(one.name, name(), compared_.back().value, compared_.back().bound));
    }
    if (encoding_.claims().has(Claim::norm_preserving)) checks_.push_back(norms());
    if (encoding_.claims().has(Claim::relative)) checks_.push_back(relative());
    explain();
    served_.append_to(checks_, name());
    return std::move(checks_);
  }

 private:
  std::string name() const { return std::string(encoding_.scheme().name); }

  std::vector<double> call(const RotateCase& one, std::span<const Position> ids) const {
    const std::int64_t row = one.heads * rotation_.head_dim;
    std::vector<double> result;
    std::int64_t first = 0;
    for (const std::int64_t count : one.calls) {
      std::vector<float> data(one.given.begin() + first * row, one.given.begin() + (first + count) * row);
      const std::vector<Position> all = ids_of_axes(encoding_, ids.subspan(at(first), at(count)));
      rotate_({.data = data,
               .tokens = count,
               .heads = one.heads,
               .head_dim = rotation_.head_dim,
               .ids = all,
               .role = one.role});
      result.insert(result.end(), data.begin(), data.end());
      first += count;
    }
    return result;
  }

  void call_at(Position id) const {
    RotateCase one{.name = "", .ids = {id}, .calls = {1}};
    one.given.assign(at(one.heads * rotation_.head_dim), 1.0);
    call(one, one.ids);
  }

  // Predicts [tokens, heads, head_dim] under a model, call by call; rows of padding stay 0. Stops when `keep_on`
  // returns false.
  void predict(const RotateCase& one, const FaultModel& model, std::optional<std::int64_t> only,
               const std::function<bool(std::int64_t token, std::span<const double> row)>& keep_on) const {
    const std::int64_t row = one.heads * rotation_.head_dim;
    PredictedRotation predicted(rotation_, model);
    std::vector<double> result(at(row));
    std::int64_t first = 0;
    for (std::size_t c = 0; c < one.calls.size(); ++c) {
      const std::vector<Position> ids = ids_of_axes(encoding_, std::span(one.ids).subspan(at(first), at(one.calls[c])));
      const AskedCall call = asked(one, c, first, ids);
      for (std::int64_t t = 0; t < one.calls[c]; ++t) {
        if (!one.mask.empty() && one.mask[at(first + t)] == 0) continue;
        if (only && *only != first + t) continue;
        predicted.rotate(call, one.role, t, one.heads, std::span(one.given).subspan(at((first + t) * row), at(row)),
                         result);
        if (!keep_on(first + t, result)) return;
      }
      first += one.calls[c];
    }
  }

  // The frequency and the partner of a coordinate; -1 if it is not rotated.
  struct PairPlace {
    double frequency = 0;
    std::int64_t other = -1;
  };
  PairPlace pair_of(std::int64_t coordinate) const {
    const std::int64_t j = coordinate - rotation_.rotary_offset;
    if (j < 0 || j >= rotation_.rotary_dim) return {};
    const bool split = rotation_.pairing == Pairing::half || rotation_.deinterleaved_output;
    const std::int64_t pairs = rotation_.pairs();
    const std::int64_t pair = split ? j % pairs : j / 2;
    const std::int64_t other = split ? (j < pairs ? j + pairs : j - pairs) : (j ^ 1);
    return {rotation_.inv_freq[at(pair)], rotation_.rotary_offset + other};
  }

  double tolerance(const RotateCase& one, std::int64_t token, std::span<const double> head, std::int64_t coordinate,
                   const Rounding& rounding) const {
    double squares = 0;
    for (const double x : head) squares += x * x;
    const PairPlace place = pair_of(coordinate);
    const double own = head[at(coordinate)];
    const double pair = place.other < 0 ? std::fabs(own) : std::hypot(own, head[at(place.other)]);
    // The allowance for float32 angles is relative to the whole vector.
    return rounding.rotated(pair, std::sqrt(squares),
                            place.other < 0 ? 0 : rounding.angle_error(place.frequency, one.ids[at(token)]));
  }

  Comparison compared(const RotateCase& one, const FaultModel& model, const Rounding& rounding,
                      bool until_first = false, std::optional<std::int64_t> only = {}) const {
    Comparison worst;
    const std::int64_t row = one.heads * rotation_.head_dim;
    predict(one, model, only, [&](std::int64_t token, std::span<const double> want) {
      const Comparison own = compare(
          std::span(one.got).subspan(at(token * row), at(row)), want, one.heads, rotation_.head_dim,
          [&](const Entry& entry, double) {
            return tolerance(one, token, want.subspan(at(entry.head * rotation_.head_dim), at(rotation_.head_dim)),
                             entry.dim, rounding);
          });
      if (worst.bound == 0 || !(own.value * worst.bound <= worst.value * own.bound)) {
        worst.value = own.value;
        worst.bound = own.bound;
      }
      if (own.first && !worst.first) {
        worst.first = own.first;
        worst.first->row = token;
        worst.got = own.got;
        worst.want = own.want;
      }
      return !(until_first && own.first);
    });
    return worst;
  }

  bool possible(const Condition& condition) const {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (!compared_[i].first) continue;
      const RotateCase& one = cases_[i];
      std::int64_t first = 0;
      for (std::size_t c = 0; c < one.calls.size(); first += one.calls[c++]) {
        if (compared_[i].first->row < first || compared_[i].first->row >= first + one.calls[c]) continue;
        if (!condition.holds(asked(one, c, first, one.ids))) return false;
      }
    }
    return true;
  }

  // Returns one call of a case, with its ids.
  AskedCall asked(const RotateCase& one, std::size_t call, std::int64_t first, std::span<const Position> ids) const {
    AskedCall result;
    result.queries = result.keys = one.calls[call];
    result.axes = rotation_.axes;
    result.query_ids = result.key_ids = ids;
    result.query_boundaries = result.key_boundaries = one.boundaries;
    result.key_mask = one.mask;
    result.cached = result.first = first;
    result.forked = one.forked && call > one.calls.size() / 2;
    return result;
  }

  bool matches(const FaultModel& model, const std::vector<std::size_t>& ordered, bool first_row = false) const {
    Rounding rounding = rounding_;
    rounding.float32_angles = rounding.float32_angles || model.float32_angles;
    rounding.any_pair = model.rotation != nullptr || model.key_rotation != nullptr;
    return std::all_of(ordered.begin(), ordered.end(), [&](std::size_t i) {
      const std::optional<std::int64_t> row =
          first_row ? std::optional(compared_[i].first->row) : std::optional<std::int64_t>();
      return !compared(cases_[i], model, rounding, true, row).first.has_value();
    });
  }

  bool float32_tells_failures() const {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (compared_[i].first && float32_tells(cases_[i].ids)) return true;
    }
    return false;
  }

  bool matches_first(const FaultModel& model, std::size_t first) const {
    if (!matches(model, {first}, true)) return false;
    const Comparison& failure = compared_[first];
    if (model.float32_angles) return float32_tells_failures();
    const auto row_of = [&](const FaultModel& one) {
      std::vector<double> row;
      predict(cases_[first], one, failure.first->row, [&](std::int64_t, std::span<const double> want) {
        row.assign(want.begin(), want.end());
        return false;
      });
      return row;
    };
    const std::vector<double> predicted = row_of(model), right = row_of({});
    const std::int64_t width = cases_[first].heads * rotation_.head_dim;
    return explains(std::span(cases_[first].got).subspan(at(failure.first->row * width), at(width)), predicted, right);
  }

  // |rotated| = |given| x magnitude, over all cases.
  Check norms() const {
    double worst = -1, value = 0, bound = 1;
    for (const RotateCase& one : cases_) {
      for (std::int64_t head = 0; head < one.tokens() * one.heads; ++head) {
        if (!one.mask.empty() && one.mask[at(head / one.heads)] == 0) continue;
        double before = 0, after = 0;
        for (std::int64_t j = head * rotation_.head_dim; j < (head + 1) * rotation_.head_dim; ++j) {
          before += one.given[at(j)] * one.given[at(j)];
          after += one.got[at(j)] * one.got[at(j)];
        }
        if (before == 0) continue;
        const double change = std::fabs(std::sqrt(after / before) - 1);
        const double allowed = 16 * 0x1p-24 + table_rounding() + (rounding_.narrow() ? 5 * rounding_.unit() : 0.0);
        if (change / allowed <= worst) continue;
        worst = change / allowed;
        value = change;
        bound = allowed;
      }
    }
    return at_most("norms are kept", name(), value, bound);
  }

  // q(m) . k(n) = q(m + s) . k(n + s), from the small prefills. Each side may be off by the allowed error of two
  // vectors of length |q| and |k|.
  Check relative() const {
    RotateCase query = cases_[0];
    RotateCase key = cases_[1];
    key.ids = query.ids;
    const Position last = std::min(encoding_.position_range().last,
                                   std::min(served_.end(), options_.max_length.value_or(max_position)) - 1);
    // A multiple of 7 shifts the ids of all axes alike (ids_of_axes).
    const Position shift = std::clamp<Position>(last - query.ids.back() - 20, 0, 98) / 7 * 7;
    std::vector<Position> moved = query.ids;
    for (Position& id : moved) id += shift;
    const std::vector<double> q = call(query, query.ids), k = call(key, query.ids);
    const std::vector<double> q_moved = call(query, moved), k_moved = call(key, moved);
    double fastest = 0;
    for (const double w : rotation_.inv_freq) fastest = std::max(fastest, w);
    const double angle = rounding_.angle_error(fastest, moved.back());
    const double own = 16 * 0x1p-24 + angle + table_rounding() + (rounding_.narrow() ? 5 * rounding_.unit() : 0.0);
    double value = 0, bound = 1, worst = -1;
    for (std::int64_t i = 0; i < query.tokens() * query.tokens() * query.heads; ++i) {
      const std::int64_t h = i % query.heads, m = i / query.heads / query.tokens(),
                         n = i / query.heads % query.tokens();
      double before = 0, after = 0, qq = 0, kk = 0;
      for (std::int64_t j = 0; j < rotation_.head_dim; ++j) {
        const std::size_t a = at((m * query.heads + h) * rotation_.head_dim + j),
                          b = at((n * query.heads + h) * rotation_.head_dim + j);
        before += q[a] * k[b];
        after += q_moved[a] * k_moved[b];
        qq += std::max(q[a] * q[a], q_moved[a] * q_moved[a]);
        kk += std::max(k[b] * k[b], k_moved[b] * k_moved[b]);
      }
      const double allowed = 4 * std::sqrt(qq * kk) * own;
      const double share = std::fabs(before - after) / allowed;
      if (share <= worst) continue;
      worst = share;
      value = std::fabs(before - after);
      bound = allowed;
    }
    return at_most("q(m).k(n) depends on m - n only", name(), value, bound,
                   value <= bound ? "" : "shifted by " + std::to_string(shift));
  }

  // A rounded table (bfloat16 models) limits the precision of norms and differences.
  double table_rounding() const {
    return rotation_.table_type == ElementType::float32 ? 0 : 2 * unit_roundoff(rotation_.table_type);
  }

  std::optional<FaultModel> model_of_all(const Models& models) const {
    std::vector<std::size_t> ordered;
    for (std::size_t i = 0; i < cases_.size(); ++i) ordered.push_back(i);
    std::stable_sort(ordered.begin(), ordered.end(), [&](std::size_t a, std::size_t b) {
      const bool a_failed = compared_[a].first.has_value(), b_failed = compared_[b].first.has_value();
      return a_failed != b_failed ? a_failed : cases_[a].given.size() < cases_[b].given.size();
    });
    return likely_model(
        models, {.possible = [&](const Condition& condition) { return possible(condition); },
                 .guards = [](const Condition&) { return std::vector<std::size_t>(); },  // the first row is cheap
                 .matches_guard = [](const FaultModel&, std::size_t) { return true; },
                 .matches_first = [&](const FaultModel& model) { return matches_first(model, ordered[0]); },
                 .matches = [&](const FaultModel& model) { return matches(model, ordered); }});
  }

  // Returns diagnose's result for one case without padding; empty if a number is not finite.
  Diagnosis diagnosis_of(const RotateCase& one, std::vector<Position>& ids,
                         const std::optional<Encoding>& expected) const {
    const std::int64_t row = one.heads * rotation_.head_dim;
    RotationDump dump{.heads = one.heads, .head_dim = rotation_.head_dim};
    ids.clear();
    for (std::int64_t t = 0; t < one.tokens(); ++t) {
      if (!one.mask.empty() && one.mask[at(t)] == 0) continue;
      ids.push_back(one.ids[at(t)]);
      dump.before.insert(dump.before.end(), one.given.begin() + t * row, one.given.begin() + (t + 1) * row);
      dump.after.insert(dump.after.end(), one.got.begin() + t * row, one.got.begin() + (t + 1) * row);
    }
    dump.tokens = static_cast<std::int64_t>(ids.size());
    return diagnose(dump, {.encoding = expected,
                           .positions = PositionIds{rotation_.axes, 1, dump.tokens, ids_of_axes(encoding_, ids)},
                           .role = one.role});
  }

  // Makes a model from diagnose's result for one case, if it predicts everything. The expected encoding gives the name;
  // the explanation found without it gives the numbers.
  std::optional<FaultModel> diagnosed_model(const RotateCase& one, const Diagnosis& diagnosis,
                                            std::span<const Position> ids) const {
    std::vector<Position> same;
    for (const Explanation& found : diagnosis_of(one, same, {}).explanations) {
      const auto model = model_of(diagnosis, found, ids);
      if (!model) continue;
      if (auto matching = model_of_all({*model})) return matching;
    }
    return {};
  }

  // Returns diagnose's result for the failed checks: a model that predicts everything, or one confident verdict on all
  // of them.
  std::string diagnosed() const try {
    std::vector<std::size_t> failed_ones;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (compared_[i].first) failed_ones.push_back(i);
    }
    // More tokens show more, but too many cost too much.
    const auto use = [&](std::size_t i) { return cases_[i].tokens() > 300 ? -1 : cases_[i].tokens(); };
    std::stable_sort(failed_ones.begin(), failed_ones.end(),
                     [&](std::size_t a, std::size_t b) { return use(a) > use(b); });
    std::optional<Verdict> common;
    for (std::size_t n = 0; n < failed_ones.size(); ++n) {
      std::vector<Position> ids;
      const Diagnosis diagnosis = diagnosis_of(cases_[failed_ones[n]], ids, encoding_);
      if (n == 0) {
        if (const auto model = diagnosed_model(cases_[failed_ones[n]], diagnosis, ids)) return text_of(*model);
      }
      const std::optional<Verdict> verdict = first_verdict(diagnosis.verdicts, confident);
      if (!verdict || (common && common->name != verdict->name)) return {};
      common = verdict;
    }
    return common ? std::string(find_fault(common->name).name) + " (" + common->text + ")" : "";
  } catch (const Error&) {
    return {};
  }

  std::string cause_of_failures() const {
    if (std::none_of(compared_.begin(), compared_.end(), [](const Comparison& c) { return c.first.has_value(); })) {
      return no_known_fault(checks_);
    }
    if (const auto model = model_of_all(fault_models(encoding_, false))) return text_of(*model);
    const std::string more = diagnosed();
    return more.empty() ? no_known_fault(checks_) : more;
  }

  void explain() {
    if (failed(checks_) == 0) return;
    const std::string cause = cause_of_failures();
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      if (checks_[i].pass) continue;
      if (i >= cases_.size()) {
        checks_[i].note += (checks_[i].note.empty() ? "" : "; ") + ("likely cause: " + cause);
        continue;
      }
      const std::int64_t token = compared_[i].first->row;
      checks_[i].note = divergence(compared_[i], token, cases_[i].ids[at(token)], cause);
    }
  }

  const Encoding& encoding_;
  const Rotation& rotation_;
  const RotateFunction& rotate_;
  const VerifyOptions& options_;
  Rounding rounding_;
  TypeFinder types_;
  ServedPositions served_;
  std::vector<RotateCase> cases_;
  std::vector<Comparison> compared_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> verify_rotate(const Encoding& encoding, const RotateFunction& rotate, const VerifyOptions& options) {
  require(static_cast<bool>(rotate), "verify_rotate: the function is empty");
  return RotateVerifier(encoding, rotate, options).run();
}

std::vector<Check> verify_rotate(const Encoding& encoding, const RotateFunction& rotate, std::uint64_t seed) {
  return verify_rotate(encoding, rotate, VerifyOptions{.seed = seed});
}

}  // namespace locus
