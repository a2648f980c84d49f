// SPDX-License-Identifier: Apache-2.0
// Checks independently that a Vega-Lite viewer can draw a figure without loading anything.
#pragma once

#include <cmath>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "figures/figure.h"

namespace locus::testing {

class SpecCheck {
 public:
  /// Returns all faults, one sentence each.
  static std::vector<std::string> faults_in(const figures::Figure& figure) {
    SpecCheck check;
    if (!std::regex_match(figure.name, std::regex("[a-z0-9-]+"))) check.add("name " + figure.name);
    if (figure.title.empty() || figure.caption.empty()) check.add("no title or caption");
    if (figure.spec.value("$schema", "") != "https://vega.github.io/schema/vega-lite/v5.json") check.add("no $schema");
    if (figure.spec.contains("background")) check.add("sets a background");
    check.values(figure.spec, "");
    check.view(figure.spec, nullptr, figures::Json::object());
    if (check.marks_ == 0) check.add("no mark");
    return check.faults_;
  }

 private:
  using Json = figures::Json;

  void add(const std::string& fault) { faults_.push_back(fault); }

  /// Nothing is loaded, every number is finite, no text has control characters.
  void values(const Json& value, const std::string& key) {
    if (value.is_object() && value.contains("url")) add("url in " + key);
    if (value.is_number_float() && !std::isfinite(value.get<double>())) add("not finite: " + key);
    if (value.is_null()) add("null: " + key);
    if (value.is_string() && key != "$schema" && value.get<std::string>().find("://") != std::string::npos) {
      add("an address in " + key);
    }
    for (const auto& [name, inner] : value.items()) {
      if (value.is_structured()) values(inner, value.is_object() ? name : key);
    }
  }

  void channel(const std::string& name, const Json& given, const Json* rows) {
    static const std::set<std::string> types = {"quantitative", "ordinal", "nominal"};
    if (!given.contains("field")) return add(name + " has no field");
    if (!types.contains(given.value("type", ""))) add(name + " has no known type");
    if (!given.contains("title")) add(name + " has no title");
    if (rows == nullptr || rows->empty()) return add(name + " has no data");
    for (const Json& row : *rows) {
      if (!row.contains(given["field"].get<std::string>())) return add(name + ": a row has no such field");
    }
  }

  void view(const Json& view_, const Json* rows, Json encoding) {
    if (view_.contains("data") && !view_["data"].contains("values")) return add("data without values");
    if (view_.contains("data")) rows = &view_["data"]["values"];
    if (rows != nullptr && rows->size() > 20000) add("too much data");
    if (view_.contains("encoding")) encoding.update(view_["encoding"]);
    if (view_.contains("facet")) {
      channel("facet", view_["facet"], rows);
      return view(view_["spec"], rows, encoding);
    }
    if (view_.contains("layer")) {
      for (const Json& layer : view_["layer"]) view(layer, rows, encoding);
      return;
    }
    static const std::set<std::string> marks = {"line", "point", "rect", "bar", "rule"};
    if (!view_.contains("mark") || !marks.contains(view_["mark"]["type"].get<std::string>()))
      return add("unknown mark");
    ++marks_;
    for (const auto& [name, given] : encoding.items()) channel(name, given, rows);
    if (!encoding.contains("x") && !encoding.contains("y")) add("neither x nor y");
  }

  std::vector<std::string> faults_;
  int marks_ = 0;
};

}  // namespace locus::testing
