// SPDX-License-Identifier: Apache-2.0
// Ways to cut tokens whose rows are made from neighbours.
#pragma once

#include "doctor/verify/sample.h"
#include "doctor/verify/worst_checks.h"

namespace locus::doctor {

/// Padding and packing must not change a token. A chunk without the tokens around it must differ from the whole as the
/// reference predicts; with the tokens that its rows are made from it must not.
void verify_neighbours(WorstChecks& worst, const Sample& sample, ElementType type);

}  // namespace locus::doctor
