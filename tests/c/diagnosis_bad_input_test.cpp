// SPDX-License-Identifier: Apache-2.0
// Bad input for diagnosis.
#include "c/bad_input.h"

namespace locus {
namespace {

using namespace locus::testing;

void add_diagnosis_cases(Cases& all) {
  static locus_diagnosis* d = nullptr;
  const auto with = [&](const std::function<void(World&, locus_dump&)>& change) {
    all.emplace("locus_diagnose", [change](World& w) {
      locus_dump dump = w.dump;
      change(w, dump);
      return locus_diagnose(&dump, &d);
    });
  };
  all.emplace("locus_diagnose", [](World&) { return locus_diagnose(nullptr, &d); });
  all.emplace("locus_diagnose", [](World& w) { return locus_diagnose(&w.dump, nullptr); });
  with([](World& w, locus_dump& x) { x.expected = as<locus_encoding>(w.plan.get()); });
  with([](World& w, locus_dump& x) { x.expected = w.alibi.get(); });
  with([](World& w, locus_dump& x) { x.positions = &w.four_ids; });
  with([](World&, locus_dump& x) { x.role = 9; });
  with([](World&, locus_dump& x) { x.before.data = nullptr; });
  with([](World&, locus_dump& x) { x.after.tokens = 1; });
  with([](World&, locus_dump& x) { x.before.tokens = x.after.tokens = 0; });
  with([](World&, locus_dump& x) { x.before.type = 4; });
  const auto bias = [&](const std::function<int(World&, const double*)>& call) {
    all.emplace("locus_diagnose_bias", [call](World& w) { return call(w, w.doubles.data()); });
  };
  bias([](World&, const double*) { return locus_diagnose_bias(nullptr, 2, 2, 2, nullptr, &d); });
  bias([](World&, const double* b) { return locus_diagnose_bias(b, -2, 2, -2, nullptr, &d); });
  bias([](World&, const double* b) { return locus_diagnose_bias(b, INT64_MAX, 2, 2, nullptr, &d); });
  bias([](World&, const double* b) { return locus_diagnose_bias(b, 2, 2, 2, nullptr, nullptr); });
  bias([](World& w, const double* b) { return locus_diagnose_bias(b, 2, 2, 2, w.rope.get(), &d); });
  bias([](World& w, const double* b) { return locus_diagnose_bias(b, 2, 2, 2, as<locus_encoding>(w.pool.get()), &d); });
  static std::int64_t count = 0;
  static auto verdict = sized<locus_verdict>();
  all.emplace("locus_diagnosis_count", [](World&) { return locus_diagnosis_count(nullptr, &count); });
  all.emplace("locus_diagnosis_count", [](World& w) { return locus_diagnosis_count(w.diagnosis.get(), nullptr); });
  all.emplace("locus_diagnosis_count",
              [](World& w) { return locus_diagnosis_count(as<locus_diagnosis>(w.plan.get()), &count); });
  all.emplace("locus_diagnosis_verdict", [](World&) { return locus_diagnosis_verdict(nullptr, 0, &verdict); });
  all.emplace("locus_diagnosis_verdict",
              [](World& w) { return locus_diagnosis_verdict(w.diagnosis.get(), 0, nullptr); });
  all.emplace("locus_diagnosis_verdict",
              [](World& w) { return locus_diagnosis_verdict(w.diagnosis.get(), -1, &verdict); });
  all.emplace("locus_diagnosis_verdict",
              [](World& w) { return locus_diagnosis_verdict(w.diagnosis.get(), 1000, &verdict); });
  static const char* json = nullptr;
  all.emplace("locus_diagnosis_json", [](World&) { return locus_diagnosis_json(nullptr, &json); });
  all.emplace("locus_diagnosis_json", [](World& w) { return locus_diagnosis_json(w.diagnosis.get(), nullptr); });
  all.emplace("locus_diagnosis_json",
              [](World& w) { return locus_diagnosis_json(as<locus_diagnosis>(w.plan.get()), &json); });
}
const AddedCases added_diagnosis_cases(add_diagnosis_cases);

}  // namespace
}  // namespace locus
