// SPDX-License-Identifier: Apache-2.0
// `locus lint`: prints what a model's files say about positions, and what is doubtful.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>

#include "base/text_layout.h"
#include "command.h"
#include "locus/doctor/lint.h"
#include "locus/error.h"
#include "position_list.h"
#include "printable.h"

namespace locus::tools {
namespace {

struct LintRequest {
  std::vector<std::string> models;
  std::string against;
  std::optional<std::int64_t> served_length;
  bool json = false;
};

const Rotation* rotation_of(const LintLayer& layer) {
  const auto* rotation = layer.encoding ? std::get_if<Rotation>(&layer.encoding->term()) : nullptr;
  return rotation != nullptr && rotation->pairs() > 0 ? rotation : nullptr;
}

Json layer_json(const LintLayer& layer) {
  Json json{{"layer_type", layer.layer_type}, {"scheme", layer.scheme}};
  if (layer.trained_length)
    json["trained_length"] = json["training_length"] = *layer.trained_length;  // and its old name
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
  if (!layer.not_applied.empty()) json["not_applied"] = layer.not_applied;
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
  std::cout << (layer.layer_type.empty() ? "all layers" : printable(layer.layer_type)) << ": " << layer.scheme;
  if (!layer.encoding) {
    std::cout << ", invalid\n";
    return;
  }
  if (const Rotation* rotation = rotation_of(layer)) {
    std::cout << ", rule " << layer.encoding->arguments().text("rule") << '\n' << std::setprecision(9);
    std::cout << "  frequencies           " << rotation->inv_freq.front() << " ... " << rotation->inv_freq.back()
              << " (" << rotation->inv_freq.size() << ")\n";
    std::cout << "  attention factor      " << rotation->magnitude << "\n  softmax-scale factor  "
              << rotation->softmax_scale_factor << '\n';
    std::cout << "  pairing               " << name_of(rotation->pairing)
              << (rotation->deinterleaved_output ? ", output [evens | odds]" : "") << '\n';
    std::cout << "  width                 " << rotation->rotary_dim << " of " << rotation->head_dim;
    if (rotation->rotary_offset > 0) std::cout << ", from " << rotation->rotary_offset << " on";
    std::cout << '\n';
  } else {
    std::cout << '\n';
    for (const auto& [name, value] : layer.arguments.all()) {
      std::cout << "  " << std::left << std::setw(20) << name << "  " << printable(to_text(value)) << '\n';
    }
  }
  std::cout << "  trained / served      ";
  if (layer.trained_length) std::cout << *layer.trained_length;
  if (!layer.trained_length) std::cout << "unknown";
  std::cout << " / ";
  if (model.served_length > 0) std::cout << model.served_length << '\n';
  if (model.served_length == 0) std::cout << "unknown\n";
}

void print_findings(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    std::cout << name_of(finding.severity) << " [" << finding.id << "]";
    if (!finding.layer_type.empty()) std::cout << " " << printable(finding.layer_type) << ":";
    std::string keys;
    for (const std::string& key : finding.keys) keys += (keys.empty() ? "" : ", ") + key;
    std::cout << " " << printable(keys) << "\n  " << printable(finding.what) << "\n  " << printable(finding.consequence)
              << '\n';
  }
}

void print_text(const LintModel& model, const std::vector<Finding>& findings) {
  std::cout << printable(model.name) << " (" << model.format;
  if (!model.model_type.empty()) std::cout << ", " << printable(model.model_type);
  std::cout << ")\n";
  for (const LintLayer& layer : model.layers) print_layer(model, layer);
  std::cout << '\n';
  print_findings(findings);
}

/// Reads the other model at the same length, so that rules that depend on it can be compared.
std::optional<LintModel> read_other(const LintRequest& request, const LintModel& model) {
  if (request.against.empty()) return {};
  return read_lint_model(request.against, model.served_length > 0 ? std::optional(model.served_length) : std::nullopt);
}

/// The results for one model.
struct Examined {
  LintModel model;
  std::vector<Finding> findings;
  std::optional<LintModel> other;
  std::vector<Finding> differences;

  std::int64_t total(Severity severity) const { return count(findings, severity) + count(differences, severity); }
};

Examined examine(const LintRequest& request, const std::string& path) {
  Examined one{.model = read_lint_model(path, request.served_length), .findings = {}, .other = {}, .differences = {}};
  one.other = read_other(request, one.model);
  one.findings = lint(one.model);
  if (one.other) one.differences = compare(one.model, *one.other);
  return one;
}

Json examined_json(const Examined& one) {
  Json json = model_json(one.model);
  if (!one.model.refusal.empty()) json["refusal"] = one.model.refusal;
  json["findings"] = findings_json(one.findings);
  if (one.other) {
    json["against"] = model_json(*one.other);
    json["differences"] = findings_json(one.differences);
  }
  json["errors"] = one.total(Severity::error);
  json["warnings"] = one.total(Severity::warning);
  json["notes"] = one.total(Severity::note);
  return json;
}

void print_examined(const Examined& one) {
  print_text(one.model, one.findings);
  if (one.other) {
    std::cout << "\nagainst ";
    print_text(*one.other, one.differences);
    if (one.differences.empty()) std::cout << "no difference\n";
  }
  const auto total = [&](Severity severity, std::string_view name) {
    return counted(static_cast<std::size_t>(one.total(severity)), name);
  };
  std::cout << '\n'
            << total(Severity::error, "error") << ", " << total(Severity::warning, "warning") << ", "
            << total(Severity::note, "note") << '\n';
}

void lint_files(const LintRequest& request) {
  require(request.models.size() == 1 || request.against.empty(), "--against compares with one model, got ",
          request.models.size());
  // Reads everything before printing anything.
  std::vector<Examined> all;
  for (const std::string& path : request.models) all.push_back(examine(request, path));
  if (request.json) {
    Json list = Json::array();
    for (const Examined& one : all) list.push_back(examined_json(one));
    print_json(all.size() == 1 ? list[0] : Json{{"models", list}});
  } else {
    for (const Examined& one : all) {
      if (&one != &all.front()) std::cout << '\n';
      print_examined(one);
    }
  }
  const bool failed =
      std::any_of(all.begin(), all.end(), [](const Examined& one) { return one.total(Severity::error) > 0; });
  if (failed) throw CheckFailed{};
}

}  // namespace

void add_lint_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("lint", "Check what a model's files say about positions");
  const auto request = std::make_shared<LintRequest>();
  command
      ->add_option("models", request->models, "A config.json, a model folder, a GGUF or a safetensors file; repeatable")
      ->required();
  command->add_option("--against", request->against, "Compare one model with another config.json, folder or GGUF file");
  add_integer(*command, "--served-length", request->served_length,
              "Set the served length; absent: the longest that the file states");
  command->add_flag("--json", request->json, "Print one JSON object; several models are a list under `models`");
  command->footer(
      "Exit code 1: a finding is an error.\n"
      "Examples:\n"
      "  locus lint config.json --served-length 131072\n"
      "  locus lint config.json --against model.gguf");
  command->callback([request] { lint_files(*request); });
}

}  // namespace locus::tools
