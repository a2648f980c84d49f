// SPDX-License-Identifier: Apache-2.0
// `locus-lab`, which `locus lab` runs: puts run/, tasks/ and model/ together.
#include <string_view>

#include "figures/report/page.h"
#include "figures/report/report.h"
#include "model/blas.h"
#include "run/command.h"
#include "speed_command.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "speed") return locus::lab::speed_main(argc, argv);
  locus::lab::Parts parts;
  parts.run_trial = locus::lab::run_trial;
  parts.lines_of = locus::lab::lines_of;
  parts.describe = [](const std::string& task, const std::string& text_file) {
    return locus::lab::make_task(task, text_file)->description();
  };
  parts.versions = {{"libtorch", locus::lab::libtorch_version()}, {"blas", locus::lab::blas_name()}};
  parts.prepare = locus::lab::require_fast_blas;
  parts.speed = locus::lab::measured_speed;
  if (locus::figures::can_write_pages()) {
    parts.report = [](const locus::results::Results& results, const std::filesystem::path& page,
                      locus::Language language) {
      locus::figures::write_report(results, locus::figures::measure_checks(3), page, language);
    };
  }
  return locus::lab::lab_main(argc, argv, parts);
}
