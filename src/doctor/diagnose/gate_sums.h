// SPDX-License-Identifier: Apache-2.0
// Biases that are sums of the tokens' gates: which sum a dump has.
#pragma once

#include "doctor/diagnose/bias_shape.h"

namespace locus::doctor {

/// The verdicts on a bias whose gates were dumped too (BiasDump::gates). Masked entries and keys after the query are not
/// judged.
std::vector<Verdict> judge_gates(const BiasShape& shape);

}  // namespace locus::doctor
