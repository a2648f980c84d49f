// SPDX-License-Identifier: Apache-2.0
#include "io/hf_parts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "io/hf_resolve.h"

namespace locus::io {
namespace {

constexpr const auto& language_keys = hf_nesting_keys;
constexpr std::array<std::string_view, 6> bare_keys = {"encoder",       "decoder",          "text_encoder",
                                                       "audio_encoder", "question_encoder", "generator"};

template <class List>
bool lists(const List& list, std::string_view key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

/// Returns the model type that `row` gives to its part `key`: "text_config=llama vision_config=pixtral".
std::string default_type(const HfModel* row, std::string_view key) {
  if (row == nullptr) return {};
  const std::string entry = std::string(key) + "=";
  const std::string list = " " + std::string(row->parts) + " ";
  const std::size_t start = list.find(" " + entry);
  if (start == std::string::npos) return {};
  const std::size_t from = start + 1 + entry.size();
  return list.substr(from, list.find(' ', from) - from);
}

std::string stated_type(const Json& object) {
  const auto found = object.find("model_type");
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

class Search {
 public:
  Search(const std::string& file, Notes& notes) : file_(file), notes_(notes) {}

  ModelPlaces run(const Json& root) {
    Notes unused;
    Fields(root, "", file_, unused).text({"model_type"});  // Error: not a string
    descend({.object = &root, .model_type = stated_type(root)});
    const Json& main = *found_.main.front().object;
    if (stated_type(main).empty() && !stated_type(root).empty()) notes_.used.emplace_back("model_type");
    return std::move(found_);
  }

 private:
  /// Returns the keys of the objects inside `place` that are models.
  std::vector<std::string> children(const ModelPlace& place, const HfModel* row) const {
    std::vector<std::string> keys;
    Notes unused;
    Fields(*place.object, place.path, file_, unused).object({"text_config"});  // Error: not an object
    for (const auto& [key, value] : place.object->items()) {
      if (!value.is_object() || value.empty()) continue;
      const bool named = lists(language_keys, key) || !default_type(row, key).empty();
      const bool model_like = key.ends_with("_config") || lists(bare_keys, key);
      if (named || (model_like && !stated_type(value).empty())) keys.push_back(key);
    }
    return keys;
  }

  ModelPlace child(const ModelPlace& place, const HfModel* row, const std::string& key, bool main) const {
    ModelPlace inner{.object = &place.object->at(key), .path = place.path + key + "."};
    inner.model_type = stated_type(*inner.object);
    if (inner.model_type.empty()) inner.model_type = default_type(row, key);
    if (inner.model_type.empty() && main) inner.model_type = place.model_type;
    return inner;
  }

  /// Returns the key of the single nested language model.
  std::optional<std::string> language_key(const HfModel* row, const std::vector<std::string>& keys) const {
    for (const std::string_view key : language_keys) {
      if (lists(keys, key)) return std::string(key);
    }
    const bool pair = lists(keys, "encoder") || lists(keys, "encoder_config");
    if (lists(keys, "decoder") && !(pair && !default_type(row, "encoder").empty())) return "decoder";
    if (row != nullptr && row->family == HfFamily::composite && !keys.empty() && !lists(keys, "decoder") &&
        !lists(keys, "decoder_config") && !names_language_model(row)) {
      return keys.front();  // a head on top of one encoder
    }
    return {};
  }

  static bool names_language_model(const HfModel* row) {
    return std::any_of(language_keys.begin(), language_keys.end(),
                       [&](std::string_view key) { return !default_type(row, key).empty(); });
  }

  void pass_by(const ModelPlace& place, const std::string& key) {
    Fields fields(*place.object, place.path, file_, notes_);
    for (const auto& [name, value] : place.object->items()) {
      if (is_about_position(name) && !value.is_null()) {
        fields.note_ignored(name, fields.path_of(key) + " is read instead");
      }
    }
  }

  void descend(ModelPlace place) {
    const HfModel* const row = find_hf_model(place.model_type);
    const std::vector<std::string> keys = children(place, row);
    const auto add_parts_but = [&](std::initializer_list<std::string> taken) {
      for (const std::string& key : keys) {
        if (!lists(taken, key)) found_.parts.push_back(child(place, row, key, false));
      }
    };
    if (const auto key = language_key(row, keys)) {
      add_parts_but({*key});
      pass_by(place, *key);
      return descend(child(place, row, *key, true));
    }
    for (const std::string suffix : {"", "_config"}) {
      const std::string encoder = "encoder" + suffix, decoder = "decoder" + suffix;
      if (!lists(keys, encoder) || !lists(keys, decoder)) continue;
      add_parts_but({encoder, decoder});
      for (const std::string& key : {encoder, decoder}) descend_role(child(place, row, key, true), key);
      return;
    }
    add_parts_but({});
    if (row != nullptr && row->family == HfFamily::composite) flatten(place, row);
    found_.main.push_back(std::move(place));
  }

  /// The encoder of a pair may contain a language model.
  void descend_role(ModelPlace place, const std::string& key) {
    const std::size_t before = found_.main.size();
    descend(std::move(place));
    for (std::size_t i = before; i < found_.main.size(); ++i) {
      found_.main[i].role = key.starts_with("encoder") ? "encoder" : "decoder";
    }
  }

  /// Older files have the keys of the text model at the top level, and some omit all of them.
  static void flatten(ModelPlace& place, const HfModel* row) {
    for (const std::string_view key : language_keys) {
      const std::string type = default_type(row, key);
      if (!type.empty()) place.model_type = type;
      if (!type.empty()) return;
    }
  }

  const std::string& file_;
  Notes& notes_;
  ModelPlaces found_;
};

}  // namespace

ModelPlaces find_models(const Json& root, const std::string& file, Notes& notes) {
  return Search(file, notes).run(root);
}

}  // namespace locus::io
