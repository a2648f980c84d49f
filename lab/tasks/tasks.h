// SPDX-License-Identifier: Apache-2.0
// Helpers of tasks, and the functions that make them. Only the registry and the tasks include this file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "locus/error.h"
#include "task.h"

namespace locus::lab {

std::unique_ptr<Task> make_verbs();
std::unique_ptr<Task> make_passkey();
std::unique_ptr<Task> make_back();
std::unique_ptr<Task> make_first();
std::unique_ptr<Task> make_order();
std::unique_ptr<Task> make_text(const std::string& file);

/// Returns a batch of zeros without targets. `shortest` is the shortest length at which the task has a target.
inline Batch blank_batch(const TaskDescription& task, std::int64_t rows, std::int64_t length, std::int64_t shortest) {
  require(rows >= 1, "the task ", task.name, " needs at least 1 row, got ", rows);
  require(length >= shortest, "the task ", task.name, " needs a length of at least ", shortest, ", got ", length);
  Batch batch;
  batch.rows = rows;
  batch.length = length;
  batch.tokens.assign(static_cast<std::size_t>(rows * length), 0);
  batch.targets.assign(static_cast<std::size_t>(task.pooled ? rows : rows * length), -1);
  return batch;
}

/// The default threshold for "learned": halfway between the best fixed answer and a perfect score.
inline double halfway(double majority, double perfect) { return (majority + perfect) / 2; }

}  // namespace locus::lab
