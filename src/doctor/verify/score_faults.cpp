// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "doctor/verify/fault_model.h"
#include "doctor/verify/index.h"

namespace locus::doctor {
namespace {

using Bias = std::function<double(std::int64_t head, Position query, Position key)>;
using Bucket = std::function<std::int64_t(Position query, Position key)>;

class BiasFaults {
 public:
  explicit BiasFaults(const Encoding& encoding)
      : bias_(encoding.score()), arguments_(encoding.arguments()), name_(encoding.scheme().name) {
    value_ = [v = bias_.value, end = bias_.max_id](std::int64_t head, Position query, Position key) {
      return v(head, inside_window(end, query), inside_window(end, key));
    };
    if (bias_.before_scale) scale_ = bias_.softmax_scale.value_or(0.25);
  }

  Models all() {
    from_the_wrong_end();  // for slopes, equal to a wrong sign, but more likely
    numbers();
    distances();
    heads();
    if (!bias_.slopes.empty()) slopes();
    if (bias_.bucket) buckets();
    return std::move(models_);
  }

 private:
  void add(std::string_view fault, std::string detail, Bias bias) {
    models_.push_back({.fault = fault, .detail = std::move(detail), .bias = std::move(bias)});
  }

  void from_the_wrong_end() {
    // The key at index j gets the bias of the key j before the query.
    models_.push_back({.fault = "bias_from_the_wrong_end",
                       .id = [](const AskedCall& c, Role side, std::int64_t token, int, Position) {
                         if (side == Role::query) return Position{0};
                         return c.key_ids[0] - c.key_ids[at(token)];
                       }});
  }

  void numbers() {
    add("no_positions", "", [](std::int64_t, Position, Position) { return 0.0; });
    add("bias_sign", "", [v = value_](std::int64_t h, Position q, Position k) { return -v(h, q, k); });
    for (const double factor :
         {2.0, 0.5, 0.25, 4.0, std::sqrt(0.5), std::sqrt(2.0), 1 / std::log(2.0), std::log(2.0)}) {
      add("bias_scaled", "times " + std::to_string(factor),
          [v = value_, factor](std::int64_t h, Position q, Position k) { return factor * v(h, q, k); });
    }
    add("table_transposed", "", [v = value_](std::int64_t h, Position q, Position k) { return v(h, k, q); });
    for (const ElementType type : {ElementType::bfloat16, ElementType::float16}) {
      add(type == ElementType::bfloat16 ? "bfloat16_bias" : "float16_bias", "",
          [v = value_, type](std::int64_t h, Position q, Position k) { return rounded_to(type, v(h, q, k)); });
      add(type == ElementType::bfloat16 ? "bfloat16_bias" : "float16_bias", "positions rounded",
          [v = value_, type](std::int64_t h, Position q, Position k) {
            const auto round = [type](Position id) {
              const double rounded = rounded_to(type, static_cast<double>(id));
              return std::isfinite(rounded) ? static_cast<Position>(rounded) : id;
            };
            return v(h, round(q), round(k));
          });
    }
    for (const double least : {-1.0, -2.0, -4.0, -8.0, -10.0, -16.0, -50.0, -64.0, -100.0}) {
      add("bias_clamped", "at " + std::to_string(static_cast<int>(least)),
          [v = value_, least](std::int64_t h, Position q, Position k) { return std::max(least, v(h, q, k)); });
    }
  }

  void distances() {
    const auto by_distance = [&](std::string_view fault, const std::string& detail,
                                 const std::function<Position(Position)>& change) {
      add(fault, detail,
          [v = value_, change](std::int64_t h, Position q, Position k) { return v(h, k + change(q - k), k); });
    };
    for (const Position step : {1, -1}) {
      by_distance("distance_off_by_one", "", [step](Position n) { return n + step; });
      by_distance("distance_off_by_one", "but 0 stays", [step](Position n) { return n == 0 ? n : n + step; });
    }
    by_distance("distance_sign_lost", "", [](Position n) { return std::abs(n); });
    for (int bits = 3; bits <= 16; ++bits) {
      const Position size = Position{1} << bits;
      for (const Position last : {size - 1, size}) {
        by_distance("distance_clamped", "at " + std::to_string(last), [last](Position n) { return std::min(n, last); });
      }
      by_distance("distance_wrapped", "at " + std::to_string(size),
                  [size](Position n) { return ((n % size) + size) % size; });
      const auto narrow = [size](Position n) { return ((n + size) % (2 * size) + 2 * size) % (2 * size) - size; };
      by_distance("distance_wrapped", "at " + std::to_string(size), narrow);
      if (!bias_.slopes.empty()) {  // the line continues below 0
        add("distance_wrapped", "at " + std::to_string(size),
            [slopes = bias_.slopes, narrow](std::int64_t h, Position q, Position k) {
              return -slopes[at(h)] * static_cast<double>(narrow(q - k));
            });
      }
    }
    for (const Position divisor : {2, 4}) {
      by_distance("positions_divided", "by " + std::to_string(divisor), [divisor](Position n) { return n / divisor; });
    }
    by_distance("positions_doubled", "", [](Position n) { return 2 * n; });
    models_.push_back({.fault = "queries_counted_from_zero",
                       .id = [](const AskedCall&, Role side, std::int64_t token, int, Position id) {
                         return side == Role::query ? token : id;
                       }});
  }

  void heads() {
    const std::int64_t n = bias_.heads;
    const auto by_head = [&](std::string_view fault, const std::string& detail,
                             const std::function<std::int64_t(std::int64_t)>& change) {
      add(fault, detail, [v = value_, change](std::int64_t h, Position q, Position k) { return v(change(h), q, k); });
    };
    by_head(bias_.slopes.empty() ? "heads_permuted" : "alibi_slopes_reversed", "",
            [n](std::int64_t h) { return n - 1 - h; });
    by_head("heads_permuted", "by one", [n](std::int64_t h) { return (h + 1) % n; });
    by_head("heads_permuted", "by one", [n](std::int64_t h) { return (h + n - 1) % n; });
    by_head("heads_permuted", "by one, the last twice", [n](std::int64_t h) { return std::min(h + 1, n - 1); });
    by_head("heads_permuted", "by one, the first twice",
            [](std::int64_t h) { return std::max<std::int64_t>(h - 1, 0); });
    by_head("heads_permuted", "in pairs", [n](std::int64_t h) { return std::min(h ^ 1, n - 1); });
    by_head("heads_permuted", "every second one", [n](std::int64_t h) { return 2 * h % n; });
    by_head("heads_permuted", "the halves in turn", [n](std::int64_t h) { return 2 * h % n + 2 * h / n; });
    by_head("heads_permuted", "the halves in turn", [n](std::int64_t h) { return h / 2 + h % 2 * (n / 2); });
    by_head("bias_of_one_head", "", [](std::int64_t) { return std::int64_t{0}; });
    by_head("bias_of_one_head", "", [n](std::int64_t) { return n - 1; });
    for (const std::int64_t group : {2, 3, 4, 8}) {
      if (group >= n) continue;
      by_head("bias_by_key_head", "", [group](std::int64_t h) { return h / group; });
      by_head("bias_by_key_head", "", [group](std::int64_t h) { return h / group * group; });
      by_head("heads_permuted", "", [group](std::int64_t h) { return h % group; });
    }
    for (std::int64_t first = 0; first < n; ++first) {
      add("bias_missing_for_heads", "from " + std::to_string(first) + " on",
          [v = value_, first](std::int64_t h, Position q, Position k) { return h < first ? v(h, q, k) : 0.0; });
      add("bias_missing_for_heads", "head " + std::to_string(first),
          [v = value_, first](std::int64_t h, Position q, Position k) { return h != first ? v(h, q, k) : 0.0; });
    }
  }

  void slopes() {
    const std::int64_t n = bias_.heads;
    const auto with = [&](std::string_view fault, const std::string& detail, std::vector<double> other) {
      // A bias is slope times distance: replaces the slope.
      add(fault, detail, [v = value_, own = bias_.slopes, other](std::int64_t h, Position q, Position k) {
        return own[at(h)] == 0 ? 0 : v(h, q, k) / own[at(h)] * other[at(h)];
      });
    };
    std::vector<double> sorted = bias_.slopes;
    std::sort(sorted.rbegin(), sorted.rend());
    with("alibi_slopes_sorted", "", sorted);
    for (const ElementType type : {ElementType::bfloat16, ElementType::float16}) {
      std::vector<double> narrow;
      for (const double slope : bias_.slopes) narrow.push_back(rounded_to(type, slope));
      with(type == ElementType::bfloat16 ? "bfloat16_bias" : "float16_bias", "slopes rounded", narrow);
    }
    const double b = arguments_.has("bias_max") ? arguments_.real("bias_max") : 8;
    const auto series = [&](double count, double first, double most) {
      std::vector<double> all;
      for (std::int64_t h = 0; h < n; ++h) all.push_back(std::exp2(-most * (static_cast<double>(h) + first) / count));
      return all;
    };
    double next = 1;
    while (next < static_cast<double>(n)) next *= 2;
    with("alibi_slopes_next_power", "", series(next, 1, b));
    with("alibi_slopes_one_series", "", series(static_cast<double>(n), 1, b));
    with("alibi_slopes_first", "from 1", series(static_cast<double>(n), 0, b));
    for (const double most : {1.0, 2.0, 4.0, 6.0, 10.0, 12.0, 16.0, 32.0}) {
      if (most != b)
        with("alibi_bias_max", std::to_string(static_cast<int>(most)), series(static_cast<double>(n), 1, most));
    }
    with("alibi_slopes_equal", "", std::vector<double>(at(n), bias_.slopes[0]));
    for (const double count : {static_cast<double>(n) / 2, static_cast<double>(n) + 1, static_cast<double>(n) - 1}) {
      if (count >= 1) with("alibi_slopes_head_count", "", series(count, 1, b));
    }
    std::vector<double> linear;
    for (std::int64_t h = 0; h < n; ++h) linear.push_back(1.0 / static_cast<double>(h + 1));
    with("alibi_slopes_head_count", "", linear);
  }

  double entry(std::int64_t row, std::int64_t head) const {
    const std::int64_t last = bias_.buckets - 1;
    return static_cast<double>(bias_.table.row(std::clamp<std::int64_t>(row, 0, last))[at(head)]);
  }

  void with_bucket(std::string_view fault, const std::string& detail, const Bucket& bucket) {
    if (bias_.table.data.empty()) return;
    add(fault, detail, [table = bias_.table, rows = bias_.buckets, bucket](std::int64_t h, Position q, Position k) {
      const std::int64_t row = bucket(q, k);
      return static_cast<double>(table.row(std::clamp<std::int64_t>(row, 0, rows - 1))[at(h)]);
    });
  }

  // Computes T5's bucket by its formula.
  static std::int64_t t5_bucket(Position offset, std::int64_t buckets, double exact_share, double max_distance,
                                bool bidirectional, bool ceiling) {
    std::int64_t bucket = 0, per_sign = buckets;
    Position n = -offset;
    if (bidirectional) {
      per_sign /= 2;
      if (offset > 0) bucket += per_sign;
      n = std::abs(n);
    } else {
      n = std::max<Position>(n, 0);
    }
    const auto exact = static_cast<std::int64_t>(static_cast<double>(per_sign) * exact_share);
    if (n < exact) return bucket + n;
    const double e = static_cast<double>(std::max<std::int64_t>(exact, 1)), m = static_cast<double>(per_sign);
    double steps = std::log(static_cast<double>(n) / e) / std::log(max_distance / e) * (m - e);
    steps = ceiling ? std::ceil(steps - 1e-9) : std::floor(steps + 1e-9);
    return bucket + std::min<std::int64_t>(exact + static_cast<std::int64_t>(steps), per_sign - 1);
  }

  void buckets() {
    const Bucket own = bias_.bucket;
    const std::int64_t rows = bias_.buckets;
    for (const std::int64_t step : {1, -1}) {
      with_bucket("bucket_off_by_one", "", [=](Position q, Position k) { return own(q, k) + step; });
      with_bucket("bucket_off_by_one", "but the first stays", [=](Position q, Position k) {
        const std::int64_t b = own(q, k);
        return b == 0 ? b : b + step;
      });
    }
    with_bucket("buckets_reversed", "", [=](Position q, Position k) { return rows - 1 - own(q, k); });
    for (const std::int64_t count : {rows / 2, rows / 4, rows - 1, rows - 2, 3 * rows / 4}) {
      with_bucket("buckets_cut", "at " + std::to_string(count),
                  [=](Position q, Position k) { return std::min(own(q, k), count - 1); });
    }
    if (name_ == "t5") {
      const bool bidirectional = arguments_.boolean("bidirectional");
      const std::int64_t count = rows;
      const double most = static_cast<double>(arguments_.integer("max_distance"));
      const auto t5 = [&](const std::string& detail, std::int64_t b, double share, double distance, bool both,
                          bool up) {
        with_bucket("buckets_wrong", detail,
                    [=](Position q, Position k) { return t5_bucket(k - q, b, share, distance, both, up); });
      };
      t5(bidirectional ? "one direction" : "both directions", count, 0.5, most, !bidirectional, false);
      for (const double factor : {2.0, 0.5, 4.0, 8.0})
        t5("max_distance", count, 0.5, most * factor, bidirectional, false);
      for (const double distance : {64.0, 100.0, 128.0, 129.0, 127.0, 256.0, 512.0, 1000.0}) {
        if (distance != most) t5("max_distance", count, 0.5, distance, bidirectional, false);
      }
      for (const std::int64_t other : {count / 2, count * 2, count - 2})
        t5("count", other, 0.5, most, bidirectional, false);
      t5("exact part", count, 0.25, most, bidirectional, false);
      t5("exact part", count, 0.75, most, bidirectional, false);
      t5("exact part", count, 1.0, most, bidirectional, false);
      t5("rounded up", count, 0.5, most, bidirectional, true);
    }
    linear_table(own, rows);
  }

  void linear_table(const Bucket& own, std::int64_t rows) {
    if (bias_.table.data.empty()) return;
    const std::int64_t n = bias_.heads;
    add("table_wrong", "read in the other order", [=, table = bias_.table](std::int64_t h, Position q, Position k) {
      const std::int64_t index = h * rows + own(q, k);  // [heads, rows] instead of [rows, heads]
      return static_cast<double>(table.row(index / n)[at(index % n)]);
    });
    const Arguments& a = arguments_;
    if (name_ != "relative_bias" || a.text("index") != "clipped") return;
    const std::int64_t left = a.integer("clip_left"), right = a.maybe_integer("clip_right").value_or(left);
    for (const std::int64_t step : {1, -1}) {
      with_bucket("clip_off_by_one", "",
                  [=](Position q, Position k) { return std::clamp(k - q, -left - step, right + step) + left; });
    }
    for (const std::int64_t limit : {left / 2, left / 4}) {
      with_bucket("clip_wrong", "at " + std::to_string(limit),
                  [=](Position q, Position k) { return std::clamp(k - q, -limit, std::min(right, limit)) + left; });
    }
  }

  const ScoreBias& bias_;
  const Arguments& arguments_;
  const std::string_view name_;
  Bias value_;
  double scale_ = 1;
  Models models_;
};

Models relative_faults(const RelativeKeys& keys) {
  Models all;
  const auto add = [&](std::string_view fault, const std::string& detail,
                       const std::function<void(RelativeKeys&)>& change) {
    auto other = std::make_shared<RelativeKeys>(keys);
    change(*other);
    all.push_back({.fault = fault, .detail = detail, .relative = std::move(other)});
  };
  const auto zero = [](Tensor& tensor) { std::fill(tensor.data.begin(), tensor.data.end(), 0.0f); };
  add("relative_scale", "", [](RelativeKeys& k) { k.scaled = !k.scaled; });
  if (!keys.index) {
    add("no_positions", "", [&](RelativeKeys& k) {
      zero(k.u);
      zero(k.w_r);
    });
    add("content_bias_missing", "", [&](RelativeKeys& k) { zero(k.u); });
    add("position_bias_missing", "", [&](RelativeKeys& k) { zero(k.v); });
    add("relative_term_missing", "", [&](RelativeKeys& k) { zero(k.w_r); });
    add("relative_biases_exchanged", "", [](RelativeKeys& k) { std::swap(k.u, k.v); });
    add("relative_biases_exchanged", "one for both", [](RelativeKeys& k) { k.v = k.u; });
    add("relative_biases_exchanged", "one for both", [](RelativeKeys& k) { k.u = k.v; });
    add("table_transposed", "", [](RelativeKeys& k) {
      for (Wave& wave : k.sinusoid.waves) wave.inv_freq = -wave.inv_freq, wave.inv_freq_low = -wave.inv_freq_low;
    });
    add("sinusoid_order", "", [](RelativeKeys& k) {  // interleaved for [sin | cos], or the other way
      const std::vector<Wave> old = k.sinusoid.waves;
      const std::size_t half = old.size() / 2;
      const bool interleaved = old.size() > 1 && old[1].cosine;
      for (std::size_t i = 0; i < half; ++i) {
        k.sinusoid.waves[interleaved ? i : 2 * i] = old[interleaved ? 2 * i : i];
        k.sinusoid.waves[interleaved ? half + i : 2 * i + 1] = old[interleaved ? 2 * i + 1 : half + i];
      }
    });
    add("sinusoid_order", "cos before sin", [](RelativeKeys& k) {
      for (Wave& wave : k.sinusoid.waves) wave.cosine = !wave.cosine;
    });
    for (const Position step : {1, -1}) {
      add("distance_off_by_one", "", [step](RelativeKeys& k) { k.sinusoid.first_position += step; });
    }
    return all;
  }
  const auto own = keys.index;
  const std::int64_t rows = keys.key_table.dim(0);
  const auto zero_keys = [&](RelativeKeys& k) {
    zero(k.key_table);
    zero(k.column_table);
  };
  add("no_positions", "", [&](RelativeKeys& k) {
    zero_keys(k);
    zero(k.query_table);
    zero(k.value_table);
  });
  add("relative_term_missing", "", zero_keys);
  if (keys.query_table.data.empty()) {
    add("relative_key_term", "", [](RelativeKeys& k) { k.meets_key = !k.meets_key; });
  } else {
    add("relative_key_term", "", [&](RelativeKeys& k) { zero(k.query_table); });
    add("relative_key_term", "the query's rows in its place", [](RelativeKeys& k) { k.query_table = k.key_table; });
    add("relative_key_term", "the tables exchanged", [](RelativeKeys& k) { std::swap(k.key_table, k.query_table); });
  }
  if (keys.column_index) {
    add("grid_tables_exchanged", "", [](RelativeKeys& k) {
      std::swap(k.key_table, k.column_table);
      for (auto [index, table] : {std::pair{&k.index, &k.key_table}, std::pair{&k.column_index, &k.column_table}}) {
        *index = [own = *index, last = table->dim(0) - 1](Position q, Position key) {
          return std::min(own(q, key), last);
        };
      }
    });
    add("relative_term_missing", "of the columns", [&](RelativeKeys& k) { zero(k.column_table); });
    add("relative_term_missing", "of the rows", [&](RelativeKeys& k) { zero(k.key_table); });
  }
  if (!keys.value_table.data.empty()) {
    add("relative_value_missing", "", [&](RelativeKeys& k) { zero(k.value_table); });
    add("relative_value_missing", "the keys' table in its place", [](RelativeKeys& k) { k.value_table = k.key_table; });
  }
  const auto index = [&](std::string_view fault, const std::string& detail, const Bucket& change) {
    add(fault, detail, [&](RelativeKeys& k) {
      k.index = [change, rows](Position q, Position key) {
        return std::clamp<std::int64_t>(change(q, key), 0, rows - 1);
      };
    });
  };
  index("table_transposed", "", [own](Position q, Position k) { return own(k, q); });
  index("table_transposed", "", [own, rows](Position q, Position k) { return rows - 1 - own(q, k); });
  for (const std::int64_t step : {1, -1}) {
    index("bucket_off_by_one", "", [=](Position q, Position k) { return own(q, k) + step; });
    index("distance_off_by_one", "", [=](Position q, Position k) { return own(q + step, k); });
  }
  for (const std::int64_t limit : {1, 2, 4, 8, 16, 32, 64, 3, 7, 15, 31, 63}) {
    index("clip_wrong", "at " + std::to_string(limit),
          [=](Position q, Position k) { return own(k + std::clamp(q - k, -limit, limit), k); });
  }
  index("distance_sign_lost", "", [own](Position q, Position k) { return own(k + std::abs(q - k), k); });
  index("distance_sign_lost", "", [own](Position q, Position k) { return own(k - std::abs(q - k), k); });
  return all;
}

}  // namespace

Models score_faults(const Encoding& encoding) {
  if (encoding.site() == Site::score) return BiasFaults(encoding).all();
  if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) return relative_faults(*keys);
  return {};
}

}  // namespace locus::doctor
