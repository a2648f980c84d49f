// SPDX-License-Identifier: Apache-2.0
// `locus bench`: the kernels against the machine's limits, in ratios that noise cannot fake.
#include <unistd.h>

#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <set>
#include <thread>

#include "command.h"
#include "lines.h"
#include "locus/error.h"
#include "locus/rotate.h"

namespace locus::tools {
namespace {

struct BenchRequest {
  std::vector<std::string> groups;
  bool quick = false;
  bool json = false;
  bool check = false;
};

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string machine() {
  return processor_name() + ", " + std::to_string(std::thread::hardware_concurrency()) + " threads, " +
         std::string(simd_target());
}

void print_line(const bench::Line& line) {
  const bench::Ratio& share = line.result.share;
  std::cout << std::left << std::setw(8) << line.group << std::setw(40) << line.name << std::right << std::fixed
            << std::setprecision(3) << std::setw(8) << share.median << "  [" << share.low << ", " << share.high
            << "] of " << line.limit << std::setprecision(1) << ", " << line.bytes / line.result.thing_seconds / 1e9
            << " GB/s";
  if (line.bar) std::cout << std::setprecision(2) << ", bar " << *line.bar << ": " << line.verdict();
  if (!line.bar && share.noisy()) std::cout << ", noisy";
  std::cout << std::endl;
}

Json line_json(const bench::Line& line) {
  const bench::Comparison& result = line.result;
  Json json{{"group", line.group},
            {"name", line.name},
            {"limit", line.limit},
            {"share", result.share.median},
            {"interval", {result.share.low, result.share.high}},
            {"noisy", result.share.noisy()},
            {"seconds", result.thing_seconds},
            {"limit_seconds", result.limit_seconds},
            {"bytes", line.bytes}};
  if (line.bar) {
    json["bar"] = *line.bar;
    json["verdict"] = line.verdict();
  }
  return json;
}

void show_progress(std::size_t done, std::size_t all) {
  constexpr std::size_t width = 40;
  const std::size_t full = width * done / all;
  std::cerr << "\r[" << std::string(full, '#') << std::string(width - full, '.') << "] " << done << '/' << all
            << (done == all ? "\r\033[K" : "") << std::flush;
}

void bench(const BenchRequest& request) {
  const std::set<std::string> groups(request.groups.begin(), request.groups.end());
  const auto wanted = [&](const char* group) { return groups.empty() || groups.count("all") || groups.count(group); };
  bench::Plan plan{.rotate = wanted("rotate"), .add = wanted("add"), .tables = wanted("tables")};
  if (request.quick) {
    plan.rounds = 11;
    plan.round_seconds = 0.005;
  }
  const bool bar = isatty(STDERR_FILENO) != 0;
  if (!request.json) std::cout << machine() << '\n';
  Json lines = Json::array();
  bool missed = false;
  bench::run(plan, [&](const bench::Line& line, std::size_t done, std::size_t all) {
    missed = missed || line.verdict() == "missed" || line.verdict() == "limit wrong";
    if (request.json) {
      lines.push_back(line_json(line));
    } else {
      if (bar) std::cerr << "\r\033[K";
      print_line(line);
    }
    if (bar) show_progress(done, all);
  });
  if (request.json) print_json({{"machine", machine()}, {"lines", lines}});
  if (request.check && missed) throw CheckFailed();
}

}  // namespace

void add_bench_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "The kernels against the machine's limits");
  const auto request = std::make_shared<BenchRequest>();
  command->add_option("group", request->groups, "rotate, add, tables or all [all]")
      ->check(CLI::IsMember({"rotate", "add", "tables", "all"}));
  command->add_flag("--quick", request->quick, "Fewer and shorter rounds");
  command->add_flag("--json", request->json, "One JSON object");
  command->add_flag("--check", request->check, "Exit 1 where a bar is missed");
  command->footer(
      "Each line: the median of paired ratios (1 = as fast as the limit measured back to back), its 95 % interval, "
      "the\n"
      "bar of docs/performance.md. \"noisy\": the interval is wider than 5 % and cannot tell.\n"
      "Example: locus bench rotate --quick");
  command->callback([request] { bench(*request); });
}

}  // namespace locus::tools
