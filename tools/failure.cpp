// SPDX-License-Identifier: Apache-2.0
#include "failure.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "printable.h"

namespace locus::tools {

bool asks_for_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int report(const Failure& failure, bool json) {
  const std::string message = printable(failure.message);
  if (json) {
    nlohmann::ordered_json object{{"error", message}};
    if (!failure.help.empty()) object["help"] = failure.help;
    object["exit_code"] = failure.exit_code;
    std::cerr << object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  } else {
    std::cerr << failure.program << ": " << message;
    if (!failure.help.empty()) std::cerr << " (see " << failure.help << ')';
    std::cerr << '\n';
  }
  return failure.exit_code;
}

}  // namespace locus::tools
