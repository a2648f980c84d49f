// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/differences.h"

#include <cmath>

#include "doctor/verify/attention_error.h"
#include "doctor/verify/comparison.h"
#include "doctor/verify/index.h"
#include "locus/cache.h"
#include "locus/error.h"

namespace locus::doctor {
namespace {

bool same_numbers(const Encoding& a, const Encoding& b) {
  const Rotation &x = a.rotation(), &y = b.rotation();
  return x.inv_freq == y.inv_freq && x.single_freq == y.single_freq && x.magnitude == y.magnitude &&
         (!x.scale || x.scale->centre == y.scale->centre);
}

}  // namespace

std::optional<std::int64_t> first_change(const Encoding& encoding) {
  if (!encoding.length_dependent() || encoding.site() != Site::query_key) return {};
  const Encoding first = encoding.at_length(1);
  std::int64_t same = 1, other = std::int64_t{1} << 30;
  if (same_numbers(first, encoding.at_length(other))) return {};
  while (other - same > 1) {
    const std::int64_t middle = same + (other - same) / 2;
    (same_numbers(first, encoding.at_length(middle)) ? same : other) = middle;
  }
  return other;
}

void expect_difference(WorstChecks& worst, const Sample& sample, ElementType type, const DifferenceNames& names,
                       const Predicted& one, const Predicted& other) {
  const AttentionError error(sample, one.encoding, one.exact, type),
      other_error(sample, other.encoding, other.exact, type);
  const Comparison meets =
      compare(one.result.output, one.exact.output, sample.heads(), sample.head_dim(),
              [&](const Entry& entry, double want) { return error.of_everything(entry.row, entry.head, want); });
  const std::int64_t token = meets.first ? meets.first->row : 0;
  worst.at_most(names.prediction, meets.value, meets.bound,
                divergence(meets, token, sample.id(token), "the numbers used are not those of this length and place"));

  // Returns the entry with the largest predicted difference.
  std::size_t most = 0;
  const auto gap = [&](std::size_t i) { return std::fabs(one.exact.output[i] - other.exact.output[i]); };
  for (std::size_t i = 0; i < one.exact.output.size(); ++i) {
    if (gap(i) > gap(most)) most = i;
  }
  const auto index = static_cast<std::int64_t>(most);
  const std::int64_t row = index / (sample.heads() * sample.head_dim()),
                     head = index / sample.head_dim() % sample.heads();
  const double errors = error.of_everything(row, head, one.exact.output[most]) +
                        other_error.of_everything(row, head, other.exact.output[most]);
  if (gap(most) <= 2 * errors) return;  // this type is too coarse to show it; the prediction above still passed
  const bool differ = std::fabs(one.result.output[most] - other.result.output[most]) >= gap(most) - errors;
  worst.at_least(names.difference, std::fabs(one.result.output[most] - other.result.output[most]), gap(most) - errors,
                 differ ? ""
                        : "token " + std::to_string(row) + ", head " + std::to_string(head) + ", position " +
                              std::to_string(sample.id(row)) + " does not change; likely cause: ids or length ignored");
}

namespace {

// Rows 0 ... tokens - 1, each computed with the table of its own length.
Sample::Exact exact_by_length(const Sample& sample, const std::vector<Encoding>& tables, bool mixed) {
  Sample::Exact result;
  for (std::int64_t t = 0; t < sample.tokens(); ++t) {
    const auto keys_under = [&](std::int64_t key) { return tables[at(key)]; };
    const Sample::Exact all =
        sample.exact(tables[at(t)], 0, true, mixed ? keys_under : std::function<Encoding(std::int64_t)>());
    const auto take = [&](const std::vector<double>& from, std::vector<double>& to, std::int64_t width) {
      to.insert(to.end(), from.begin() + t * width, from.begin() + (t + 1) * width);
    };
    take(all.output, result.output, sample.heads() * sample.head_dim());
    take(all.log_sum_exp, result.log_sum_exp, sample.heads());
    take(all.magnitude, result.magnitude, sample.heads());
    take(all.norm_product, result.norm_product, sample.heads());
    result.largest_value = std::max(result.largest_value, all.largest_value);
  }
  return result;
}

CacheShape shape_of(const Sample& sample, ElementType type, KeyForm form) {
  return {.capacity = sample.tokens(),
          .heads = sample.key_heads(),
          .head_dim = sample.head_dim(),
          .type = type,
          .form = form};
}

PathResult decoded_by_length(const Sample& sample, ElementType type, const std::vector<Encoding>& tables) {
  KvCache cache(tables[0], shape_of(sample, type, KeyForm::raw));
  const SequenceId sequence = cache.create();
  PathResult result;
  for (std::int64_t t = 0; t < sample.tokens(); ++t) {
    const Encoding& table = tables[at(t)];
    cache.set_encoding(table);
    const Encoded one = sample.encode(table, type, range(t, 1));
    cache.append(sequence, one.raw_key.view(), one.value.view(), one.places);
    const CachedSequence cached = cache.gather(sequence);
    attend_to(sample, table, one, {cached.keys, cached.values, cached.ids}, range(t, 1), result);
  }
  return result;
}

// A cache that does not track tables: each key keeps the rotation it had when it was added.
PathResult decoded_mixing(const Sample& sample, ElementType type, const std::vector<Encoding>& tables) {
  std::vector<double> keys, values;
  std::vector<Position> places;
  PathResult result;
  for (std::int64_t t = 0; t < sample.tokens(); ++t) {
    const Encoded one = sample.encode(tables[at(t)], type, range(t, 1));
    const std::vector<double> k = one.key.values(), v = one.value.values();
    keys.insert(keys.end(), k.begin(), k.end());
    values.insert(values.end(), v.begin(), v.end());
    places.push_back(one.places[0]);
    const Extents extents{1, t + 1, sample.key_heads(), sample.head_dim()};
    const HeadsArray all_keys(type, extents, keys), all_values(type, extents, values);
    attend_to(sample, tables[at(t)], one, {all_keys.view(), all_values.view(), places}, range(t, 1), result);
  }
  return result;
}

// The last token after all keys were rotated to the last table. They were rounded twice, once per table.
void verify_rerotation(WorstChecks& worst, const Sample& sample, ElementType type, const Encoding& before,
                       const PathResult& all, const Sample::Exact& exact) {
  KvCache cache(before, shape_of(sample, type, KeyForm::rotated));
  const SequenceId sequence = cache.create();
  const std::int64_t last = sample.tokens() - 1;
  const Encoded prefix = sample.encode(before, type, range(0, last));
  cache.append(sequence, prefix.raw_key.view(), prefix.value.view(), prefix.places);
  bool refused = false;
  try {
    cache.set_encoding(sample.encoding());
  } catch (const Error&) {
    refused = true;
  }
  const std::string suffix = " (" + std::string(name_of(type)) + ")";
  worst.at_least("a cache refuses to mix the tables of two lengths" + suffix, refused ? 1 : 0, 1,
                 refused ? "" : "likely cause: the cache does not know which table rotated its keys");
  cache.set_encoding(sample.encoding(), true);
  const Encoded one = sample.encode(type, range(last, 1));
  cache.append(sequence, one.raw_key.view(), one.value.view(), one.places);
  const CachedSequence cached = cache.gather(sequence);
  PathResult result;
  attend_to(sample, sample.encoding(), one, {cached.keys, cached.values, cached.ids}, range(last, 1), result);
  const AttentionError error(sample, sample.encoding(), exact, type);
  const std::int64_t row = sample.heads() * sample.head_dim();
  const Comparison meets =
      compare(result.output, std::span(all.output).subspan(at(last * row), at(row)), sample.heads(), sample.head_dim(),
              [&](const Entry& entry, double want) { return 3 * error.of_everything(last, entry.head, want); });
  worst.at_most("re-rotated to the table of the whole = whole" + suffix, meets.value, meets.bound,
                divergence(meets, last, sample.id(last), "keys were left under the table of a shorter length"));
}

}  // namespace

void verify_growing(WorstChecks& worst, const Sample& sample, ElementType type) {
  std::vector<Encoding> tables;
  for (std::int64_t t = 0; t < sample.tokens(); ++t) tables.push_back(sample.encoding().at_length(sample.id(t) + 1));
  const std::string suffix = " (" + std::string(name_of(type)) + ")";
  const Sample::Exact exact = sample.exact(sample.encoding());
  const PathResult all = whole(sample, type);
  const Predicted whole_predicted{sample.encoding(), exact, all};

  const Sample::Exact growing = exact_by_length(sample, tables, false);
  const PathResult decoded = decoded_by_length(sample, type, tables);
  expect_difference(worst, sample, type,
                    {"decoded at growing lengths differs from the whole" + suffix,
                     "decoded at growing lengths, raw keys, is what theory predicts" + suffix},
                    {sample.encoding(), growing, decoded}, whole_predicted);
  if (!first_change(sample.encoding())) return;

  const Sample::Exact mixed_exact = exact_by_length(sample, tables, true);
  const PathResult mixed = decoded_mixing(sample, type, tables);
  expect_difference(worst, sample, type,
                    {"keys left under the tables of their time differ" + suffix,
                     "keys left under the tables of their time are what theory predicts" + suffix},
                    {sample.encoding(), mixed_exact, mixed}, {sample.encoding(), growing, decoded});
  verify_rerotation(worst, sample, type, tables[0], all, exact);
}

void verify_bidirectional(WorstChecks& worst, const Sample& sample, ElementType type, const Sample::Exact& causal) {
  const std::string suffix = " (" + std::string(name_of(type)) + ")";
  const Sample::Exact full_exact = sample.exact(sample.encoding(), 0, false);
  const PathResult full = whole(sample, type, 0, false), decoded = chunked(sample, type, 1, 1);
  expect_difference(
      worst, sample, type,
      {"full attention, decoded, differs from the whole" + suffix, "full attention is what theory predicts" + suffix},
      {sample.encoding(), full_exact, full}, {sample.encoding(), causal, decoded});
}

}  // namespace locus::doctor
