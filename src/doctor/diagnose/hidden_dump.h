// SPDX-License-Identifier: Apache-2.0
// Hidden states before and after rows were added: which rows they were.
#pragma once

#include "locus/doctor/diagnose.h"

namespace locus::doctor {

/// `expected` has an encoding of the hidden site; the dump has one head, as wide as its rows.
Diagnosis diagnose_hidden(const RotationDump& dump, const Expectation& expected);

}  // namespace locus::doctor
