// SPDX-License-Identifier: Apache-2.0
// The results of a run, computed from the store alone.
#pragma once

#include <cstdint>

#include "results/results.h"
#include "run/store.h"

namespace locus::lab {

/// Returns what the store holds of a run: header, values of finished trials, costs and failures, without conclusions;
/// see results::conclude.
results::Results collect(Store& store, std::int64_t run);

/// Collects and concludes.
results::Results make_results(Store& store, std::int64_t run);

}  // namespace locus::lab
