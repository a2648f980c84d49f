// SPDX-License-Identifier: Apache-2.0
// A rule for the tests only: frequencies that do not complete a turn within the trained length are divided by the
// square root of the factor. The tests add this file and one line to the registry, and look for the rule everywhere.
#include <cmath>

#include "locus/scaling.h"
#include "scaling/common_parameters.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> square_root(const RuleContext& context, const Arguments& arguments) {
  const double divisor = std::sqrt(arguments.real("factor"));
  const double slowest_kept = 6.283185307179586 / static_cast<double>(arguments.integer("original_length"));
  std::vector<Real> inv_freq = plain_frequencies(context.rotary_dim, Real(context.base));
  for (Real& w : inv_freq) {
    if (static_cast<double>(w) < slowest_kept) w = w / Real(divisor);
  }
  return {.inv_freq = std::move(inv_freq)};
}

}  // namespace

const Rule& square_root_rule();
const Rule& square_root_rule() {
  static const Rule rule{
      .name = "square_root",
      .title = "square root",
      .summary = "slow frequencies divided by the square root of the factor",
      .paper = "tests/extension",
      .parameters = {{.name = "factor",
                      .kind = ValueKind::real,
                      .meaning = "extended length / trained length",
                      .required = true,
                      .least = 1},
                     original_length_parameter()},
      .example = {{"factor", 4.0}, {"original_length", std::int64_t{64}}},
      .trained_length = "original_length",
      .hf_types = {"square_root"},
      .exact = square_root<DoubleDouble>,
      .single = square_root<float>,
  };
  return rule;
}

}  // namespace locus
