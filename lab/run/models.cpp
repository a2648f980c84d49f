// SPDX-License-Identifier: Apache-2.0
#include "run/models.h"

#include <fstream>
#include <iterator>
#include <map>

#include "locus/error.h"
#include "locus/io/gguf.h"
#include "run/spec.h"

namespace locus::lab {
namespace {

namespace fs = std::filesystem;

std::string trial_in(const Json& origin) {
  if (!origin.is_object() || !origin.contains("trial") || !origin["trial"].is_string()) return {};
  return origin["trial"].get<std::string>();
}

std::string trial_of_folder(const fs::path& folder) {
  std::ifstream file(folder / "config.json");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const Json config = Json::parse(text, nullptr, false);
  if (!config.is_object() || !config.contains("lab") || !fs::exists(folder / "model.safetensors")) return {};
  return trial_in(config["lab"]);
}

std::string trial_of_gguf(const fs::path& path) {
  if (!fs::exists(path)) return {};
  try {
    return trial_in(Json::parse(io::read_gguf(path).text("locus_lab.lab").value_or(""), nullptr, false));
  } catch (const Error&) {  // not a model of the lab: it is overwritten
    return {};
  }
}

ModelFiles files_of(const SaveModels& save, const TrialSpec& spec) {
  return {.path = (save.folder / model_name(spec)).string(),
          .safetensors = save.formats != "gguf",
          .gguf = save.formats != "safetensors",
          .trial = key_of(spec)};
}

/// Returns whether all of them exist and belong to this trial.
bool are_saved(const ModelFiles& files) {
  return (!files.safetensors || trial_of_folder(files.path) == files.trial) &&
         (!files.gguf || trial_of_gguf(files.path + ".gguf") == files.trial);
}

}  // namespace

void check(const SaveModels& save) {
  require(save.formats.empty() || save.formats == "safetensors" || save.formats == "gguf" || save.formats == "both",
          "--save-models must be safetensors, gguf or both, got \"", save.formats, "\"");
}

std::string model_name(const TrialSpec& spec) {
  std::string name = spec.task + "-" + spec.scheme + "-seed" + std::to_string(spec.seed);
  for (char& c : name) {
    const bool safe =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (!safe) c = '_';
  }
  return name;
}

ModelFiles model_files(const SaveModels& save, const TrialSpec& spec, const Parts& parts) {
  if (save.formats.empty() || !can_be_probed(parts.describe(spec.task, spec.text_file))) return {};
  return files_of(save, spec);
}

std::vector<TrialSpec> unsaved(const SaveModels& save, const std::vector<TrialSpec>& trials, const Parts& parts) {
  if (save.formats.empty()) return {};
  std::map<std::string, bool> probed;  // once per task: describing one may read a long text
  std::vector<TrialSpec> missing;
  for (const TrialSpec& trial : trials) {
    const auto [task, fresh] = probed.try_emplace(trial.task);
    if (fresh) task->second = can_be_probed(parts.describe(trial.task, trial.text_file));
    if (task->second && !are_saved(files_of(save, trial))) missing.push_back(trial);
  }
  return missing;
}

}  // namespace locus::lab
