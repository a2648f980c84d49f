// SPDX-License-Identifier: Apache-2.0
#include "model/speed.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "model/blas.h"
#include "model/cost.h"
#include "model/torch_baseline.h"
#include "model/training.h"

namespace locus::lab {
namespace {

template <class Work>
double seconds_of(const Work& work) {
  const double start = processor_seconds();
  work();
  return processor_seconds() - start;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

SpeedOfScheme compare(const TrialSpec& spec, const Task& task, double seconds) {
  const ModelSpec model_of = model_spec(spec, task.description());
  Transformer model(model_of, spec.seed);
  AdamW optimiser(model.weights());
  std::unique_ptr<TorchBaseline> baseline;
  if (baseline_knows(model_of.scheme)) baseline = std::make_unique<TorchBaseline>(model_of, spec.seed);

  Random random(mix_seed(spec.seed, "speed"));
  std::vector<double> ours, torchs;
  double spent = 0;
  constexpr std::size_t least = 5;
  for (std::int64_t step = 0; spent < seconds || ours.size() < least; ++step) {
    const Questions questions =
        questions_of(task.training(random, spec.batch, spec.trained_length), task.description(), 0, spec.batch);
    const double own = seconds_of([&] {
      model.loss(questions, model.encoding().at_length(spec.trained_length)).backward();
      optimiser.step(spec.learning_rate);
    });
    const double other = baseline ? seconds_of([&] { baseline->train_step(questions, spec.learning_rate); }) : 0;
    if (step < 2) continue;  // the first steps map memory
    ours.push_back(own);
    torchs.push_back(other);
    spent += own + other;
  }
  return {.scheme = spec.scheme,
          .steps_per_second = 1 / median(ours),
          .torch_steps_per_second = baseline ? 1 / median(torchs) : 0};
}

}  // namespace

std::vector<SpeedOfScheme> compare_speed(TrialSpec spec, const std::vector<std::string>& schemes, double seconds) {
  use_one_thread();
  keep_freed_memory();
  const std::unique_ptr<Task> task = make_task(spec.task, spec.text_file);
  std::vector<SpeedOfScheme> speeds;
  for (const std::string& scheme : schemes) {
    spec.scheme = scheme;
    speeds.push_back(compare(spec, *task, seconds));
  }
  return speeds;
}

double mean_ratio(const std::vector<SpeedOfScheme>& speeds) {
  double sum = 0;
  int count = 0;
  for (const SpeedOfScheme& speed : speeds) {
    if (speed.ratio() <= 0) continue;
    sum += std::log(speed.ratio());
    ++count;
  }
  return count == 0 ? 0 : std::exp(sum / count);
}

}  // namespace locus::lab
