// SPDX-License-Identifier: Apache-2.0
#include "parse/strict_json.h"

#include <functional>
#include <set>
#include <vector>

#include "parse/byte_reader.h"

namespace locus::io {
namespace {

using Json = nlohmann::json;

constexpr int deepest_level = 16;
constexpr std::size_t most_bytes = 100'000'000;  // the limit of the safetensors library for its header
constexpr std::size_t most_values = 8'000'000;   // bounds what 100 MB of "[]," can allocate

class Guard {
 public:
  explicit Guard(const std::string& name) : name_(name) {}

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    const bool opens = event == Event::object_start || event == Event::array_start;
    require(!opens || depth < deepest_level, name_, ": JSON must be nested at most ", deepest_level, " levels deep");
    if (opens || event == Event::value)
      require(++values_ <= most_values, name_, ": JSON must hold at most ", most_values, " values");
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const std::string& text = parsed.get_ref<const std::string&>();
      require(keys_.back().insert(text).second, name_, ": JSON must have the key ", shown(text), " once, got it twice");
    }
    return true;
  }

 private:
  const std::string& name_;
  std::size_t values_ = 0;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

}  // namespace

Json parse_strict_json(std::string_view text, const std::string& name) {
  require(text.size() <= most_bytes, name, ": JSON must be at most ", most_bytes, " bytes long, got ", text.size());
  // The parser takes a zero byte for the end of the text and would not see what is hidden behind it.
  require(text.find('\0') == std::string_view::npos, name, ": not JSON, it has a zero byte");
  Guard guard(name);
  Json root;
  try {
    root = Json::parse(text.begin(), text.end(), std::ref(guard));
  } catch (const Json::exception& error) {
    fail(name, ": not JSON, ", shown(error.what()));
  }
  require(root.is_object(), name, ": JSON must be an object, got ", root.type_name());
  return root;
}

}  // namespace locus::io
