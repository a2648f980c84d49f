// SPDX-License-Identifier: Apache-2.0
#include "extra_memory.h"

#include <fstream>
#include <string>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace locus::bench {
namespace {

// A field of /proc/self/status, e.g. "VmHWM:", in bytes.
std::optional<double> status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return 1024 * std::stod(line.substr(field.size()));
  }
  return {};
}

}  // namespace

std::optional<double> extra_bytes_of(const std::function<void()>& call) {
#ifdef __GLIBC__
  malloc_trim(0);  // freed memory that is kept would hide what the call allocates
#endif
  const auto before = status_bytes("VmRSS:");
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5" << std::flush;  // resets the peak to the present value
  if (!reset || !before) return {};
  call();
  const auto highest = status_bytes("VmHWM:");
  if (!highest) return {};
  return *highest > *before ? *highest - *before : 0;
}

}  // namespace locus::bench
