// SPDX-License-Identifier: Apache-2.0
// Copy the first token: exact absolute position and nothing else. The first token looks like all others (same
// vocabulary, no mark), so it can be found by its place alone. Every position after it is asked.
#include "tasks/tasks.h"

namespace locus::lab {
namespace {

constexpr std::int64_t vocabulary = 16;

class First : public Task {
 public:
  First() {
    description_.name = "first";
    description_.title = "Copy the first token";
    description_.measures = "Share of positions at which the first token of the sequence is given";
    description_.main = "accuracy";
    // The first token is uniform and independent of the others: no fixed answer does better than a guess.
    description_.chance = description_.majority = 1.0 / vocabulary;
    description_.learned_at = halfway(description_.majority, 1);
    description_.vocabulary = vocabulary;
  }

  const TaskDescription& description() const override { return description_; }

  Batch training(Random& random, std::int64_t rows, std::int64_t length) const override {
    Batch batch = blank_batch(description_, rows, length, 2);
    for (std::int32_t& token : batch.tokens) token = static_cast<std::int32_t>(draw(random, vocabulary));
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto start = static_cast<std::size_t>(row * length);
      for (std::size_t i = 1; i < static_cast<std::size_t>(length); ++i) {
        batch.targets[start + i] = batch.tokens[start];
      }
    }
    return batch;
  }

  // Fresh draws: one of n training sequences meets a given test sequence of length t with probability n / 16^t.
  std::vector<TestSet> tests(Random& random, std::int64_t rows, std::int64_t length) const override {
    return {{"accuracy", Metric::accuracy, -1, true, training(random, rows, length)}};
  }

 private:
  TaskDescription description_;
};

}  // namespace

std::unique_ptr<Task> make_first() { return std::make_unique<First>(); }

}  // namespace locus::lab
