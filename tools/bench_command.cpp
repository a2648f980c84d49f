// SPDX-License-Identifier: Apache-2.0
// `locus bench`: times the kernels against the machine's limits, in paired ratios that are robust to noise.
#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "base/interruption.h"
#include "cases.h"
#include "command.h"
#include "locus/error.h"
#include "locus/rotate.h"
#include "peer_programs.h"
#include "progress_bar.h"
#include "simd_targets.h"

namespace locus::tools {
namespace {

struct BenchRequest {
  std::vector<std::string> groups;
  std::string containing;
  std::optional<int> rounds;
  std::string target;
  bool quick = false;
  bool json = false;
  bool check = false;
  bool peers = false;
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

void print_case(const bench::Case& measured) {
  const bench::Ratio& share = measured.result.share;
  std::cout << std::left << std::setw(10) << measured.group << std::setw(42) << measured.name << std::right
            << std::fixed << std::setprecision(3) << std::setw(8) << share.median << "  [" << share.low << ", "
            << share.high << "] of " << measured.limit << std::setprecision(1) << ", "
            << measured.amount / measured.result.our_seconds / measured.unit_size << ' ' << measured.unit;
  if (measured.extra_memory) std::cout << ", " << measured.extra_memory->bytes / 1e6 << " MB beyond inputs and outputs";
  if (measured.bar) std::cout << std::setprecision(2) << ", bar " << *measured.bar;
  if (!measured.verdict().empty()) std::cout << ": " << measured.verdict();
  std::cout << std::endl;
}

void print_peer(const PeerResult& peer) {
  std::cout << std::left << std::setw(10) << peer.group << std::setw(42) << peer.line << std::right << std::fixed
            << std::setprecision(2) << std::setw(8) << peer.times.median << "  [" << peer.times.low << ", "
            << peer.times.high << "] times our time: " << peer.text() << std::endl;
}

Json case_json(const bench::Case& measured) {
  const bench::Comparison& result = measured.result;
  Json json{{"group", measured.group},
            {"name", measured.name},
            {"limit", measured.limit},
            {"share", result.share.median},
            {"interval", {result.share.low, result.share.high}},
            {"noisy", result.share.noisy()},
            {"seconds", result.our_seconds},
            {"limit_seconds", result.limit_seconds},
            {"timed_by", result.by_clock ? "clock" : "thread"},
            {"rate", measured.amount / result.our_seconds / measured.unit_size},
            {"unit", measured.unit},
            {"bar", measured.bar ? Json(*measured.bar) : Json()},
            {"verdict", measured.verdict()}};
  if (measured.extra_memory) {
    json["extra_bytes"] = measured.extra_memory->bytes;
    json["extra_bytes_allowed"] = measured.extra_memory->allowed;
  }
  json["peers"] = Json::array();
  return json;
}

Json peer_json(const PeerResult& peer) {
  return {{"peer", peer.peer},           {"times", peer.times.median}, {"interval", {peer.times.low, peer.times.high}},
          {"noisy", peer.times.noisy()}, {"seconds", peer.seconds},    {"text", peer.text()}};
}

struct Stopped {};

// Prints results as they arrive, or collects them for one JSON object.
class Reporter {
 public:
  explicit Reporter(bool json) : json_(json) {}

  void add(const bench::Case& measured) {
    bar_.clear();
    if (!json_ && cases_.empty()) std::cout << machine() << std::endl;
    missed_ = missed_ || measured.verdict() == "missed" || measured.verdict() == "the limit is measured wrongly";
    cases_.push_back(case_json(measured));
    if (!json_) print_case(measured);
  }
  void peer(const PeerResult& peer) {
    bar_.clear();
    for (Json& one : cases_) {
      if (one["group"] == peer.group && one["name"] == peer.line) one["peers"].push_back(peer_json(peer));
    }
    if (!json_) print_peer(peer);
  }
  void note(const std::string& text) {
    bar_.clear();
    notes_.push_back(text);
    if (!json_) std::cout << text << std::endl;
  }
  void progress(double done, std::size_t all, const std::string& what) { bar_.show(done, all, what); }

  void finish() {
    bar_.clear();
    if (json_) print_json({{"machine", machine()}, {"lines", cases_}, {"notes", notes_}});
  }
  bool missed() const { return missed_; }
  std::size_t cases() const { return cases_.size(); }

 private:
  bool json_;
  bool missed_ = false;
  Json cases_ = Json::array();
  Json notes_ = Json::array();
  ProgressBar bar_;
};

void run_peers(const bench::Plan& plan, const Interruption& interruption, Reporter& reporter) {
  const std::vector<std::string> programs = peer_programs();
  if (programs.empty()) reporter.note(how_to_get_peers());
  for (const std::string& program : programs) {
    std::size_t heard = 0;
    const auto show = [&] { reporter.progress(static_cast<double>(heard), reporter.cases(), "peers"); };
    show();
    try {
      run_peer_program(program, plan, [&](const PeerResult& result) {
        if (result.line.find(plan.containing) != std::string::npos) reporter.peer(result);
        ++heard;
        show();
        return !interruption.happened();
      });
    } catch (const Error& error) {
      if (!interruption.happened()) reporter.note(error.what());  // keeps the finished cases
    }
    if (interruption.happened()) throw Stopped();
  }
}

bench::Plan plan_of(const BenchRequest& request) {
  bench::Plan plan{.quick = request.quick, .containing = request.containing};
  const auto& wanted = request.groups;
  if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), "all") == wanted.end()) plan.groups = wanted;
  if (request.quick) plan.pairs = {.rounds = 11, .round_seconds = 0.005};
  if (request.rounds) plan.pairs.rounds = *request.rounds;
  return plan;
}

void bench(const BenchRequest& request) {
  if (!request.target.empty()) bench::use_at_most(request.target);
  const bench::Plan plan = plan_of(request);
  const Interruption interruption;
  Reporter reporter(request.json);
  try {
    const auto progress = [&](double done, std::size_t all) {
      if (interruption.happened()) throw Stopped();
      reporter.progress(done, all, std::to_string(all) + " cases");
    };
    bench::run(plan, {.done = [&](const bench::Case& measured) { reporter.add(measured); }, .progress = progress});
    if (request.peers) run_peers(plan, interruption, reporter);
  } catch (const Stopped&) {
    reporter.note("interrupted: only the finished cases are shown");
    reporter.finish();
    std::cout.flush();
    interruption.end_program();
  }
  reporter.finish();
  if (request.check && reporter.missed()) throw CheckFailed();
}

}  // namespace

void add_bench_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Time the kernels against the machine's limits");
  const auto request = std::make_shared<BenchRequest>();
  std::vector<std::string> groups = bench::group_names();
  groups.emplace_back("all");
  command
      ->add_option("group", request->groups,
                   "Time rotate, add, tables, attention, forms, cache, probe, targets or all [all]")
      ->check(CLI::IsMember(groups));
  command->add_option("--cases,--lines", request->containing, "Time only cases whose name contains this, such as Q4_K");
  command->add_flag("--quick", request->quick, "Use fewer and shorter rounds, and no attention over 2048 tokens");
  command->add_option("--rounds", request->rounds, "Measure this many pairs per case [41, quick 11]")
      ->check(CLI::Range(1, 100000));
  command->add_option("--target", request->target,
                      "Use at most this SIMD target, such as AVX2, as if the CPU had no better one");
  command->add_flag("--peers", request->peers, "Also time other projects with the peer programs next to locus");
  command->add_flag("--json", request->json, "Print one JSON object");
  command->add_flag("--check", request->check, "Exit with 1 if a bar is missed");
  command->footer(
      "Each case: the median of paired ratios (1 = as fast as the limit measured back to back), its 95 % interval,\n"
      "the bar of docs/performance.md. Times are processor times of one thread, or by the clock if several threads\n"
      "work. \"noisy\": the interval is wider than 5 %, too wide for a verdict. Ctrl-C keeps finished cases.\n"
      "Example: locus bench rotate --quick");
  command->callback([request] { bench(*request); });
}

}  // namespace locus::tools
