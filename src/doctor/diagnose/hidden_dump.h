// SPDX-License-Identifier: Apache-2.0
// Identifies the rows that were added to hidden states.
#pragma once

#include "locus/doctor/diagnose.h"

namespace locus::doctor {

/// `expected` has an encoding of the hidden site. The dump has one head, as wide as the rows.
Diagnosis diagnose_hidden(const RotationDump& dump, const Expectation& expected);

}  // namespace locus::doctor
