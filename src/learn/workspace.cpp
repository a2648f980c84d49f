// SPDX-License-Identifier: Apache-2.0
#include "learn/workspace.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "learn/spoken_error.h"
#include "locus/io/atomic_file.h"

namespace locus::learn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Error: Json::exception for anything but an integer from 0 on. By itself, the conversion would cut a fraction off, and
/// has no defined result for 1e300.
std::uint64_t integer_of(const Json& value) {
  const Json text = value.is_number_unsigned() ? value : Json("not an integer");
  return text.get<std::uint64_t>();
}

Workspace read_workspace(const fs::path& file) {
  try {
    const Json json = Json::parse(text_at(file));
    const std::string language = json.at("language"), code = json.value("lang", "");
    if (language != "python" && language != "cpp") {
      throw SpokenError("ui.bad_program_language", {{"file", file.string()}, {"language", language}});
    }
    Workspace workspace(file.parent_path(), language, integer_of(json.at("seed")));
    if (!code.empty()) {
      for (const Language one : all_languages) {
        if (code_of(one) == code) workspace.spoken = one;
      }
      if (!workspace.spoken) throw SpokenError("ui.bad_lang", {{"file", file.string()}, {"lang", code}});
    }
    for (const auto& [id, one] : json.at("exercises").items()) {
      workspace.progress(id) = {
          one.value("passed", false),
          static_cast<int>(std::min<std::uint64_t>(integer_of(one.value("hints", Json(0U))), 1000)),
          one.value("prediction", "")};
    }
    return workspace;
  } catch (const Json::exception& error) {
    throw SpokenError("ui.bad_progress", {{"file", file.string()}, {"reason", error.what()}});
  }
}

}  // namespace

Workspace::Workspace(fs::path folder, std::string program_language, std::uint64_t seed)
    : folder_(std::move(folder)), program_language_(std::move(program_language)), seed_(seed) {}

std::optional<Workspace> Workspace::find(const fs::path& folder) {
  std::error_code none;
  for (fs::path at = fs::absolute(folder);; at = at.parent_path()) {
    const fs::path file = at / file_name;
    if (fs::is_regular_file(file, none)) return read_workspace(file);
    if (at == at.parent_path()) return {};
  }
}

fs::path Workspace::path_of(const Exercise& exercise) const {
  const std::string ending = exercise.kind != Kind::code ? "" : program_language_ == "cpp" ? ".cpp" : ".py";
  return folder_ / (file_stem(exercise) + ending);
}

const Exercise* Workspace::next() {
  for (const Exercise& exercise : exercises()) {
    if (!progress(exercise).passed) return &exercise;
  }
  return nullptr;
}

void Workspace::save() const {
  Json json = {
      {"format", 1}, {"language", program_language_}, {"lang", spoken ? code_of(*spoken) : ""}, {"seed", seed_}};
  Json& all = json["exercises"] = Json::object();
  for (const auto& [id, one] : progress_) {
    Json entry = {{"passed", one.passed}, {"hints", one.hints}};
    if (!one.prediction.empty()) entry["prediction"] = one.prediction;
    all[id] = std::move(entry);
  }
  write_text(folder_ / file_name, json.dump(1) + "\n");
}

void require_writable(const fs::path& folder) {
  if (access(folder.c_str(), W_OK) != 0) throw SpokenError("ui.read_only", {{"folder", folder.string()}});
}

void write_text(const fs::path& file, const std::string& text) {
  require_writable(file.parent_path());
  const io::ByteChunk chunk = std::as_bytes(std::span(text));
  io::write_atomically(file, std::span(&chunk, 1));
}

}  // namespace locus::learn
