// SPDX-License-Identifier: Apache-2.0
#include "learn/laws/doctors_view.h"

#include "learn/broken_law.h"
#include "locus/doctor/diagnose.h"
#include "locus/doctor/diagnose_bias.h"
#include "locus/error.h"

namespace locus::learn {

std::string fault_of(const Encoding& expected, const Array& before, const Array& after,
                     const std::vector<std::int64_t>& ids) {
  const bool has_heads = before.shape.size() == 3;
  const RotationDump dump{.batch = 1,
                          .tokens = before.size(0),
                          .heads = has_heads ? before.size(1) : 1,
                          .head_dim = before.shape.back(),
                          .before = before.values,
                          .after = after.values};
  const PositionIds positions{.axes = 1, .batch = 1, .tokens = before.size(0), .ids = ids};
  const Diagnosis diagnosis = diagnose(dump, {.encoding = expected, .positions = positions});
  return diagnosis.as_expected() ? "" : "fault." + diagnosis.verdicts.front().name;
}

std::string fault_of_bias(const Encoding& expected, const Array& bias) {
  const BiasDiagnosis diagnosis = diagnose_bias({bias.size(0), bias.size(1), bias.size(2), bias.values}, expected);
  return diagnosis.as_expected() ? "" : "fault." + diagnosis.verdicts.front().name;
}

void require_passed(const std::vector<Check>& checks) {
  for (const Check& check : checks) {
    if (!check.pass) throw BrokenLaw{"doctor.check", {}, {{"check", check.name}, {"note", check.note}}};
  }
}

}  // namespace locus::learn
