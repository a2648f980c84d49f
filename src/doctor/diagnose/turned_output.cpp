// SPDX-License-Identifier: Apache-2.0
// Turned output: values are rotated like keys, and what attention returns is rotated back by the query's position. The
// output before it was turned is what follows from the output after it by the rotation of a key, so the two exchanged
// are an ordinary dump.
#include <utility>

#include "doctor/diagnose/declared_dumps.h"
#include "doctor/diagnose/other_dumps.h"
#include "doctor/heads_array.h"
#include "locus/error.h"

namespace locus::doctor {
namespace {

struct Renamed {
  const char* from;
  const char* to;
  const char* text;
};

void rename(Diagnosis& diagnosis, std::initializer_list<Renamed> names) {
  for (Verdict& one : diagnosis.verdicts) {
    for (const Renamed& name : names) {
      if (one.name != name.from) continue;
      one.name = name.to;
      one.text = name.text;
    }
  }
}

}  // namespace

Diagnosis diagnose_turned_output(const RotationDump& dump, const Expectation& expected, ElementType storage) {
  require(expected.encoding.has_value(), "a dump of outputs needs the encoding that turns them");
  const Rotation& rotation = expected.encoding->rotation();
  require(rotation.turns_output, "a dump of outputs needs an encoding with turned_output, got ",
          expected.encoding->scheme().name, " without it");
  require(!expected.both_rotated, "a dump of outputs has the output before and after it is turned back");
  RotationDump forward = dump;
  std::swap(forward.before, forward.after);
  // Turning back multiplies by the magnitude too; exchanged, it divides by it. Nothing did if nothing changed.
  const bool still = unchanged(dump, classify_cells(dump), unit_roundoff(storage));
  const double squared = still ? 1 : rotation.magnitude * rotation.magnitude;
  for (std::size_t n = 0; n < forward.after.size(); ++n) {
    const auto at = static_cast<std::int64_t>(n) % dump.head_dim - rotation.rotary_offset;
    if (at >= 0 && at < rotation.rotary_dim) forward.after[n] *= squared;
  }
  Expectation as_key = expected;
  as_key.output = false;
  as_key.role = Role::key;
  Diagnosis diagnosis = diagnose_rotation(forward, as_key, storage);
  rename(diagnosis, {{"not_rotated", "output_not_turned", "the output was not turned back"},
                     {"inverse_rotation", "output_turned_forward",
                      "the output was turned forward by the query's position instead of back"}});
  return diagnosis;
}

Diagnosis diagnose_turned_values(const RotationDump& dump, const Expectation& expected, ElementType storage) {
  Expectation as_key = expected;
  as_key.values = false;
  as_key.role = Role::key;
  Diagnosis diagnosis = diagnose_rotation(dump, as_key, storage);
  rename(diagnosis,
         {{"not_rotated", "values_not_rotated", "values were not rotated, although the output is turned back"}});
  return diagnosis;
}

}  // namespace locus::doctor
