// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/diagnose_bias.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "doctor/diagnose/alibi_slopes.h"
#include "doctor/diagnose/bias_shape.h"
#include "doctor/diagnose/bucket_fits.h"
#include "doctor/diagnose/turning.h"
#include "locus/bias.h"
#include "locus/error.h"

namespace locus {
namespace {

using namespace doctor;  // NOLINT: this file puts its parts together

template <class... Parts>
std::string joined_text(const Parts&... parts) {
  std::ostringstream stream;
  stream.precision(6);
  (stream << ... << parts);
  return stream.str();
}

void check(const BiasDump& dump, const std::optional<Encoding>& expected) {
  require(dump.heads >= 1 && dump.queries >= 1 && dump.keys >= 1 && dump.queries <= dump.keys,
          "a bias needs heads, queries and at least as many keys as queries, got ", dump.heads, " x ", dump.queries,
          " x ", dump.keys);
  require(dump.bias.size() == static_cast<std::size_t>(dump.heads * dump.queries * dump.keys), "a bias of ", dump.heads,
          " x ", dump.queries, " x ", dump.keys, " must have as many elements, got ", dump.bias.size());
  for (const double value : dump.bias) {
    require(!std::isnan(value) && value < std::numeric_limits<double>::infinity(),
            "a bias must be finite or -infinity, got ", value);
  }
  if (!expected) return;
  require(expected->score().heads == dump.heads, "the encoding has ", expected->score().heads, " heads, the bias ",
          dump.heads);
}

// ---- a bias linear in distance or key

struct Linear {
  std::vector<double> slopes;
  std::vector<double> intercepts;  // in positions: slope * (key - query + intercept), or slope * (key + intercept)
  std::string form;                // "causal", "symmetric", "signed", "masked" or "key"
};

// Past keys lie on a line; future ones tell the form.
std::optional<Linear> by_distance(const BiasShape& shape) {
  Linear linear;
  const std::int64_t zero = shape.dump().keys - 1;
  bool flat = true, mirrored = true, straight = true, future = false;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    const auto values = shape.by_offset(h);
    std::vector<std::pair<double, double>> past;
    for (std::int64_t n = 0; n <= zero; ++n) {
      if (values[static_cast<std::size_t>(n)]) {
        past.emplace_back(static_cast<double>(n - zero), *values[static_cast<std::size_t>(n)]);
      }
    }
    const auto line = line_through(shape, past);
    if (!line || line->slope == 0) return std::nullopt;
    linear.slopes.push_back(line->slope);
    linear.intercepts.push_back(line->intercept / line->slope);
    for (std::int64_t n = zero + 1; n < static_cast<std::int64_t>(values.size()); ++n) {
      if (!values[static_cast<std::size_t>(n)]) continue;
      const double value = *values[static_cast<std::size_t>(n)];
      const double distance = static_cast<double>(n - zero);
      future = true;
      flat = flat && value == 0;
      mirrored = mirrored && shape.equal(value, -line->slope * distance);
      straight = straight && shape.equal(value, line->slope * distance + line->intercept);
    }
  }
  linear.form = !future ? "masked" : flat ? "causal" : mirrored ? "symmetric" : straight ? "signed" : "";
  if (linear.form.empty()) return std::nullopt;
  return linear;
}

std::optional<Linear> by_key(const BiasShape& shape) {
  Linear linear;
  linear.form = "key";
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    std::vector<std::pair<double, double>> points;
    const auto values = shape.by_key(h);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k]) points.emplace_back(static_cast<double>(k), *values[k]);
    }
    const auto line = line_through(shape, points);
    if (!line || line->slope == 0) return std::nullopt;
    linear.slopes.push_back(line->slope);
    linear.intercepts.push_back(line->intercept / line->slope);
  }
  return linear;
}

std::string describe(const Linear& linear, std::int64_t keys) {
  const double shift = linear.intercepts.front();
  if (linear.form == "key") {
    if (shift == 0) return "counted from the first key (bloom's form: slope * key)";
    if (std::abs(shift + static_cast<double>(keys - 1)) < 0.01) {
      return "counted from the end (mpt's form: slope * (key - last key))";
    }
    return joined_text("counted from key ", -shift);
  }
  std::string counted = "counted from the query";
  if (std::abs(shift) > 0.01) counted += joined_text(", off by ", -shift);
  if (linear.form == "masked") return counted + ", the future masked";
  if (linear.form == "causal") return counted + ", 0 for keys after it";
  return counted + (linear.form == "symmetric" ? ", to both sides" : ", rising for keys after it");
}

std::vector<Verdict> judge_linear(const Linear& linear, const BiasShape& shape) {
  const double relative = 8 * storage_noise(shape.storage());
  const std::string where = describe(linear, shape.dump().keys);
  const std::string evidence = joined_text("slope of the first head ", linear.slopes.front(), ", of the last ",
                                           linear.slopes.back(), ", linear within the storage's rounding");
  std::vector<Verdict> verdicts;
  const std::vector<SlopeOrder> orders = name_slopes(linear.slopes, relative);
  for (const SlopeOrder& order : orders) {
    const double confidence = orders.size() == 1 ? 0.95 : 0.6 / static_cast<double>(orders.size());
    verdicts.push_back({Verdict::About::dump, order.name, order.text + ", " + where, evidence, confidence});
  }
  if (verdicts.empty()) {
    verdicts.push_back(
        {Verdict::About::dump, "linear_bias", "linear, but not with ALiBi's slopes; " + where, evidence, 0.9});
  }
  return verdicts;
}

std::vector<Verdict> judge_alone(const BiasShape& shape, BiasDiagnosis& diagnosis) {
  const bool zero = std::all_of(shape.dump().bias.begin(), shape.dump().bias.end(),
                                [](double value) { return value == 0 || value < -9999; });
  if (zero) return {{Verdict::About::dump, "no_bias", "every visible entry is 0", "", 0.95}};
  std::optional<Linear> linear;
  if (diagnosis.key_only) linear = by_key(shape);
  if (!linear && diagnosis.toeplitz) linear = by_distance(shape);
  if (linear) {
    diagnosis.slopes = linear->slopes;
    return judge_linear(*linear, shape);
  }
  if (diagnosis.toeplitz) {
    diagnosis.bucket_starts = stretch_starts(shape);
    std::vector<Verdict> verdicts;
    const std::vector<BucketForm> forms = fitting_buckets(shape);
    for (const BucketForm& form : forms) {
      verdicts.push_back({Verdict::About::dump, "t5", "T5 buckets: " + text_of(form),
                          joined_text(diagnosis.bucket_starts.size(), " stretches of constant bias in the past"),
                          forms.size() == 1 ? 0.95 : 0.8 / static_cast<double>(forms.size())});
    }
    if (!verdicts.empty()) return verdicts;
    return {{Verdict::About::dump, "relative_bias", "a number per offset, in no known form",
             joined_text(diagnosis.bucket_starts.size(), " stretches of constant bias in the past"), 0.8}};
  }
  return {{Verdict::About::dump, "unexplained", "depends on more than key - query, in no known form", "", 0.5}};
}

// ---- against an expectation

std::vector<double> expected_bias(const Encoding& encoding, const BiasShape& shape, Position first_query) {
  std::vector<Position> queries, keys;
  for (std::int64_t q = 0; q < shape.dump().queries; ++q) queries.push_back(first_query + q);
  for (std::int64_t k = 0; k < shape.dump().keys; ++k) keys.push_back(k);
  return bias_matrix(encoding, queries, keys);
}

bool matches(const BiasShape& shape, const std::vector<double>& expected) {
  std::size_t n = 0;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    for (std::int64_t q = 0; q < shape.dump().queries; ++q) {
      for (std::int64_t k = 0; k < shape.dump().keys; ++k, ++n) {
        if (!shape.masked(h, q, k) && !shape.equal(shape.at(h, q, k), expected[n])) return false;
      }
    }
  }
  return true;
}

// Softmax does not see what is the same for all keys of a row.
bool matches_up_to_rows(const BiasShape& shape, const std::vector<double>& expected) {
  const double unit = storage_noise(shape.storage());
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    for (std::int64_t q = 0; q < shape.dump().queries; ++q) {
      std::optional<double> constant;
      for (std::int64_t k = 0; k <= shape.position(q); ++k) {
        if (shape.masked(h, q, k)) continue;
        const auto n = static_cast<std::size_t>((h * shape.dump().queries + q) * shape.dump().keys + k);
        const double value = shape.at(h, q, k);
        const double difference = value - expected[n];
        if (!constant) constant = difference;
        const double size = std::max({std::abs(value), std::abs(expected[n]), std::abs(*constant)});
        if (std::abs(difference - *constant) > 8 * unit * size) return false;
      }
    }
  }
  return true;
}

std::vector<Verdict> judge_expected(const BiasShape& shape, const Encoding& encoding, std::vector<Verdict> alone) {
  const std::string scheme(encoding.scheme().name);
  const auto verdict = [](const char* name, const std::string& what, const std::string& evidence, double confidence) {
    return std::vector<Verdict>{{Verdict::About::dump, name, what, evidence, confidence}};
  };
  const bool own_table = encoding.score().buckets > 0;
  if (own_table && scheme == "t5") {  // the numbers are learned: only where they change can be compared
    const Arguments& arguments = encoding.arguments();
    const BucketForm form{arguments.integer("num_buckets"), arguments.integer("max_distance"),
                          arguments.boolean("bidirectional")};
    if (changes_like(shape, form)) {
      return verdict("as_expected", "the bias changes where the expected buckets start: " + text_of(form), "", 0.95);
    }
    for (Verdict& other : alone) {
      if (other.name == "t5") other.name = "buckets_wrong";
    }
    return alone;
  }
  const Position first = shape.position(0);
  if (matches(shape, expected_bias(encoding, shape, first))) {
    return verdict("as_expected", "every visible entry is as expected", "", 0.99);
  }
  for (const Position other : {Position{0}, first + 1, first - 1}) {
    if (other == first || !matches(shape, expected_bias(encoding, shape, other))) continue;
    return verdict(other == 0 ? "queries_counted_from_zero" : "queries_off_by_one",
                   joined_text("the first query was taken for position ", other, ", it is at ", first),
                   "every visible entry is as expected there", 0.95);
  }
  if (matches_up_to_rows(shape, expected_bias(encoding, shape, first))) {
    return verdict("row_constant", "differs from what was expected by a constant per row: equal under a causal softmax",
                   "", 0.95);
  }
  for (Verdict& other : alone) {
    if (other.name == "alibi") other.name = "other_form";
  }
  return alone;
}

}  // namespace

BiasDiagnosis diagnose_bias(const BiasDump& dump, const std::optional<Encoding>& expected) {
  check(dump, expected);
  const BiasShape shape(dump);
  BiasDiagnosis diagnosis;
  diagnosis.storage = shape.storage();
  diagnosis.masked = shape.masked_count();
  diagnosis.causal_mask = diagnosis.masked > 0 && shape.causal_mask();
  diagnosis.toeplitz = shape.toeplitz();
  diagnosis.key_only = shape.key_only();
  diagnosis.verdicts = judge_alone(shape, diagnosis);
  if (expected) diagnosis.verdicts = judge_expected(shape, *expected, std::move(diagnosis.verdicts));
  if (diagnosis.masked > 0) {
    diagnosis.verdicts.push_back(
        {Verdict::About::dump, "mask_mixed_in",
         diagnosis.causal_mask ? "a causal mask is added to the bias" : "a mask is added to the bias",
         joined_text(diagnosis.masked, " of ", dump.bias.size(), " entries"), 0.95});
  }
  return diagnosis;
}

}  // namespace locus
