// SPDX-License-Identifier: Apache-2.0
// Rows of the table trials.
#pragma once

#include <soci/soci.h>

#include <string>
#include <vector>

#include "run/store.h"

namespace locus::lab {

/// The columns of a SELECT whose table trials is called t.
extern const std::string trial_columns;

/// Error: text that is not a JSON object.
Json parse_stored(const std::string& text);

/// Variables that a row is read into.
class TrialRow {
 public:
  void read_into(soci::statement& statement);
  StoredTrial trial();

 private:
  StoredTrial row_;
  std::string spec_, state_;
};

/// Returns all rows of a statement whose columns are trial_columns; `values` fill its placeholders.
template <class... Values>
std::vector<StoredTrial> read_trials(soci::session& sql, const std::string& text, const Values&... values) {
  TrialRow row;
  soci::statement statement(sql);
  row.read_into(statement);
  (statement.exchange(soci::use(values)), ...);
  statement.alloc();
  statement.prepare(text);
  statement.define_and_bind();
  statement.execute();
  std::vector<StoredTrial> rows;
  while (statement.fetch()) rows.push_back(row.trial());
  return rows;
}

/// Returns the repeats of trials of a run, also those that another run planned.
std::vector<StoredTrial> read_repeats(soci::session& sql, std::int64_t run);

}  // namespace locus::lab
