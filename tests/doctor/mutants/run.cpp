// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

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

}  // namespace

std::vector<Subject> planted_faults() {
  List list;
  plant_in_rotations(list);
  plant_in_attention(list);
  plant_in_scores(list);
  return list.all;
}

Score run_planted(const std::vector<Subject>& subjects, std::size_t step, bool verbose) {
  Score score;
  std::map<std::string, Score> by_site;
  for (std::size_t i = 0; i < subjects.size(); i += step) {
    const Subject& subject = subjects[i];
    const auto start = std::chrono::steady_clock::now();
    const std::vector<locus::Check> checks = subject.verify();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Score& own = by_site[subject.site];
    const bool caught = locus::failed(checks) > 0;
    const std::string cause = cause_in(checks);
    const bool named = caught && names(subject, cause);
    for (Score* one : {&score, &own}) {
      one->all += 1;
      one->caught += caught ? 1 : 0;
      one->named += named ? 1 : 0;
    }
    const std::string what = subject.site + ": " + subject.name;
    if (!caught) score.survivors.push_back(what);
    if (caught && !named) score.misnamed.push_back(what + ": " + cause);
    if (verbose || seconds > 15)
      std::printf("%6.2f s  %s  %s: %s\n", seconds,
                  !caught ? "LIVES"
                  : named ? "named"
                          : "OTHER",
                  what.c_str(), cause.c_str());
    std::fflush(stdout);
  }
  for (const auto& [site, own] : by_site)
    std::printf("%-10s %4d planted, %4d caught, %4d named\n", site.c_str(), own.all, own.caught, own.named);
  std::printf("all        %4d planted, %4d caught (%.1f %%), %4d named (%.1f %%)\n", score.all, score.caught,
              100.0 * score.caught / score.all, score.named, 100.0 * score.named / score.all);
  for (const std::string& one : score.survivors) std::printf("survives  %s\n", one.c_str());
  for (const std::string& one : score.misnamed) std::printf("misnamed  %s\n", one.c_str());
  return score;
}

std::vector<std::string> refused(const std::vector<Subject>& subjects, std::size_t step) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < subjects.size(); i += step) {
    const std::vector<locus::Check> checks = subjects[i].verify();
    if (checks.size() < 5) all.push_back(subjects[i].name + ": only " + std::to_string(checks.size()) + " checks");
    for (const locus::Check& check : checks) {
      if (!check.pass) {
        all.push_back(subjects[i].name + ": " + check.name + ": " + std::to_string(check.value) + " against " +
                      std::to_string(check.bound) + ": " + check.note);
        break;
      }
    }
  }
  return all;
}

}  // namespace mutants
