// SPDX-License-Identifier: Apache-2.0
// JSON from strangers: a bounded parse, and typed access to an object's keys that takes notes of what was read.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace locus::io {

using Json = nlohmann::json;

inline constexpr std::size_t most_config_bytes = std::size_t{16} << 20;

struct JsonDocument {
  Json root;                            ///< an object
  std::vector<std::string> rope_order;  ///< keys of the rope blocks in the order of the file, which Json does not keep
  std::vector<std::string> repeated;    ///< paths of keys that an object has twice; Json, as Python, keeps the last
};

/// Throws locus::Error for anything but one JSON object of bounded size and depth. `name` starts the message.
JsonDocument parse_json_document(std::string_view text, const std::string& name);

struct Notes {
  std::vector<std::string> used, defaulted, unknown;

  void add_unknown(std::string text);  ///< keeps the first hundred: a hostile file has a million
};

/// One object of a config. A key is understood if and only if it was asked for, so the unknown ones are those left
/// over. `null` is the same as absent. Getters take aliases: the first key present is read, the later ones are not
/// asked for.
class Fields {
 public:
  using Keys = std::initializer_list<std::string_view>;

  /// `path` is the prefix of the keys in messages and notes, e.g. `text_config.`.
  Fields(const Json& object, std::string path, std::string file, Notes& notes)
      : object_(&object), path_(std::move(path)), file_(std::move(file)), notes_(&notes) {}
  /// A view that writes into other notes and starts with what `other` has been asked.
  Fields(const Fields& other, Notes& notes) : Fields(other) { notes_ = &notes; }
  Fields(const Fields&) = default;
  Fields& operator=(const Fields&) = delete;

  /// Says that the values are not the file's but those of `model` in transformers: they are noted as defaulted.
  void are_defaults_of(std::string_view model) { default_of_ = model; }

  bool has(std::string_view key) const { return peek(key) != nullptr; }  ///< does not count as asking
  const Json* peek(std::string_view key) const;                          ///< does not count as asking

  std::optional<std::int64_t> integer(Keys keys, std::int64_t least = 1);  ///< at most 2^31 - 1
  std::optional<double> number(Keys keys);
  std::optional<double> positive(Keys keys);
  std::optional<bool> boolean(Keys keys);
  std::optional<std::string> text(Keys keys);
  std::optional<std::vector<double>> positive_list(Keys keys);
  std::optional<std::vector<double>> integer_list(Keys keys);  ///< entries of at least 0
  std::optional<std::vector<std::string>> text_list(Keys keys);
  const Json* object(Keys keys);  ///< null where absent or empty; not noted as used

  void acknowledge(Keys keys);  ///< understood, without being read
  void note_default(std::string_view key, const std::string& value, std::string_view why);
  void note_ignored(std::string_view key, std::string_view why);
  /// Adds the keys that were not asked for to the unknown ones: all, or those whose name is about position.
  void note_left_over(bool all);

  std::string path_of(std::string_view key) const { return path_ + std::string(key); }
  /// `config.json: rope_scaling.factor`, the start of a message: made when require() or fail() calls it.
  auto subject(std::string_view key) const {
    return [this, key] { return file_ + ": " + path_of(key); };
  }
  const std::string& path() const { return path_; }
  const std::string& file() const { return file_; }
  const Json& json() const { return *object_; }
  Notes& notes() const { return *notes_; }

 private:
  struct Found {
    std::string_view key;
    const Json* value = nullptr;
  };
  Found ask(Keys keys);
  void note_used(const Found& found, const std::string& value);
  double checked_number(const Found& found) const;
  const Json& checked_list(const Found& found, std::string_view of_what) const;
  [[noreturn]] void refuse(const Found& found, std::string_view rule) const;

  const Json* object_;
  std::string path_;
  std::string file_;
  std::string default_of_;
  Notes* notes_;
  std::set<std::string, std::less<>> asked_;
};

/// Whether the name of a key is about positions: it contains rope, rotary, alibi or position.
bool is_about_position(std::string_view key);
std::string number_text(double value);

}  // namespace locus::io
