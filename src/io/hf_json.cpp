// SPDX-License-Identifier: Apache-2.0
#include "io/hf_json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "locus/error.h"
#include "parse/json_scan.h"

namespace locus::io {
namespace {

// Far above any config; bounds what 16 MB of "[]," can allocate.
constexpr JsonLimits config_limits{.depth = 64, .values = 1'000'000};
constexpr std::size_t longest_quote = 120;
constexpr std::int64_t largest_integer = (std::int64_t{1} << 31) - 1;

std::string shortened(std::string text) {
  if (text.size() <= longest_quote) return text;
  text.resize(longest_quote);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0u) == 0x80u) text.pop_back();
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0u) text.pop_back();  // an incomplete character
  return text + "...";
}

/// Formats the value for a message.
std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return shortened(value.dump());
}

}  // namespace

JsonDocument parse_json_document(std::string_view text, const std::string& name) {
  require(text.size() <= most_config_bytes, name, " must be at most ", most_config_bytes >> 20, " MB, got ",
          text.size(), " bytes");
  require(text.find_first_not_of(" \t\r\n") != std::string_view::npos, name, " must hold a JSON object, got nothing");
  // The parser treats a zero byte as the end of the text and would ignore everything after it.
  require(text.find('\0') == std::string_view::npos, name, " is not JSON: it has a zero byte");
  JsonScan scan = scan_json(text, name, config_limits);
  JsonDocument document;
  try {
    document.root = Json::parse(text.begin(), text.end());
  } catch (const Json::exception& error) {
    fail(name, " is not JSON: ", shortened(error.what()));
  }
  require(document.root.is_object(), name, " must hold a JSON object, got ", [&] { return shown(document.root); });
  document.rope_order = std::move(scan.rope_order);
  document.repeated = std::move(scan.repeated);
  return document;
}

void Notes::add_unknown(std::string text) {
  constexpr std::size_t most = 100;
  if (unknown.size() < most) unknown.push_back(std::move(text));
  if (unknown.size() == most) unknown.push_back("... and more");
}

const Json* Fields::peek(std::string_view key) const {
  const auto found = object_->find(std::string(key));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

Fields::Found Fields::ask(Keys keys) {
  for (const std::string_view key : keys) {
    asked_.emplace(key);
    if (const Json* value = peek(key)) return {key, value};
  }
  return {};
}

void Fields::note_used(const Found& found, const std::string& value) {
  if (!default_of_.empty()) return note_default(found.key, value, "transformers' default for " + default_of_);
  const std::string path = path_of(found.key);
  if (std::find(notes_->used.begin(), notes_->used.end(), path) == notes_->used.end()) notes_->used.push_back(path);
}

void Fields::refuse(const Found& found, std::string_view rule) const {
  fail(subject(found.key), " must be ", rule, ", got ", shown(*found.value));
}

double Fields::checked_number(const Found& found) const {
  if (!found.value->is_number()) refuse(found, "a number");
  const double value = found.value->get<double>();
  if (!std::isfinite(value)) refuse(found, "a finite number");
  return value;
}

std::optional<std::int64_t> Fields::integer(Keys keys, std::int64_t least) {
  const Found found = ask(keys);
  if (!found.value) return {};
  // Some files write 8192.0, so whole real numbers count as integers.
  const double value = found.value->is_number() ? found.value->get<double>() : std::nan("");
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(largest_integer)) ||
      value != std::floor(value)) {
    refuse(found, "an integer from " + std::to_string(least) + " to " + std::to_string(largest_integer));
  }
  note_used(found, number_text(value));
  return static_cast<std::int64_t>(value);
}

std::optional<double> Fields::number(Keys keys) {
  const Found found = ask(keys);
  if (!found.value) return {};
  const double value = checked_number(found);
  note_used(found, number_text(value));
  return value;
}

std::optional<double> Fields::positive(Keys keys) {
  const Found found = ask(keys);
  if (!found.value) return {};
  const double value = checked_number(found);
  if (!(value > 0)) refuse(found, "a positive number");
  note_used(found, number_text(value));
  return value;
}

std::optional<bool> Fields::boolean(Keys keys) {
  const Found found = ask(keys);
  if (!found.value) return {};
  if (!found.value->is_boolean()) refuse(found, "true or false");
  const bool value = found.value->get<bool>();
  note_used(found, value ? "true" : "false");
  return value;
}

std::optional<std::string> Fields::text(Keys keys) {
  const Found found = ask(keys);
  if (!found.value) return {};
  if (!found.value->is_string()) refuse(found, "a string");
  note_used(found, found.value->get<std::string>());
  return found.value->get<std::string>();
}

const Json& Fields::checked_list(const Found& found, std::string_view of_what) const {
  if (!found.value->is_array()) refuse(found, of_what);
  require(!found.value->empty(), subject(found.key), " must be ", of_what, ", got an empty list");
  return *found.value;
}

std::optional<std::vector<double>> Fields::positive_list(Keys keys) {
  const Found found = ask(keys);
  if (!found.value) return {};
  constexpr std::string_view rule = "a list of positive numbers";
  std::vector<double> values;
  for (const Json& entry : checked_list(found, rule)) {
    const double value = entry.is_number() ? entry.get<double>() : std::nan("");
    require(std::isfinite(value) && value > 0, subject(found.key), " must be ", rule, ", got the entry ",
            [&] { return shown(entry); });
    values.push_back(value);
  }
  note_used(found, "a list of " + std::to_string(values.size()));
  return values;
}

std::optional<std::vector<double>> Fields::integer_list(Keys keys) {
  const Found found = ask(keys);
  if (!found.value) return {};
  constexpr std::string_view rule = "a list of integers of at least 0";
  std::vector<double> values;
  for (const Json& entry : checked_list(found, rule)) {
    const double value = entry.is_number() ? entry.get<double>() : -1;
    require(value >= 0 && value <= static_cast<double>(largest_integer) && value == std::floor(value),
            subject(found.key), " must be ", rule, ", got the entry ", [&] { return shown(entry); });
    values.push_back(value);
  }
  note_used(found, "a list of " + std::to_string(values.size()));
  return values;
}

std::optional<std::vector<std::string>> Fields::text_list(Keys keys) {
  const Found found = ask(keys);
  if (!found.value) return {};
  constexpr std::string_view rule = "a list of strings";
  std::vector<std::string> values;
  if (!found.value->is_array()) refuse(found, rule);
  for (const Json& entry : *found.value) {
    require(entry.is_string(), subject(found.key), " must be ", rule, ", got the entry ", [&] { return shown(entry); });
    values.push_back(entry.get<std::string>());
  }
  note_used(found, "a list of " + std::to_string(values.size()));
  return values;
}

const Json* Fields::object(Keys keys) {
  const Found found = ask(keys);
  if (!found.value) return nullptr;
  if (!found.value->is_object()) refuse(found, "an object");
  return found.value->empty() ? nullptr : found.value;
}

void Fields::acknowledge(Keys keys) {
  for (const std::string_view key : keys) asked_.emplace(key);
}

void Fields::note_default(std::string_view key, const std::string& value, std::string_view why) {
  notes_->defaulted.push_back(std::string(key) + " = " + value + " (" + std::string(why) + ")");
}

void Fields::note_ignored(std::string_view key, std::string_view why) {
  acknowledge({key});
  notes_->add_unknown("ignored: " + shortened(path_of(key)) + " (" + std::string(why) + ")");
}

void Fields::note_unread(bool all) {
  for (const auto& [key, value] : object_->items()) {
    if (value.is_null() || asked_.contains(key) || !(all || is_about_position(key))) continue;
    notes_->add_unknown(shortened(path_of(key)));
  }
}

bool is_about_position(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  constexpr std::array<std::string_view, 4> words = {"rope", "rotary", "alibi", "position"};
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

std::string number_text(double value) {
  std::ostringstream text;
  text.precision(12);
  text << value;
  return text.str();
}

}  // namespace locus::io
