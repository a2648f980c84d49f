// SPDX-License-Identifier: Apache-2.0
// Copy the token five steps back: exact relative position and nothing else. Tokens are drawn independently, so no
// other token says anything about the answer, and every position from the sixth on is asked.
#include "tasks/tasks.h"

namespace locus::lab {
namespace {

constexpr std::int64_t vocabulary = 16;
constexpr std::int64_t steps_back = 5;

class Back : public Task {
 public:
  Back() {
    description_.name = "back";
    description_.title = "Copy the token five steps back";
    description_.measures = "Share of positions at which the token five steps back is given";
    description_.main = "accuracy";
    // Tokens are uniform and independent: no fixed answer does better than a guess.
    description_.chance = description_.majority = 1.0 / vocabulary;
    description_.learned_at = halfway(description_.majority, 1);
    description_.vocabulary = vocabulary;
  }

  const TaskDescription& description() const override { return description_; }

  Batch training(Random& random, std::int64_t rows, std::int64_t length) const override {
    Batch batch = blank_batch(description_, rows, length, steps_back + 1);
    for (std::int32_t& token : batch.tokens) token = static_cast<std::int32_t>(draw(random, vocabulary));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = steps_back; i < length; ++i) {
        const auto at = static_cast<std::size_t>(row * length + i);
        batch.targets[at] = batch.tokens[at - steps_back];
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

std::unique_ptr<Task> make_back() { return std::make_unique<Back>(); }

}  // namespace locus::lab
