// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/names.h"
#include "locus/scaling.h"
#include "locus/settings.h"

namespace locus {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <class Entry>
bool has_name(std::span<const Entry* const> entries, std::string_view name) {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry* entry) { return entry->name == name; });
}

bool names_encoding(std::string_view name) { return has_name(schemes(), name) || has_name(rules(), name); }

/// Returns whether a part of a list begins another encoding instead of continuing the settings of the last one.
bool begins_encoding(std::string_view part) {
  return part.starts_with('@') || names_encoding(part.substr(0, part.find(':')));
}

/// `a=1`, `b=16` and `24` become a=1 and b=16,24. A rule's factor may come first without its name.
std::vector<Setting> settings_in(std::string_view text, std::string_view given, bool of_rule) {
  std::vector<Setting> settings;
  for (const std::string& part : split(given, ',')) {
    const bool named = part.find('=') != std::string::npos;
    if (!named && settings.empty() && of_rule) {
      settings.push_back({"factor", part});
    } else if (!named && !settings.empty()) {
      settings.back().text += "," + part;
    } else {
      settings.push_back(parse_setting(std::string(text) + ": a setting", part));
    }
  }
  return settings;
}

/// Only lists contain commas: elsewhere the comma was meant to separate encodings.
void check_commas(const Spelling& spelling) {
  Arguments rule;
  if (const std::string_view name = spelling.setting("rule"); !name.empty()) rule.set("rule", std::string(name));
  const Scheme& scheme = find_scheme(spelling.scheme);
  const std::vector<Parameter> parameters = parameters_of(scheme, rule);
  for (const Setting& setting : spelling.settings) {
    const Parameter& parameter = find_parameter(scheme.name, parameters, setting.name);
    if (parameter.kind == ValueKind::list || parameter.kind == ValueKind::tensor) continue;
    const std::size_t comma = setting.text.find(',');
    if (comma == std::string::npos) continue;
    fail(spelling.text, ": ", setting.name, " must be one value, got ", setting.text,
         "; encodings with settings are separated by ;");
  }
}

}  // namespace

std::string_view Spelling::setting(std::string_view name) const {
  for (const Setting& one : settings) {
    if (one.name == name) return one.text;
  }
  return {};
}

Setting parse_setting(std::string_view what, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) fail(what, " must be name=value, got '", text, "'");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::vector<Setting> parse_setting_list(std::string_view what, std::span<const std::string> texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) {
    Setting one = parse_setting(what, text);
    for (const Setting& other : settings) {
      if (other.name == one.name) fail(what, " ", one.name, " is given twice");
    }
    settings.push_back(std::move(one));
  }
  return settings;
}

Spelling parse_spelling(std::string_view text) {
  Spelling spelling{.text = std::string(text), .config = {}, .scheme = {}, .settings = {}};
  require(!text.empty(), "an encoding must be SCHEME:NAME=VALUE,..., RULE:FACTOR or @config.json, got an empty text");
  if (text.front() == '@') {
    spelling.config = text.substr(1);
    require(!spelling.config.empty(), "@ must be followed by a config.json, a folder or a GGUF file, got '@'");
    return spelling;
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const bool of_rule = !has_name(schemes(), name);
  require_encoding_name(name);
  spelling.scheme = of_rule ? "rope" : std::string(name);
  if (colon < text.size()) spelling.settings = settings_in(text, text.substr(colon + 1), of_rule);
  if (of_rule) spelling.settings.insert(spelling.settings.begin(), {"rule", std::string(name)});
  for (const Setting& one : spelling.settings) {
    const auto same = [&](const Setting& other) { return other.name == one.name; };
    require(std::count_if(spelling.settings.begin(), spelling.settings.end(), same) == 1, text, ": ", one.name,
            " is given twice");
  }
  check_commas(spelling);
  return spelling;
}

std::vector<std::string> split_spellings(std::string_view text) {
  std::vector<std::string> spellings;
  for (std::string& one : split(text, ';')) {
    if (one.starts_with('@')) {  // file names may contain commas
      spellings.push_back(std::move(one));
      continue;
    }
    const bool has_settings = one.find('=') != std::string::npos;
    bool first = true;
    for (std::string& part : split(one, ',')) {
      if (first || !has_settings || begins_encoding(part)) {
        spellings.push_back(std::move(part));
      } else {
        spellings.back() += "," + part;
      }
      first = false;
    }
  }
  return spellings;
}

void require_encoding_name(std::string_view name) {
  if (names_encoding(name)) return;
  std::vector<std::string_view> known;
  for (const Scheme* scheme : schemes()) known.push_back(scheme->name);
  const auto first_rule = static_cast<std::ptrdiff_t>(known.size());
  for (const Rule* rule : rules()) known.push_back(rule->name);
  // A rule means RoPE with this rule. An unknown name counts as whatever its nearest known name is.
  const auto nearest = nearest_name(name, known);
  const bool like_rule = nearest && std::find(known.begin() + first_rule, known.end(), *nearest) != known.end();
  fail_unknown(like_rule ? "rule" : "scheme", name, known);
}

Arguments arguments_of(const Spelling& spelling, const TensorReader& tensor_of) {
  require(spelling.config.empty(), spelling.text, ": settings do not apply to a config");
  const auto refuse = [&](const Setting& setting) -> Tensor {
    fail(spelling.text, ": ", setting.name, " is a tensor and cannot be given here");
  };
  return parse_settings(find_scheme(spelling.scheme), spelling.settings, tensor_of ? tensor_of : TensorReader(refuse));
}

}  // namespace locus
