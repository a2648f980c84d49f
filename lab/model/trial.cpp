// SPDX-License-Identifier: Apache-2.0
// run_trial(): trains, tests every line at every length, fine-tunes on request, measures the cost, saves the model.
#include "trial.h"

#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "model/blas.h"
#include "model/cost.h"
#include "model/lines.h"
#include "model/save.h"
#include "model/testing.h"
#include "model/training.h"

namespace locus::lab {
namespace {

constexpr std::int64_t train_loss_every = 10;

void check(const TrialSpec& spec) {
  require(spec.trained_length >= 1 && spec.batch >= 1 && spec.test_rows >= 1 && spec.steps >= 0,
          "a trial needs a trained length, a batch and test rows of at least 1 and steps of at least 0, got ",
          spec.trained_length, ", ", spec.batch, ", ", spec.test_rows, " and ", spec.steps);
  for (const std::int64_t length : spec.lengths)
    require(length >= 1, "a tested length must be at least 1, got ", length);
}

/// Steps of training at one length.
struct Course {
  std::int64_t steps = 0, rows = 0, length = 0;
  double learning_rate = 0;
  std::string stream;  ///< name of the random source, the same for every scheme
};

class Trial {
 public:
  Trial(const TrialSpec& spec, const Heartbeat& heartbeat)
      : spec_(spec),
        heartbeat_(heartbeat),
        task_(make_task(spec.task, spec.text_file)),
        model_(model_spec(spec, task_->description()), spec.seed) {
    for (const std::int64_t length : spec.lengths) longest_ = std::max(longest_, length);
    longest_ = std::max(longest_, spec.trained_length);
  }

  std::vector<Measurement> run(const ModelFiles& files) {
    const std::vector<Line> lines = lines_with_variants(spec_);
    plan_work(lines);
    train(lines.front());
    check_against_torch(model_, encoding_of(lines.front(), spec_, model_, spec_.trained_length), spec_.trained_length,
                        spec_.seed);
    make_tests();
    const at::Tensor trained = model_.weights().saved();
    for (const Line& line : lines) {
      if (line.tuned) {
        model_.weights().restore(trained);
        teach(line, {.steps = spec_.tune_steps,
                     .rows = std::max<std::int64_t>(spec_.batch * spec_.trained_length / longest_, 1),
                     .length = longest_,
                     .learning_rate = spec_.learning_rate / 3,
                     .stream = "tuning"});
      }
      test(line);
    }
    model_.weights().restore(trained);
    if (files.safetensors || files.gguf) save_model(model_, task_->description(), spec_, files);
    return std::move(results_);
  }

 private:
  // Rough amounts of work, in training steps: testing a line costs a third of training on as many tokens.
  void plan_work(const std::vector<Line>& lines) {
    const auto tuned = std::count_if(lines.begin(), lines.end(), [](const Line& line) { return line.tuned; });
    planned_ = static_cast<double>(spec_.steps) + static_cast<double>(tuned * spec_.tune_steps) * 2 +
               static_cast<double>(std::ssize(lines) * std::ssize(spec_.lengths)) * test_cost;
  }

  void tell() const {
    if (heartbeat_) heartbeat_(std::min(done_ / planned_, 1.0));
  }

  void train(const Line& line) {
    const double start = processor_seconds();
    const Course course{.steps = spec_.steps,
                        .rows = spec_.batch,
                        .length = spec_.trained_length,
                        .learning_rate = spec_.learning_rate,
                        .stream = "training"};
    const std::int64_t peak = teach(line, course);
    const double seconds = processor_seconds() - start;
    add({.line = line.name, .name = "parameters", .value = static_cast<double>(trained_parameters())});
    if (spec_.steps == 0) return;
    add({.line = line.name, .name = "seconds_per_step", .value = seconds / static_cast<double>(spec_.steps)});
    add({.line = line.name, .name = "peak_bytes", .value = static_cast<double>(peak)});
  }

  // Rows of a learned table beyond the trained length are not trained and not counted.
  std::int64_t trained_parameters() {
    std::int64_t count = model_.weights().count();
    if (model_.weights().has("positions.table")) count -= (longest_ - spec_.trained_length) * spec_.model.width;
    return count;
  }

  /// Returns the peak number of bytes in tensors.
  std::int64_t teach(const Line& line, const Course& course) {
    Random random(mix_seed(spec_.seed, spec_.task + " " + course.stream));
    AdamW optimiser(model_.weights());
    const Schedule rates = schedule(course.learning_rate, course.steps);
    std::int64_t peak = 0;
    double sum = 0;
    for (std::int64_t step = 0; step < course.steps; ++step) {
      const Batch batch = task_->training(random, course.rows, course.length);
      const Questions questions = questions_of(batch, task_->description(), 0, batch.rows);
      const auto learn = [&] {
        const at::Tensor loss = model_.loss(questions, encoding_of(line, spec_, model_, course.length));
        loss.backward();
        return loss.item<double>();
      };
      const std::int64_t kept = static_cast<std::int64_t>(sizeof(float)) * model_.weights().count() * 4;
      double loss = 0;
      if (step == 0) {
        peak = kept + peak_tensor_bytes([&] { loss = learn(); });
      } else {
        loss = learn();
      }
      require(std::isfinite(loss), spec_.scheme, " on ", spec_.task, ": the loss is not finite at step ", step);
      optimiser.step(rates.rate(step));
      sum += loss;
      if ((step + 1) % train_loss_every == 0) {
        if (!line.tuned) {
          add({.line = line.name, .name = "train_loss", .place = step + 1, .value = sum / train_loss_every});
        }
        sum = 0;
      }
      done_ += line.tuned ? 2 : 1;
      if ((step + 1) % train_loss_every == 0 || step + 1 == course.steps) tell();
    }
    return peak;
  }

  void make_tests() {
    for (const std::int64_t length : spec_.lengths) {
      Random random(mix_seed(spec_.seed, spec_.task + " tests at " + std::to_string(length)));
      tests_.push_back(task_->tests(random, spec_.test_rows, length));
    }
  }

  void test(const Line& line) {
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      const Encoding encoding = encoding_of(line, spec_, model_, spec_.lengths[i]);
      for (const TestSet& set : tests_[i]) {
        const std::int64_t bucket = std::max<std::int64_t>(spec_.trained_length / 4, 1);
        for (Measurement& measurement : test_model(model_, encoding, task_->description(), set, bucket)) {
          measurement.line = line.name;
          add(std::move(measurement));
        }
      }
      done_ += test_cost;
      tell();
    }
  }

  void add(Measurement measurement) { results_.push_back(std::move(measurement)); }

  static constexpr double test_cost = 5;

  const TrialSpec& spec_;
  const Heartbeat& heartbeat_;
  std::unique_ptr<Task> task_;
  Transformer model_;
  std::int64_t longest_ = 0;
  std::vector<std::vector<TestSet>> tests_;
  std::vector<Measurement> results_;
  double planned_ = 1, done_ = 0;
};

}  // namespace

std::vector<Measurement> run_trial(const TrialSpec& spec, const Heartbeat& heartbeat, const ModelFiles& files) {
  check(spec);
  use_one_thread();
  keep_freed_memory();
  return Trial(spec, heartbeat).run(files);
}

}  // namespace locus::lab
