// SPDX-License-Identifier: Apache-2.0
// Untrusted JSON: a bounded parser, and typed access to the keys of an object that records what was read.
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
  std::vector<std::string> rope_order;  ///< keys of the rope blocks in file order, which Json does not keep
  std::vector<std::string> repeated;    ///< paths of duplicate keys; Json, like Python, keeps the last value
};

/// Error: anything but one JSON object of bounded size and depth. `name` starts the message.
JsonDocument parse_json_document(std::string_view text, const std::string& name);

struct Notes {
  std::vector<std::string> used, defaulted, unknown;

  void add_unknown(std::string text);  ///< keeps the first hundred, since a hostile file may have a million
};

/// One object of a config. A key counts as understood if it was read; all others are unknown. `null` counts as absent.
/// Getters take aliases: the first key that is present is read.
class Fields {
 public:
  using Keys = std::initializer_list<std::string_view>;

  /// `path` is the prefix of the keys in messages and notes, e.g. `text_config.`.
  Fields(const Json& object, std::string path, std::string file, Notes& notes)
      : object_(&object), path_(std::move(path)), file_(std::move(file)), notes_(&notes) {}
  /// Copies `other` with its read keys; further notes go to `notes`.
  Fields(const Fields& other, Notes& notes) : Fields(other) { notes_ = &notes; }
  Fields(const Fields&) = default;
  Fields& operator=(const Fields&) = delete;

  /// Marks the values as those of `model` in transformers, not of the file: they are noted as defaults.
  void are_defaults_of(std::string_view model) { default_of_ = model; }

  bool has(std::string_view key) const { return peek(key) != nullptr; }  ///< does not mark the key as read
  const Json* peek(std::string_view key) const;                          ///< does not mark the key as read

  std::optional<std::int64_t> integer(Keys keys, std::int64_t least = 1);  ///< at most 2^31 - 1
  std::optional<double> number(Keys keys);
  std::optional<double> positive(Keys keys);
  std::optional<bool> boolean(Keys keys);
  std::optional<std::string> text(Keys keys);
  std::optional<std::vector<double>> positive_list(Keys keys);
  std::optional<std::vector<double>> integer_list(Keys keys);  ///< entries of at least 0
  std::optional<std::vector<std::string>> text_list(Keys keys);
  const Json* object(Keys keys);  ///< null if absent or empty; not noted as used

  void acknowledge(Keys keys);  ///< marks keys as understood without reading them
  void note_default(std::string_view key, const std::string& value, std::string_view why);
  void note_ignored(std::string_view key, std::string_view why);
  /// Adds the keys that were not read to the unknown ones: all, or only those that concern positions.
  void note_unread(bool all);

  std::string path_of(std::string_view key) const { return path_ + std::string(key); }
  /// Returns `config.json: rope_scaling.factor`, the start of a message, formatted only if require() or fail() needs
  /// it.
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

/// True if the name of a key concerns positions: it contains rope, rotary, alibi or position.
bool is_about_position(std::string_view key);
std::string number_text(double value);

}  // namespace locus::io
