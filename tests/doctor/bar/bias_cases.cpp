// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "doctor/bar/plant.h"

namespace locus::bar {
namespace {

using Entry = std::function<double(std::int64_t head, std::int64_t query, std::int64_t key)>;

// Press et al.: a geometric series for a power of two; otherwise that of the next smaller power, then every second of
// twice that.
std::vector<double> slopes_of(std::int64_t heads) {
  std::int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  std::vector<double> slopes;
  for (std::int64_t h = 1; h <= power; ++h) {
    slopes.push_back(std::pow(2.0, -8.0 * static_cast<double>(h) / static_cast<double>(power)));
  }
  for (std::int64_t h = 1; static_cast<std::int64_t>(slopes.size()) < heads; h += 2) {
    slopes.push_back(std::pow(2.0, -4.0 * static_cast<double>(h) / static_cast<double>(power)));
  }
  return slopes;
}

std::int64_t t5_bucket(std::int64_t offset, std::int64_t buckets, std::int64_t longest, bool bidirectional) {
  std::int64_t first = 0;
  if (bidirectional) {
    buckets /= 2;
    first = offset > 0 ? buckets : 0;
    offset = std::abs(offset);
  } else {
    offset = std::max<std::int64_t>(-offset, 0);
  }
  const std::int64_t exact = buckets / 2;
  if (offset < exact) return first + offset;
  // The largest k with (longest / exact)^(k / (buckets - exact)) * exact <= offset, without a logarithm.
  std::int64_t k = 0;
  const long double ratio = static_cast<long double>(longest) / static_cast<long double>(exact);
  while (k + 1 < buckets - exact &&
         std::pow(ratio, static_cast<long double>(k + 1) / static_cast<long double>(buckets - exact)) *
                 static_cast<long double>(exact) <=
             static_cast<long double>(offset) * (1 + 1e-12L)) {
    ++k;
  }
  return first + exact + k;
}

struct Draw {
  std::int64_t heads, queries, keys;
  Type type;
  bool masked;
  std::function<double()> noise = [] { return 0.0; };
};

BiasDump dump_of(const Draw& draw, const Entry& entry) {
  BiasDump dump{draw.heads, draw.queries, draw.keys, {}};
  for (std::int64_t h = 0; h < draw.heads; ++h) {
    for (std::int64_t q = 0; q < draw.queries; ++q) {
      for (std::int64_t k = 0; k < draw.keys; ++k) {
        const std::int64_t query = draw.keys - draw.queries + q;
        const bool hidden = draw.masked && k > query;
        dump.bias.push_back(hidden ? -std::numeric_limits<double>::infinity()
                                   : rounded(draw.type, entry(h, query, k) + draw.noise()));
      }
    }
  }
  return dump;
}

BiasCase alibi_case(const std::string& plant, const Draw& draw, Random& random) {
  std::vector<double> slopes = slopes_of(draw.heads);
  BiasCase one{.plant = plant};
  one.expected = Encoding("alibi", {{"heads", draw.heads}});
  std::int64_t shift = 0;
  if (plant == "alibi") one.right = {"as_expected"};
  if (plant == "alibi_reversed") {
    std::reverse(slopes.begin(), slopes.end());
    one.right = {"alibi_slopes_reversed"};
  }
  if (plant == "alibi_next_power") {
    double power = 1;
    while (power < static_cast<double>(draw.heads)) power *= 2;
    for (std::size_t h = 0; h < slopes.size(); ++h)
      slopes[h] = std::pow(2.0, -8.0 * static_cast<double>(h + 1) / power);
    one.right = {"alibi_slopes_next_power"};
  }
  if (plant == "alibi_sign") {
    for (double& slope : slopes) slope = -slope;
    one.right = {"alibi_sign"};
  }
  if (plant == "alibi_scaled") {
    for (double& slope : slopes) slope *= 0.125;
    one.right = {"alibi_scaled"};
  }
  if (plant == "alibi_query_off") {
    shift = between(random, 0, 1) == 0 ? 1 : -1;
    one.right = {"queries_off_by_one"};
  }
  if (plant == "alibi_query_zero") {
    shift = -(draw.keys - draw.queries);
    one.right = {"queries_counted_from_zero"};
  }
  if (plant == "alibi_row_constant") one.right = {"row_constant"};
  if (plant == "alibi_head_flat") {
    slopes[0] = 0;
    one.right = {"entries_unexplained", "unexplained", "heads_permuted", "relative_bias"};
  }
  if (plant == "alibi_entry") one.right = {"entries_unexplained", "unexplained"};
  if (plant == "alibi_wrong_end") one.right = {"bias_from_the_wrong_end"};
  const bool by_key = plant == "alibi_row_constant", wrong_end = plant == "alibi_wrong_end";
  one.dump = dump_of(draw, [&](auto h, auto q, auto k) {
    const double slope = slopes[static_cast<std::size_t>(h)];
    if (by_key) return slope * static_cast<double>(k);
    if (wrong_end) return -slope * static_cast<double>(k);
    return -slope * static_cast<double>(std::max<std::int64_t>(0, q + shift - k));
  });
  if (plant == "alibi_entry") one.dump.bias[static_cast<std::size_t>(draw.keys)] += 1;  // head 0, query 1, key 0
  return one;
}

BiasCase t5_case(const std::string& plant, const Draw& draw, Random& random) {
  BiasCase one{.plant = plant};
  const bool both = plant == "t5_directions" || between(random, 0, 1) == 0;
  std::vector<double> table;
  std::normal_distribution<double> normal;
  for (std::int64_t n = 0; n < 32 * draw.heads; ++n) table.push_back(rounded(Type::float32, normal(random)));
  one.expected = Encoding("t5", {{"heads", draw.heads},
                                 {"bidirectional", both},
                                 {"table", Tensor{{32, draw.heads}, {table.begin(), table.end()}}}});
  std::int64_t longest = 128, sign = 1;
  std::function<std::int64_t(std::int64_t)> head = [](std::int64_t h) { return h; };
  if (plant == "t5") one.right = {"as_expected"};
  if (plant == "t5_buckets") {
    longest = 64;
    one.right = {"buckets_wrong"};
  }
  if (plant == "t5_table") {
    for (double& value : table) value = rounded(Type::float32, normal(random));
    one.right = {"table_wrong"};
  }
  if (plant == "t5_directions") {
    sign = -1;
    one.right = {"table_transposed"};
  }
  if (plant == "t5_heads") {
    head = [&](std::int64_t h) { return (h + 1) % draw.heads; };
    one.right = {"heads_permuted"};
  }
  Draw drawn = draw;
  drawn.masked = draw.masked && plant != "t5_directions";
  one.dump = dump_of(drawn, [&](auto h, auto q, auto k) {
    const std::int64_t bucket = t5_bucket(sign * (k - q), 32, longest, both);
    return table[static_cast<std::size_t>(bucket * draw.heads + head(h))];
  });
  return one;
}

}  // namespace

const std::vector<std::string>& bias_plants() {
  static const std::vector<std::string> names = {
      "alibi",           "alibi_reversed",  "alibi_next_power", "alibi_sign",
      "alibi_scaled",    "alibi_query_off", "alibi_query_zero", "alibi_row_constant",
      "alibi_wrong_end", "alibi_head_flat", "alibi_entry",      "t5",
      "t5_buckets",      "t5_table",        "t5_directions",    "t5_heads"};
  return names;
}

BiasCase make_bias_case(const std::string& plant, Random& random) {
  const std::vector<Type> types = {Type::float32, Type::bfloat16, Type::float16, Type::float64};
  Draw draw{.heads = between(random, 3, 12),
            .queries = between(random, 4, 24),
            .keys = 0,
            .type = Type::float32,
            .masked = between(random, 0, 1) == 1};
  if (plant == "alibi_next_power" && draw.heads <= 4) draw.heads = 6;
  if (plant == "alibi_next_power" && draw.heads == 8) draw.heads = 12;
  draw.keys = draw.queries + between(random, 3, 30);
  if (between(random, 0, 4) == 0) {
    draw.noise = [&] { return 1e-3 * std::normal_distribution<double>()(random); };
  }
  draw.type = types[static_cast<std::size_t>(between(random, 0, 3))];
  if (plant.starts_with("t5")) {
    draw.queries = between(random, 150, 200);
    draw.keys = draw.queries + between(random, 0, 30);
    draw.heads = between(random, 2, 4);
    return t5_case(plant, draw, random);
  }
  return alibi_case(plant, draw, random);
}

}  // namespace locus::bar
