// SPDX-License-Identifier: Apache-2.0
#include "learn/comparison.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "locus/error.h"
#include "results/file.h"
#include "results/standings.h"

namespace locus::learn {
namespace {

namespace fs = std::filesystem;
using results::Results;

constexpr std::array compared = {"sinusoidal", "learned", "rope", "alibi"};
constexpr std::array compared_tasks = {"order", "verbs"};

/// The schemes of each task, best first.
using Prediction = std::map<std::string, std::vector<std::string>>;

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Lines `task: scheme > scheme > scheme > scheme`.
Prediction read_prediction(const std::string& text) {
  Prediction prediction;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::vector<std::string>& order = prediction[in_small_letters(line.substr(0, colon))];
    std::string rest = in_small_letters(line.substr(colon + 1));
    std::replace_if(
        rest.begin(), rest.end(), [](char c) { return !is_digit(c) && !(c >= 'a' && c <= 'z') && c != '_'; }, ' ');
    std::istringstream words(rest);
    for (std::string word; words >> word;) order.push_back(word);
  }
  for (const char* task : compared_tasks) {
    if (!prediction.contains(task) || prediction[task].empty()) {
      throw BrokenLaw{"comparison.no_prediction", {}, {{"task", task}}};
    }
    for (const std::string& name : prediction[task]) {
      if (std::find(compared.begin(), compared.end(), name) == compared.end()) {
        throw BrokenLaw{"comparison.unknown_scheme", {}, {{"task", task}, {"scheme", name}}};
      }
    }
    for (const char* name : compared) {
      if (std::count(prediction[task].begin(), prediction[task].end(), name) != 1) {
        throw BrokenLaw{"comparison.each_once", {}, {{"task", task}, {"scheme", name}}};
      }
    }
  }
  return prediction;
}

Results read_results_of(const fs::path& folder) {
  const fs::path file = folder / "lab" / "results.json";
  if (!fs::exists(file)) throw BrokenLaw{"comparison.no_results", {}, {{"folder", folder.filename().string()}}};
  Results results = results::read_file(file);
  for (const char* name : compared_tasks) {
    const results::Task* task = results.find_task(name);
    if (task == nullptr) throw BrokenLaw{"comparison.task_missing", {}, {{"task", name}}};
    for (const char* scheme : compared) {
      const results::BySeed found = averages(results, *task, ranked_range(*task), scheme);
      if (!results::estimate(found))
        throw BrokenLaw{"comparison.scheme_missing", {}, {{"task", name}, {"scheme", scheme}}};
    }
  }
  return results;
}

/// How many of the six pairs of schemes a prediction has in the measured order; equal scores count for it.
int pairs_right(const Results& results, const results::Task& task, const std::vector<std::string>& order) {
  const auto score = [&](const std::string& line) {
    return results::estimate(averages(results, task, ranked_range(task), line))->mean;
  };
  int right = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j)
      right += task.is_better(score(order[j]), score(order[i])) ? 0 : 1;
  }
  return right;
}

/// A number of the argument: its value, half a unit of its last digit, and how it is written.
struct Stated {
  double value = 0, half_unit = 0;
  std::string text;
};

/// Numbers with a decimal point or comma, and percentages. Not by std::regex, which recurses for every digit.
std::vector<Stated> numbers_in(const std::string& text) {
  const auto after_digits = [&](std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
  };
  std::vector<Stated> found;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = std::max(end, begin + 1)) {
    end = after_digits(begin);
    if (end == begin) continue;
    std::string digits = text.substr(begin, end - begin);
    std::size_t decimals = 0;
    if (end < text.size() && (text[end] == '.' || text[end] == ',')) {
      decimals = after_digits(end + 1) - (end + 1);
      digits += "." + text.substr(end + 1, decimals);
      if (decimals > 0) end += 1 + decimals;
    }
    const std::size_t sign = end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) ? end + 1 : end;
    const bool percent = sign < text.size() && text[sign] == '%';
    if (percent) end = sign + 1;
    if (decimals == 0 && !percent) continue;
    const double unit = std::pow(10.0, -static_cast<double>(decimals)) * (percent ? 0.01 : 1);
    const double value = std::strtod(digits.c_str(), nullptr) * (percent ? 0.01 : 1);
    found.push_back({value, 0.5000001 * unit, text.substr(begin, end - begin)});
  }
  return found;
}

/// The compared schemes that a text names.
std::vector<std::string> schemes_in(const std::string& text) {
  const std::string words = in_small_letters(text);
  std::vector<std::string> named;
  for (const char* scheme : compared) {
    if (words.find(scheme) != std::string::npos) named.emplace_back(scheme);
  }
  return named;
}

/// The results of these schemes in a task: by line and length, means, intervals, single seeds and differences from the baseline. Curves of
/// training and losses by position are in results.json too, but so many that any number would be near one of them.
std::vector<double> numbers_of(const Results& results, const std::string& task,
                               const std::vector<std::string>& schemes) {
  std::vector<double> all;
  const auto wanted = [&](const auto& entry) {
    return entry.task == task && std::any_of(schemes.begin(), schemes.end(), [&](const std::string& scheme) {
             return (entry.line + "+").starts_with(scheme + "+");  // rope+yarn is a result of rope
           });
  };
  const auto add = [&](const results::Estimate& one) {
    all.push_back(one.mean);
    if (one.low) all.push_back(*one.low);
    if (one.high) all.push_back(*one.high);
  };
  for (const results::Number& number : results.numbers) {
    if (!wanted(number) || number.place != -1) continue;
    if (number.estimate) add(*number.estimate);
    for (const auto& value : number.values) {
      if (value) all.push_back(*value);
    }
  }
  for (const results::Pair& pair : results.pairs) {
    if (wanted(pair)) add(pair.difference);
  }
  for (const results::Outcome& outcome : results.outcomes) {
    if (!wanted(outcome)) continue;
    if (outcome.in_range) all.push_back(*outcome.in_range);
    if (outcome.beyond) all.push_back(*outcome.beyond);
  }
  return all;
}

bool holds(const std::vector<double>& numbers, const Stated& stated) {
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](double one) { return std::abs(std::abs(one) - stated.value) <= stated.half_unit; });
}

/// The evidence, not the opinion: three numbers or more, all of them in the results, of both tasks, and two schemes named.
void check_argument(const std::string& text, const Results& results) {
  const std::vector<Stated> stated = numbers_in(text);
  if (stated.size() < 3) throw BrokenLaw{"comparison.few_numbers", {}, {{"count", shown(stated.size())}}};
  const std::vector<std::string> schemes = schemes_in(text);
  if (schemes.size() < 2) throw BrokenLaw{"comparison.one_scheme"};
  std::set<std::string> tasks;
  for (const Stated& one : stated) {
    bool known = false;
    for (const char* task : compared_tasks) {
      if (!holds(numbers_of(results, task, schemes), one)) continue;
      known = true;
      tasks.insert(task);
    }
    if (!known) throw BrokenLaw{"comparison.invented", {}, {{"number", one.text}}};
  }
  const std::string words = in_small_letters(text);
  for (const char* task : compared_tasks) {
    if (!tasks.contains(task) || words.find(task) == std::string::npos) {
      throw BrokenLaw{"comparison.one_task", {}, {{"task", task}}};
    }
  }
}

}  // namespace

void grade_comparison(Workspace& workspace, const Exercise& exercise, const Sentences& sentences,
                      std::vector<std::string>& notes) {
  const fs::path folder = workspace.path_of(exercise);
  for (const char* name : {"prediction.txt", "argument.md"}) {
    if (!fs::exists(folder / name)) {
      throw BrokenLaw{"run.no_file", {}, {{"file", name}, {"exercise", std::string(exercise.id)}}};
    }
  }
  const std::string written = text_at(folder / "prediction.txt");
  read_prediction(written);
  std::string& kept = workspace.progress(exercise).prediction;
  const bool has_results = fs::exists(folder / "lab" / "results.json");
  if (!has_results) kept = written;
  const Results results = read_results_of(folder);
  if (kept.empty()) {
    notes.push_back(sentences.text("comparison.late"));
  } else if (kept != written) {
    notes.push_back(sentences.text("comparison.changed"));
  }
  for (const auto& [task, order] : read_prediction(kept.empty() ? written : kept)) {
    if (const results::Task* found = results.find_task(task)) {
      notes.push_back(
          sentences.text("comparison.scored", {{"task", task}, {"right", shown(pairs_right(results, *found, order))}}));
    }
  }
  check_argument(text_at(folder / "argument.md"), results);
}

}  // namespace locus::learn
