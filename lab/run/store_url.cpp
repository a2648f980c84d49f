// SPDX-License-Identifier: Apache-2.0
#include "run/store_url.h"

#include <algorithm>
#include <string_view>

namespace locus::lab {
namespace {

/// Replaces the characters between two indices by asterisks.
void hide(std::string& text, std::size_t begin, std::size_t end) {
  if (end > begin) text.replace(begin, end - begin, "***");
}

}  // namespace

bool is_postgresql(const std::string& url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

std::string without_password(const std::string& url) {
  std::string shown = url;
  const std::size_t host = shown.find("://");
  if (host == std::string::npos) return shown;
  constexpr std::string_view parameter = "password=";
  for (std::size_t at = shown.find(parameter, host); at != std::string::npos; at = shown.find(parameter, at)) {
    at += parameter.size();
    hide(shown, at, std::min(shown.find('&', at), shown.size()));
  }
  // USER:PASSWORD@ comes before the first slash; the last @ there ends it.
  const std::size_t user = host + 3, end = std::min(shown.find_first_of("/?", user), shown.size());
  const std::size_t at = shown.rfind('@', end), colon = shown.find(':', user);
  if (at != std::string::npos && at >= user && colon < at) hide(shown, colon + 1, at);
  return shown;
}

}  // namespace locus::lab
