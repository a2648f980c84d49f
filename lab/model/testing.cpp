// SPDX-License-Identifier: Apache-2.0
#include "model/testing.h"

#include <algorithm>
#include <map>
#include <utility>

#include "locus/error.h"

namespace locus::lab {
namespace {

/// Sums over all targets, and over buckets of positions.
struct Tally {
  double sum = 0;
  std::int64_t count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double mean() const { return sum / static_cast<double>(count); }
};

class Score {
 public:
  Score(const TestSet& test, bool pooled, std::int64_t bucket)
      : test_(test), per_row_(pooled ? 1 : test.batch.length), bucket_(bucket) {}

  /// Adds the target at `index` of the batch: its loss, and whether argmax is correct.
  void add(std::int64_t index, double loss, bool right) {
    const std::int64_t row = index / per_row_, position = index % per_row_;
    if (test_.metric == Metric::loss) {
      whole_.add(loss);
    } else if (test_.batch.answers.empty()) {
      whole_.add(right ? 1 : 0);
    } else {
      const std::int32_t answer = test_.batch.answers[static_cast<std::size_t>(index)];
      if (answer >= 0) {
        const bool so_far = answers_.try_emplace({row, answer}, true).first->second;
        answers_[{row, answer}] = so_far && right;
      }
    }
    if (test_.by_position) {
      buckets_[position / bucket_ * bucket_].add(test_.metric == Metric::loss ? loss : right ? 1 : 0);
    }
  }

  std::vector<Measurement> measurements() {
    for (const auto& answer : answers_) whole_.add(answer.second ? 1 : 0);
    require(whole_.count > 0, "test ", test_.name, " at length ", test_.batch.length, " has no target");
    std::vector<Measurement> result{measurement(test_.name, test_.place, whole_.mean())};
    for (const auto& bucket : buckets_) {
      result.push_back(measurement(test_.name + "_by_position", bucket.first, bucket.second.mean()));
    }
    return result;
  }

 private:
  Measurement measurement(std::string name, std::int64_t place, double value) const {
    return {.line = {}, .name = std::move(name), .length = test_.batch.length, .place = place, .value = value};
  }

  const TestSet& test_;
  std::int64_t per_row_, bucket_;
  Tally whole_;
  std::map<std::pair<std::int64_t, std::int32_t>, bool> answers_;
  std::map<std::int64_t, Tally> buckets_;
};

}  // namespace

std::vector<Measurement> test_model(const Transformer& model, const Encoding& encoding, const TaskDescription& task,
                                    const TestSet& test, std::int64_t bucket) {
  const NoGradGuard no_gradients;
  const Batch& batch = test.batch;
  // Batches small enough that their activations, about 2 kB per token, stay in the caches.
  constexpr std::int64_t most_tokens = 2048;
  const std::int64_t chunk = std::max<std::int64_t>(most_tokens / std::max<std::int64_t>(batch.length, 1), 1);
  const std::int64_t per_row = task.pooled ? 1 : batch.length;
  Score score(test, task.pooled, bucket);
  for (std::int64_t first = 0; first < batch.rows; first += chunk) {
    const Questions questions = questions_of(batch, task, first, std::min(chunk, batch.rows - first));
    if (questions.asked.numel() == 0) continue;
    const at::Tensor logs = at::log_softmax(model.logits(questions, encoding), 1);
    const at::Tensor losses = -logs.gather(1, questions.targets.unsqueeze(1)).squeeze(1);
    const at::Tensor right = logs.argmax(1).eq(questions.targets);
    const auto* asked = questions.asked.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < questions.asked.numel(); ++i) {
      score.add(first * per_row + asked[i], static_cast<double>(losses.data_ptr<float>()[i]),
                right.data_ptr<bool>()[i]);
    }
  }
  return score.measurements();
}

}  // namespace locus::lab
