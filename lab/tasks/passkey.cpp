// SPDX-License-Identifier: Apache-2.0
// Retrieve a key hidden in noise:
//
//     n n n n K 7 2 9 n n n n n n n n n ? 7 2        asked from `?` on: 7 2 9
//
// K and ? are separate tokens, n is any of four noise tokens, and the key is three different digits, so that each
// digit determines the next. Sequences of one length differ only in noise, key and depth, which training draws
// uniformly. A sixth of the keys is reserved for testing.
#include <array>

#include "tasks/tasks.h"

namespace locus::lab {
namespace {

constexpr std::int64_t digits = 10;
constexpr std::int64_t key_length = 3;
constexpr std::int32_t key_mark = 10;
constexpr std::int32_t question = 11;
constexpr std::int32_t first_noise = 12;
constexpr std::int64_t noise_tokens = 4;
constexpr std::int64_t shortest_passkey = 2 * key_length + 1;  // K, the key, ?, and the answer without its last digit

using Key = std::array<std::int32_t, key_length>;

// Selects by the sum of the digits, which does not help to find a key.
bool for_testing(const Key& key) {
  std::int32_t sum = 0;
  for (const std::int32_t digit : key) sum += digit;
  return sum % 6 == 0;
}

bool has_repeats(const Key& key) {
  for (std::size_t i = 0; i < key.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (key[i] == key[j]) return true;
    }
  }
  return false;
}

Key draw_key(Random& random, bool testing) {
  Key key{};
  do {
    for (std::int32_t& digit : key) digit = static_cast<std::int32_t>(random.below(digits));
  } while (has_repeats(key) || for_testing(key) != testing);
  return key;
}

std::vector<std::vector<std::int32_t>> keys_for_testing() {
  std::vector<std::vector<std::int32_t>> keys;
  for (std::int32_t number = 0; number < 1000; ++number) {
    const Key key = {number / 100, number / 10 % 10, number % 10};
    if (!has_repeats(key) && for_testing(key)) keys.emplace_back(key.begin(), key.end());
  }
  return keys;
}

KeyFrame key_frame() {
  KeyFrame frame{.key_mark = key_mark, .question = question, .noise = {}, .keys = keys_for_testing()};
  for (std::int32_t i = 0; i < noise_tokens; ++i) frame.noise.push_back(first_noise + i);
  return frame;
}

class Passkey : public Task {
 public:
  Passkey() {
    description_.name = "passkey";
    description_.title = "Retrieve a key hidden in noise";
    description_.measures =
        "Share of three-digit keys reproduced exactly, each digit predicted after the true previous ones";
    description_.main = "accuracy";
    // A guess draws each digit out of ten; the best fixed answer is any of the equally likely test keys.
    description_.chance = 1e-3;
    description_.majority = 1.0 / static_cast<double>(keys_for_testing().size());
    description_.learned_at = halfway(description_.majority, 1);
    description_.vocabulary = first_noise + noise_tokens;
    description_.keys = key_frame();
  }

  const TaskDescription& description() const override { return description_; }

  Batch training(Random& random, std::int64_t rows, std::int64_t length) const override {
    Batch batch = blank_with_answers(rows, length);
    for (std::int64_t row = 0; row < rows; ++row) {
      fill_row(random, batch, row, random.below(noise_in(length) + 1), false);
    }
    return batch;
  }

  std::vector<TestSet> tests(Random& random, std::int64_t rows, std::int64_t length) const override {
    std::vector<TestSet> sets;
    for (const std::int64_t depth : {0, 25, 50, 75, 100}) {
      Batch batch = blank_with_answers(rows, length);
      const std::int64_t before = (noise_in(length) * depth + 50) / 100;
      for (std::int64_t row = 0; row < rows; ++row) fill_row(random, batch, row, before, true);
      sets.push_back({"accuracy", Metric::accuracy, depth, false, std::move(batch)});
    }
    return sets;
  }

 private:
  static std::int64_t noise_in(std::int64_t length) { return length - shortest_passkey; }

  Batch blank_with_answers(std::int64_t rows, std::int64_t length) const {
    Batch batch = blank_batch(description_, rows, length, shortest_passkey);
    batch.answers.assign(batch.targets.size(), -1);
    return batch;
  }

  // The key after `before` noise tokens.
  static void fill_row(Random& random, Batch& batch, std::int64_t row, std::int64_t before, bool testing) {
    const Key key = draw_key(random, testing);
    auto* const tokens = batch.tokens.data() + row * batch.length;
    for (std::int64_t i = 0; i < batch.length; ++i) {
      tokens[i] = first_noise + static_cast<std::int32_t>(random.below(noise_tokens));
    }
    const std::int64_t asked = batch.length - key_length;
    tokens[before] = key_mark;
    tokens[asked] = question;
    for (std::int64_t i = 0; i < key_length; ++i) {
      const std::int32_t digit = key[static_cast<std::size_t>(i)];
      tokens[before + 1 + i] = digit;
      if (i + 1 < key_length) tokens[asked + 1 + i] = digit;
      const auto at = static_cast<std::size_t>(row * batch.length + asked + i);
      batch.targets[at] = digit;
      batch.answers[at] = static_cast<std::int32_t>(row);
    }
  }

  TaskDescription description_;
};

}  // namespace

std::unique_ptr<Task> make_passkey() { return std::make_unique<Passkey>(); }

}  // namespace locus::lab
