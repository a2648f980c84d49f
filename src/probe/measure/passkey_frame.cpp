// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/passkey_frame.h"

#include "locus/error.h"
#include "parse/strict_json.h"

namespace locus::probe {
namespace {

using Json = nlohmann::json;

std::int32_t id_of(const Json& json, const std::string& what) {
  require(json.is_number_integer() && json >= 0 && json <= 0x7FFFFFFF, what,
          " must be a token id from 0 to 2^31 - 1, got ", json.dump().substr(0, 80));
  return json.get<std::int32_t>();
}

std::vector<std::int32_t> ids_of(const Json& json, const std::string& what) {
  require(json.is_array() && !json.empty(), what, " must be a list of token ids, got ", json.dump().substr(0, 80));
  std::vector<std::int32_t> ids;
  for (const Json& id : json) ids.push_back(id_of(id, what));
  return ids;
}

}  // namespace

PasskeyFrame parse_passkey_frame(std::string_view text, const std::string& name) {
  const Json json = io::parse_strict_json(text, name);
  const auto at = [&](const char* key) -> const Json& {
    require(json.contains(key), name, ": ", key, " is missing");
    return json[key];
  };
  PasskeyFrame frame;
  frame.key_mark = id_of(at("key_mark"), name + ": key_mark");
  frame.question = id_of(at("question"), name + ": question");
  frame.noise = ids_of(at("noise"), name + ": noise");
  require(at("keys").is_array() && !at("keys").empty(), name, ": keys must be a list of keys");
  for (const Json& key : at("keys")) frame.keys.push_back(ids_of(key, name + ": a key"));
  for (const auto& key : frame.keys) {
    require(key.size() == frame.keys.front().size(), name, ": all keys must have the same length, got ",
            frame.keys.front().size(), " and ", key.size());
  }
  return frame;
}

void require_within(const PasskeyFrame& frame, std::int64_t vocabulary, const std::string& file) {
  std::vector<std::int32_t> all = frame.noise;
  all.push_back(frame.key_mark);
  all.push_back(frame.question);
  for (const auto& key : frame.keys) all.insert(all.end(), key.begin(), key.end());
  for (const std::int32_t id : all) {
    require(id < vocabulary, file, ": passkey: token ", id, " is outside the model's vocabulary of ", vocabulary);
  }
}

}  // namespace locus::probe
