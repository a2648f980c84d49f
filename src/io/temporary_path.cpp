// SPDX-License-Identifier: Apache-2.0
#include "io/temporary_path.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "locus/io/atomic_file.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view beginning = ".locus-", ending = ".tmp";

struct Unfinished {
  std::mutex mutex;
  std::set<fs::path> paths;
  std::set<fs::path> swept;  // folders that were already cleaned
};

Unfinished& unfinished() {
  static Unfinished all;
  return all;
}

/// Identifies the machine in a form that a file name can hold: process ids are meaningless on another machine.
std::string host_mark() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : std::string_view(name.data())) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return std::to_string(hash);
}

bool is_alive(pid_t process) { return kill(process, 0) == 0 || errno != ESRCH; }

/// True for a name of ours, from this machine, whose process has ended.
bool is_stale(std::string_view name) {
  if (!name.starts_with(beginning) || !name.ends_with(ending)) return false;
  name = name.substr(beginning.size(), name.size() - beginning.size() - ending.size());
  const std::string mark = host_mark() + "-";
  if (!name.starts_with(mark)) return false;
  name.remove_prefix(mark.size());
  pid_t process = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  const bool followed = end != name.data() + name.size() && *end == '-';
  return error == std::errc() && process > 0 && followed && !is_alive(process);
}

void sweep(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error), none;
  for (; !error && entries != none; entries.increment(error)) {
    std::error_code ignored;  // another process may remove it at the same time
    if (is_stale(entries->path().filename().string())) fs::remove_all(entries->path(), ignored);
  }
}

}  // namespace

TemporaryPath::TemporaryPath(const fs::path& folder) {
  std::random_device random;
  const std::string number = std::to_string(random()) + std::to_string(random());
  path_ = folder /
          (std::string(beginning) + host_mark() + "-" + std::to_string(getpid()) + "-" + number + std::string(ending));
  Unfinished& all = unfinished();
  const std::scoped_lock lock(all.mutex);
  const fs::path swept = folder.empty() ? fs::path(".") : folder;
  std::error_code error;
  if (all.swept.insert(fs::absolute(swept, error)).second) sweep(swept);
  all.paths.insert(path_);
}

TemporaryPath::~TemporaryPath() {
  if (path_.empty()) return;
  std::error_code error;
  fs::remove_all(path_, error);
  release();
}

bool TemporaryPath::rename_to(const fs::path& target) {
  Unfinished& all = unfinished();
  const std::scoped_lock lock(all.mutex);
  if (std::rename(path_.c_str(), target.c_str()) != 0) return false;
  all.paths.erase(path_);
  path_.clear();
  return true;
}

void TemporaryPath::release() {
  Unfinished& all = unfinished();
  const std::scoped_lock lock(all.mutex);
  all.paths.erase(path_);
  path_.clear();
}

void remove_unfinished_files(const std::function<void()>& end) {
  Unfinished& all = unfinished();
  const std::scoped_lock lock(all.mutex);
  for (const fs::path& path : all.paths) {
    std::error_code error;
    for (int attempt = 0; attempt < 100 && fs::exists(path, error); ++attempt) {
      fs::remove_all(path, error);  // a second time, in case a file was just copied into the folder
    }
  }
  end();
}

}  // namespace locus::io
