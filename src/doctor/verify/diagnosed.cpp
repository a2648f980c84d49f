// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/diagnosed.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "doctor/faults.h"
#include "doctor/verify/index.h"
#include "locus/error.h"

namespace locus::doctor {
namespace {

// Returns the constant difference between positions and ids, if there is one.
std::optional<Position> common_step(std::span<const Position> positions, std::span<const Position> ids) {
  if (positions.size() != ids.size() || ids.empty()) return {};
  const Position step = positions[0] - ids[0];
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (positions[i] - ids[i] != step) return {};
  }
  return step;
}

// A base fitted to float32 numbers is wrong from the sixth digit on, and configured bases have fewer digits.
double to_five_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", value);
  return std::strtod(text, nullptr);
}

}  // namespace

std::optional<Verdict> first_verdict(const std::vector<Verdict>& verdicts, double confidence) {
  if (verdicts.empty() || verdicts.front().confidence < confidence) return {};
  const Verdict& first = verdicts.front();
  const auto known = std::find_if(all_faults().begin(), all_faults().end(),
                                  [&](const Fault& fault) { return fault.id == first.name; });
  if (known == all_faults().end() || known->site == FaultSite::none || known->site == FaultSite::unknown) return {};
  return first;
}

std::optional<FaultModel> model_of(const Diagnosis& diagnosis, const Explanation& found,
                                   std::span<const Position> ids) try {
  // A model that predicts every number needs no confidence.
  const std::optional<Verdict> verdict = first_verdict(diagnosis.verdicts, 0);
  if (!verdict || found.position_divisor != 1 || found.free_frequencies) return {};
  const std::optional<Position> step = common_step(found.positions, ids);
  if (!step) return {};
  FaultModel model{.fault = find_fault(verdict->name).id, .detail = verdict->text};
  Arguments arguments = found.arguments;
  if (arguments.has("base")) arguments.set("base", to_five_digits(arguments.real("base")));
  Rotation rotation = Encoding(found.scheme, arguments).rotation();
  rotation.magnitude = diagnosis.magnitude;
  model.rotation = std::make_shared<const Rotation>(std::move(rotation));
  model.query_inverse = model.key_inverse = found.inverse;
  if (found.times != 1) {
    model.times = [times = found.times](const AskedCall&, Role, std::int64_t, std::int64_t, std::int64_t) {
      return times;
    };
  }
  if (*step != 0) {
    model.id = [step = *step](const AskedCall&, Role, std::int64_t, int, Position id) { return id + step; };
  }
  return model;
} catch (const Error&) {
  return {};
}

std::optional<FaultModel> model_of(const BiasDiagnosis& diagnosis) {
  const std::optional<Verdict> verdict = first_verdict(diagnosis.verdicts, 0);
  if (!verdict || diagnosis.slopes.empty()) return {};
  return FaultModel{.fault = find_fault(verdict->name).id,
                    .detail = verdict->text,
                    .bias = [slopes = diagnosis.slopes, by_key = diagnosis.key_only](std::int64_t head, Position query,
                                                                                     Position key) {
                      const double slope = slopes[at(head)];
                      return by_key ? slope * static_cast<double>(key) : -slope * static_cast<double>(query - key);
                    }};
}

}  // namespace locus::doctor
