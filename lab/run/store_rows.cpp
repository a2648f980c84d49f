// SPDX-License-Identifier: Apache-2.0
#include "run/store_rows.h"

#include <array>

#include "run/spec.h"

namespace locus::lab {
namespace {

// Names of TrialState in the database.
constexpr std::array<const char*, 4> state_names = {"waiting", "claimed", "finished", "failed"};

TrialState state_from(const std::string& text) {
  for (std::size_t i = 0; i < state_names.size(); ++i) {
    if (text == state_names[i]) return static_cast<TrialState>(i);
  }
  fail("a trial in the store has the unknown state \"", text, "\"");
}

}  // namespace

const std::string trial_columns =
    "t.trial, t.spec, t.state, t.owner, t.kind, t.repeats, t.fence, t.started, t.heartbeat, t.expires, t.done,"
    " t.seconds, t.crashes, t.losses, t.error";

Json parse_stored(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  require(json.is_object(), "the store holds text that is not JSON: ", text.substr(0, 80));
  return json;
}

void TrialRow::read_into(soci::statement& statement) {
  const auto read = [&](auto&... places) { (statement.exchange(soci::into(places)), ...); };
  read(row_.key, spec_, state_, row_.owner, row_.kind, row_.repeats, row_.fence, row_.started, row_.heartbeat,
       row_.expires, row_.done, row_.seconds, row_.crashes, row_.losses, row_.error);
}

StoredTrial TrialRow::trial() {
  row_.spec = spec_from_json(parse_stored(spec_));
  row_.state = state_from(state_);
  return row_;
}

std::vector<StoredTrial> read_repeats(soci::session& sql, std::int64_t run) {
  return read_trials(sql,
                     "SELECT " + trial_columns +
                         " FROM trials t WHERE t.repeats IN (SELECT r.trial FROM run_trials r WHERE r.run = :run)"
                         " ORDER BY t.repeats, t.trial",
                     run);
}

}  // namespace locus::lab
