// SPDX-License-Identifier: Apache-2.0
// `locus lab status`: shows what runs where, since when, and how long it will take.
#pragma once

#include <string>

#include "run/json.h"
#include "run/store.h"

namespace locus::lab {

/// Returns, for the runs that have not ended or for the last one: {store, runs [{run, preset, created, trials {planned,
/// finished, failed, running, waiting}, seconds_left (null: unknown), running [{task, scheme, seed, host, machine,
/// seconds, done, silent, lost}]}], machines [{host, machine, running, finished}]}. `lost`: the lease has expired, and
/// the next worker takes the trial.
Json status_of(Store& store);
std::string status_text(const Json& status);

}  // namespace locus::lab
