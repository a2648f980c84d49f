// SPDX-License-Identifier: Apache-2.0
// `locus lab status`: what runs where, since when, and how long it will take.
#pragma once

#include <string>

#include "run/json.h"
#include "run/store.h"

namespace locus::lab {

/// Of the runs that have not ended, or of the last one: {store, runs [{run, preset, created, trials {planned, finished,
/// failed, running, waiting}, seconds_left (null: unknown), running [{task, scheme, seed, host, machine, seconds, done,
/// silent, lost}]}], machines [{host, machine, running, finished}]}. `lost`: the lease has run out, so that the next
/// worker that looks gives the trial to another.
Json status_of(Store& store);
std::string status_text(const Json& status);

}  // namespace locus::lab
