// SPDX-License-Identifier: Apache-2.0
// Validates JSON against a schema of docs/.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "support/paths.h"

namespace locus::testing {

/// Returns the first error as "path: error"; empty if there is none.
inline std::string schema_complaint(const nlohmann::json& results,
                                    const std::string& schema_file = "docs/results.schema.json") {
  using Adapter = valijson::adapters::NlohmannJsonAdapter;
  std::ifstream stream((source_dir() / schema_file).string());
  const nlohmann::json text = nlohmann::json::parse(stream);
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(Adapter(text), schema);
  valijson::Validator validator;
  valijson::ValidationResults complaints;
  if (validator.validate(schema, Adapter(results), &complaints)) return {};
  valijson::ValidationResults::Error first, last;
  while (complaints.popError(last)) first = first.description.empty() ? last : first;
  std::string place;
  for (const std::string& step : first.context) place += step;
  return place + ": " + first.description;
}

}  // namespace locus::testing
