// SPDX-License-Identifier: Apache-2.0
// Copy a token that only its position identifies: the one five steps back (exact relative position) or the first (exact
// absolute position). Tokens are drawn independently from one vocabulary, so no other token carries information about
// the answer. Every position that has an answer is scored.
#include "tasks/tasks.h"

namespace locus::lab {
namespace {

constexpr std::int64_t vocabulary = 16;
constexpr std::int64_t steps_back = 5;

struct Kind {
  const char* name;
  const char* title;
  const char* measures;
  std::int64_t first_asked;
  std::int64_t (*copied_from)(std::int64_t position);
};

class Copy : public Task {
 public:
  explicit Copy(const Kind& kind) : kind_(kind) {
    description_.name = kind.name;
    description_.title = kind.title;
    description_.measures = kind.measures;
    description_.main = "accuracy";
    // Tokens are uniform and independent: no fixed answer is better than a guess.
    description_.chance = description_.majority = 1.0 / vocabulary;
    description_.learned_at = halfway(description_.majority, 1);
    description_.vocabulary = vocabulary;
  }

  const TaskDescription& description() const override { return description_; }

  Batch training(Random& random, std::int64_t rows, std::int64_t length) const override {
    Batch batch = blank_batch(description_, rows, length, kind_.first_asked + 1);
    for (std::int32_t& token : batch.tokens) token = static_cast<std::int32_t>(random.below(vocabulary));
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = [&](std::int64_t position) { return static_cast<std::size_t>(row * length + position); };
      for (std::int64_t i = kind_.first_asked; i < length; ++i) {
        batch.targets[at(i)] = batch.tokens[at(kind_.copied_from(i))];
      }
    }
    return batch;
  }

  // Random sequences: one of n training sequences equals a given test sequence of length t with probability n / 16^t.
  std::vector<TestSet> tests(Random& random, std::int64_t rows, std::int64_t length) const override {
    return {{"accuracy", Metric::accuracy, -1, true, training(random, rows, length)}};
  }

 private:
  Kind kind_;
  TaskDescription description_;
};

}  // namespace

std::unique_ptr<Task> make_back() {
  return std::make_unique<Copy>(Kind{.name = "back",
                                     .title = "Copy the token five steps back",
                                     .measures = "Share of positions at which the token five steps back is given",
                                     .first_asked = steps_back,
                                     .copied_from = [](std::int64_t position) { return position - steps_back; }});
}

std::unique_ptr<Task> make_first() {
  return std::make_unique<Copy>(Kind{.name = "first",
                                     .title = "Copy the first token",
                                     .measures = "Share of positions at which the first token of the sequence is given",
                                     .first_asked = 1,
                                     .copied_from = [](std::int64_t) { return std::int64_t{0}; }});
}

}  // namespace locus::lab
