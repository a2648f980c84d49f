// SPDX-License-Identifier: Apache-2.0
// A small trial, and the schemes that the lab trains.
#pragma once

#include "locus/error.h"
#include "model/blas.h"
#include "model/transformer.h"

namespace locus::lab {

inline TrialSpec small_trial(const std::string& scheme, const std::string& task = "back") {
  TrialSpec spec;
  spec.task = task;
  spec.scheme = scheme;
  spec.trained_length = 16;
  spec.lengths = {16, 32};
  spec.steps = 10;
  spec.batch = 4;
  spec.test_rows = 4;
  spec.model = {.layers = 2, .heads = 4, .width = 32};
  return spec;
}

/// A task's batches as the model takes them, one after the other from one seed.
class Questioner {
 public:
  explicit Questioner(const TrialSpec& spec) : spec_(spec), task_(make_task(spec.task)), random_(5) {
    use_one_thread();
  }
  const TaskDescription& description() const { return task_->description(); }
  Questions next() {
    return questions_of(task_->training(random_, spec_.batch, spec_.trained_length), description(), 0, spec_.batch);
  }

 private:
  TrialSpec spec_;
  std::unique_ptr<Task> task_;
  Random random_;
};

}  // namespace locus::lab
