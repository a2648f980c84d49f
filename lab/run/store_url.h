// SPDX-License-Identifier: Apache-2.0
// Addresses of stores.
#pragma once

#include <string>

namespace locus::lab {

bool is_postgresql(const std::string& url);

/// Returns the URL without its password, for messages and files.
std::string without_password(const std::string& url);

}  // namespace locus::lab
