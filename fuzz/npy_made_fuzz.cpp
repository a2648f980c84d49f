// SPDX-License-Identifier: Apache-2.0
// .npy files of every type and version.
#include "checks.h"
#include "made_npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  locus::fuzz::Choices choices(data, size);
  const std::string file = locus::fuzz::made_npy(choices);
  locus::fuzz::check_npy(locus::fuzz::bytes_of(file));
  return 0;
}
