// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "doctor/faults.h"
#include "doctor/mutants/lists.h"

namespace mutants {
namespace {

std::string cause_in(const std::vector<locus::Check>& checks) {
  for (const locus::Check& check : checks) {
    const std::size_t found = check.note.find("likely cause: ");
    if (!check.pass && found != std::string::npos) return check.note.substr(found + 14);
  }
  return "nothing";
}

bool names(const Subject& subject, const std::string& cause) {
  return std::any_of(subject.faults.begin(), subject.faults.end(), [&](const std::string& id) {
    const std::string name(locus::doctor::find_fault(id).name);
    return cause == name || cause.starts_with(name + " (");
  });
}

struct Outcome {
  std::vector<locus::Check> checks;
  double seconds = 0;
};

/// Returns every `step`-th subject, in order; runs on all cores.
std::vector<Outcome> verify_all(const std::vector<Subject>& subjects, std::size_t step) {
  std::vector<Outcome> outcomes((subjects.size() + step - 1) / step);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < outcomes.size(); i = next++) {
      const auto start = std::chrono::steady_clock::now();
      outcomes[i].checks = subjects[i * step].verify();
      outcomes[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace

std::vector<Subject> planted_faults() {
  List list;
  plant_in_rotations(list);
  plant_in_attention(list);
  plant_in_scores(list);
  plant_odd_ones(list);
  plant_odd_ones_in_scores(list);
  return list.all;
}

Score run_planted(const std::vector<Subject>& subjects, std::size_t step, bool verbose) {
  Score score;
  std::map<std::string, Score> by_site;
  const std::vector<Outcome> outcomes = verify_all(subjects, step);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Subject& subject = subjects[i * step];
    const bool caught = locus::failed(outcomes[i].checks) > 0;
    const std::string cause = cause_in(outcomes[i].checks);
    const bool named = caught && names(subject, cause);
    for (Score* one : {&score, &by_site[subject.site]}) {
      one->all += 1;
      one->caught += caught ? 1 : 0;
      one->named += named ? 1 : 0;
    }
    const std::string what = subject.site + ": " + subject.name;
    if (!caught) score.survivors.push_back(what);
    if (caught && !named) score.misnamed.push_back(what + ": " + cause);
    if (verbose) {
      std::printf("%6.2f s  %s  %s: %s\n", outcomes[i].seconds,
                  !caught ? "LIVES"
                  : named ? "named"
                          : "OTHER",
                  what.c_str(), cause.c_str());
    }
    score.slowest = std::max(score.slowest, outcomes[i].seconds);
  }
  for (const auto& [site, own] : by_site)
    std::printf("%-10s %4d planted, %4d caught, %4d named\n", site.c_str(), own.all, own.caught, own.named);
  std::printf("all        %4d planted, %4d caught (%.1f %%), %4d named (%.1f %%)\n", score.all, score.caught,
              100.0 * score.caught / score.all, score.named, 100.0 * score.named / score.all);
  std::printf("slowest    %.1f s\n", score.slowest);
  for (const std::string& one : score.survivors) std::printf("survives  %s\n", one.c_str());
  for (const std::string& one : score.misnamed) std::printf("misnamed  %s\n", one.c_str());
  return score;
}

std::vector<std::string> refused(const std::vector<Subject>& subjects, std::size_t step) {
  std::vector<std::string> all;
  const std::vector<Outcome> outcomes = verify_all(subjects, step);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::vector<locus::Check>& checks = outcomes[i].checks;
    const std::string& name = subjects[i * step].name;
    if (checks.size() < 5) all.push_back(name + ": only " + std::to_string(checks.size()) + " checks");
    for (const locus::Check& check : checks) {
      if (!check.pass) {
        all.push_back(name + ": " + check.name + ": " + std::to_string(check.value) + " against " +
                      std::to_string(check.bound) + ": " + check.note);
        break;
      }
    }
  }
  return all;
}

}  // namespace mutants
