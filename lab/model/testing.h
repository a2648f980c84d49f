// SPDX-License-Identifier: Apache-2.0
// A trained model is asked what a task asks, through the fused attention, a few rows at a time.
#pragma once

#include <string>
#include <vector>

#include "model/transformer.h"
#include "task.h"
#include "trial.h"

namespace locus::lab {

/// The mean over a test set and, if wanted, one number per bucket of `bucket` target positions.
std::vector<Measurement> test_model(const Transformer& model, const Encoding& encoding, const TaskDescription& task,
                                    const TestSet& test, std::int64_t bucket);

/// Runs a row of at most 24 random tokens and compares what attend() gave in each layer with torch's matmul and softmax
/// in double under the bound that attention.h states. Error where they differ by more. Shows up a wrong kernel, mask or
/// stride before anyone believes its numbers.
/// check_attention() is told of one call that attend() has run.
void check_attention(const AttentionCall& call);
void check_against_torch(Transformer& model, const Encoding& encoding, std::int64_t length, std::int64_t seed);

}  // namespace locus::lab
