// SPDX-License-Identifier: Apache-2.0
// Tests a trained model on a task through the fused attention, a few rows at a time.
#pragma once

#include <string>
#include <vector>

#include "model/transformer.h"
#include "task.h"
#include "trial.h"

namespace locus::lab {

/// Returns the mean over a test set and, if requested, one number per bucket of `bucket` target positions.
std::vector<Measurement> test_model(const Transformer& model, const Encoding& encoding, const TaskDescription& task,
                                    const TestSet& test, std::int64_t bucket);

/// Compares one finished call of attend() with torch's matmul and softmax in double. Error: they differ by more
/// than the bound that attention.h states.
void check_attention(const AttentionCall& call);

/// Runs a row of at most 24 random tokens and checks the attention of every layer. Error: a wrong kernel, mask or
/// stride.
void check_against_torch(Transformer& model, const Encoding& encoding, std::int64_t length, std::int64_t seed);

}  // namespace locus::lab
