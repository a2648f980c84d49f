// SPDX-License-Identifier: Apache-2.0
// `locus lint`: what a model's files say about positions, and what is doubtful in it.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>

#include "command.h"
#include "locus/doctor/lint.h"
#include "position_list.h"

namespace locus::tools {
namespace {

struct LintRequest {
  std::string model;
  std::string against;
  std::optional<std::int64_t> served_length;
  bool json = false;
};

const Rotation* rotation_of(const LintLayer& layer) {
  return layer.encoding ? std::get_if<Rotation>(&layer.encoding->term()) : nullptr;
}

Json layer_json(const LintLayer& layer) {
  Json json{{"layer_type", layer.layer_type}, {"scheme", layer.scheme}};
  if (layer.training_length) json["training_length"] = *layer.training_length;
  if (!layer.refusal.empty()) json["refusal"] = layer.refusal;
  if (const Rotation* rotation = rotation_of(layer)) {
    json["rule"] = layer.encoding->arguments().text("rule");
    json["head_dim"] = rotation->head_dim;
    json["rotary_dim"] = rotation->rotary_dim;
    json["rotary_offset"] = rotation->rotary_offset;
    json["pairing"] = name_of(rotation->pairing);
    json["inv_freq"] = rotation->inv_freq;
    json["attention_factor"] = rotation->magnitude;
    json["softmax_scale_factor"] = rotation->softmax_scale_factor;
  } else if (layer.encoding) {
    if (const auto* bias = std::get_if<ScoreBias>(&layer.encoding->term())) {
      json["heads"] = bias->heads;
      if (!bias->slopes.empty()) json["slopes"] = bias->slopes;
      if (bias->buckets > 0) json["buckets"] = bias->buckets;
    }
  }
  json["used"] = layer.used;
  json["defaulted"] = layer.defaulted;
  json["unknown"] = layer.unknown;
  return json;
}

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    Json numbers = Json::object();
    for (const auto& [name, value] : finding.numbers) numbers[name] = value;
    list.push_back({{"id", finding.id},
                    {"severity", name_of(finding.severity)},
                    {"layer_type", finding.layer_type},
                    {"keys", finding.keys},
                    {"what", finding.what},
                    {"consequence", finding.consequence},
                    {"numbers", numbers}});
  }
  return list;
}

Json model_json(const LintModel& model) {
  Json layers = Json::array();
  for (const LintLayer& layer : model.layers) layers.push_back(layer_json(layer));
  return {{"model", model.name},
          {"format", model.format},
          {"model_type", model.model_type},
          {"served_length", model.served_length},
          {"layers", layers}};
}

std::int64_t count(const std::vector<Finding>& findings, Severity severity) {
  return std::count_if(findings.begin(), findings.end(),
                       [&](const Finding& finding) { return finding.severity == severity; });
}

void print_layer(const LintModel& model, const LintLayer& layer) {
  std::cout << (layer.layer_type.empty() ? "all layers" : layer.layer_type) << ": " << layer.scheme;
  if (!layer.encoding) {
    std::cout << ", cannot be made\n";
    return;
  }
  if (const Rotation* rotation = rotation_of(layer)) {
    std::cout << ", rule " << layer.encoding->arguments().text("rule") << '\n' << std::setprecision(9);
    std::cout << "  frequencies           " << rotation->inv_freq.front() << " ... " << rotation->inv_freq.back()
              << " (" << rotation->inv_freq.size() << ")\n";
    std::cout << "  attention factor      " << rotation->magnitude << "\n  softmax-scale factor  "
              << rotation->softmax_scale_factor << '\n';
    std::cout << "  pairing               " << name_of(rotation->pairing)
              << (rotation->deinterleaved_output ? ", put out as [evens | odds]" : "") << '\n';
    std::cout << "  width                 " << rotation->rotary_dim << " of " << rotation->head_dim;
    if (rotation->rotary_offset > 0) std::cout << ", from " << rotation->rotary_offset << " on";
    std::cout << '\n';
  } else {
    std::cout << '\n';
    for (const auto& [name, value] : layer.arguments.all()) {
      std::cout << "  " << std::left << std::setw(20) << name << "  " << to_text(value) << '\n';
    }
  }
  std::cout << "  trained / served      ";
  if (layer.training_length) std::cout << *layer.training_length;
  if (!layer.training_length) std::cout << "not said";
  std::cout << " / ";
  if (model.served_length > 0) std::cout << model.served_length << '\n';
  if (model.served_length == 0) std::cout << "not said\n";
}

void print_findings(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    std::cout << name_of(finding.severity) << " [" << finding.id << "]";
    if (!finding.layer_type.empty()) std::cout << " " << finding.layer_type << ":";
    std::string keys;
    for (const std::string& key : finding.keys) keys += (keys.empty() ? "" : ", ") + key;
    std::cout << " " << keys << "\n  " << finding.what << "\n  " << finding.consequence << '\n';
  }
}

void print_text(const LintModel& model, const std::vector<Finding>& findings) {
  std::cout << model.name << " (" << model.format;
  if (!model.model_type.empty()) std::cout << ", " << model.model_type;
  std::cout << ")\n";
  for (const LintLayer& layer : model.layers) print_layer(model, layer);
  std::cout << '\n';
  print_findings(findings);
}

/// The other model at the same length, or rules that depend on it could not be compared.
std::optional<LintModel> read_other(const LintRequest& request, const LintModel& model) {
  if (request.against.empty()) return {};
  return read_lint_model(request.against, model.served_length > 0 ? std::optional(model.served_length) : std::nullopt);
}

void lint_files(const LintRequest& request) {
  // All is read before anything is printed.
  const LintModel model = read_lint_model(request.model, request.served_length);
  const std::optional<LintModel> other = read_other(request, model);
  const std::vector<Finding> findings = lint(model);
  const std::vector<Finding> differences = other ? compare(model, *other) : std::vector<Finding>{};
  const auto total = [&](Severity severity) { return count(findings, severity) + count(differences, severity); };
  if (request.json) {
    Json json = model_json(model);
    json["findings"] = findings_json(findings);
    if (other) {
      json["against"] = model_json(*other);
      json["differences"] = findings_json(differences);
    }
    json["errors"] = total(Severity::error);
    json["warnings"] = total(Severity::warning);
    json["notes"] = total(Severity::note);
    print_json(json);
  } else {
    print_text(model, findings);
    if (other) {
      std::cout << "\nagainst ";
      print_text(*other, differences);
      if (differences.empty()) std::cout << "no difference\n";
    }
    std::cout << '\n'
              << total(Severity::error) << " errors, " << total(Severity::warning) << " warnings, "
              << total(Severity::note) << " notes\n";
  }
  if (total(Severity::error) > 0) throw CheckFailed{};
}

}  // namespace

void add_lint_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("lint", "Check what a model's files say about positions");
  const auto request = std::make_shared<LintRequest>();
  command->add_option("model", request->model, "A config.json, a model folder or a GGUF file")->required();
  command->add_option("--against", request->against, "Compare with another config.json, model folder or GGUF file");
  add_integer(*command, "--served-length", request->served_length,
              "Set the longest sequence served; absent: the longest that the file promises");
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "Exit code 1 where a finding is an error.\n"
      "Examples:\n"
      "  locus lint config.json --served-length 131072\n"
      "  locus lint model_folder --against model.gguf");
  command->callback([request] { lint_files(*request); });
}

}  // namespace locus::tools
