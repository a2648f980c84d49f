// SPDX-License-Identifier: Apache-2.0
#include "parse/json_scan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "locus/error.h"

namespace locus::io {
namespace {

using Json = nlohmann::json;

/// The interface that nlohmann's parser calls; every event returns whether to continue.
class Scanner : public nlohmann::json_sax<Json> {
 public:
  Scanner(const std::string& name, const JsonLimits& limits) : name_(name), limits_(limits) {}

  JsonScan take() { return std::move(found_); }

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool string(string_t&) override { return count(); }
  bool binary(binary_t&) override { return count(); }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

  bool key(string_t& key) override {
    Level& level = open_.back();
    level.key = key;
    if (!level.keys.insert(key).second) note_repeated();
    constexpr std::size_t most_layer_types = 64;
    const std::string_view parent = open_.size() > 1 ? std::string_view(open_[open_.size() - 2].key) : "";
    if ((parent == "rope_parameters" || parent == "rope_scaling") && found_.rope_order.size() < most_layer_types) {
      found_.rope_order.push_back(key);
    }
    return true;
  }

 private:
  struct Level {
    std::string key = {};
    std::unordered_set<std::string> keys = {};
  };

  bool count() {
    require(++values_ <= limits_.values, name_, ": JSON must hold at most ", limits_.values, " values");
    return true;
  }

  bool open() {
    require(open_.size() < limits_.depth, name_, ": JSON must be nested at most ", limits_.depth, " levels deep");
    open_.emplace_back();
    return count();
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  void note_repeated() {
    constexpr std::size_t most = 100;
    std::string path;
    for (const Level& level : open_) {
      if (!level.key.empty()) path += (path.empty() ? "" : ".") + level.key;
    }
    const bool known = std::find(found_.repeated.begin(), found_.repeated.end(), path) != found_.repeated.end();
    if (!known && found_.repeated.size() < most) found_.repeated.push_back(std::move(path));
  }

  const std::string& name_;
  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::vector<Level> open_;
  JsonScan found_;
};

}  // namespace

JsonScan scan_json(std::string_view text, const std::string& name, const JsonLimits& limits) {
  Scanner scanner(name, limits);
  Json::sax_parse(text.begin(), text.end(), &scanner);
  return scanner.take();
}

}  // namespace locus::io
