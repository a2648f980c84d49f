// SPDX-License-Identifier: Apache-2.0
// `locus verify`: measures whether encodings satisfy their claims.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <set>

#include "check_output.h"
#include "encoding_options.h"
#include "learn/verify_file.h"
#include "locus/doctor/broken.h"
#include "locus/doctor/equivalences.h"
#include "locus/doctor/example_encodings.h"
#include "locus/doctor/properties.h"
#include "locus/error.h"
#include "printable.h"
#include "progress_bar.h"

namespace locus::tools {
namespace {

struct VerifyRequest {
  EncodingOptions encoding;
  std::string broken;
  std::string function;
  int shapes = 3;
  bool thorough = false;
  bool json = false;
  bool list = false;
  bool all = false;
};

/// One encoding to verify; `layer_type` if a config has several layer types.
struct Target {
  std::string name;
  std::string layer_type;
  Encoding encoding;
};

/// The checks of one layer type, or of everything that is not a config.
struct Section {
  std::string layer_type;
  std::vector<Check> checks;
};

/// Whether there are options that need an encoding.
bool modifies_encodings(const EncodingOptions& options) {
  return !options.settings.empty() || !options.pairing.empty() || !options.profile.empty() || options.seq_len ||
         !options.layer_type.empty();
}

/// A scheme without settings means all its examples.
bool is_bare(const Spelling& spelling, const EncodingOptions& options) {
  return spelling.config.empty() && spelling.settings.empty() && !modifies_encodings(options);
}

std::vector<Target> targets_of(const EncodingOptions& options) {
  std::vector<Target> targets;
  const std::vector<Spelling> spellings = spellings_of(options);
  require(!spellings.empty() || !modifies_encodings(options),
          "--set, --pairing, --profile, --seq-len and --layer-type need --scheme or --config");
  const auto add_examples = [&](const std::vector<NamedEncoding>& examples) {
    for (const NamedEncoding& one : examples) targets.push_back({one.name, "", one.encoding});
  };
  if (spellings.empty()) add_examples(example_encodings());
  for (const Spelling& spelling : spellings) {
    if (is_bare(spelling, options)) {
      add_examples(example_encodings(spelling.scheme));
      continue;
    }
    const bool short_form = spelling.config.empty() && spelling.text != spelling.scheme;
    for (const ChosenEncoding& one : choose_encodings(options, short_form ? with_required(spelling) : spelling, {})) {
      const std::string name = short_form ? spelling.text : std::string(one.encoding.scheme().name);
      targets.push_back({name, one.layer_type, one.encoding});
    }
  }
  return targets;
}

void append(std::vector<Check>& checks, std::vector<Check> more, const std::string& name) {
  for (Check& check : more) {
    check.scheme = name;
    checks.push_back(std::move(check));
  }
}

/// Runs all checks of one encoding.
std::vector<Check> gather_checks(const Target& target, const EquivalenceOptions& options, bool reach) {
  std::vector<Check> checks;
  append(checks, verify_properties(target.encoding), target.name);
  append(checks, verify_equivalences(target.encoding, options), target.name);
  if (reach) append(checks, verify_reach(target.encoding, options), target.name);
  return checks;
}

/// The worked examples, if all schemes or a scheme without settings are verified.
std::vector<Check> examples_of(const EncodingOptions& options) {
  const std::vector<Spelling> spellings = spellings_of(options);
  std::vector<Check> checks;
  for (const Check& check : verify_worked_examples()) {
    const auto names_it = [&](const Spelling& spelling) {
      return is_bare(spelling, options) &&
             (check.scheme == spelling.scheme || check.scheme.starts_with(spelling.scheme + " "));
    };
    if (spellings.empty() || std::any_of(spellings.begin(), spellings.end(), names_it)) checks.push_back(check);
  }
  return checks;
}

std::vector<Section> sections_of(const VerifyRequest& request) {
  const EncodingOptions& options = request.encoding;
  std::vector<Section> sections;
  const std::vector<Target> targets = targets_of(options);
  ProgressBar progress;
  double done = 0;
  for (const Target& target : targets) {
    progress.show(done++, targets.size(), "the encodings: " + target.name);
    if (sections.empty() || sections.back().layer_type != target.layer_type) {
      sections.push_back({target.layer_type, {}});
    }
    // Given encodings, and each layer type of a config, get all checks; the examples of the registry only with
    // --thorough.
    const std::vector<Check> checks =
        gather_checks(target, {.shapes = request.list ? 1 : request.shapes, .thorough = request.thorough},
                      targets.size() == 1 || !target.layer_type.empty() || request.thorough);
    sections.back().checks.insert(sections.back().checks.end(), checks.begin(), checks.end());
  }
  const std::vector<Check> examples = examples_of(options);
  if (examples.empty()) return sections;
  if (sections.empty() || !sections.back().layer_type.empty()) sections.push_back({"", {}});
  sections.back().checks.insert(sections.back().checks.end(), examples.begin(), examples.end());
  return sections;
}

void print_as_json(const std::vector<Section>& sections, std::int64_t passed, std::int64_t failed) {
  Json checks = Json::array();
  for (const Section& section : sections) {
    for (const Check& check : section.checks) {
      Json one = check_json(check);
      if (!section.layer_type.empty()) one["layer_type"] = section.layer_type;
      checks.push_back(std::move(one));
    }
  }
  print_json({{"checks", checks}, {"passed", passed}, {"failed", failed}});
}

/// Every check, under the name of its encoding.
void print_all(std::span<const Check> checks) {
  std::string scheme;
  for (const Check& check : checks) {
    if (check.scheme != scheme) std::cout << check.scheme << '\n';
    scheme = check.scheme;
    std::cout << "  ";
    print_check(check);
  }
}

void print_as_text(const std::vector<Section>& sections, bool all, std::int64_t passed, std::int64_t failed) {
  for (const Section& section : sections) {
    if (!section.layer_type.empty()) std::cout << "layer type " << printable(section.layer_type) << '\n';
    all ? print_all(section.checks) : print_summaries(section.checks);
  }
  std::cout << passed << " passed, " << failed << " failed\n";
}

/// Prints every name once, in the order of the checks.
void print_names(const std::vector<Section>& sections, bool json) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Section& section : sections) {
    for (const Check& check : section.checks) {
      if (seen.insert(check.name).second) names.push_back(check.name);
    }
  }
  if (json) {
    print_json({{"names", names}});
    return;
  }
  for (const std::string& name : names) std::cout << name << '\n';
}

void list_broken(bool json) {
  Json all = Json::array();
  for (const Broken& broken : broken_encodings()) {
    all.push_back({{"name", broken.name}, {"fault", broken.fault}});
    if (!json) std::cout << std::left << std::setw(28) << broken.name << broken.fault << '\n';
  }
  if (json) print_json({{"broken", all}});
}

std::vector<Section> broken_section(const std::string& name) {
  std::vector<Section> sections(1);
  sections[0].checks = verify_broken(name);
  return sections;
}

/// The checks of a function in a file, against the only encoding of the options.
std::vector<Section> function_section(const VerifyRequest& request) {
  const ChosenEncoding chosen = choose_encoding(request.encoding, {});
  std::vector<Section> sections(1);
  sections[0].checks =
      learn::verify_file(chosen.encoding, learn::Course(), request.function, {.thorough = request.thorough});
  return sections;
}

void verify(const VerifyRequest& request) {
  if (request.broken == "list") return list_broken(request.json);
  require(request.broken.empty() || (request.encoding.schemes.empty() && request.encoding.config.empty() &&
                                     !modifies_encodings(request.encoding)),
          "--broken cannot be combined with --scheme, --config and their settings");
  require(request.broken.empty() || request.function.empty(), "--broken cannot be combined with --function");
  const std::vector<Section> sections = !request.function.empty() ? function_section(request)
                                        : request.broken.empty()  ? sections_of(request)
                                                                  : broken_section(request.broken);
  if (request.list) {
    print_names(sections, request.json);
    return;
  }
  std::int64_t passed = 0, failures = 0;
  for (const Section& section : sections) {
    failures += failed(section.checks);
    passed += static_cast<std::int64_t>(section.checks.size()) - failed(section.checks);
  }
  request.json
      ? print_as_json(sections, passed, failures)
      : print_as_text(sections, request.all || !request.broken.empty() || !request.function.empty(), passed, failures);
  if (failures > 0) throw CheckFailed();
}

}  // namespace

void add_verify_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "verify", "Verify that encodings satisfy their claims: measure every property against its bound");
  const auto request = std::make_shared<VerifyRequest>();
  add_encoding_options(*command, request->encoding);
  command->add_option("--shapes", request->shapes, "Try this many random shapes per equivalence and element type")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--thorough", request->thorough, "Try more and longer shapes for every encoding: minutes");
  command->add_option("--broken", request->broken,
                      "Verify a deliberately broken encoding, which must fail; `list` lists them");
  command->add_option("--function", request->function,
                      "Verify the function in this file, .py or .cpp, against --scheme or --config");
  command->add_flag(
      "--all", request->all,
      "Print every check; absent: one line per scheme and failed checks, with --broken and --function all");
  command->add_flag("--list", request->list, "List the names of the checks");
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "Without --scheme and --config: every scheme and its variants. A spelling such as rope:rule=yarn takes missing\n"
      "parameters from the scheme's example. Exit code 1: a check failed.\n"
      "Checks the properties that a scheme claims, and that tokens which are cut, cached, padded, packed, forked,\n"
      "sharded or shifted give the same attention (or the difference that theory predicts).\n"
      "--function calls rotate(x, positions) for RoPE, x [tokens, heads, dim]; bias(query_ids, key_ids) for biases;\n"
      "rows(positions) for rows. A failed check names the first token that diverges and the likely cause.\n"
      "Examples:\n"
      "  locus verify\n"
      "  locus verify --scheme alibi --scheme t5 --all\n"
      "  locus verify --scheme rope:rule=yarn,factor=4,truncate=false\n"
      "  locus verify --scheme rope:head_dim=128,pairing=half,rule=yarn,factor=4,original_length=32768\n"
      "  locus verify --config config.json --json\n"
      "  locus verify --scheme rope:head_dim=64,pairing=half --function mine.py\n"
      "  locus verify --broken off_by_one_decode");
  command->callback([request] { verify(*request); });
}

}  // namespace locus::tools
