// SPDX-License-Identifier: Apache-2.0
// One valid object of each kind, from which a case of bad input removes one part, and the list of all cases.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "c/c_support.h"

namespace locus::testing {

struct World {
  OwnedEncoding rope = c_encoding("rope", {{"head_dim", 8}, {"pairing", "half"}});
  OwnedEncoding alibi = c_encoding("alibi", {{"heads", 2}});
  OwnedEncoding sinusoidal = c_encoding("sinusoidal", {{"dim", 8}});
  OwnedPool pool;
  OwnedPlan plan;
  OwnedCache cache;
  OwnedCached cached;
  OwnedDiagnosis diagnosis;
  std::int64_t sequence = -1;

  std::vector<float> data = std::vector<float>(2 * 2 * 8, 1.0f), other = data;
  std::vector<double> doubles = std::vector<double>(64);
  std::vector<std::int64_t> positions = {0, 1};
  locus_heads view = {data.data(), LOCUS_FLOAT32, 1, 2, 2, 8, 0, 16, 8};
  locus_heads out = {other.data(), LOCUS_FLOAT32, 1, 2, 2, 8, 0, 16, 8};
  locus_hidden hidden = {data.data(), LOCUS_FLOAT32, 1, 4, 8, 0, 8};
  locus_ids ids = {positions.data(), 1, 1, 2};
  std::vector<std::int64_t> four = {0, 1, 2, 3};
  locus_ids four_ids = {four.data(), 1, 1, 4};
  locus_cache_shape shape = {sizeof(locus_cache_shape), 16, 2, 8, LOCUS_FLOAT32, 0, 16, 0, 0};
  locus_attention call = sized<locus_attention>();
  locus_dump dump = sized<locus_dump>();

  World() {
    locus_pool* new_pool = nullptr;
    EXPECT_OK(locus_pool_new(1, &new_pool));
    pool.reset(new_pool);
    locus_plan* new_plan = nullptr;
    EXPECT_OK(locus_plan_prefill(2, 0, &new_plan));
    plan.reset(new_plan);
    locus_cache* new_cache = nullptr;
    EXPECT_OK(locus_cache_new(rope.get(), &shape, &new_cache));
    cache.reset(new_cache);
    EXPECT_OK(locus_cache_create(new_cache, &sequence));
    EXPECT_OK(locus_cache_append(new_cache, sequence, &view, &view, c_span(positions), nullptr));
    locus_cached* new_cached = nullptr;
    EXPECT_OK(locus_cache_gather(new_cache, sequence, &new_cached));
    cached.reset(new_cached);
    call.query = call.key = call.value = view;
    call.output = out;
    for (std::size_t i = 0; i < data.size(); ++i) other[i] = data[i] = static_cast<float>(i % 7) - 3;
    dump.before = view;
    dump.after = out;
    locus_diagnosis* new_diagnosis = nullptr;
    EXPECT_OK(locus_diagnose(&dump, &new_diagnosis));
    diagnosis.reset(new_diagnosis);
  }
};

template <class Wanted, class Given>
Wanted* as(Given* given) {
  return reinterpret_cast<Wanted*>(given);
}

using Case = std::function<int(World&)>;
using Cases = std::multimap<std::string, Case>;  // by the function that is called

template <class Struct, class Change>
Struct changed(Struct value, const Change& change) {
  change(value);
  return value;
}

// Views that every function must refuse.
inline std::vector<locus_heads> bad_views(const World& w) {
  return {changed(w.view, [](locus_heads& v) { v.data = nullptr; }),
          changed(w.view, [](locus_heads& v) { v.type = 4; }),
          changed(w.view, [](locus_heads& v) { v.type = -1; }),
          changed(w.view, [](locus_heads& v) { v.tokens = -2; }),
          changed(w.view, [](locus_heads& v) { v.heads = -2; }),
          changed(w.view, [](locus_heads& v) { v.batch = -1; }),
          changed(w.view, [](locus_heads& v) { v.head_dim = 6; }),
          changed(w.view, [](locus_heads& v) { v.tokens = v.heads = v.batch = INT64_MAX; })};
}

inline std::vector<locus_ids> bad_ids(const World& w) {
  static const std::int64_t beyond[2] = {0, max_position + 1};
  return {changed(w.ids, [](locus_ids& v) { v.ids = nullptr; }),
          changed(w.ids, [](locus_ids& v) { v.ids = beyond; }),
          changed(w.ids,
                  [](locus_ids& v) {
                    v.axes = 2;
                    v.tokens = 1;
                  }),
          changed(w.ids,
                  [](locus_ids& v) {
                    v.batch = 2;
                    v.tokens = 1;
                  }),
          changed(w.ids, [](locus_ids& v) { v.tokens = 1; }),
          changed(w.ids, [](locus_ids& v) { v.tokens = -1; }),
          changed(w.ids, [](locus_ids& v) { v.axes = -1; }),
          changed(w.ids, [](locus_ids& v) { v.tokens = v.batch = INT64_MAX; })};
}

template <class Value, class Call>
int each(const std::vector<Value>& values, const Call& call) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int status = call(&values[i]);
    EXPECT_EQ(status, LOCUS_BAD_INPUT) << "value " << i;
    if (status != LOCUS_BAD_INPUT) return status;
  }
  return call(nullptr);
}

/// All cases; each file adds its own before main.
inline Cases& all_cases() {
  static Cases cases;
  return cases;
}
struct AddedCases {
  explicit AddedCases(void (*add)(Cases&)) { add(all_cases()); }
};

}  // namespace locus::testing
