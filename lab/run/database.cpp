// SPDX-License-Identifier: Apache-2.0
#include "run/database.h"

#include <string_view>

#include "locus/error.h"
#include "run/store_url.h"

namespace locus::lab {

std::unique_ptr<Database> find_database(const std::string& url) {
  constexpr std::string_view sqlite = "sqlite:";
  if (url.starts_with(sqlite) && url.size() > sqlite.size()) return sqlite_database(url.substr(sqlite.size()));
  require(is_postgresql(url), "the store's address must be sqlite:FILE or postgresql://USER@HOST/DATABASE, got \"",
          without_password(url), "\"");
  return postgresql_database(url);
}

}  // namespace locus::lab
