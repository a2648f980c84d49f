// SPDX-License-Identifier: Apache-2.0
#include "learn/workspace.h"

#include <nlohmann/json.hpp>

#include "locus/error.h"
#include "locus/io/atomic_file.h"

namespace locus::learn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

}  // namespace

Workspace::Workspace(fs::path folder, std::string program_language, std::uint64_t seed)
    : folder_(std::move(folder)), program_language_(std::move(program_language)), seed_(seed) {}

std::optional<Workspace> Workspace::find(const fs::path& folder) {
  std::error_code none;
  for (fs::path at = fs::absolute(folder);; at = at.parent_path()) {
    const fs::path file = at / file_name;
    if (fs::is_regular_file(file, none)) {
      try {
        const Json json = Json::parse(text_at(file));
        Workspace workspace(at, json.at("language"), json.at("seed"));
        if (const std::string code = json.value("lang", ""); !code.empty()) workspace.spoken = find_language(code);
        require(workspace.program_language_ == "python" || workspace.program_language_ == "cpp", file.string(),
                ": language must be python or cpp, got ", workspace.program_language_);
        for (const auto& [id, one] : json.at("exercises").items()) {
          workspace.progress_[id] = {one.value("passed", false), one.value("hints", 0), one.value("prediction", "")};
        }
        return workspace;
      } catch (const Json::exception& error) {
        fail(file.string(), " is not a progress file of locus learn: ", error.what());
      }
    }
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
  const std::string text = json.dump(1) + "\n";
  const io::ByteChunk chunk = std::as_bytes(std::span(text));
  io::write_atomically(folder_ / file_name, std::span(&chunk, 1));
}

}  // namespace locus::learn
