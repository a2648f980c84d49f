// SPDX-License-Identifier: Apache-2.0
// PoPE: what is rotated are polar heads, so `before` shows their first half too. A pair of a query has the angle 0, one of
// a key the phase of its head; whatever the lengths are, the angles say whether heads were made polar, and how.
#include <algorithm>
#include <cmath>
#include <functional>

#include "doctor/diagnose/declared_dumps.h"
#include "doctor/diagnose/sentence.h"
#include "doctor/diagnose/turning.h"
#include "locus/error.h"

namespace locus::doctor {
namespace {

constexpr double nearly_all = 0.95;  // of the pairs

struct PhaseGuess {
  const char* fault;
  const char* text;
  std::function<double(double phase)> angle;  // of a pair with this phase
};

std::vector<PhaseGuess> guesses_for(Role role) {
  const auto none = [](double) { return 0.0; };
  const auto own = [](double phase) { return phase; };
  const auto negated = [](double phase) { return -phase; };
  if (role == Role::query) {
    return {{"as_expected", "", none},
            {"phases_on_queries", "queries have the phases, which belong to keys alone", own}};
  }
  return {{"as_expected", "", own},
          {"phases_missing", "keys have no phases", none},
          {"phases_negated", "the phases of keys have the wrong sign", negated}};
}

class PolarHeads {
 public:
  PolarHeads(const RotationDump& dump, const Polar& polar, double tolerance)
      : dump_(dump), polar_(polar), tolerance_(tolerance) {}

  /// The share of the pairs that have the angle of the guess.
  double share(const PhaseGuess& guess) const {
    std::int64_t all = 0, fitting = 0;
    const std::int64_t group = dump_.heads / polar_.heads, vectors = dump_.batch * dump_.tokens * dump_.heads;
    for (std::int64_t vector = 0; vector < vectors; ++vector) {
      const std::int64_t key_head = vector % dump_.heads / group;
      for (std::int64_t c = 0; c < polar_.channels; ++c) {
        const double* pair = dump_.before.data() + vector * dump_.head_dim + 2 * c;
        const double length = std::hypot(pair[0], pair[1]);
        if (length == 0) continue;
        const double angle = guess.angle(polar_.phases[static_cast<std::size_t>(key_head * polar_.channels + c)]);
        const double off = std::hypot(pair[0] - length * std::cos(angle), pair[1] - length * std::sin(angle));
        ++all;
        fitting += off <= tolerance_ * length ? 1 : 0;
      }
    }
    return all == 0 ? 1 : static_cast<double>(fitting) / static_cast<double>(all);
  }

 private:
  const RotationDump& dump_;
  const Polar& polar_;
  double tolerance_;
};

// What happens to polar heads: an ordinary rotation.
Expectation rotated(const Expectation& expected) {
  const Rotation& rotation = expected.encoding->rotation();
  Expectation plain = expected;
  plain.encoding = Encoding("rope", {{"head_dim", rotation.head_dim},
                                     {"rotary_dim", rotation.rotary_dim},
                                     {"pairing", std::string(name_of(rotation.pairing))},
                                     {"base", expected.encoding->arguments().real("base")}});
  return plain;
}

// Puts what is wrong with `before` in front; then nothing is as expected.
void put_first(Diagnosis& diagnosis, Verdict verdict) {
  std::erase_if(diagnosis.verdicts, [](const Verdict& one) { return one.name == "as_expected"; });
  diagnosis.verdicts.insert(diagnosis.verdicts.begin(), std::move(verdict));
}

}  // namespace

Diagnosis diagnose_polar(const RotationDump& dump, const Expectation& expected, ElementType storage) {
  const Polar& polar = *expected.encoding->rotation().polar;
  require(dump.heads % polar.heads == 0, "the encoding has ", polar.heads,
          " key heads; the dump must have a multiple of them, got ", dump.heads);
  Diagnosis diagnosis = diagnose_rotation(dump, rotated(expected), storage);
  if (expected.both_rotated) return diagnosis;  // the angles are those of two rotations
  diagnosis.not_judged.emplace_back("whether lengths are softplus of the coordinates: a dump has polar heads only");
  const PolarHeads heads(dump, polar, 16 * storage_noise(storage));
  const std::vector<PhaseGuess> guesses = guesses_for(expected.role);
  const double meant = heads.share(guesses.front());
  if (meant >= nearly_all) return diagnosis;
  for (const PhaseGuess& guess : guesses) {
    const double share = heads.share(guess);
    if (share < nearly_all) continue;
    put_first(diagnosis, {Verdict::About::magnitude, guess.fault, guess.text,
                          sentence(100 * share, " % of the pairs before the rotation have such angles, ", 100 * meant,
                                   " % the expected ones"),
                          0.95});
    return diagnosis;
  }
  put_first(diagnosis,
            {Verdict::About::magnitude, "polar_missing", "heads were not made polar before the rotation (to_polar)",
             sentence("only ", 100 * meant, " % of the pairs before the rotation have the expected angle"),
             meant < 0.5 ? 0.95 : 0.6});
  return diagnosis;
}

}  // namespace locus::doctor
