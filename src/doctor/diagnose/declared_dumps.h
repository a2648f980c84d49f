// SPDX-License-Identifier: Apache-2.0
// What an encoding declares beyond the rotation of pairs: a factor on queries by position, tables mixed per head, polar
// heads, an output that is turned back. Each is judged on its own; the rest of the dump then is an ordinary rotation.
#pragma once

#include "locus/doctor/diagnose.h"

namespace locus::doctor {

/// The diagnosis of a rotation of pairs. `storage` is the type of the numbers as they were dumped; `dump` may have been
/// changed since.
Diagnosis diagnose_rotation(const RotationDump& dump, const Expectation& expected, ElementType storage);

/// Queries or keys of an encoding with a query temperature (Rotation::query_scale).
Diagnosis diagnose_tempered(const RotationDump& dump, const Expectation& expected, ElementType storage);

/// Queries or keys of an encoding whose tables are mixed per head (Rotation::mix).
Diagnosis diagnose_mixed(const RotationDump& dump, const Expectation& expected, ElementType storage);

/// Queries or keys of an encoding that rotates polar heads (Rotation::polar): what was rotated must be polar.
Diagnosis diagnose_polar(const RotationDump& dump, const Expectation& expected, ElementType storage);

/// The output of attention before and after it was turned back (Expectation::output).
/// Error: an encoding that turns no output.
Diagnosis diagnose_turned_output(const RotationDump& dump, const Expectation& expected, ElementType storage);

/// Values of an encoding that turns the output, which are rotated like keys.
Diagnosis diagnose_turned_values(const RotationDump& dump, const Expectation& expected, ElementType storage);

}  // namespace locus::doctor
