// SPDX-License-Identifier: Apache-2.0
// A worker: a process that runs one trial after another.
#pragma once

#include <cstdint>

#include "run/models.h"
#include "run/parts.h"
#include "run/store.h"

namespace locus::lab {

/// Runs waiting trials of the run until none is left. A trial that throws has failed; the others continue. Error where
/// the store fails. A trial finishes after its model is saved.
void work(Store& store, std::int64_t run, const Parts& parts, const SaveModels& save = {});

}  // namespace locus::lab
