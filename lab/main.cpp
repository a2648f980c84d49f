// SPDX-License-Identifier: Apache-2.0
// `locus-lab`, which `locus lab` runs: the lab's running put together with its tasks and its model.
#include "model/blas.h"
#include "model/speed.h"
#include "run/command.h"

namespace locus::lab {
namespace {

/// Training steps per second, and their ratio to those of the same model in torch's own operations.
Json speed(const TrialSpec& spec, const std::vector<std::string>& schemes) {
  const std::vector<SpeedOfScheme> speeds = compare_speed(spec, schemes, 0.3);
  Json each = Json::array();
  for (const SpeedOfScheme& one : speeds) {
    const bool compared = one.torch_steps_per_second > 0;
    each.push_back({{"scheme", one.scheme},
                    {"steps_per_second", one.steps_per_second},
                    {"torch_steps_per_second", compared ? Json(one.torch_steps_per_second) : Json()},
                    {"ratio", compared ? Json(one.ratio()) : Json()}});
  }
  return {{"task", spec.task}, {"steps_per_second_ratio", mean_ratio(speeds)}, {"schemes", each}};
}

}  // namespace
}  // namespace locus::lab

int main(int argc, char** argv) {
  locus::lab::Parts parts;
  parts.run_trial = locus::lab::run_trial;
  parts.lines_of = locus::lab::lines_of;
  parts.describe = [](const std::string& task, const std::string& text_file) {
    return locus::lab::make_task(task, text_file)->description();
  };
  parts.versions["libtorch"] = locus::lab::libtorch_version();
  parts.versions["blas"] = locus::lab::blas_name();
  parts.prepare = locus::lab::require_fast_blas;
  parts.speed = locus::lab::speed;
  return locus::lab::lab_main(argc, argv, parts);
}
