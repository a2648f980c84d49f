// SPDX-License-Identifier: Apache-2.0
// What scores gain from rows that gates count (CoPE): which count a dump has.
#pragma once

#include "doctor/diagnose/bias_shape.h"

namespace locus::doctor {

/// The verdicts on what was added to the scores, given the queries and keys (BiasDump::query_vectors). Masked
/// entries and keys after the query are not judged, and do not count.
std::vector<Verdict> judge_counts(const BiasShape& shape, const RelativeKeys& table);

}  // namespace locus::doctor
