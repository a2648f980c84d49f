// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "doctor/verify/attend_cases.h"
#include "doctor/verify/comparison.h"
#include "doctor/verify/index.h"
#include "doctor/verify/naming.h"
#include "doctor/verify/predicted_attention.h"
#include "doctor/verify/served_positions.h"
#include "locus/error.h"

namespace locus {
namespace {

using namespace doctor;

std::vector<float> floats(std::span<const double> values) { return {values.begin(), values.end()}; }

class AttendVerifier {
 public:
  AttendVerifier(const Encoding& encoding, const AttendFunction& attend, const VerifyOptions& options)
      : encoding_(encoding), attend_(attend), options_(options), head_dim_(attend_shape(encoding).head_dim) {
    const auto* rotation = std::get_if<Rotation>(&encoding.term());
    rounding_.float32_angles = rotation != nullptr && rotation->profile != Profile::exact;
    if (rotation != nullptr && rotation->table_type != ElementType::float32) {
      rounding_.table = unit_roundoff(rotation->table_type);
    }
  }

  std::vector<Check> run() {
    cases_ = attend_cases(encoding_, options_);
    require(!cases_.empty(), "verify_attend: ", encoding_.scheme().name,
            " and the function have no positions in common");
    call_all();
    rounding_.type = options_.arithmetic.value_or(types_.found());
    for (const AttendCase& one : cases_) compared_.push_back(compare_case(one));
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      checks_.push_back(at_most(cases_[i].name, name(), compared_[i].worst.value, compared_[i].worst.bound));
    }
    if (lse_given_) {
      const Comparison worst = log_sum_exps({});
      checks_.push_back(at_most("log-sum-exp = exact", name(), worst.value, worst.bound));
    }
    explain();
    served_.append_to(checks_, name());
    return std::move(checks_);
  }

 private:
  std::string name() const { return std::string(encoding_.scheme().name); }

  // One case compared with a prediction: the worst entry, and the first that diverges.
  struct Compared {
    Comparison worst;
    std::size_t step = 0;    // of the first diverging entry
    std::int64_t query = 0;  // its row
  };

  void call_all() {
    served_.run(
        cases_, options_, [](const AttendCase& one) { return std::span<const Position>(one.ids); },
        [&](AttendCase& one) {
          for (AttendStep& step : one.steps) call(one, step);
        },
        [&](Position id) { call_at(id); });
  }

  void call_at(Position id) {
    AttendCase one{.name = "", .heads = cases_[0].heads, .key_heads = cases_[0].key_heads, .ids = {id}, .steps = {}};
    RandomNumbers random(options_.seed);
    one.texts.push_back({random.elements(one.heads * head_dim_), random.elements(one.key_heads * head_dim_),
                         random.elements(one.key_heads * head_dim_)});
    AttendStep step{.queries = {0}, .keys = 1, .sequence = -1 - id};
    step.asked_query = one.texts[0].query;
    step.query_ids = {id};
    call(one, step);
  }

  void call(const AttendCase& one, AttendStep& step) {
    const Text& text = one.texts[step.branch];
    const std::int64_t key_row = one.key_heads * head_dim_;
    const std::vector<float> q = floats(step.asked_query);
    const std::vector<float> k = floats(std::span(text.key).first(at(step.keys * key_row)));
    const std::vector<float> v = floats(std::span(text.value).first(at(step.keys * key_row)));
    std::vector<float> output(q.size(), std::numeric_limits<float>::quiet_NaN());
    std::vector<float> sums(step.queries.size() * at(one.heads), std::numeric_limits<float>::quiet_NaN());
    attend_({.query = q,
             .key = k,
             .value = v,
             .output = output,
             .queries = static_cast<std::int64_t>(step.queries.size()),
             .keys = step.keys,
             .heads = one.heads,
             .key_heads = one.key_heads,
             .head_dim = head_dim_,
             .query_ids = step.query_ids,
             .key_ids = std::span(one.ids).first(at(step.keys)),
             .query_boundaries = step.query_boundaries,
             .key_boundaries = one.boundaries,
             .key_mask = one.mask.empty() ? std::span<const std::uint8_t>() : std::span(one.mask).first(at(step.keys)),
             .causal = options_.causal,
             .window = options_.window,
             .sequence = step.sequence,
             .cached = step.cached,
             .forked_from = step.forked_from,
             .log_sum_exp = sums});
    step.output.assign(output.begin(), output.end());
    step.log_sum_exp.assign(sums.begin(), sums.end());
    types_.see(step.output);
    lse_given_ = lse_given_ || std::any_of(sums.begin(), sums.end(), [](float s) { return !std::isnan(s); });
  }

  AttendCall asked(const AttendCase& one, const AttendStep& step) const {
    const Text& text = one.texts[step.branch];
    const std::int64_t key_values = step.keys * one.key_heads * head_dim_;
    AttendCall call{.asked = {},
                    .heads = one.heads,
                    .key_heads = one.key_heads,
                    .head_dim = head_dim_,
                    .query = step.asked_query,
                    .key = std::span(text.key).first(at(key_values)),
                    .value = std::span(text.value).first(at(key_values)),
                    .other_key = {},
                    .other_value = {}};
    call.asked.queries = static_cast<std::int64_t>(step.queries.size());
    call.asked.keys = step.keys;
    call.asked.query_ids = step.query_ids;
    call.asked.key_ids = std::span(one.ids).first(at(step.keys));
    call.asked.query_boundaries = step.query_boundaries;
    call.asked.key_boundaries = one.boundaries;
    if (!one.mask.empty()) call.asked.key_mask = std::span(one.mask).first(at(step.keys));
    call.asked.cached = step.cached;
    call.asked.forked = step.forked;
    call.asked.shared = step.shared;
    call.asked.overwritten = step.overwritten;
    if (one.texts.size() > 1) {
      call.other_key = std::span(one.texts[1 - step.branch].key).first(at(key_values));
      call.other_value = std::span(one.texts[1 - step.branch].value).first(at(key_values));
    }
    call.asked.attention = true;
    call.asked.causal = options_.causal;
    call.asked.window = options_.window;
    call.asked.first = step.keys - call.asked.queries;
    return call;
  }

  Rounding rounding_for(const FaultModel& model) const {
    Rounding rounding = rounding_;
    rounding.float32_angles = rounding.float32_angles || model.float32_angles;
    return rounding;
  }

  // Compares a row of a step. Returns false if an entry is beyond its bound.
  bool compare_row(const AttendCase& one, const AttendStep& step, std::int64_t row,
                   const std::optional<PredictedAttention::Row>& want, Comparison& worst) const {
    const std::int64_t width = one.heads * head_dim_;
    const auto all = std::span(step.output).subspan(at(row * width), at(width));
    std::vector<double> got(all.begin(), all.end());
    const std::vector<double> nothing(at(width), std::nan(""));
    const std::vector<double>& expected = want ? want->output : nothing;
    for (std::int64_t h = 0; want && h < one.heads; ++h) {
      const auto head = std::span(got).subspan(at(h * head_dim_), at(head_dim_));
      const bool empty = std::all_of(head.begin(), head.end(), [](double x) { return std::isnan(x) || x == 0; });
      if (want->blind[at(h)] != 0 && empty) std::copy_n(expected.begin() + h * head_dim_, head_dim_, head.begin());
    }
    const Comparison compared = compare(got, expected, one.heads, head_dim_, [&](const Entry& entry, double) {
      return want ? want->tolerance[at(entry.head * head_dim_ + entry.dim)] : 0.0;
    });
    if (worst.bound == 0 || !(compared.value * worst.bound <= worst.value * compared.bound)) {
      worst.value = compared.value;
      worst.bound = compared.bound;
    }
    if (!compared.first) return true;
    if (!worst.first) {
      worst.first = compared.first;
      worst.got = compared.got;
      worst.want = compared.want;
    }
    return false;
  }

  Compared compare_case(const AttendCase& one) {
    Compared result;
    const FaultModel right;
    for (std::size_t s = 0; s < one.steps.size(); ++s) {
      const AttendStep& step = one.steps[s];
      const AttendCall call = asked(one, step);
      PredictedAttention predicted(encoding_, right, call, shared_);
      for (const std::int64_t row : step.rows) {
        const bool first = !result.worst.first;
        if (!compare_row(one, step, row, predicted.row(row, rounding_), result.worst) && first) {
          result.step = s;
          result.query = row;
        }
      }
    }
    return result;
  }

  bool step_matches(const AttendCase& one, const AttendStep& step, const FaultModel& model,
                    std::span<const std::int64_t> rows, std::optional<std::int64_t> head = {}) {
    const AttendCall call = asked(one, step);
    PredictedAttention predicted(encoding_, model, call, shared_);
    Comparison ignored;
    for (const std::int64_t row : rows) {
      const auto want = predicted.row(row, rounding_for(model), head);
      if (!want || !compare_row(one, step, row, want, ignored)) return false;
    }
    return true;
  }

  // The cheapest failed case first, then all others by cost.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < cases_.size(); ++i) all.push_back(i);
    const auto cheaper = [&](std::size_t a, std::size_t b) { return cases_[a].cost() < cases_[b].cost(); };
    std::sort(all.begin(), all.end(), cheaper);
    const auto failed =
        std::find_if(all.begin(), all.end(), [&](std::size_t i) { return compared_[i].worst.first.has_value(); });
    if (failed != all.end()) std::rotate(all.begin(), failed, failed + 1);
    return all;
  }

  bool float32_tells_failures() const {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (compared_[i].worst.first && float32_tells(cases_[i].ids)) return true;
    }
    return false;
  }

  // Compares the first diverging row of the cheapest failed case.
  bool matches_first(const FaultModel& model, std::size_t cheapest) {
    const AttendCase& one = cases_[cheapest];
    const Compared& failure = compared_[cheapest];
    const AttendStep& step = one.steps[failure.step];
    const Entry entry = *failure.worst.first;
    const AttendCall call = asked(one, step);
    PredictedAttention predicted(encoding_, model, call, shared_);
    const auto want = predicted.row(failure.query, rounding_for(model), entry.head);
    Comparison ignored;
    if (!want || !compare_row(one, step, failure.query, want, ignored)) return false;
    if (model.float32_angles) return float32_tells_failures();
    if (want->blind[at(entry.head)] != 0) return true;
    const FaultModel nothing;
    const auto right = PredictedAttention(encoding_, nothing, call, shared_).row(failure.query, rounding_, entry.head);
    const std::size_t first = at(entry.head * head_dim_), width = at(head_dim_);
    const auto got = std::span(step.output).subspan(at((failure.query * one.heads + entry.head) * head_dim_), width);
    return explains(got, std::span(want->output).subspan(first, width), std::span(right->output).subspan(first, width));
  }

  // A row of a passed case: the last row of a step with few keys.
  struct Guard {
    std::size_t one = 0, step = 0;
  };

  void find_guards() {
    constexpr std::int64_t few = 64;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (compared_[i].worst.first) continue;
      for (std::size_t s = 0; s < cases_[i].steps.size(); ++s) {
        const AttendStep& step = cases_[i].steps[s];
        if (step.keys <= few && !step.rows.empty()) guards_.push_back({i, s});
      }
    }
  }

  // Returns the last step of some cases, evenly chosen.
  std::vector<std::size_t> guards(const Condition& condition) const {
    constexpr std::size_t enough = 8;
    std::vector<std::size_t> all, chosen;
    for (std::size_t g = 0; g < guards_.size(); ++g) {
      const AttendCase& one = cases_[guards_[g].one];
      if (!condition.holds(asked(one, one.steps[guards_[g].step]).asked)) continue;
      if (!all.empty() && guards_[all.back()].one == guards_[g].one) all.pop_back();
      all.push_back(g);
    }
    const std::size_t count = std::min(enough, all.size());
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
    return chosen;
  }

  bool matches_guard(const FaultModel& model, std::size_t guard) {
    const AttendCase& one = cases_[guards_[guard].one];
    const AttendStep& step = one.steps[guards_[guard].step];
    const std::int64_t row[] = {step.rows.back()};
    return step_matches(one, step, model, row, one.heads / 2);
  }

  // True if the condition holds for every failed case.
  bool possible(const Condition& condition) const {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (!compared_[i].worst.first) continue;
      const AttendCall call = asked(cases_[i], cases_[i].steps[compared_[i].step]);
      if (!condition.holds(call.asked)) return false;
    }
    return true;
  }

  bool matches(const FaultModel& model, const std::vector<std::size_t>& ordered) {
    for (const std::size_t i : ordered) {
      for (const AttendStep& step : cases_[i].steps) {
        if (!step_matches(cases_[i], step, model, step.rows)) return false;
      }
    }
    return true;
  }

  // Returns the worst log-sum-exp under a model, in units of e^`unit`.
  Comparison log_sum_exps(const FaultModel& model, double unit = 1) {
    Comparison worst;
    for (const AttendCase& one : cases_) {
      for (const AttendStep& step : one.steps) {
        const AttendCall call = asked(one, step);
        PredictedAttention predicted(encoding_, model, call, shared_);
        for (const std::int64_t row : step.rows) {
          const auto want = predicted.row(row, rounding_for(model));
          for (std::int64_t h = 0; want && h < one.heads; ++h) {
            if (want->blind[at(h)] != 0) continue;
            const double off = std::fabs(step.log_sum_exp[at(row * one.heads + h)] * unit - want->log_sum_exp[at(h)]);
            const double bound = want->score_error[at(h)];
            if (worst.bound == 0 || !(off * worst.bound <= worst.value * bound)) {
              worst.value = off;
              worst.bound = bound;
            }
          }
        }
      }
    }
    return worst;
  }

  std::optional<FaultModel> model_of_all() {
    const std::vector<std::size_t> ordered = order();
    find_guards();
    return likely_model(
        fault_models(encoding_, true),
        {.possible = [&](const Condition& condition) { return possible(condition); },
         .guards = [&](const Condition& condition) { return guards(condition); },
         .matches_guard = [&](const FaultModel& model, std::size_t guard) { return matches_guard(model, guard); },
         .matches_first = [&](const FaultModel& model) { return matches_first(model, ordered[0]); },
         .matches = [&](const FaultModel& model) { return matches(model, ordered); }});
  }

  // The cause of wrong outputs also explains the log-sum-exps only if it predicts them.
  std::string cause_of_log_sum_exps(const std::optional<FaultModel>& model, bool outputs_failed) {
    if (!outputs_failed) {
      const Comparison in_base_two = log_sum_exps({}, std::numbers::ln2);
      return text_of({.fault = in_base_two.value <= in_base_two.bound ? "log_sum_exp_base" : "uniform_score"});
    }
    if (model) {
      const Comparison under = log_sum_exps(*model);
      if (under.value <= under.bound) return text_of(*model);
    }
    return no_known_fault({checks_[cases_.size()]});
  }

  void explain() {
    if (failed(checks_) == 0) return;
    const bool outputs_failed =
        std::any_of(compared_.begin(), compared_.end(), [](const Compared& c) { return c.worst.first.has_value(); });
    const std::optional<FaultModel> model = outputs_failed ? model_of_all() : std::nullopt;
    const std::string cause = model ? text_of(*model) : no_known_fault(checks_);
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      if (checks_[i].pass) continue;
      if (i >= cases_.size()) {
        checks_[i].note = "likely cause: " + cause_of_log_sum_exps(model, outputs_failed);
        continue;
      }
      const AttendStep& step = cases_[i].steps[compared_[i].step];
      const std::int64_t query = compared_[i].query;
      checks_[i].note = divergence(compared_[i].worst, step.queries[at(query)], step.query_ids[at(query)], cause);
    }
  }

  const Encoding& encoding_;
  const AttendFunction& attend_;
  const VerifyOptions& options_;
  const std::int64_t head_dim_;
  Rounding rounding_;
  TypeFinder types_;
  bool lse_given_ = false;
  ServedPositions served_;
  std::vector<AttendCase> cases_;
  std::vector<Compared> compared_;
  std::vector<Check> checks_;
  std::vector<Guard> guards_;
  SharedNumbers shared_;
};

}  // namespace

std::vector<Check> verify_attend(const Encoding& encoding, const AttendFunction& attend, const VerifyOptions& options) {
  require(static_cast<bool>(attend), "verify_attend: the function is empty");
  require(encoding.site() != Site::hidden, "verify_attend: ", encoding.scheme().name,
          " adds its rows before attention; use verify_rows");
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  require(rotation == nullptr || rotation->axes == 1, "verify_attend: ids must have one axis");
  const auto* bias = std::get_if<ScoreBias>(&encoding.term());
  require(bias == nullptr || bias->token_numbers == 0, "verify_attend: ", encoding.scheme().name,
          " takes numbers from tokens, which the function would not get");
  const auto* keys = std::get_if<RelativeKeys>(&encoding.term());
  require(keys == nullptr || !keys->counted, "verify_attend: ", encoding.scheme().name,
          " chooses rows by counting, which verify_attend does not predict");
  return AttendVerifier(encoding, attend, options).run();
}

std::vector<Check> verify_attend(const Encoding& encoding, const AttendFunction& attend, std::uint64_t seed) {
  return verify_attend(encoding, attend, VerifyOptions{.seed = seed});
}

}  // namespace locus
