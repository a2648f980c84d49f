// SPDX-License-Identifier: Apache-2.0
// Student's distribution, for intervals of a mean over few seeds.
#pragma once

namespace locus::results {

/// Returns t with P(-t < T < t) = confidence, for T with that many degrees of freedom. Accuracy: 1e-12 relative.
double student_t(int degrees, double confidence);

}  // namespace locus::results
