// SPDX-License-Identifier: Apache-2.0
#include "locus/io/sniff.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/gguf_format.h"
#include "locus/error.h"
#include "locus/io/llama2c.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;

/// Returns the first bytes of a file, or all if it is shorter.
std::string first_bytes(const fs::path& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), path.string(), ": cannot be opened");
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  require(!file.bad(), path.string(), ": cannot be read");
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

/// Eight bytes of length, then a JSON object of that length.
bool is_safetensors(std::string_view start, std::uint64_t size) {
  if (start.size() < 9 || start[8] != '{') return false;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i) length |= std::uint64_t{static_cast<unsigned char>(start[i])} << (8 * i);
  return length >= 2 && length <= size - 8;
}

/// Version 0 has no magic number: its seven numbers must be plausible as the sizes of a model. The reader checks
/// whether they match the size of the file.
bool is_llama2c(std::string_view start) {
  std::array<std::int32_t, 7> header{};
  if (start.size() < sizeof(header)) return false;
  std::memcpy(header.data(), start.data(), sizeof(header));
  if (header[0] == llama2c_later_magic) return true;
  const auto [dim, hidden_dim, layers, heads, kv_heads, vocab_size, seq_len] = header;
  const auto within = [](std::int64_t value, std::int64_t most) { return value >= 1 && value <= most; };
  return within(dim, 1 << 20) && within(hidden_dim, 1 << 22) && within(layers, 1 << 12) && within(heads, dim) &&
         within(kv_heads, heads) && dim % heads == 0 && heads % kv_heads == 0 &&
         within(std::abs(std::int64_t{vocab_size}), 1 << 24) && within(seq_len, 1 << 28);
}

/// Reads only the keys of the outermost object, and stops at the first that decides.
class KeyLooker : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool object = false, index = false;

  bool start_object(std::size_t) override {
    if (depth_++ == 0) object = true;
    return true;
  }
  bool end_object() override { return --depth_ > 0; }
  bool start_array(std::size_t) override { return depth_++ > 0; }
  bool end_array() override { return --depth_ > 0; }
  bool key(std::string& name) override {
    if (depth_ == 1 && name == "weight_map") index = true;
    return !index;
  }
  bool null() override { return depth_ > 0; }
  bool boolean(bool) override { return depth_ > 0; }
  bool number_integer(std::int64_t) override { return depth_ > 0; }
  bool number_unsigned(std::uint64_t) override { return depth_ > 0; }
  bool number_float(double, const std::string&) override { return depth_ > 0; }
  bool string(std::string&) override { return depth_ > 0; }
  bool binary(nlohmann::json::binary_t&) override { return depth_ > 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  std::int64_t depth_ = 0;
};

/// Broken JSON after the opening brace still counts as JSON; its reader reports the error.
std::optional<FileKind> json_kind(const fs::path& path, std::string_view start) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (start.starts_with(byte_order_mark)) start.remove_prefix(byte_order_mark.size());
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || start[first] != '{') return {};
  std::ifstream file(path, std::ios::binary);
  KeyLooker keys;
  (void)nlohmann::json::sax_parse(file, &keys);
  return keys.index ? FileKind::safetensors_index : FileKind::json;
}

bool is_model(FileKind kind) { return kind == FileKind::gguf || kind == FileKind::llama2c; }

}  // namespace

std::string_view name_of(FileKind kind) {
  switch (kind) {
    case FileKind::gguf:
      return "a GGUF file";
    case FileKind::safetensors:
      return "a safetensors file";
    case FileKind::safetensors_index:
      return "an index of safetensors files";
    case FileKind::json:
      return "a JSON file";
    case FileKind::npy:
      return "a .npy array";
    case FileKind::npz:
      return "an .npz archive";
    case FileKind::llama2c:
      return "a llama2.c checkpoint";
    case FileKind::hf_folder:
      return "a model folder";
    case FileKind::folder:
      return "a folder without config.json";
    case FileKind::unknown:
      return "a file of unknown format";
  }
  return "?";
}

FileKind sniff(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  require(fs::exists(status), path.string(), ": does not exist");
  if (fs::is_directory(status)) {
    return fs::is_regular_file(path / "config.json", error) ? FileKind::hf_folder : FileKind::folder;
  }
  if (!fs::is_regular_file(status)) return FileKind::unknown;  // a pipe can be read only once
  const std::string start = first_bytes(path, 64);
  if (start.starts_with(gguf_magic)) return FileKind::gguf;
  if (start.starts_with("\x93NUMPY")) return FileKind::npy;
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06")) return FileKind::npz;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && is_safetensors(start, size)) return FileKind::safetensors;
  if (const auto json = json_kind(path, start)) return *json;
  return is_llama2c(start) ? FileKind::llama2c : FileKind::unknown;
}

FileKind sniff_settings(const std::filesystem::path& path) {
  const FileKind kind = sniff(path);
  require(kind == FileKind::gguf || kind == FileKind::json || kind == FileKind::unknown, path.string(),
          ": must be a config.json, a model folder or a GGUF file, got ", name_of(kind));
  return kind;
}

fs::path find_model_file(const fs::path& path) {
  const FileKind kind = sniff(path);
  if (kind == FileKind::hf_folder) return path / "config.json";
  if (kind != FileKind::folder) return path;
  std::vector<fs::path> models;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file(error) && is_model(sniff(entry->path()))) models.push_back(entry->path());
  }
  require(!models.empty(), path.string(),
          ": a model folder must have config.json, a GGUF file or a llama2.c checkpoint");
  std::sort(models.begin(), models.end());
  std::string names;
  for (const fs::path& model : models) names += (names.empty() ? "" : ", ") + model.filename().string();
  require(models.size() == 1, path.string(), ": has several models; give one of them: ", names);
  return models.front();
}

}  // namespace locus::io
