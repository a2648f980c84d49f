// SPDX-License-Identifier: Apache-2.0
// `locus list`: prints the registry.
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>

#include "command.h"
#include "locus/registry.h"
#include "locus/scaling.h"

namespace locus::tools {
namespace {

std::string claims_text(Claims claims) {
  std::string text;
  for (const Claim claim : claims.all()) text += (text.empty() ? "" : ", ") + std::string(name_of(claim));
  return text;
}

std::string_view kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::boolean:
      return "boolean";
    case ValueKind::integer:
      return "integer";
    case ValueKind::real:
      return "real";
    case ValueKind::choice:
      return "choice";
    case ValueKind::list:
      return "list";
    case ValueKind::tensor:
      return "tensor";
  }
  return "?";
}

Json parameter_json(const Parameter& parameter) {
  Json json{{"name", parameter.name},
            {"kind", kind_name(parameter.kind)},
            {"meaning", parameter.meaning},
            {"required", parameter.required}};
  json["default"] = parameter.fallback ? Json(to_text(*parameter.fallback)) : Json(nullptr);
  if (std::isfinite(parameter.least)) json[parameter.above_least ? "above" : "least"] = parameter.least;
  if (std::isfinite(parameter.most)) json["most"] = parameter.most;
  if (!parameter.choices.empty()) json["choices"] = parameter.choices;
  return json;
}

Json parameters_json(const std::vector<Parameter>& parameters) {
  Json json = Json::array();
  for (const Parameter& parameter : parameters) json.push_back(parameter_json(parameter));
  return json;
}

/// The example's values as text, as parse_value() reads them.
Json example_json(const Arguments& example) {
  Json json = Json::object();
  for (const auto& [name, value] : example.all()) json[name] = to_text(value);
  return json;
}

Json registry_json() {
  Json object;
  for (const Scheme* scheme : schemes()) {
    Json claims = Json::array();
    for (const Claim claim : scheme->claims.all()) claims.push_back(name_of(claim));
    object["schemes"].push_back({{"name", scheme->name},
                                 {"title", scheme->title},
                                 {"site", name_of(scheme->site)},
                                 {"summary", scheme->summary},
                                 {"claims", claims},
                                 {"paper", scheme->paper},
                                 {"parameters", parameters_json(scheme->parameters)},
                                 {"example", example_json(scheme->example)}});
  }
  for (const Rule* rule : rules()) {
    object["rules"].push_back({{"name", rule->name},
                               {"title", rule->title},
                               {"summary", rule->summary},
                               {"length_dependent", rule->length_dependent},
                               {"paper", rule->paper},
                               {"parameters", parameters_json(rule->parameters)},
                               {"example", example_json(rule->example)}});
  }
  return object;
}

// The table of the README.
void print_markdown() {
  std::cout << "| scheme | site | what it does | paper |\n| --- | --- | --- | --- |\n";
  for (const Scheme* scheme : schemes()) {
    std::cout << "| `" << scheme->name << "` | " << name_of(scheme->site) << " | " << scheme->summary << " | "
              << scheme->paper << " |\n";
  }
  std::cout << "\nRoPE rules: ";
  for (const Rule* rule : rules()) std::cout << (rule == rules().front() ? "`" : ", `") << rule->name << '`';
  std::cout << ".\n";
}

void print_parameters(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    std::cout << "      " << std::left << std::setw(18) << parameter.name << parameter.meaning;
    if (!parameter.choices.empty()) {
      std::cout << " (";
      for (const std::string_view choice : parameter.choices) {
        std::cout << (choice == parameter.choices.front() ? "" : ", ") << choice;
      }
      std::cout << ')';
    }
    if (parameter.required) std::cout << " [required]";
    if (parameter.fallback) std::cout << " [" << to_text(*parameter.fallback) << ']';
    std::cout << '\n';
  }
}

void print_text(bool long_form) {
  for (const Scheme* scheme : schemes()) {
    std::cout << std::left << std::setw(15) << scheme->name << std::setw(13) << name_of(scheme->site) << scheme->summary
              << "\n    claims: " << claims_text(scheme->claims) << "\n    paper:  " << scheme->paper << '\n';
    if (long_form) print_parameters(scheme->parameters);
  }
  std::cout << "\nFrequency rules of rope (--set rule=NAME):\n";
  for (const Rule* rule : rules()) {
    std::cout << "  " << std::left << std::setw(13) << rule->name << rule->summary << '\n';
    if (long_form) print_parameters(rule->parameters);
  }
}

}  // namespace

void add_list_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("list", "List the schemes and rules: name, site, claims, paper");
  struct Request {
    bool json = false;
    bool markdown = false;
    bool long_form = false;
  };
  const auto request = std::make_shared<Request>();
  command->add_flag("--json", request->json, "Print one JSON object");
  command->add_flag("--long", request->long_form, "List parameters too");
  command->add_flag("--markdown", request->markdown, "Print the table of the README");
  command->footer("Example: locus list --long");
  command->callback([request] {
    if (request->json) {
      print_json(registry_json());
    } else if (request->markdown) {
      print_markdown();
    } else {
      print_text(request->long_form);
    }
  });
}

}  // namespace locus::tools
