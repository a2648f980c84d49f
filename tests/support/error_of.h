// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "locus/error.h"

namespace locus::testing {

/// The message of the locus::Error that `call` throws, or "no error".
template <class Call>
std::string error_of(Call&& call) {
  try {
    (void)call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace locus::testing
