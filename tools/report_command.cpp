// SPDX-License-Identifier: Apache-2.0
// `locus report`: writes a lab's results as one page.
#include <filesystem>
#include <iostream>
#include <memory>

#include "command.h"
#include "figures/report/page.h"
#include "figures/report/report.h"
#include "locus/error.h"
#include "progress_bar.h"
#include "results/file.h"
#include "results/json.h"

namespace locus::tools {
namespace {

namespace fs = std::filesystem;

struct ReportRequest {
  std::string results;
  std::string output;
  std::string verification;
  std::string language = "en";
  int shapes = 3;
  bool json = false;
};

std::vector<Check> measured_checks(int shapes) {
  ProgressBar progress;
  return figures::measure_checks(shapes, [&](double done, std::size_t all, const std::string& what) {
    progress.show(done, all, "verifying " + what);
  });
}

void report(const ReportRequest& request) {
  require(figures::can_write_pages(),
          "this locus was built without npm and cannot write pages; build it with npm installed");
  const Language language = find_language(request.language);
  const fs::path file = results::results_path(request.results);
  const fs::path output = request.output.empty() ? file.parent_path() / "report.html" : fs::path(request.output);
  const results::Results results =
      results::read_file(file);  // refuses a bad file before the ten seconds of the verification
  const std::vector<Check> checks = request.verification.empty()
                                        ? measured_checks(request.shapes)
                                        : figures::checks_from_json(results::read_json(request.verification));
  figures::write_report(results, checks, output, language);
  const std::int64_t failures = failed(checks);
  if (request.json) {
    print_json({{"report", output.string()}, {"checks", checks.size()}, {"failed", failures}});
  } else {
    std::cout << output.string() << ": " << checks.size() << " checks of the verification, " << failures << " failed\n";
  }
}

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("report", "Write a lab's results as one self-contained page");
  const auto request = std::make_shared<ReportRequest>();
  command->add_option("results", request->results, "A results.json, or its folder")->required();
  command->add_option("-o,--output", request->output,
                      "Write the page to this file; absent: report.html next to the results");
  command->add_option("--verification", request->verification,
                      "Read the output of `locus verify --json`; absent: run the verification now");
  command->add_option("--shapes", request->shapes, "Try this many random shapes per equivalence of the verification")
      ->check(CLI::Range(1, 1000));
  command->add_option("--lang", request->language, "Write the page in this language: en or es")->capture_default_str();
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "The page contains its charts, data and scripts, and loads nothing.\n"
      "Examples:\n"
      "  locus report locus-lab\n"
      "  locus report locus-lab --lang es -o informe.html\n"
      "  locus verify --json > verify.json; locus report locus-lab/results.json --verification verify.json -o "
      "report.html");
  command->callback([request] { report(*request); });
}

}  // namespace locus::tools
