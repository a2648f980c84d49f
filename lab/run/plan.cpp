// SPDX-License-Identifier: Apache-2.0
#include "run/plan.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <sstream>

#include "locus/error.h"
#include "locus/io/model_encoding.h"
#include "locus/settings.h"
#include "run/presets.h"

namespace locus::lab {
namespace {

constexpr std::int64_t longest = 1 << 20;  // above, attention on a CPU takes more than a day

std::vector<std::string> without_repeats(const std::vector<std::string>& names) {
  std::vector<std::string> kept;
  for (const std::string& name : names) {
    if (std::find(kept.begin(), kept.end(), name) == kept.end()) kept.push_back(name);
  }
  return kept;
}

std::int64_t number_of(const std::string& option, std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  require(error == std::errc() && end == text.data() + text.size() && number >= least && number <= most, option,
          " takes whole numbers from ", least, " to ", most, ", got \"", text, "\"");
  return number;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

std::vector<std::int64_t> chosen_seeds(const std::string& text, std::int64_t preset_count) {
  std::vector<std::int64_t> seeds;
  if (text.find(',') != std::string::npos) {
    for (const std::string& part : split(text)) seeds.push_back(number_of("--seeds", part, 0, 1'000'000'000));
    std::sort(seeds.begin(), seeds.end());
    require(std::adjacent_find(seeds.begin(), seeds.end()) == seeds.end(), "--seeds names a seed twice: ", text);
  } else {
    const std::int64_t count = text.empty() ? preset_count : number_of("--seeds", text, 1, 1000);
    for (std::int64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
  }
  require(!seeds.empty(), "--seeds must be a count such as 3 or a list such as 1,5,9, got \"", text, "\"");
  return seeds;
}

/// Returns the trained length, then the longer ones.
std::vector<std::int64_t> chosen_lengths(const std::string& text, const Budget& budget, std::int64_t trained_length) {
  std::vector<std::int64_t> lengths = {trained_length};
  if (text.empty()) {
    for (const std::int64_t times : budget.multiples) lengths.push_back(times * trained_length);
  }
  for (const std::string& part : split(text)) {
    const bool times = part.ends_with('x');
    const std::int64_t number = number_of("--lengths", times ? part.substr(0, part.size() - 1) : part, 1, longest);
    lengths.push_back(times ? number * trained_length : number);
  }
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  require(lengths.front() == trained_length, "--lengths must not be below the trained length of the task ", budget.task,
          " (", trained_length, "), got ", lengths.front());
  require(lengths.back() <= longest, "--lengths must be at most ", longest, " tokens, got ", lengths.back());
  return lengths;
}

TrialSpec spec_of(const PlanRequest& request, const Preset& preset, const Budget& budget) {
  TrialSpec spec;
  spec.task = budget.task;
  spec.trained_length = request.trained_length.value_or(budget.trained_length);
  require(spec.trained_length >= 8 && spec.trained_length <= 65536, "--train-length must be from 8 to 65536, got ",
          spec.trained_length);
  spec.lengths = chosen_lengths(request.lengths, budget, spec.trained_length);
  spec.steps = request.steps.value_or(budget.steps);
  require(spec.steps >= 1 && spec.steps <= 10'000'000, "--steps must be from 1 to 10000000, got ", spec.steps);
  spec.tune_steps = budget.tune_steps;
  spec.batch = budget.batch;
  spec.test_rows = budget.test_rows;
  spec.learning_rate = budget.learning_rate;
  spec.model = budget.model;
  spec.every_rule = preset.every_rule;
  if (spec.task == "text") {
    require(!request.text_file.empty(), "the task text needs --text FILE");
    require(std::filesystem::is_regular_file(request.text_file), "--text ", request.text_file, " is not a file");
    spec.text_file = std::filesystem::absolute(request.text_file).lexically_normal().string();
  }
  return spec;
}

std::vector<std::string> chosen_tasks(const PlanRequest& request, const Preset& preset) {
  std::vector<std::string> tasks = request.tasks.empty() ? preset.tasks : without_repeats(request.tasks);
  if (request.tasks.empty() && !request.text_file.empty()) tasks.emplace_back("text");
  return tasks;
}

/// Returns the encoding of a config as a spelling, without what the lab's model determines: a trial must say what was
/// trained even after the file has changed.
std::string spelled_out(const std::string& config) {
  static const std::set<std::string> sizes = {"head_dim", "rotary_dim", "heads", "dim", "max_positions"};
  const io::LayerEncoding read = io::model_encoding(config).read;
  std::string text = read.scheme;
  for (const auto& [name, value] : read.arguments.all()) {
    if (!sizes.contains(name)) text += (text.size() == read.scheme.size() ? ":" : ",") + name + "=" + to_text(value);
  }
  return text;
}

std::vector<std::string> chosen_schemes(const PlanRequest& request, const Preset& preset) {
  std::vector<std::string> schemes = request.schemes.empty() ? preset.schemes : std::vector<std::string>();
  for (const std::string& given : request.schemes) {
    for (std::string& one : split_spellings(given)) schemes.push_back(std::move(one));
  }
  for (std::string& scheme : schemes) {
    if (scheme == "none") scheme = "nope";
    if (scheme.starts_with('@')) scheme = spelled_out(scheme.substr(1));
    require_encoding_name(scheme.substr(0, scheme.find(':')));
    require(scheme.find('+') == std::string::npos, "--schemes: \"", scheme,
            "\" is a line of results; stretched lines come with the trained scheme");
  }
  return without_repeats(schemes);
}

}  // namespace

double training_work(const TrialSpec& spec) {
  const std::int64_t longest = spec.lengths.empty() ? spec.trained_length : spec.lengths.back();
  const std::int64_t tokens = spec.steps * spec.trained_length + spec.tune_steps * longest;
  return static_cast<double>(tokens * spec.batch * spec.model.layers * spec.model.width);
}

Plan make_plan(const PlanRequest& request) {
  const Preset& preset = find_preset(request.preset);
  Plan plan{preset.name,
            chosen_tasks(request, preset),
            chosen_schemes(request, preset),
            chosen_seeds(request.seeds, preset.seeds),
            {}};
  std::vector<TrialSpec> specs;
  for (const std::string& task : plan.tasks) specs.push_back(spec_of(request, preset, find_budget(preset.name, task)));
  // The shortest task first: it gives the first answer. Equals keep their order.
  std::stable_sort(specs.begin(), specs.end(),
                   [](const TrialSpec& a, const TrialSpec& b) { return training_work(a) < training_work(b); });
  for (const std::int64_t seed : plan.seeds) {
    for (TrialSpec& spec : specs) {
      for (const std::string& scheme : plan.schemes) {
        spec.seed = seed;
        spec.scheme = scheme;
        plan.trials.push_back(spec);
      }
    }
  }
  return plan;
}

}  // namespace locus::lab
