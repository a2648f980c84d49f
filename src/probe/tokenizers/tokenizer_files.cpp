// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "locus/error.h"
#include "locus/io/mapped_file.h"
#include "locus/io/sniff.h"
#include "locus/text.h"
#include "parse/byte_reader.h"
#include "parse/strict_json.h"
#include "probe/tokenizers/tokenizer.h"

namespace locus::probe {
namespace {

namespace fs = std::filesystem;

std::string text_beside(const fs::path& path, const char* name) {
  const fs::path other = path.parent_path() / name;
  if (!fs::is_regular_file(other)) return {};
  const io::MappedFile file(other);
  return std::string(io::text_of(file.bytes()));
}

fs::path file_in(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "tokenizer.bin"}) {
    if (fs::is_regular_file(folder / name)) return folder / name;
  }
  fail(folder.string(), ": must contain tokenizer.json or tokenizer.bin");
}

/// Makes the tokenizer that the config.json of a lab model states; null for every other folder.
std::unique_ptr<Tokenizer> tokenizer_stated_in(const fs::path& folder) {
  if (fs::is_regular_file(folder / "tokenizer.json") || fs::is_regular_file(folder / "tokenizer.bin")) return {};
  const std::string config = text_beside(folder / "tokenizer.json", "config.json");
  if (config.empty()) return {};
  const nlohmann::json json = io::parse_strict_json(config, (folder / "config.json").string());
  const auto named = json.find("tokenizer");
  if (named == json.end() || !named->is_string()) return {};
  if (*named != "characters") return make_named_tokenizer(named->get<std::string>(), folder.string());
  const auto characters = json.find("characters");
  const auto is_text = [](const nlohmann::json& one) { return one.is_string(); };
  require(characters != json.end() && characters->is_array() &&
              std::all_of(characters->begin(), characters->end(), is_text),
          folder.string(), ": config.json must have a list of characters");
  return make_character_tokenizer(characters->get<std::vector<std::string>>(), folder.string());
}

std::unique_ptr<Tokenizer> read_file(const fs::path& path, std::optional<std::int32_t> vocab_size) {
  const io::FileKind kind = io::sniff(path);
  if (kind == io::FileKind::gguf) return make_tokenizer(io::read_gguf(path));
  if (kind != io::FileKind::json) {  // llama2.c tokenizers have no magic number
    require(path.extension() == ".bin", path.string(),
            ": a tokenizer must be a folder, a tokenizer.json, a GGUF file or a .bin of llama2.c; this is ",
            name_of(kind));
    return make_tokenizer(io::read_llama2c_tokenizer(path, vocab_size), path.string());
  }
  const io::MappedFile file(path);
  return parse_tokenizer_json(io::text_of(file.bytes()), path.string(), text_beside(path, "tokenizer_config.json"));
}

/// llama2.c keeps its tokenizer in a separate file: tokenizer.bin, tok512.bin or similar.
fs::path tokenizer_beside(const fs::path& checkpoint) {
  const fs::path folder = checkpoint.has_parent_path() ? checkpoint.parent_path() : fs::path(".");
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with("tok") && name.ends_with(".bin")) found.push_back(std::move(name));
  }
  std::sort(found.begin(), found.end());
  require(!found.empty(), checkpoint.string(),
          ": no tokenizer found: there is no tok*.bin in its folder; give one with --tokenizer");
  if (found.size() > 1) {
    fail(checkpoint.string(), ": several tokenizers in its folder (", joined(found), "); choose one with --tokenizer");
  }
  return folder / found.front();
}

}  // namespace

std::unique_ptr<Tokenizer> read_model_tokenizer(const fs::path& model, std::optional<std::int32_t> vocab_size) {
  const fs::path file = io::find_model_file(model);
  const io::FileKind kind = io::sniff(file);
  if (kind == io::FileKind::llama2c) return read_tokenizer(tokenizer_beside(file), vocab_size);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  return read_tokenizer(kind == io::FileKind::gguf ? file : folder, vocab_size);
}

std::unique_ptr<Tokenizer> read_tokenizer(const fs::path& path, std::optional<std::int32_t> vocab_size) {
  const bool folder = fs::is_directory(path);
  auto tokenizer = folder ? tokenizer_stated_in(path) : nullptr;
  if (!tokenizer) tokenizer = read_file(folder ? file_in(path) : path, vocab_size);
  require(!vocab_size || tokenizer->vocab_size() <= *vocab_size, path.string(), ": has ", tokenizer->vocab_size(),
          " tokens, more than the model's ", vocab_size.value_or(0));
  return tokenizer;
}

}  // namespace locus::probe
