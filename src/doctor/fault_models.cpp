// SPDX-License-Identifier: Apache-2.0
#include "doctor/fault_models.h"

#include <algorithm>

#include "doctor/faults.h"

namespace locus::doctor {
namespace {

using Keys = std::vector<Position>;

void count_up(Keys& keys, Position first) {
  for (Position& key : keys) key = first++;
}

std::vector<FaultModel> about_ids() {
  std::vector<FaultModel> all;
  all.push_back({.fault = "ids_ignored", .ids = [](const CallIds&, std::int64_t i, Position& query, Keys& keys) {
                   query = i;
                   count_up(keys, 0);
                 }});
  // The same with queries at the end of the keys, which gets plain decoding right.
  all.push_back({.fault = "ids_ignored", .ids = [](const CallIds& c, std::int64_t i, Position& query, Keys& keys) {
                   query = i + std::max<Position>(0, static_cast<Position>(c.key.size() - c.query.size()));
                   count_up(keys, 0);
                 }});
  all.push_back(
      {.fault = "positions_not_reset", .ids = [](const CallIds& c, std::int64_t i, Position& query, Keys& keys) {
         query = c.query[0] + i;
         if (!keys.empty()) count_up(keys, c.key[0]);
       }});
  all.push_back(
      {.fault = "positions_not_reset", .ids = [](const CallIds& c, std::int64_t i, Position& query, Keys& keys) {
         if (!c.packed) return;
         query = c.query[0] + i;
         if (!keys.empty()) count_up(keys, c.key[0]);
       }});
  all.push_back({.fault = "padding_counted", .ids = [](const CallIds& c, std::int64_t i, Position& query, Keys& keys) {
                   if (!c.padded) return;
                   query = i;
                   count_up(keys, 0);
                 }});
  for (const Position step : {Position{-1}, Position{1}}) {
    all.push_back(
        {.fault = "off_by_one_in_decode", .ids = [step](const CallIds& c, std::int64_t, Position& query, Keys&) {
           if (c.query.size() == 1) query += step;
         }});
    all.push_back({.fault = "off_by_one",
                   .ids = [step](const CallIds&, std::int64_t, Position& query, Keys&) { query += step; }});
  }
  return all;
}

std::vector<FaultModel> about_rotations(const Rotation& rotation) {
  std::vector<FaultModel> all;
  const auto other = [&](std::string_view id, const std::function<void(Rotation&)>& change) {
    Rotation changed = rotation;
    change(changed);
    all.push_back({.fault = id, .rotation = std::move(changed)});
  };
  other("wrong_pairing", [](Rotation& r) {
    r.pairing = r.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
    r.deinterleaved_output = false;
  });
  all.push_back({.fault = "inverse_rotation", .direction = Direction::inverse});
  if (rotation.magnitude != 1) other("magnitude_missing", [](Rotation& r) { r.magnitude = 1; });
  if (rotation.scale) all.push_back({.fault = "roles_exchanged", .roles_exchanged = true});
  return all;
}

}  // namespace

std::vector<FaultModel> fault_models_for(const Encoding& encoding) {
  std::vector<FaultModel> all;
  all.push_back({.fault = "no_positions", .ids = [](const CallIds&, std::int64_t, Position& query, Keys& keys) {
                   query = 0;
                   std::fill(keys.begin(), keys.end(), 0);
                 }});
  if (const auto* rotation = std::get_if<Rotation>(&encoding.term())) {
    for (FaultModel& one : about_rotations(*rotation)) all.push_back(std::move(one));
  }
  if (encoding.site() == Site::score) {
    // A key that is j behind the first gets what is due to the key j before the query.
    all.push_back(
        {.fault = "bias_from_the_wrong_end", .ids = [](const CallIds& c, std::int64_t, Position& query, Keys& keys) {
           for (Position& key : keys) key = query - (key - c.key[0]);
         }});
  }
  for (FaultModel& one : about_ids()) all.push_back(std::move(one));
  if (encoding.site() == Site::query_key) all.push_back({.fault = "float32_angles", .float32_angles = true});
  return all;
}

std::string likely_cause(const std::vector<FaultModel>& models, std::size_t cases, std::size_t failed,
                         const std::function<bool(const FaultModel&, std::size_t)>& matches) {
  for (const FaultModel& model : models) {
    bool all = true;
    for (std::size_t i = 0; i < cases && all; ++i) all = matches(model, i);
    if (all) return std::string(find_fault(model.fault).name);
  }
  for (const FaultModel& model : models) {
    if (matches(model, failed)) return std::string(find_fault(model.fault).name);
  }
  return "none of the known faults gives these numbers";
}

}  // namespace locus::doctor
