// SPDX-License-Identifier: Apache-2.0
// The results of a run, made of the store and of nothing else.
#pragma once

#include <cstdint>

#include "results/results.h"
#include "run/store.h"

namespace locus::lab {

/// What the store holds of a run: header, the values of finished trials, costs and failures. Nothing follows from them
/// yet: see results::conclude.
results::Results collect(Store& store, std::int64_t run);

/// collect and conclude.
results::Results make_results(Store& store, std::int64_t run);

}  // namespace locus::lab
