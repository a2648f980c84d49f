// SPDX-License-Identifier: Apache-2.0
// The tables of a store, the same in every database.
#pragma once

#include <soci/soci.h>

namespace locus::lab {

constexpr int store_version = 2;

/// Creates the tables of the current version if there are none.
void make_tables(soci::session& sql);

/// Migrates the tables of an older version, in the caller's transaction.
void migrate_tables(soci::session& sql, int version);

/// Error: a version that this program does not know; `name` is the store's.
void require_known_version(const std::string& name, long long version);

}  // namespace locus::lab
