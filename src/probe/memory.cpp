// SPDX-License-Identifier: Apache-2.0
#include "probe/memory.h"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>

#include "locus/error.h"

namespace locus::probe {
namespace {

std::optional<std::int64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;  // "max" is not a number
  return {};
}

std::optional<std::int64_t> machine_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  while (file >> key) {
    std::int64_t kilobytes = 0;
    if (key == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
    std::getline(file, key);
  }
  return {};
}

std::string shown(double bytes) {
  std::ostringstream text;
  text << std::fixed;
  if (bytes < 1e9) {
    text << std::setprecision(1) << bytes / 1e6 << " MB";
  } else {
    text << std::setprecision(1) << bytes / 1e9 << " GB";
  }
  return text.str();
}

}  // namespace

std::optional<std::int64_t> available_memory() {
  std::optional<std::int64_t> available = machine_memory();
  const auto limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) available = std::min(available.value_or(*limit), std::max<std::int64_t>(*limit - *used, 0));
  return available;
}

void require_memory(std::string_view what, double bytes, std::optional<std::int64_t> available) {
  if (!available) return;
  require(bytes <= static_cast<double>(*available), what, " needs ", shown(bytes), " of memory, but only ",
          shown(static_cast<double>(*available)), " are available");
}

void require_memory(std::string_view what, double bytes) { require_memory(what, bytes, available_memory()); }

}  // namespace locus::probe
