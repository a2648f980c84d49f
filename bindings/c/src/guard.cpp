// SPDX-License-Identifier: Apache-2.0
#include "guard.h"

#include <cstdio>
#include <string_view>

#include "locus/rotate.h"

namespace locus::c {
namespace {

thread_local char last_error[1024] = "";

}  // namespace

int note(int code, const char* message) noexcept {
  std::snprintf(last_error, sizeof last_error, "%s", message);
  return code;
}

}  // namespace locus::c

extern "C" {

const char* locus_version(void) { return LOCUS_VERSION; }

const char* locus_last_error(void) { return locus::c::last_error; }

const char* locus_simd_target(void) {
  const char* name = "";
  const int status = locus::c::guarded([&] { name = locus::simd_target().data(); });
  return status == LOCUS_OK ? name : "";
}

}  // extern "C"
