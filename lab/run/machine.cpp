// SPDX-License-Identifier: Apache-2.0
#include "run/machine.h"

#include <sched.h>
#include <sqlite3.h>
#include <unistd.h>

#include <fstream>

#include "locus/rotate.h"

namespace locus::lab {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count < 1 ? 1 : count;
}

results::Machine machine() {
  return {.cpu = processor_name(),
          .simd = std::string(simd_target()),
          .cores = usable_cores(),
          .memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE)};
}

std::string machine_kind(const std::vector<std::pair<std::string, std::string>>& libraries) {
  std::string kind(simd_target());
  for (const auto& [name, version] : libraries) kind += ", " + name + ' ' + version;
  return kind;
}

std::vector<std::pair<std::string, std::string>> versions() {
  return {{"locus", LOCUS_VERSION}, {"compiler", __VERSION__}, {"sqlite", sqlite3_libversion()}};
}

}  // namespace locus::lab
