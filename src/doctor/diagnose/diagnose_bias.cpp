// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/diagnose_bias.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

#include "doctor/diagnose/alibi_slopes.h"
#include "doctor/diagnose/bias_shape.h"
#include "doctor/diagnose/bucket_fits.h"
#include "doctor/diagnose/position_faults.h"
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
  if (linear.form == "masked") return counted + ", the future masked";
  if (linear.form == "causal") return counted + ", 0 for keys after it";
  return counted + (linear.form == "symmetric" ? ", to both sides" : ", rising for keys after it");
}

std::vector<Verdict> judge_linear(const Linear& linear, const BiasShape& shape) {
  double flattest = std::numeric_limits<double>::infinity();
  for (const double slope : linear.slopes) flattest = std::min(flattest, std::abs(slope));
  const double relative =
      8 * storage_noise(shape.storage()) + shape.slack() / (flattest * static_cast<double>(shape.dump().keys));
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

// Whether head `head` of the dump is head `like` of what is expected.
bool matches_head(const BiasShape& shape, const std::vector<double>& expected, std::int64_t head, std::int64_t like) {
  const std::int64_t size = shape.dump().queries * shape.dump().keys;
  for (std::int64_t n = 0; n < size; ++n) {
    const std::int64_t q = n / shape.dump().keys, k = n % shape.dump().keys;
    if (shape.masked(head, q, k)) continue;
    if (!shape.equal(shape.at(head, q, k), expected[static_cast<std::size_t>(like * size + n)])) return false;
  }
  return true;
}

bool matches(const BiasShape& shape, const std::vector<double>& expected) {
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    if (!matches_head(shape, expected, h, h)) return false;
  }
  return true;
}

// Which head's bias each head carries; absent where some head's is nobody's.
std::optional<std::vector<std::int64_t>> permuted_heads(const BiasShape& shape, const std::vector<double>& expected) {
  std::vector<std::int64_t> map;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    std::int64_t found = -1;
    for (std::int64_t g = 0; g < shape.dump().heads && found < 0; ++g) {
      if (matches_head(shape, expected, h, g)) found = g;
    }
    if (found < 0) return std::nullopt;
    map.push_back(found);
  }
  return map;
}

// The bias at other places: `at` gives query and key for those of the dump.
std::vector<double> bias_at(const Encoding& encoding, const BiasShape& shape,
                            const std::function<std::pair<Position, Position>(Position, Position)>& at) {
  std::vector<double> bias;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    for (std::int64_t q = 0; q < shape.dump().queries; ++q) {
      for (std::int64_t k = 0; k < shape.dump().keys; ++k) {
        const auto [query, key] = at(shape.position(q), k);
        bias.push_back(encoding.score().value(h, query, key));
      }
    }
  }
  return bias;
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
        if (std::abs(difference - *constant) > 8 * unit * size + 2 * shape.slack()) return false;
      }
    }
  }
  return true;
}

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

// The numbers are learned and were not given: only where they change can be compared.
std::vector<Verdict> judge_buckets(const BiasShape& shape, const BucketForm& form, const std::vector<Verdict>& alone) {
  if (!changes_at_edges_of(shape, form)) return renamed(alone, "t5", "buckets_wrong");
  return {verdict_of("as_expected", "the bias changes where the expected buckets start: " + text_of(form),
                     "no table was given: its numbers were not compared", 0.9)};
}

// The expected numbers in the wrong place; absent where they are nowhere.
std::optional<Verdict> misplaced(const BiasShape& shape, const Encoding& encoding) {
  const Position first = shape.position(0);
  for (const Position other : {Position{0}, first + 1, first - 1}) {
    if (other == first || !matches(shape, expected_bias(encoding, shape, other))) continue;
    return verdict_of(other == 0 ? "queries_counted_from_zero" : "queries_off_by_one",
                      joined_text("the first query was taken for position ", other, ", it is at ", first),
                      "every visible entry is as expected there", 0.95);
  }
  const auto right = expected_bias(encoding, shape, first);
  if (const auto map = permuted_heads(shape, right)) {
    std::string heads;
    for (const std::int64_t h : *map) heads += (heads.empty() ? "" : ", ") + std::to_string(h);
    std::vector<std::int64_t> reversed;
    for (std::int64_t h = shape.dump().heads; h-- > 0;) reversed.push_back(h);
    const bool slopes = !encoding.score().slopes.empty() && *map == reversed;
    return verdict_of(slopes ? "alibi_slopes_reversed" : "heads_permuted", "heads carry the bias of heads " + heads,
                      "every visible entry is as expected there", 0.95);
  }
  const auto mirrored = bias_at(encoding, shape, [](Position q, Position k) { return std::pair(k, q); });
  if (matches(shape, mirrored)) {
    return verdict_of("table_transposed", "keys before and after the query are exchanged",
                      "every visible entry is as expected there", 0.95);
  }
  const auto from_start = bias_at(encoding, shape, [](Position q, Position k) { return std::pair(q, q - k); });
  if (matches(shape, from_start)) {
    return verdict_of("bias_from_the_wrong_end", "distances are counted from the first key, not from the query",
                      "every visible entry is as expected there", 0.95);
  }
  if (matches_up_to_rows(shape, right)) {
    return verdict_of("row_constant",
                      "differs from what was expected by a constant per row: equal under a causal softmax", "",
                      shape.slack() > 0 ? 0.85 : 0.95);
  }
  return std::nullopt;
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

// Right but for some heads or entries.
std::optional<Verdict> mostly_right(const BiasShape& shape, const std::vector<double>& right) {
  std::int64_t off = 0, all = 0;
  std::vector<std::int64_t> heads;
  std::size_t n = 0;
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    const std::int64_t before = off;
    for (std::int64_t q = 0; q < shape.dump().queries; ++q) {
      for (std::int64_t k = 0; k < shape.dump().keys; ++k, ++n) {
        // Where both are 0, as after the query with ALiBi, nothing was asked.
        if (shape.masked(h, q, k) || (shape.at(h, q, k) == 0 && right[n] == 0)) continue;
        ++all;
        off += shape.equal(shape.at(h, q, k), right[n]) ? 0 : 1;
      }
    }
    if (off > before) heads.push_back(h);
  }
  if (2 * off >= all) return std::nullopt;
  return verdict_of("entries_unexplained",
                    joined_text(off, " of ", all, " entries are not as expected; ", runs_of("heads", heads), " wrong"),
                    largest_difference(shape, right), 0.85);
}

std::vector<Verdict> judge_expected(const BiasShape& shape, const Encoding& encoding, std::vector<Verdict> alone) {
  const bool t5 = encoding.scheme().name == "t5";
  const bool own_table = encoding.score().buckets > 0;
  const bool given = encoding.arguments().find("table") != nullptr;
  if (t5 && !given) return judge_buckets(shape, buckets_of(encoding), alone);
  const auto right = expected_bias(encoding, shape, shape.position(0));
  if (matches(shape, right)) {
    const std::int64_t masked = shape.masked_count();
    return {verdict_of("as_expected", "every visible entry is as expected",
                       masked > 0 ? joined_text(masked, " masked entries were not compared") : "", 0.99)};
  }
  if (const auto wrong = misplaced(shape, encoding)) return {*wrong};
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
  const BiasShape shape(dump);
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
