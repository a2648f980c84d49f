// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "doctor/fault_models.h"
#include "doctor/heads_array.h"
#include "doctor/random_numbers.h"
#include "doctor/verify/comparison.h"
#include "locus/doctor/verify_callable.h"
#include "locus/error.h"
#include "locus/positions.h"
#include "locus/reference.h"

namespace locus {
namespace {

using namespace doctor;

constexpr std::int64_t tokens = 12, heads = 2;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Twelve tokens, in calls of `per_call`; what was given and what came back.
struct Case {
  std::string name;
  std::vector<Position> ids;  // on the first axis
  std::int64_t per_call = tokens;
  std::int64_t first_token = 0;  // those before it are padding
  bool far = false;              // float32 angles are not allowed for
  Role role = Role::query;
  std::vector<double> given = {}, got = {};
};

class RotateVerifier {
 public:
  RotateVerifier(const Encoding& encoding, const RotateFunction& rotate, std::uint64_t seed)
      : encoding_(encoding),
        rotation_(encoding.rotation()),
        rotate_(rotate),
        random_(seed),
        models_(fault_models_for(encoding)) {}

  std::vector<Check> run() {
    make_cases();
    for (Case& one : cases_) {
      one.given = random_.elements(tokens * heads * rotation_.head_dim);
      one.got = call(one, one.ids);
    }
    std::vector<Check> checks;
    for (std::size_t i = 0; i < cases_.size(); ++i) checks.push_back(against_reference(i));
    if (encoding_.claims().has(Claim::norm_preserving)) checks.push_back(norms());
    if (encoding_.claims().has(Claim::relative)) checks.push_back(relative());
    return checks;
  }

 private:
  Position fitted(Position id) const {
    const PositionRange range = encoding_.position_range();
    return std::clamp(id, range.first, range.last - rotation_.axes);
  }

  void add(std::string name, std::vector<Position> ids, std::int64_t per_call = tokens, std::int64_t first_token = 0,
           bool far = false) {
    for (Position& id : ids) id = fitted(id);
    cases_.push_back({std::move(name), std::move(ids), per_call, first_token, far});
  }

  void make_cases() {
    const std::vector<Position> plain = positions::prefill(tokens).ids;
    add("prefill = exact", plain);
    add("prefill of keys = exact", plain);
    cases_.back().role = Role::key;
    add("chunked = exact", plain, 5);
    add("one token at a time = exact", plain, 1);
    add("scattered ids = exact", {3, 40, 7, 7, 121, 0, 1, 90, 15, 16, 2, 64});
    add("packed = exact", positions::packed(std::vector<std::int64_t>{5, 1, 6}).ids);
    add("left-padded = exact", positions::left_padded(std::vector<std::int64_t>{9}, tokens).ids.ids, tokens, 3);
    for (const Position start : {Position{65'521}, Position{1'000'003}}) {
      if (start + tokens > encoding_.position_range().last) continue;
      add("positions from " + std::to_string(start) + " = exact", positions::prefill(tokens, start).ids, tokens, 0,
          true);
    }
  }

  // Axis a of several stands a further on.
  std::vector<Position> axes_of(std::span<const Position> ids) const {
    std::vector<Position> all;
    for (int axis = 0; axis < rotation_.axes; ++axis) {
      for (const Position id : ids) all.push_back(id + axis);
    }
    return all;
  }

  std::vector<double> call(const Case& one, std::span<const Position> ids) const {
    const std::int64_t row = heads * rotation_.head_dim;
    std::vector<double> result;
    for (std::int64_t first = 0; first < tokens; first += one.per_call) {
      const std::int64_t count = std::min(one.per_call, tokens - first);
      std::vector<float> data;
      for (std::int64_t i = first * row; i < (first + count) * row; ++i) {
        data.push_back(static_cast<float>(one.given[at(i)]));
      }
      const std::vector<Position> all = axes_of(ids.subspan(at(first), at(count)));
      rotate_({.data = data,
               .tokens = count,
               .heads = heads,
               .head_dim = rotation_.head_dim,
               .ids = all,
               .role = one.role});
      result.insert(result.end(), data.begin(), data.end());
    }
    return result;
  }

  std::vector<double> predicted(const Case& one, const FaultModel& model) const {
    const Rotation& rotation = model.rotation ? *model.rotation : rotation_;
    const bool other = model.roles_exchanged;
    const Role role = other ? (one.role == Role::query ? Role::key : Role::query) : one.role;
    std::vector<double> result;
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t first = t / one.per_call * one.per_call, count = std::min(one.per_call, tokens - first);
      const CallIds ids{.query = std::span(one.ids).subspan(at(first), at(count)), .key = {}};
      Position id = one.ids[at(t)];
      std::vector<Position> none;
      if (model.ids) model.ids(ids, t - first, id, none);
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto head = std::span(one.given).subspan(at((t * heads + h) * rotation.head_dim), at(rotation.head_dim));
        const std::vector<double> turned = reference::rotate(rotation, role, model.direction, axes_of({&id, 1}), head);
        result.insert(result.end(), turned.begin(), turned.end());
      }
    }
    return result;
  }

  // Of a coordinate, in radians per position; 0 for what is not rotated.
  double frequency(std::int64_t coordinate) const {
    const std::int64_t j = coordinate - rotation_.rotary_offset;
    if (j < 0 || j >= rotation_.rotary_dim) return 0;
    const bool split = rotation_.pairing == Pairing::half || rotation_.deinterleaved_output;
    return rotation_.inv_freq[at(split ? j % rotation_.pairs() : j / 2)];
  }

  // 16 float32 roundings of the vector's length; angles in float32 where that is allowed for, in double elsewhere.
  double tolerance(const Case& one, const std::vector<double>& exact, const Entry& entry, bool float32_angles) const {
    double squares = 0;
    for (std::int64_t j = 0; j < rotation_.head_dim; ++j) {
      squares += std::pow(exact[at((entry.row * heads + entry.head) * rotation_.head_dim + j)], 2);
    }
    const double angle = frequency(entry.dim) * std::fabs(static_cast<double>(one.ids[at(entry.row)]) + 1);
    const double angle_error = angle * (float32_angles || !one.far ? float32_angle_error : 0x1p-52);
    return std::sqrt(squares) * (16 * 0x1p-24 + angle_error);
  }

  Comparison compared(const Case& one, const FaultModel& model) const {
    const std::vector<double> exact = predicted(one, model);
    const std::int64_t skipped = one.first_token * heads * rotation_.head_dim;
    return compare(std::span(one.got).subspan(at(skipped)), std::span(exact).subspan(at(skipped)), heads,
                   rotation_.head_dim, [&](Entry entry, double) {
                     entry.row += one.first_token;
                     return tolerance(one, exact, entry, model.float32_angles);
                   });
  }

  std::string cause_of(std::size_t failed) const {
    return likely_cause(models_, cases_.size(), failed,
                        [&](const FaultModel& model, std::size_t i) { return !compared(cases_[i], model).first; });
  }

  Check against_reference(std::size_t index) const {
    const Case& one = cases_[index];
    const Comparison comparison = compared(one, {});
    std::string note;
    if (comparison.first) {
      const std::int64_t token = comparison.first->row + one.first_token;
      note = divergence(comparison, token, one.ids[at(token)], cause_of(index));
    }
    return at_most(one.name, std::string(encoding_.scheme().name), comparison.value, comparison.bound, note);
  }

  // |rotated| = |given|, over all cases: within the tolerance of every coordinate, so of the length.
  Check norms() const {
    double worst = 0;
    std::size_t where = 0;
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      for (std::int64_t first = 0; first < tokens * heads; ++first) {
        double before = 0, after = 0;
        for (std::int64_t j = first * rotation_.head_dim; j < (first + 1) * rotation_.head_dim; ++j) {
          before += std::pow(cases_[c].given[at(j)], 2);
          after += std::pow(cases_[c].got[at(j)], 2);
        }
        const double change = before == 0 ? 0 : std::fabs(std::sqrt(after / before) - 1);
        if (change <= worst) continue;
        worst = change;
        where = c;
      }
    }
    const double bound = 16 * 0x1p-24 + table_rounding();
    return at_most("norms are kept", std::string(encoding_.scheme().name), worst, bound,
                   worst <= bound ? "" : "in \"" + cases_[where].name + "\"; likely cause: " + cause_of(where));
  }

  // q(m) . k(n) = q(m + s) . k(n + s): two vectors of length |q|, |k| off by what is allowed for on either side.
  Check relative() const {
    const Position shift = fitted(100) - fitted(0);
    Case query{"", positions::prefill(tokens).ids};
    query.given = cases_[0].given;
    for (Position& id : query.ids) id = fitted(id);
    Case key = query;
    key.given = cases_[1].given;
    key.role = Role::key;
    const std::vector<double> q = call(query, query.ids), k = call(key, key.ids);
    for (Position& id : query.ids) id = fitted(id + shift);
    const std::vector<double> q_moved = call(query, query.ids), k_moved = call(key, query.ids);
    double value = 0, bound = 1, worst = -1;
    for (std::int64_t i = 0; i < tokens * tokens * heads; ++i) {
      const std::int64_t h = i % heads, m = i / heads / tokens, n = i / heads % tokens;
      double before = 0, after = 0, qq = 0, kk = 0;
      for (std::int64_t j = 0; j < rotation_.head_dim; ++j) {
        const std::size_t a = at((m * heads + h) * rotation_.head_dim + j),
                          b = at((n * heads + h) * rotation_.head_dim + j);
        before += q[a] * k[b];
        after += q_moved[a] * k_moved[b];
        qq += std::max(q[a] * q[a], q_moved[a] * q_moved[a]);
        kk += std::max(k[b] * k[b], k_moved[b] * k_moved[b]);
      }
      const double angle = static_cast<double>(shift + tokens) * frequency_most() * float32_angle_error;
      const double allowed = 4 * std::sqrt(qq * kk) * (16 * 0x1p-24 + angle + table_rounding());
      const double share = std::fabs(before - after) / allowed;
      if (share <= worst) continue;
      worst = share;
      value = std::fabs(before - after);
      bound = allowed;
    }
    return at_most("q(m).k(n) depends on m - n only", std::string(encoding_.scheme().name), value, bound,
                   value <= bound ? "" : "shifted by " + std::to_string(shift) + "; likely cause: " + cause_of(0));
  }

  // A table that is meant to be rounded (bfloat16 models) keeps neither norms nor differences better than that.
  double table_rounding() const {
    return rotation_.table_type == ElementType::float32 ? 0 : 2 * unit_roundoff(rotation_.table_type);
  }

  double frequency_most() const { return *std::max_element(rotation_.inv_freq.begin(), rotation_.inv_freq.end()); }

  const Encoding& encoding_;
  const Rotation& rotation_;
  const RotateFunction& rotate_;
  RandomNumbers random_;
  std::vector<FaultModel> models_;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Check> verify_rotate(const Encoding& encoding, const RotateFunction& rotate, std::uint64_t seed) {
  require(static_cast<bool>(rotate), "verify_rotate: there is no function to call");
  return RotateVerifier(encoding, rotate, seed).run();
}

}  // namespace locus
