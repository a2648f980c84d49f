// SPDX-License-Identifier: Apache-2.0
// A worker: one process that takes one trial after the other.
#pragma once

#include <cstdint>

#include "run/models.h"
#include "run/parts.h"
#include "run/store.h"

namespace locus::lab {

/// Runs waiting trials of the run until none is left. A trial that throws has failed; the others go on. Trouble with
/// the store leaves as locus::Error. A trial has finished once its model is saved, too.
void work(Store& store, std::int64_t run, const Parts& parts, const SaveModels& save = {});

}  // namespace locus::lab
