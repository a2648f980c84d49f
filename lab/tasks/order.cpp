// SPDX-License-Identifier: Apache-2.0
// Is a sequence of numbers in ascending order? An encoder reads all of it and answers once, from the mean over all
// tokens.
//
// Numbers are drawn from 0 .. 63 and sorted; equal neighbours count as ascending (as in std::is_sorted):
// sequences may be longer than 64. Half of the rows stay sorted; in a quarter two neighbours are swapped, in a quarter
// any two numbers. The set of numbers does not reveal the answer. Half of the
// negatives of training have several such swaps: with single swaps only, learning starts late.
#include <algorithm>

#include "tasks/tasks.h"

namespace locus::lab {
namespace {

constexpr std::int64_t numbers = 64;
constexpr std::int64_t shortest_order = 2;

class Order : public Task {
 public:
  Order() {
    description_.name = "order";
    description_.title = "Is a sequence of numbers in ascending order?";
    description_.measures =
        "Share of sequences correctly classified as ascending or not; the latter are sorted except for one swap";
    description_.main = "accuracy";
    // Every other row is ascending.
    description_.chance = description_.majority = 0.5;
    description_.learned_at = halfway(description_.majority, 1);
    description_.vocabulary = numbers;
    description_.causal = false;
    description_.pooled = true;
  }

  const TaskDescription& description() const override { return description_; }

  Batch training(Random& random, std::int64_t rows, std::int64_t length) const override {
    return sequences(random, rows, length, true);
  }

  std::vector<TestSet> tests(Random& random, std::int64_t rows, std::int64_t length) const override {
    return {{"accuracy", Metric::accuracy, -1, false, sequences(random, rows, length, false)}};
  }

 private:
  Batch sequences(Random& random, std::int64_t rows, std::int64_t length, bool some_easy) const {
    Batch batch = blank_batch(description_, rows, length, shortest_order);
    for (std::int64_t row = 0; row < rows; ++row) {
      auto* const sequence = batch.tokens.data() + row * length;
      draw_sorted(random, sequence, length);
      const bool ascending = row % 2 == 0;
      if (!ascending) {
        const bool easy = some_easy && row % 8 > 4;
        const std::int64_t swaps = easy ? 1 + random.below(length / 2) : 1;
        for (std::int64_t i = 0; i < swaps; ++i) swap_two(random, sequence, length, row % 4 == 1);
        // Several swaps may undo each other.
        if (std::is_sorted(sequence, sequence + length)) swap_two(random, sequence, length, row % 4 == 1);
      }
      batch.targets[static_cast<std::size_t>(row)] = ascending ? 1 : 0;
    }
    return batch;
  }

  // At least two different numbers: otherwise a swap changes nothing.
  static void draw_sorted(Random& random, std::int32_t* sequence, std::int64_t length) {
    do {
      for (std::int64_t i = 0; i < length; ++i) sequence[i] = static_cast<std::int32_t>(random.below(numbers));
      std::sort(sequence, sequence + length);
    } while (sequence[0] == sequence[length - 1]);
  }

  static void swap_two(Random& random, std::int32_t* sequence, std::int64_t length, bool neighbours) {
    std::int64_t i = 0;
    std::int64_t j = 0;
    do {
      i = random.below(length - 1);
      j = neighbours ? i + 1 : i + 1 + random.below(length - 1 - i);
    } while (sequence[i] == sequence[j]);
    std::swap(sequence[i], sequence[j]);
  }

  TaskDescription description_;
};

}  // namespace

std::unique_ptr<Task> make_order() { return std::make_unique<Order>(); }

}  // namespace locus::lab
