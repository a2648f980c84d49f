// SPDX-License-Identifier: Apache-2.0
#include "doctor/assumption.h"

#include <algorithm>

namespace locus::doctor {
namespace {

using Keys = std::vector<Position>;

void count_up(Keys& keys, Position first) {
  for (Position& key : keys) key = first++;
}

std::vector<Assumption> about_ids() {
  std::vector<Assumption> all;
  all.push_back({.cause = fault::ids_ignored, .ids = [](const CallIds&, std::int64_t i, Position& query, Keys& keys) {
                   query = i;
                   count_up(keys, 0);
                 }});
  // The same with queries at the end of the keys, which gets plain decoding right.
  all.push_back({.cause = fault::ids_ignored, .ids = [](const CallIds& c, std::int64_t i, Position& query, Keys& keys) {
                   query = i + std::max<Position>(0, static_cast<Position>(c.key.size() - c.query.size()));
                   count_up(keys, 0);
                 }});
  all.push_back(
      {.cause = fault::packed_ids_not_reset, .ids = [](const CallIds& c, std::int64_t i, Position& query, Keys& keys) {
         query = c.query[0] + i;
         if (!keys.empty()) count_up(keys, c.key[0]);
       }});
  all.push_back(
      {.cause = fault::packed_ids_not_reset, .ids = [](const CallIds& c, std::int64_t i, Position& query, Keys& keys) {
         if (!c.packed) return;
         query = c.query[0] + i;
         if (!keys.empty()) count_up(keys, c.key[0]);
       }});
  all.push_back(
      {.cause = fault::padding_counted, .ids = [](const CallIds& c, std::int64_t i, Position& query, Keys& keys) {
         if (!c.padded) return;
         query = i;
         count_up(keys, 0);
       }});
  for (const Position step : {Position{-1}, Position{1}}) {
    all.push_back(
        {.cause = fault::off_by_one_in_decode, .ids = [step](const CallIds& c, std::int64_t, Position& query, Keys&) {
           if (c.query.size() == 1) query += step;
         }});
    all.push_back({.cause = fault::off_by_one,
                   .ids = [step](const CallIds&, std::int64_t, Position& query, Keys&) { query += step; }});
  }
  return all;
}

std::vector<Assumption> about_rotations(const Rotation& rotation) {
  std::vector<Assumption> all;
  const auto other = [&](std::string_view cause, const std::function<void(Rotation&)>& change) {
    Rotation changed = rotation;
    change(changed);
    all.push_back({.cause = cause, .rotation = std::move(changed)});
  };
  other(fault::wrong_pairing, [](Rotation& r) {
    r.pairing = r.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
    r.deinterleaved_output = false;
  });
  all.push_back({.cause = fault::inverse_rotation, .direction = Direction::inverse});
  if (rotation.magnitude != 1) other(fault::magnitude_missing, [](Rotation& r) { r.magnitude = 1; });
  if (rotation.scale) all.push_back({.cause = fault::roles_exchanged, .roles_exchanged = true});
  return all;
}

}  // namespace

std::vector<Assumption> assumptions_for(const Encoding& encoding) {
  std::vector<Assumption> all;
  all.push_back({.cause = fault::no_positions, .ids = [](const CallIds&, std::int64_t, Position& query, Keys& keys) {
                   query = 0;
                   std::fill(keys.begin(), keys.end(), 0);
                 }});
  if (const auto* rotation = std::get_if<Rotation>(&encoding.term())) {
    for (Assumption& one : about_rotations(*rotation)) all.push_back(std::move(one));
  }
  if (encoding.site() == Site::score) {
    // A key that is j behind the first gets what is due to the key j before the query.
    all.push_back({.cause = fault::bias_from_the_wrong_end,
                   .ids = [](const CallIds& c, std::int64_t, Position& query, Keys& keys) {
                     for (Position& key : keys) key = query - (key - c.key[0]);
                   }});
  }
  for (Assumption& one : about_ids()) all.push_back(std::move(one));
  if (encoding.site() == Site::query_key) all.push_back({.cause = fault::float32_angles, .float32_angles = true});
  return all;
}

std::string likely_cause(const std::vector<Assumption>& assumptions, std::size_t cases, std::size_t failed,
                         const std::function<bool(const Assumption&, std::size_t)>& matches) {
  for (const Assumption& assumption : assumptions) {
    bool all = true;
    for (std::size_t i = 0; i < cases && all; ++i) all = matches(assumption, i);
    if (all) return std::string(assumption.cause);
  }
  for (const Assumption& assumption : assumptions) {
    if (matches(assumption, failed)) return std::string(assumption.cause);
  }
  return "none of the known faults gives these numbers";
}

}  // namespace locus::doctor
