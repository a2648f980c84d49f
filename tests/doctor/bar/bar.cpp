// SPDX-License-Identifier: Apache-2.0
// Measures diagnose on generated dumps: how often the first verdict is right, how often it is wrong and confident, and
// whether confidence is calibrated.
//   diagnose_bar [--first N] [--dumps N] [--seed S] [--plant NAME] [--easy] [--confident-wrong K] [--verbose]
//                [--threads T] [--encodings]
// With --encodings, dumps are of encodings that declare more than the rotation of pairs.
// With --easy, dumps have 128 tokens in float32: at least 99 % must be right, otherwise 97 %.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "doctor/bar/cases.h"

namespace locus::bar {
namespace {

struct Options {
  int confident_wrong = 0;  // the number that may be wrong and confident
  int first = 0;
  int dumps = 5000;
  std::uint64_t seed = 1;
  std::string plant = {};
  bool easy = false;
  bool encodings = false;
  bool verbose = false;
  unsigned threads = 2;
};

struct Outcome {
  std::size_t number = 0;
  std::string plant, about = {}, told = {};
  std::int64_t tokens = 0;
  const Numerics* numerics = nullptr;  // absent for biases
  std::string first = {};
  double confidence = 0;
  bool first_right = false;  // its name is one of the right ones
  bool first_true = false;   // it is the true one, if no dump can distinguish two
  bool right = false;        // or the verdicts contain one, are not confident, and `decide` says what would decide
  double seconds = 0;
};

const std::vector<Numerics>& all_numerics() {
  using enum Type;
  static const std::vector<Numerics> all = {
      {.before = float32, .after = float32, .steps = float32},
      {.before = float32, .after = float32, .steps = float32, .fused = true, .float32_angles = true},
      {.before = float64, .after = float64, .steps = float64},
      {.before = bfloat16, .after = bfloat16, .steps = float32, .float32_angles = true},
      {.before = bfloat16, .after = bfloat16, .steps = bfloat16, .float32_angles = true},
      {.before = float16, .after = float16, .steps = float32},
      {.before = float16, .after = float16, .steps = float16, .fused = true, .float32_angles = true},
      {.before = float32, .after = bfloat16, .steps = float32, .float32_angles = true},
      {.before = float32, .after = float16, .steps = float32},
      {.before = float32, .after = bfloat16, .steps = bfloat16},
      {.before = float32, .after = float32, .steps = float32, .float32_angles = true, .noise = 1e-3},
      {.before = float32, .after = float32, .steps = float32, .noise = 1e-5},
      {.before = bfloat16, .after = bfloat16, .steps = float32, .noise = 1e-3},
      {.before = float32, .after = float32, .steps = bfloat16},
      {.before = float64, .after = float64, .steps = float32, .float32_angles = true}};
  return all;
}

constexpr std::int64_t lengths[] = {8, 16, 64, 128, 1024};

std::string told_of(const std::vector<Verdict>& verdicts) {
  std::ostringstream text;
  for (const Verdict& verdict : verdicts) {
    text << "    " << std::setprecision(3) << verdict.confidence << ' ' << verdict.name << ": " << verdict.text << " ["
         << verdict.evidence << "]\n";
  }
  return text.str();
}

void judge(Outcome& outcome, const std::vector<Verdict>& verdicts, const std::set<std::string>& right, bool decides) {
  outcome.told = told_of(verdicts);
  if (verdicts.empty()) return;
  outcome.first = verdicts.front().name;
  outcome.confidence = verdicts.front().confidence;
  outcome.first_right = right.contains(outcome.first);
  outcome.first_true = outcome.first_right;
  const bool holds = std::any_of(verdicts.begin(), verdicts.end(),
                                 [&](const Verdict& verdict) { return right.contains(verdict.name); });
  outcome.right = outcome.first_right || (holds && decides && outcome.confidence < confident);
}

// Consecutive dumps differ in plant, length and numerics, and each plant meets every length with every numerics within
// 75 rounds.
struct Stratum {
  std::int64_t tokens;
  const Numerics& numerics;
};

Stratum stratum_of(std::uint64_t plant, std::uint64_t round) {
  constexpr std::uint64_t count = std::size(lengths);
  const std::uint64_t numerics = round / count + 3 * (round % count) + 7 * plant;
  return {lengths[(round + plant) % count], all_numerics()[numerics % all_numerics().size()]};
}

Outcome rotation_outcome(const std::string& plant, const Stratum& stratum, Random& random) {
  const Case one = make_case(plant, stratum.tokens, stratum.numerics, random);
  Outcome outcome{
      .number = 0, .plant = plant, .about = one.about, .tokens = one.shape.tokens, .numerics = &stratum.numerics};
  const auto start = std::chrono::steady_clock::now();
  try {
    const Diagnosis diagnosis = diagnose(one.dump, one.expected);
    judge(outcome, diagnosis.verdicts, one.right, !diagnosis.decide.empty());
    if (!one.truth.empty()) outcome.first_true = outcome.first == one.truth;
    for (const std::string& text : diagnosis.decide) outcome.told += "    to decide: " + text + "\n";
  } catch (const std::exception& error) {
    outcome.told = std::string("    threw ") + error.what() + "\n";
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

Outcome bias_outcome(const std::string& plant, Random& random) {
  const BiasCase one = make_bias_case(plant, random);
  Outcome outcome{.number = 0, .plant = "bias " + plant};
  outcome.about = outcome.plant + ": " + std::to_string(one.dump.heads) + "x" + std::to_string(one.dump.queries) + "x" +
                  std::to_string(one.dump.keys);
  try {
    judge(outcome, diagnose_bias(one.dump, one.expected).verdicts, one.right, false);
  } catch (const std::exception& error) {
    outcome.told = std::string("    threw ") + error.what() + "\n";
  }
  return outcome;
}

// Dump n does not depend on the thread that makes it, or on their number.
Outcome outcome_of(const Options& options, std::uint64_t n) {
  std::vector<std::string> plants = options.encodings ? encoding_plants() : rotation_plants();
  const std::size_t rotations = plants.size();
  if (!options.encodings) plants.insert(plants.end(), bias_plants().begin(), bias_plants().end());
  Random random(options.seed * 1000003 + n);
  std::size_t chosen = n % plants.size();
  if (!options.plant.empty()) {
    chosen = static_cast<std::size_t>(std::find(plants.begin(), plants.end(), options.plant) - plants.begin());
    if (chosen == plants.size()) throw std::runtime_error("unknown plant " + options.plant);
  }
  if (chosen >= rotations) return bias_outcome(plants[chosen], random);
  const Stratum stratum = stratum_of(chosen, options.plant.empty() ? n / plants.size() : n);
  return rotation_outcome(plants[chosen], options.easy ? Stratum{128, all_numerics().front()} : stratum, random);
}

void print_outcome(const Outcome& one) {
  const bool confidently = !one.right && one.confidence >= confident;
  std::cout << (confidently ? "CONFIDENT AND WRONG "
                : one.right ? "right "
                            : "wrong ")
            << one.number << ' ' << one.about << '\n'
            << one.told;
  std::cout.flush();  // the whole takes minutes
}

std::vector<Outcome> run_all(const Options& options) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(options.dumps));
  std::atomic<std::size_t> next = 0;
  std::mutex printing;
  const auto work = [&] {
    for (std::size_t n = next++; n < outcomes.size(); n = next++) {
      const std::size_t number = n + static_cast<std::size_t>(options.first);
      outcomes[n] = outcome_of(options, number);
      outcomes[n].number = number;
      if (outcomes[n].right && !options.verbose) continue;
      const std::scoped_lock lock(printing);
      print_outcome(outcomes[n]);
    }
  };
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < options.threads; ++t) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  return outcomes;
}

void print_plants(const std::vector<Outcome>& outcomes) {
  struct Count {
    int all = 0, right = 0, confident_wrong = 0;
    double seconds = 0;
  };
  std::map<std::string, Count> counts;
  for (const Outcome& one : outcomes) {
    Count& count = counts[one.plant];
    ++count.all;
    count.right += one.right;
    count.confident_wrong += !one.right && one.confidence >= confident;
    count.seconds += one.seconds;
  }
  std::cout << "plants that were not always right (right / all, confident and wrong, seconds):\n";
  for (const auto& [plant, count] : counts) {
    if (count.right == count.all) continue;
    std::cout << "  " << plant << ": " << count.right << " / " << count.all << ", " << count.confident_wrong << ", "
              << count.seconds << '\n';
  }
}

std::string text_of(const Numerics& numerics) {
  std::ostringstream text;
  text << name_of(numerics.before) << " to " << name_of(numerics.after) << " by " << name_of(numerics.steps);
  if (numerics.noise > 0) text << ", noise " << numerics.noise;
  return text.str();
}

void print_shares(const std::vector<Outcome>& outcomes) {
  std::map<std::string, std::pair<int, int>> counts;
  for (const Outcome& one : outcomes) {
    std::vector<std::string> keys = {one.numerics == nullptr ? "biases" : text_of(*one.numerics)};
    if (one.numerics != nullptr) keys.push_back(std::to_string(one.tokens) + " tokens");
    for (const std::string& key : keys) {
      ++counts[key].first;
      counts[key].second += one.right;
    }
  }
  std::cout << "right by kind of dump (dumps, percent):\n";
  for (const auto& [key, count] : counts) {
    std::cout << "  " << key << ": " << count.first << ", " << std::setprecision(4)
              << 100.0 * count.second / count.first << '\n';
  }
}

void print_calibration(const std::vector<Outcome>& outcomes) {
  std::cout << "confidence of the first verdict: dumps, share whose first verdict is right\n";
  constexpr double edges[] = {0, 0.3, 0.5, 0.7, 0.9, 0.97, 1.01};
  for (std::size_t b = 0; b + 1 < std::size(edges); ++b) {
    int all = 0, right = 0;
    double sum = 0;
    for (const Outcome& one : outcomes) {
      if (one.confidence < edges[b] || one.confidence >= edges[b + 1]) continue;
      ++all;
      right += one.first_true;
      sum += one.confidence;
    }
    if (all == 0) continue;
    std::cout << "  " << edges[b] << " to " << std::min(edges[b + 1], 1.0) << " (mean " << std::setprecision(3)
              << sum / all << "): " << all << ", " << static_cast<double>(right) / all << '\n';
  }
}

int run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Outcome> outcomes = run_all(options);
  int right = 0, confident_wrong = 0;
  for (const Outcome& one : outcomes) {
    right += one.right;
    confident_wrong += !one.right && one.confidence >= confident;
  }
  print_plants(outcomes);
  print_shares(outcomes);
  print_calibration(outcomes);
  const double share = static_cast<double>(right) / static_cast<double>(outcomes.size());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << outcomes.size() << " dumps: " << 100 * share << " % right, " << confident_wrong
            << " confident and wrong; " << seconds.count() << " s\n";
  return share >= (options.easy ? 0.99 : 0.97) && confident_wrong <= options.confident_wrong ? 0 : 1;
}

Options parse(int count, char** arguments) {
  Options options;
  for (int n = 1; n < count; ++n) {
    const std::string name = arguments[n];
    const auto value = [&] { return std::string(n + 1 < count ? arguments[++n] : ""); };
    if (name == "--first")
      options.first = std::stoi(value());
    else if (name == "--dumps")
      options.dumps = std::stoi(value());
    else if (name == "--seed")
      options.seed = std::stoull(value());
    else if (name == "--confident-wrong")
      options.confident_wrong = std::stoi(value());
    else if (name == "--plant")
      options.plant = value();
    else if (name == "--threads")
      options.threads = static_cast<unsigned>(std::stoul(value()));
    else if (name == "--easy")
      options.easy = true;
    else if (name == "--encodings")
      options.encodings = true;
    else if (name == "--verbose")
      options.verbose = true;
    else
      throw std::runtime_error("unknown option " + name);
  }
  return options;
}

}  // namespace
}  // namespace locus::bar

int main(int count, char** arguments) {
  try {
    return locus::bar::run(locus::bar::parse(count, arguments));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
