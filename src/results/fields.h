// SPDX-License-Identifier: Apache-2.0
// Typed access to the keys of a JSON object; errors name the place, the value and the rule.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace locus::results {

using Json = nlohmann::ordered_json;  ///< keys keep the order in which they were written

class Fields {
 public:
  /// `place` starts every message, e.g. "tasks[1]". Error: `object` is not an object. Keeps a reference.
  Fields(const Json& object, std::string place);

  bool has(const char* key) const;  ///< false if missing or null
  const Json& at(const char* key) const;
  std::string text(const char* key) const;
  std::string text_or_empty(const char* key) const;
  std::int64_t integer(const char* key) const;
  std::int64_t integer_or_zero(const char* key) const;
  bool flag(const char* key) const;
  double number(const char* key) const;
  std::optional<double> optional_number(const char* key) const;  ///< absent if missing or null
  const Json& array(const char* key) const;
  std::vector<std::int64_t> integers(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  Fields object(const char* key) const;

  /// Returns `read(Fields)` for every object of an array.
  template <class Read>
  auto all(const char* key, const Read& read) const {
    std::vector<decltype(read(*this))> result;
    for (const Json& one : array(key)) {
      result.push_back(read(Fields(one, std::string(key) + "[" + std::to_string(result.size()) + "]")));
    }
    return result;
  }

  const std::string& place() const { return place_; }

 private:
  const Json& object_;
  std::string place_;
};

}  // namespace locus::results
