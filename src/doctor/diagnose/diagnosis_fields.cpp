// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/diagnosis_fields.h"

namespace locus {

std::string_view name_of(Verdict::About about) {
  switch (about) {
    case Verdict::About::dump:
      return "dump";
    case Verdict::About::slice:
      return "slice";
    case Verdict::About::heads:
      return "heads";
    case Verdict::About::magnitude:
      return "magnitude";
    case Verdict::About::angles:
      return "angles";
    case Verdict::About::coverage:
      return "coverage";
    case Verdict::About::precision:
      return "precision";
  }
  return "?";
}

std::string_view name_of(Diagnosis::Kind kind) {
  switch (kind) {
    case Diagnosis::Kind::rotation:
      return "rotation";
    case Diagnosis::Kind::unchanged:
      return "unchanged";
    case Diagnosis::Kind::scaled:
      return "scaled";
    case Diagnosis::Kind::no_rotation:
      return "no_rotation";
  }
  return "?";
}

}  // namespace locus
