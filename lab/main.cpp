// SPDX-License-Identifier: Apache-2.0
// `locus-lab`, which `locus lab` runs: the lab's running put together with its tasks and its model.
#include <torch/version.h>

#include "lab/run/command.h"

int main(int argc, char** argv) {
  locus::lab::Parts parts;
  parts.run_trial = locus::lab::run_trial;
  parts.lines_of = locus::lab::lines_of;
  parts.describe = [](const std::string& task, const std::string& text_file) {
    return locus::lab::make_task(task, text_file)->description();
  };
  parts.versions["libtorch"] = TORCH_VERSION;
  return locus::lab::lab_main(argc, argv, parts);
}
