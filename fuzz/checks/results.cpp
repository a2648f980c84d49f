// SPDX-License-Identifier: Apache-2.0
// Any text either is the results of a lab, which can be ranked, written and read again, or throws locus::Error.
#include <cstdlib>

#include "checks.h"
#include "locus/error.h"
#include "results/file.h"
#include "results/json.h"
#include "results/ranking.h"

namespace locus::fuzz {

void check_results(std::string_view text) {
  const auto json = results::Json::parse(text, nullptr, false);
  if (json.is_discarded()) return;
  try {
    results::Results read = results::read_results(json);
    (void)results::ranking_of(read);
    (void)results::to_csv(read);
    const results::Json written = results::to_json(read);
    if (results::read_results(written).numbers.size() != read.numbers.size()) std::abort();
    results::conclude(read);
    (void)results::to_json(read);
  } catch (const Error&) {
  }
}

}  // namespace locus::fuzz
