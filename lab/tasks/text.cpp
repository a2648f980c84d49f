// SPDX-License-Identifier: Apache-2.0
// Language modelling, by byte, of a text file: trains on pieces of its first nine tenths, tests on pieces of its last
// tenth.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "locus/io/mapped_file.h"
#include "tasks/tasks.h"

namespace locus::lab {
namespace {

constexpr std::size_t byte_values = 256;

using Bytes = std::span<const std::byte>;
using Counts = std::array<double, byte_values>;

Counts count_bytes(Bytes bytes) {
  Counts counts{};
  for (const std::byte byte : bytes) counts[std::to_integer<std::size_t>(byte)] += 1;
  return counts;
}

double entropy(const Counts& counts, double total) {
  double sum = 0;
  for (const double count : counts) {
    if (count > 0) sum -= count / total * std::log(count / total);
  }
  return sum;
}

// Returns the loss on `testing` of a bigram model counted in `training`, with add-one smoothing.
double loss_of_pairs(Bytes training, Bytes testing) {
  std::vector<double> pairs(byte_values * byte_values, 1.0);
  Counts firsts{};
  firsts.fill(byte_values);
  for (std::size_t i = 0; i + 1 < training.size(); ++i) {
    const auto first = std::to_integer<std::size_t>(training[i]);
    pairs[first * byte_values + std::to_integer<std::size_t>(training[i + 1])] += 1;
    firsts[first] += 1;
  }
  double sum = 0;
  for (std::size_t i = 0; i + 1 < testing.size(); ++i) {
    const auto first = std::to_integer<std::size_t>(testing[i]);
    sum -= std::log(pairs[first * byte_values + std::to_integer<std::size_t>(testing[i + 1])] / firsts[first]);
  }
  return sum / static_cast<double>(testing.size() - 1);
}

io::MappedFile open_text(const std::string& file) {
  require(!file.empty(), "the task text needs a file (--text FILE)");
  return io::MappedFile(file);
}

class Text : public Task {
 public:
  explicit Text(const std::string& file) : file_(open_text(file)) {
    const Bytes all = file_.bytes();
    require(!all.empty(), "the text file '", file, "' is empty");
    require(all.size() >= least_bytes, "the text file '", file, "' must have at least ", least_bytes, " bytes, got ",
            all.size());
    const std::size_t cut = all.size() - all.size() / 10;
    training_ = all.first(cut);
    testing_ = all.subspan(cut);
    description_.name = "text";
    description_.title = "A text, by byte";
    description_.measures = "Nats per byte of the last tenth of the text, which is not in the training data";
    description_.main = "loss";
    description_.metric = Metric::loss;
    description_.bytes = true;
    description_.chance = std::log(static_cast<double>(byte_values));
    description_.majority = entropy(count_bytes(testing_), static_cast<double>(testing_.size()));
    // The loss of a perfect model is unknown. Learned: better than a bigram model.
    description_.learned_at = std::min(description_.majority, loss_of_pairs(training_, testing_));
    description_.vocabulary = byte_values;
  }

  const TaskDescription& description() const override { return description_; }

  Batch training(Random& random, std::int64_t rows, std::int64_t length) const override {
    return pieces(training_, "first nine tenths", random, rows, length);
  }

  std::vector<TestSet> tests(Random& random, std::int64_t rows, std::int64_t length) const override {
    return {{"loss", Metric::loss, -1, true, pieces(testing_, "last tenth", random, rows, length)}};
  }

 private:
  static constexpr std::size_t least_bytes = 20;  // two in the last tenth: one to read and one to predict

  Batch pieces(Bytes part, const char* which, Random& random, std::int64_t rows, std::int64_t length) const {
    Batch batch = blank_batch(description_, rows, length, 1);
    const auto size = static_cast<std::int64_t>(part.size());
    require(length < size, "the text file '", file_.name(), "' is too short for a length of ", length, ": its ", which,
            " must have more than ", length, " bytes, got ", size);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t start = random.below(size - length);
      for (std::int64_t i = 0; i < length; ++i) {
        const auto at = static_cast<std::size_t>(row * length + i);
        const auto from = static_cast<std::size_t>(start + i);
        batch.tokens[at] = std::to_integer<std::int32_t>(part[from]);
        batch.targets[at] = std::to_integer<std::int32_t>(part[from + 1]);
      }
    }
    return batch;
  }

  io::MappedFile file_;
  Bytes training_;
  Bytes testing_;
  TaskDescription description_;
};

}  // namespace

std::unique_ptr<Task> make_text(const std::string& file) { return std::make_unique<Text>(file); }

}  // namespace locus::lab
