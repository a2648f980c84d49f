// SPDX-License-Identifier: Apache-2.0
// A task: training sequences, test sequences, and the meaning of a score. Independent of models.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

namespace locus::lab {

/// Sequences of one length with their targets.
struct Batch {
  std::int64_t rows = 0;
  std::int64_t length = 0;
  std::vector<std::int32_t> tokens;   ///< [rows, length]
  std::vector<std::int32_t> targets;  ///< [rows, length], or [rows] if the task is pooled; -1: not scored
  /// [rows, length] or empty: one answer per target. Targets with the same number >= 0 form one answer.
  std::vector<std::int32_t> answers;
};

enum class Metric {
  loss,      ///< mean cross-entropy in nats per target, lower is better
  accuracy,  ///< share of correct answers (argmax after the true previous tokens), higher is better
};

/// Sequences that give one number, or one per bucket of positions.
struct TestSet {
  std::string name;  ///< as in results: "loss", "agreement", "accuracy"
  Metric metric = Metric::accuracy;
  std::int64_t place = -1;   ///< depth in percent, or -1
  bool by_position = false;  ///< also gives one number per bucket of target positions
  Batch batch;
};

/// How `passkey` hides and asks for keys, for programs that test a saved model: noise, the mark and a key, noise, the
/// question.
struct KeyFrame {
  std::int32_t key_mark = 0;
  std::int32_t question = 0;
  std::vector<std::int32_t> noise;
  std::vector<std::vector<std::int32_t>> keys;  ///< the keys kept for testing
};

struct TaskDescription {
  std::string name;      ///< as on the command line
  std::string title;     ///< a few words
  std::string measures;  ///< one sentence: what the main number is
  std::string main;      ///< the name of the TestSet that ranks
  Metric metric = Metric::accuracy;
  double chance = 0;      ///< the main number of a uniform guess
  double majority = 0;    ///< that of the most frequent answer (for a loss: of the best fixed distribution)
  double learned_at = 0;  ///< at the trained length, a scheme that reaches this has learned the task
  std::int64_t vocabulary = 0;
  bool causal = true;   ///< false: an encoder that sees both sides
  bool pooled = false;  ///< one answer per row from the mean of all tokens
  bool bytes = false;   ///< tokens are the bytes of a text
  std::optional<KeyFrame> keys = {};
};

/// Returns whether a model of this task can run token by token; only such models can be saved for `locus probe`.
inline bool can_be_probed(const TaskDescription& task) { return task.causal && !task.pooled; }

/// Batches depend on the random source only: all schemes see the same data.
class Task {
 public:
  virtual ~Task() = default;
  virtual const TaskDescription& description() const = 0;
  virtual Batch training(Random& random, std::int64_t rows, std::int64_t length) const = 0;
  /// Returns the test sets at this length, disjoint from the training data.
  virtual std::vector<TestSet> tests(Random& random, std::int64_t rows, std::int64_t length) const = 0;
};

/// Makes a task by name: verbs, passkey, back, first, order, text (which needs `text_file`). Error: any other name.
std::unique_ptr<Task> make_task(const std::string& name, const std::string& text_file = {});
const std::vector<std::string>& task_names();

}  // namespace locus::lab
