// SPDX-License-Identifier: Apache-2.0
// Verifies the numbers of an encoding directly: biases and rows. Attention would hide an error that all scores of a row
// share.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "doctor/verify/comparison.h"
#include "doctor/verify/diagnosed.h"
#include "doctor/verify/index.h"
#include "doctor/verify/naming.h"
#include "doctor/verify/predicted_rotation.h"
#include "doctor/verify/rounding.h"
#include "doctor/verify/served_positions.h"
#include "locus/error.h"
#include "locus/reference.h"

namespace locus {
namespace {

using namespace doctor;

// The ids of the last `queries` tokens and of all tokens.
struct NumbersCase {
  std::string name;
  std::vector<Position> ids;
  std::int64_t queries = 0;
  std::vector<double> got = {};

  std::span<const Position> query_ids() const { return std::span(ids).last(at(queries)); }
};

std::vector<NumbersCase> numbers_cases(const Encoding& encoding, const VerifyOptions& options) {
  std::vector<NumbersCase> cases;
  const PositionRange range = encoding.position_range();
  const auto add = [&](const std::string& name, const std::vector<Position>& ids, std::int64_t queries) {
    const auto [least, most] = std::minmax_element(ids.begin(), ids.end());
    if (*least < range.first || *most > range.last) return;
    if (options.max_length && (*least < 0 || *most >= *options.max_length)) return;
    cases.push_back({name + " = exact", ids, queries});
  };
  const Position start = std::max<Position>(range.first, 0);
  const std::int64_t few = std::min<std::int64_t>(12, range.last - start + 1);
  add("prefill", consecutive(few, start), few);
  add("one token", consecutive(few, start), 1);
  add("prefill of 280 tokens", consecutive(280), options.thorough ? 280 : 20);
  add("decoded after 4,200 tokens", consecutive(4200), 2);
  add("ids with gaps", {0, 1, 2, 5, 6, 9, 10, 11, 14, 15, 18, 19}, 12);
  add("positions below 0", {-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6}, 14);
  for (const int bits : {7, 8, 11, 12, 15, 16, 20, 24, 31}) {
    const Position edge = Position{1} << bits;
    add("positions around 2^" + std::to_string(bits), consecutive(9, bits == 31 ? edge - 9 : edge - 5), 9);
  }
  std::vector<Position> sparse;
  for (Position distance = 65536; distance >= 4; distance /= 2) {
    for (const Position more : {1, 0, -1}) sparse.push_back(70'000 - distance - more);
  }
  sparse.push_back(70'000);
  add("keys thousands of positions away", sparse, 1);
  if (encoding.claims().has(Claim::causal_only)) return cases;
  // The query is the last token, whatever its id: the keys are those after it.
  std::vector<Position> ahead = consecutive(300, 1);
  ahead.push_back(0);
  add("keys hundreds of positions ahead", ahead, 1);
  std::reverse(sparse.begin(), sparse.end());
  add("keys thousands of positions ahead", sparse, 1);
  return cases;
}

// Predicts the numbers of a case under a model, in the order of the request.
using Predict = std::function<std::vector<double>(const NumbersCase&, const FaultModel&)>;
using Tolerance = std::function<double(const NumbersCase&, std::size_t entry, double want, const Rounding&)>;
using Call = std::function<std::vector<double>(const NumbersCase&)>;

class NumbersVerifier {
 public:
  NumbersVerifier(const Encoding& encoding, const VerifyOptions& options, Predict predict, Tolerance tolerance)
      : encoding_(encoding), options_(options), predict_(std::move(predict)), tolerance_(std::move(tolerance)) {}

  /// Sets a function that converts diagnose's result for a failed case to a model.
  void ask_also(std::function<std::optional<FaultModel>(const NumbersCase&)> diagnosed) {
    diagnosed_ = std::move(diagnosed);
  }

  std::vector<Check> run(const Call& call, const Models& models) {
    std::vector<NumbersCase> cases = numbers_cases(encoding_, options_);
    ServedPositions served;
    TypeFinder types;
    served.run(
        cases, options_, [](const NumbersCase& one) { return std::span<const Position>(one.ids); },
        [&](NumbersCase& one) { one.got = call(one); },
        [&](Position id) { call({.name = "", .ids = {id}, .queries = 1}); });
    require(!cases.empty(), encoding_.scheme().name, " and the function have no positions in common");
    for (const NumbersCase& one : cases) types.see(one.got);
    rounding_.type = options_.arithmetic.value_or(types.found());
    const std::string name(encoding_.scheme().name);
    std::vector<Check> checks;
    std::vector<Comparison> compared;
    for (const NumbersCase& one : cases) {
      compared.push_back(compared_with(one, {}));
      checks.push_back(at_most(one.name, name, compared.back().value, compared.back().bound));
    }
    if (failed(checks) > 0) explain(cases, compared, models, checks);
    served.append_to(checks, name);
    return checks;
  }

 private:
  Comparison compared_with(const NumbersCase& one, const FaultModel& model) const {
    std::vector<double> want = predict_(one, model);
    std::size_t entry = 0;
    std::vector<double> got = one.got;
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (want[i] == -HUGE_VAL) got[i] = want[i] = 0;  // not requested
    }
    return compare(got, want, 1, 1, [&](const Entry& place, double expected) {
      entry = at(place.row);
      return tolerance_(one, entry, expected, rounding_);
    });
  }

  bool matches(const FaultModel& model, const NumbersCase& one) const {
    try {
      return !compared_with(one, model).first;
    } catch (const Error&) {
      return false;
    }
  }

  // True if each row of keys is off by a constant.
  bool constant_per_row(const NumbersCase& one) const {
    const std::vector<double> want = predict_(one, {});
    const std::size_t keys = one.ids.size();
    std::optional<double> step;
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (i % keys == 0) step.reset();
      if (want[i] == -HUGE_VAL) continue;
      if (!step) step = one.got[i] - want[i];
      if (!(std::fabs(one.got[i] - want[i] - *step) <= 2 * tolerance_(one, i, want[i] + *step, rounding_)))
        return false;
    }
    return true;
  }

  // Returns the two smallest passed cases.
  static std::vector<std::size_t> guards(const std::vector<NumbersCase>& cases,
                                         const std::vector<Comparison>& compared) {
    std::vector<std::size_t> passed;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (!compared[i].first) passed.push_back(i);
    }
    std::stable_sort(passed.begin(), passed.end(),
                     [&](std::size_t a, std::size_t b) { return cases[a].got.size() < cases[b].got.size(); });
    passed.resize(std::min<std::size_t>(passed.size(), 2));
    return passed;
  }

  std::string cause_of(const std::vector<NumbersCase>& cases, const std::vector<Comparison>& compared,
                       const Models& models, const std::vector<Check>& checks) const {
    std::size_t first = cases.size();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const bool smaller = first == cases.size() || cases[i].got.size() < cases[first].got.size();
      if (compared[i].first && smaller) first = i;
    }
    const auto matches_all = [&](const FaultModel& model) {
      return std::all_of(cases.begin(), cases.end(), [&](const NumbersCase& one) { return matches(model, one); });
    };
    std::optional<FaultModel> model = likely_model(
        models, {.possible = [](const Condition& condition) { return condition.text.empty(); },
                 .guards = [&](const Condition&) { return guards(cases, compared); },
                 .matches_guard = [&](const FaultModel& one, std::size_t guard) { return matches(one, cases[guard]); },
                 .matches_first =
                     [&](const FaultModel& one) {
                       const std::size_t row = at(compared[first].first->row);
                       const std::vector<double> right = predict_(cases[first], {}),
                                                 predicted = predict_(cases[first], one);
                       return matches(one, cases[first]) &&
                              explains(std::span(cases[first].got).subspan(row, 1),
                                       std::span(predicted).subspan(row, 1), std::span(right).subspan(row, 1));
                     },
                 .matches = matches_all});
    for (std::size_t i = 0; !model && diagnosed_ && i < cases.size(); ++i) {
      if (!compared[i].first) continue;
      model = diagnosed_(cases[i]);
      if (model && !matches_all(*model)) model.reset();
    }
    if (model) return text_of(*model);
    // Softmax ignores a constant per row; only biases, which have a diagnosis, have rows of keys.
    const bool constant = diagnosed_ && std::all_of(cases.begin(), cases.end(),
                                                    [&](const NumbersCase& one) { return constant_per_row(one); });
    return constant ? text_of({.fault = "row_constant"}) : no_known_fault(checks);
  }

  void explain(const std::vector<NumbersCase>& cases, const std::vector<Comparison>& compared, const Models& models,
               std::vector<Check>& checks) const {
    const std::string cause = cause_of(cases, compared, models, checks);
    for (std::size_t i = 0; i < checks.size(); ++i) {
      if (checks[i].pass) continue;
      const Comparison& worst = compared[i];
      checks[i].note = "entry " + std::to_string(worst.first->row) + " is " + std::to_string(worst.got) +
                       " instead of " + std::to_string(worst.want) + "; likely cause: " + cause;
    }
  }

  const Encoding& encoding_;
  const VerifyOptions& options_;
  Predict predict_;
  Tolerance tolerance_;
  std::function<std::optional<FaultModel>(const NumbersCase&)> diagnosed_;
  Rounding rounding_;
};

AskedCall asked(const NumbersCase& one) {
  AskedCall call;
  call.attention = true;
  call.keys = static_cast<std::int64_t>(one.ids.size());
  call.queries = one.queries;
  call.first = call.keys - call.queries;
  call.query_ids = one.query_ids();
  call.key_ids = one.ids;
  return call;
}

double relative_tolerance(double want, const Rounding& rounding) {
  return 64 * 0x1p-24 * (1 + std::fabs(want)) + (rounding.narrow() ? 2 * rounding.unit() * std::fabs(want) : 0.0);
}

}  // namespace

std::vector<Check> verify_bias(const Encoding& encoding, const BiasFunction& bias, const VerifyOptions& options) {
  require(static_cast<bool>(bias), "verify_bias: the function is empty");
  const ScoreBias& score = encoding.score();
  const bool past_only = encoding.claims().has(Claim::causal_only);
  const Predict predict = [&](const NumbersCase& one, const FaultModel& model) {
    const AskedCall call = asked(one);
    std::vector<Position> query_ids, key_ids;
    for (std::int64_t i = 0; i < call.queries; ++i) query_ids.push_back(ids_under(model, call, Role::query, i)[0]);
    for (std::int64_t j = 0; j < call.keys; ++j) key_ids.push_back(ids_under(model, call, Role::key, j)[0]);
    std::vector<double> numbers;
    for (std::int64_t h = 0; h < score.heads; ++h) {
      for (std::int64_t i = 0; i < call.queries; ++i) {
        for (std::int64_t j = 0; j < call.keys; ++j) {
          const bool asked_for = !past_only || call.key_ids[at(j)] <= call.query_ids[at(i)];
          const auto& value = model.bias ? model.bias : score.value;
          numbers.push_back(asked_for ? value(h, query_ids[at(i)], key_ids[at(j)]) : -HUGE_VAL);
        }
      }
    }
    return numbers;
  };
  NumbersVerifier verifier(encoding, options, predict,
                           [](const NumbersCase&, std::size_t, double want, const Rounding& rounding) {
                             return relative_tolerance(want, rounding);
                           });
  verifier.ask_also([&](const NumbersCase& one) -> std::optional<FaultModel> {
    // diagnose_bias assumes that the queries are the last of consecutive keys.
    if (one.ids != consecutive(static_cast<std::int64_t>(one.ids.size()), one.ids[0])) return {};
    try {
      return model_of(diagnose_bias({.heads = score.heads,
                                     .queries = one.queries,
                                     .keys = static_cast<std::int64_t>(one.ids.size()),
                                     .bias = one.got},
                                    encoding));
    } catch (const Error&) {
      return {};
    }
  });
  Models models = score_faults(encoding);
  for (FaultModel& one : id_faults(encoding)) models.push_back(std::move(one));
  return verifier.run(
      [&](const NumbersCase& one) {
        std::vector<float> numbers(at(score.heads * one.queries) * one.ids.size(),
                                   std::numeric_limits<float>::quiet_NaN());
        bias({.bias = numbers, .heads = score.heads, .query_ids = one.query_ids(), .key_ids = one.ids});
        return std::vector<double>(numbers.begin(), numbers.end());
      },
      models);
}

std::vector<Check> verify_rows(const Encoding& encoding, const RowsFunction& rows, const VerifyOptions& options) {
  require(static_cast<bool>(rows), "verify_rows: the function is empty");
  const HiddenRows& hidden = encoding.hidden();
  const Predict predict = [&](const NumbersCase& one, const FaultModel& model) {
    const AskedCall call = asked(one);
    std::vector<double> numbers;
    for (std::int64_t j = 0; j < call.keys; ++j) {
      const std::vector<Position> id = ids_under(model, call, Role::key, j);
      encoding.check_positions(id);
      const std::vector<double> row = reference::hidden_row(hidden, id[0]);
      numbers.insert(numbers.end(), row.begin(), row.end());
    }
    return numbers;
  };
  const auto tolerance = [&](const NumbersCase& one, std::size_t entry, double want, const Rounding& rounding) {
    const double own = relative_tolerance(want, rounding);
    if (hidden.waves.empty()) return own;
    const std::size_t dim = at(hidden.dim);
    return own + rounding.angle_error(hidden.waves[entry % dim].inv_freq, one.ids[entry / dim]);
  };
  NumbersVerifier verifier(encoding, options, predict, tolerance);
  return verifier.run(
      [&](const NumbersCase& one) {
        std::vector<float> numbers(at(hidden.dim) * one.ids.size(), std::numeric_limits<float>::quiet_NaN());
        rows({.rows = numbers, .dim = hidden.dim, .ids = one.ids});
        return std::vector<double>(numbers.begin(), numbers.end());
      },
      id_faults(encoding));
}

}  // namespace locus
