// SPDX-License-Identifier: Apache-2.0
// Diagnosis of dumps.
#include <nlohmann/json.hpp>

#include "convert.h"
#include "handles.h"
#include "locus/doctor/diagnosis_fields.h"
#include "sized.h"

namespace locus::c {
namespace {

double number(const HeadsView& view, std::int64_t at) {
  switch (view.type) {
    case ElementType::float64:
      return static_cast<const double*>(view.data)[at];
    case ElementType::bfloat16:
      return static_cast<double>(to_float(static_cast<const BFloat16*>(view.data)[at]));
    case ElementType::float16:
      return static_cast<double>(to_float(static_cast<const Float16*>(view.data)[at]));
    case ElementType::float32:
      break;
  }
  return static_cast<double>(static_cast<const float*>(view.data)[at]);
}

// Returns the numbers in the order [batch, tokens, heads, head_dim].
std::vector<double> numbers(const HeadsView& view) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(view.batch * view.tokens * view.heads * view.head_dim));
  for (std::int64_t b = 0; b < view.batch; ++b) {
    for (std::int64_t t = 0; t < view.tokens; ++t) {
      for (std::int64_t h = 0; h < view.heads; ++h) {
        const std::int64_t head = b * view.batch_stride + t * view.token_stride + h * view.head_stride;
        for (std::int64_t j = 0; j < view.head_dim; ++j) values.push_back(number(view, head + j));
      }
    }
  }
  return values;
}

Expectation expectation_of(const locus_dump& dump) {
  Expectation expected;
  if (dump.expected != nullptr) expected.encoding = encoding_of(dump.expected);
  if (dump.positions != nullptr) expected.positions = ids_of(dump.positions, "positions");
  expected.values = dump.role == LOCUS_VALUE;
  expected.output = dump.role == LOCUS_OUTPUT;
  if (!expected.values && !expected.output) expected.role = role_of(dump.role);
  expected.both_rotated = dump.both_rotated != 0;
  return expected;
}

template <class Found>
locus_diagnosis* handle_of(const Found& found) {
  return new locus_diagnosis{.verdicts = found.verdicts, .json = JsonFields<nlohmann::ordered_json>::of(found).dump()};
}

locus_diagnosis* diagnosis_of(const locus_dump& dump) {
  const HeadsView before = heads_of(dump.before, "before");
  const HeadsView after = heads_of(dump.after, "after");
  require(before.batch == after.batch && before.tokens == after.tokens && before.heads == after.heads &&
              before.head_dim == after.head_dim,
          "before and after must have the same batch, tokens, heads and head_dim");
  const Expectation expected = expectation_of(dump);
  const RotationDump numbers_of_both{before.batch,    before.tokens,   before.heads,
                                     before.head_dim, numbers(before), numbers(after)};
  return handle_of(diagnose(numbers_of_both, expected));
}

}  // namespace
}  // namespace locus::c

using namespace locus::c;

extern "C" {

int locus_diagnose(const locus_dump* dump, locus_diagnosis** out) {
  return give(out, [&] { return diagnosis_of(read_sized(dump, "dump")); });
}

int locus_diagnose_bias(const double* bias, int64_t heads, int64_t queries, int64_t keys,
                        const locus_encoding* expected, locus_diagnosis** out) {
  return give(out, [&] {
    const auto values = span_of(bias, elements("bias", heads, queries, keys, 1), "bias");
    std::optional<locus::Encoding> encoding;
    if (expected != nullptr) encoding = encoding_of(expected);
    const locus::BiasDump dump{heads, queries, keys, {values.begin(), values.end()}};
    return handle_of(locus::diagnose_bias(dump, encoding));
  });
}

int locus_diagnosis_count(const locus_diagnosis* diagnosis, int64_t* count) {
  return guarded(
      [&] { at(count, "count") = static_cast<std::int64_t>(valid(diagnosis, "diagnosis").verdicts.size()); });
}

int locus_diagnosis_verdict(const locus_diagnosis* diagnosis, int64_t index, locus_verdict* verdict) {
  return guarded([&] {
    const std::vector<locus::Verdict>& all = valid(diagnosis, "diagnosis").verdicts;
    const auto count = static_cast<std::int64_t>(all.size());
    locus::require(index >= 0 && index < count, "index must be from 0 to ", count - 1, ", got ", index);
    const locus::Verdict& one = all[static_cast<std::size_t>(index)];
    const locus_verdict found = {.size = sizeof found,
                                 .name = one.name.c_str(),
                                 .text = one.text.c_str(),
                                 .evidence = one.evidence.c_str(),
                                 .confidence = one.confidence,
                                 .about = locus::name_of(one.about).data()};
    write_sized(verdict, found, "verdict");
  });
}

int locus_diagnosis_json(const locus_diagnosis* diagnosis, const char** json) {
  return guarded([&] { at(json, "json") = valid(diagnosis, "diagnosis").json.c_str(); });
}

void locus_diagnosis_free(locus_diagnosis* diagnosis) { release(diagnosis); }

}  // extern "C"
