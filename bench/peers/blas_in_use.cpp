// SPDX-License-Identifier: Apache-2.0
#include "blas_in_use.h"

#include <dlfcn.h>

#include <filesystem>

namespace locus::bench {

std::string blas_in_use() {
  void* sgemm = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info info = {};
  if (sgemm == nullptr || dladdr(sgemm, &info) == 0) return "none";
  std::error_code none;
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, none);
  return none ? info.dli_fname : file.string();
}

}  // namespace locus::bench
