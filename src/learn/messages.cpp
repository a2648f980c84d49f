// SPDX-License-Identifier: Apache-2.0
#include "learn/messages.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "locus/error.h"

namespace locus::learn {

Messages::Messages(const std::filesystem::path& file, const std::string& language) : language_(language) {
  std::ifstream stream(file);
  const nlohmann::json json = nlohmann::json::parse(stream, nullptr, false);
  require(json.is_object(), file.string(), " is missing or is not a JSON object");
  for (const auto& [key, sentence] : json.items()) {
    require(sentence.contains(language), file.string(), ": ", key, " has no sentence in ", language);
    sentences_[key] = sentence[language].get<std::string>();
  }
}

std::string Messages::text(const std::string& key, const Parameters& parameters) const {
  const auto found = sentences_.find(key);
  require(found != sentences_.end(), "messages.json has no sentence ", key);
  std::string text = found->second;
  for (const auto& [name, value] : parameters) {
    const std::string mark = "{" + name + "}";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

std::string language_of_locale() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    return locale.starts_with("es") && (locale.size() == 2 || locale[2] == '_' || locale[2] == '.') ? "es" : "en";
  }
  return "en";
}

}  // namespace locus::learn
