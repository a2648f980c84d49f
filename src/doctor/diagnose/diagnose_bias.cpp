// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/diagnose_bias.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "doctor/diagnose/alibi_slopes.h"
#include "doctor/diagnose/bias_shape.h"
#include "doctor/diagnose/bucket_fits.h"
#include "doctor/diagnose/counted_rows.h"
#include "doctor/diagnose/gate_sums.h"
#include "doctor/diagnose/placed_biases.h"
#include "doctor/diagnose/position_faults.h"
#include "doctor/diagnose/turning.h"
#include "locus/error.h"

namespace locus {
namespace {

using namespace doctor;  // NOLINT: this file combines the parts

template <class... Parts>
std::string joined_text(const Parts&... parts) {
  std::ostringstream stream;
  stream.precision(6);
  (stream << ... << parts);
  return stream.str();
}

// The table of an encoding whose gates count, or null.
const RelativeKeys* counted_table(const std::optional<Encoding>& expected) {
  const auto* table = expected ? std::get_if<RelativeKeys>(&expected->term()) : nullptr;
  return table != nullptr && table->counted ? table : nullptr;
}

void check_vectors(const BiasDump& dump, const RelativeKeys& table) {
  require(dump.gates.empty(), "gates are computed from the queries and keys; none must be given");
  require(table.heads == dump.heads, "the encoding has ", table.heads, " heads, the bias ", dump.heads);
  require(!dump.query_vectors.empty() && !dump.key_vectors.empty(),
          "gates that count need the queries and keys with what the scores gained");
  require(dump.key_heads >= 1 && dump.heads % dump.key_heads == 0, "heads must be a multiple of the keys' heads, got ",
          dump.heads, " and ", dump.key_heads);
  const auto check_size = [&](std::string_view what, const std::vector<double>& values, std::int64_t heads,
                              std::int64_t tokens) {
    require(values.size() == static_cast<std::size_t>(heads * tokens * table.head_dim), what, " must have ", heads,
            " x ", tokens, " x ", table.head_dim, " numbers (heads x tokens x head_dim), got ", values.size());
    for (const double value : values) require(std::isfinite(value), what, " must be finite, got ", value);
  };
  check_size("queries", dump.query_vectors, dump.heads, dump.queries);
  check_size("keys", dump.key_vectors, dump.key_heads, dump.keys);
}

void check(const BiasDump& dump, const std::optional<Encoding>& expected) {
  require(dump.heads >= 1 && dump.queries >= 1 && dump.keys >= 1 && dump.queries <= dump.keys,
          "a bias needs heads, queries and at least as many keys as queries, got ", dump.heads, " x ", dump.queries,
          " x ", dump.keys);
  require(dump.bias.size() == static_cast<std::size_t>(dump.heads * dump.queries * dump.keys), "a bias of ", dump.heads,
          " x ", dump.queries, " x ", dump.keys, " must have that many elements, got ", dump.bias.size());
  for (const double value : dump.bias) {
    require(!std::isnan(value) && value < std::numeric_limits<double>::infinity(),
            "a bias must be finite or -infinity, got ", value);
  }
  const bool vectors = !dump.query_vectors.empty() || !dump.key_vectors.empty();
  require(expected || dump.gates.empty(), "gates need the encoding that adds them");
  require(expected || !vectors, "queries and keys need the encoding that counts over them");
  if (!expected) return;
  if (const RelativeKeys* table = counted_table(expected)) return check_vectors(dump, *table);
  require(!vectors, expected->scheme().name, ": no gates count over queries and keys, but some were given");
  require(expected->score().heads == dump.heads, "the encoding has ", expected->score().heads, " heads, the bias ",
          dump.heads);
  const bool gated = expected->score().token_numbers > 0;
  require(
      gated == !dump.gates.empty(), expected->scheme().name,
      gated ? ": the gates of the tokens must be given with the bias" : ": tokens bring no gates, but some were given");
  require(!gated || expected->score().token_numbers == 1,
          "gates can be judged if every token has one, the encoding has two");
  require(!gated || dump.gates.size() == static_cast<std::size_t>(dump.heads * dump.keys), "gates must be ", dump.heads,
          " x ", dump.keys, " numbers (heads x keys), got ", dump.gates.size());
}

// ---- a bias linear in distance or key

struct Linear {
  std::vector<double> slopes;
  std::vector<double> intercepts;  // in positions: slope * (key - query + intercept), or slope * (key + intercept)
  std::string form;                // "causal", "symmetric", "signed", "masked" or "key"
};

// Past keys are on a line; future keys show the form.
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
      flat = flat && std::abs(value) <= shape.slack();
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
  if (linear.form == "masked") return counted + ", keys after it masked";
  if (linear.form == "causal") return counted + ", 0 for keys after it";
  return counted + (linear.form == "symmetric" ? ", symmetric" : ", increasing for keys after it");
}

std::vector<Verdict> judge_linear(const Linear& linear, const BiasShape& shape) {
  const auto keys = static_cast<double>(shape.dump().keys);
  // The precision of a line through `keys` numbers.
  const SlopeError error{.relative = 3 * storage_noise(shape.storage()),
                         .absolute = 6 * shape.noise() * std::sqrt(12 / (keys * keys * keys))};
  const std::string where = describe(linear, shape.dump().keys);
  const std::string evidence = joined_text("slope of the first head ", linear.slopes.front(), ", of the last ",
                                           linear.slopes.back(), ", linear within the storage's rounding");
  std::vector<Verdict> verdicts;
  const std::vector<SlopeOrder> orders = name_slopes(linear.slopes, error);
  for (const SlopeOrder& order : orders) {
    const double confidence = 0.95 / static_cast<double>(orders.size());
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
    const std::string evidence = joined_text(diagnosis.bucket_starts.size(), " ranges of constant bias in the past");
    std::string forms;
    for (const BucketForm& form : fitting_buckets(shape)) forms += (forms.empty() ? "" : "; or ") + text_of(form);
    if (!forms.empty()) return {{Verdict::About::dump, "t5", "T5 buckets: " + forms, evidence, 0.95}};
    return {{Verdict::About::dump, "relative_bias", "a number per offset, not in a known form", evidence, 0.8}};
  }
  return {{Verdict::About::dump, "unexplained", "depends on more than key - query, not in a known form", "", 0.5}};
}

// ---- comparison with an expectation

Verdict verdict_of(const char* name, const std::string& what, const std::string& evidence, double confidence) {
  return {Verdict::About::dump, name, what, evidence, confidence};
}

std::vector<Verdict> renamed(std::vector<Verdict> verdicts, const std::string& from, const std::string& to) {
  for (Verdict& one : verdicts) {
    if (one.name == from) one.name = to;
  }
  return verdicts;
}

BucketForm buckets_of(const Encoding& encoding) {
  const Arguments& arguments = encoding.arguments();
  return {arguments.integer("num_buckets"), arguments.integer("max_distance"), arguments.boolean("bidirectional")};
}

// Learned numbers that were not given: only the offsets at which they change can be compared.
std::vector<Verdict> judge_buckets(const BiasShape& shape, const BucketForm& form, const std::vector<Verdict>& alone) {
  if (!changes_at_edges_of(shape, form)) return renamed(alone, "t5", "buckets_wrong");
  return {verdict_of("as_expected", "the bias changes where the expected buckets start: " + text_of(form),
                     "no table was given: its numbers were not compared", 0.9)};
}

std::string largest_difference(const BiasShape& shape, const std::vector<double>& right) {
  double worst = 0;
  std::string where;
  std::size_t n = 0;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    for (std::int64_t q = 0; q < shape.dump().queries; ++q) {
      for (std::int64_t k = 0; k < shape.dump().keys; ++k, ++n) {
        if (shape.masked(h, q, k) || !(std::abs(shape.at(h, q, k) - right[n]) > worst)) continue;
        worst = std::abs(shape.at(h, q, k) - right[n]);
        where = joined_text("head ", h, ", query ", q, ", key ", k, ": ", shape.at(h, q, k), ", expected ", right[n]);
      }
    }
  }
  return "largest difference at " + where;
}

// Right except for some heads or entries.
std::optional<Verdict> mostly_right(const BiasShape& shape, const std::vector<double>& right) {
  std::int64_t off = 0, all = 0;
  std::vector<std::int64_t> heads;
  std::size_t n = 0;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    const std::int64_t before = off;
    for (std::int64_t q = 0; q < shape.dump().queries; ++q) {
      for (std::int64_t k = 0; k < shape.dump().keys; ++k, ++n) {
        // Entries that are 0 in both, as after the query with ALiBi, are not counted.
        if (shape.masked(h, q, k) || (right[n] == 0 && shape.equal(shape.at(h, q, k), 0))) continue;
        ++all;
        off += shape.equal(shape.at(h, q, k), right[n]) ? 0 : 1;
      }
    }
    if (off > before) heads.push_back(h);
  }
  if (2 * off >= all) return std::nullopt;
  if (off == 0) {
    return verdict_of("entries_unexplained", "each entry is within the noise, but all of them together are not",
                      largest_difference(shape, right), 0.7);
  }
  return verdict_of("entries_unexplained",
                    joined_text(off, " of ", all, " entries are not as expected; ", runs_of("heads", heads), " wrong"),
                    largest_difference(shape, right), shape.noise() > 0 ? 0.85 : 0.95);
}

std::vector<Verdict> judge_expected(BiasShape& shape, const Encoding& encoding, std::vector<Verdict> alone) {
  const bool t5 = encoding.scheme().name == "t5";
  const bool own_table = encoding.score().buckets > 0;
  const bool given = encoding.arguments().find("table") != nullptr;
  if (t5 && !given) return judge_buckets(shape, buckets_of(encoding), alone);
  if (std::vector<Verdict> placed = judge_places(shape, encoding); !placed.empty()) return placed;
  const auto right = expected_bias(encoding, shape, shape.position(0));
  if (t5 && !changes_at_edges_of(shape, buckets_of(encoding))) return renamed(std::move(alone), "t5", "buckets_wrong");
  if (own_table && given && shape.toeplitz()) {
    return {verdict_of("table_wrong", "the bias depends on the offset as expected, but its numbers are not the table's",
                       largest_difference(shape, right), 0.95)};
  }
  if (const auto partly = mostly_right(shape, right)) return {*partly};
  return renamed(std::move(alone), "alibi", "other_form");
}

}  // namespace

BiasDiagnosis diagnose_bias(const BiasDump& dump, const std::optional<Encoding>& expected) {
  check(dump, expected);
  BiasShape shape(dump);
  BiasDiagnosis diagnosis;
  diagnosis.storage = shape.storage();
  diagnosis.masked = shape.masked_count();
  diagnosis.causal_mask = diagnosis.masked > 0 && shape.causal_mask();
  diagnosis.toeplitz = shape.toeplitz();
  diagnosis.key_only = shape.key_only();
  if (diagnosis.masked == static_cast<std::int64_t>(dump.bias.size())) {
    diagnosis.verdicts = {verdict_of("unexplained", "every entry is masked: there is no bias to judge", "", 0.5)};
    return diagnosis;
  }
  diagnosis.verdicts = judge_alone(shape, diagnosis);
  if (const RelativeKeys* table = counted_table(expected)) {
    diagnosis.verdicts = judge_counts(shape, *table);
  } else if (!dump.gates.empty()) {
    diagnosis.verdicts = judge_gates(shape);
  } else if (expected) {
    diagnosis.verdicts = judge_expected(shape, *expected, std::move(diagnosis.verdicts));
  }
  if (diagnosis.masked > 0) {
    diagnosis.verdicts.push_back(
        {Verdict::About::dump, "mask_mixed_in",
         diagnosis.causal_mask ? "a causal mask is added to the bias" : "a mask is added to the bias",
         joined_text(diagnosis.masked, " of ", dump.bias.size(), " entries"), 0.95});
  }
  return diagnosis;
}

}  // namespace locus
