// SPDX-License-Identifier: Apache-2.0
// `locus-lab`, which `locus lab` runs: the lab's running put together with its tasks and its model.
#include "model/blas.h"
#include "run/command.h"

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
  return locus::lab::lab_main(argc, argv, parts);
}
