// SPDX-License-Identifier: Apache-2.0
#include "parse/strict_json.h"

#include "parse/byte_reader.h"
#include "parse/json_scan.h"

namespace locus::io {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_bytes = 100'000'000;  // the limit of the safetensors library for its header
// The count of values bounds what 100 MB of "[]," can allocate.
constexpr JsonLimits strict_limits{.depth = 16, .values = 8'000'000};

}  // namespace

Json parse_strict_json(std::string_view text, const std::string& name) {
  require(text.size() <= most_bytes, name, ": JSON must be at most ", most_bytes, " bytes long, got ", text.size());
  // The parser takes a zero byte for the end of the text and would ignore what follows.
  require(text.find('\0') == std::string_view::npos, name, ": not JSON, it has a zero byte");
  const JsonScan scan = scan_json(text, name, strict_limits);
  Json root;
  try {
    root = Json::parse(text.begin(), text.end());
  } catch (const Json::exception& error) {
    fail(name, ": not JSON, ", shown(error.what()));
  }
  require(scan.repeated.empty(), name, ": JSON must have the key ",
          scan.repeated.empty() ? "" : shown(scan.repeated[0]), " once, got it twice");
  require(root.is_object(), name, ": JSON must be an object, got ", root.type_name());
  return root;
}

}  // namespace locus::io
