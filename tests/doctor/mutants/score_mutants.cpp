// SPDX-License-Identifier: Apache-2.0
// Faults of biases, buckets and relative keys.
#include <algorithm>

#include "doctor/mutants/lists.h"

namespace mutants {
namespace {

using std::int64_t;
using Strings = std::vector<std::string>;
using Bias = std::function<double(int64_t, int64_t, int64_t)>;

void any_bias(List& list) {
  const auto add = [&](const std::string& name, const Strings& faults, const std::function<Bias(const Bias&)>& change,
                       bool slopes = true) {
    for (const Pair& pair : {alibi(8), t5(false), clipped(), kerple()}) {
      if (!slopes && pair.name == "alibi 8") continue;
      Attention plain = pair.plain;
      plain.bias = change(pair.plain.bias);
      list.attend("bias", name, pair, plain, faults);
    }
  };
  add("missing", {"no_positions"}, [](const Bias&) { return Bias(); });
  add("sign", {"bias_sign", "alibi_sign", "bias_from_the_wrong_end"},
      [](const Bias& b) { return Bias([b](int64_t h, int64_t q, int64_t k) { return -b(h, q, k); }); });
  add("twice", {"bias_scaled", "alibi_scaled"},
      [](const Bias& b) { return Bias([b](int64_t h, int64_t q, int64_t k) { return 2 * b(h, q, k); }); });
  add("scaled with the score", {"bias_scaled", "alibi_scaled", "alibi_bias_max"},
      [](const Bias& b) { return Bias([b](int64_t h, int64_t q, int64_t k) { return b(h, q, k) / 4; }); });
  for (const Pair& pair : {alibi(8), t5(false), clipped(), kerple()}) {
    const int64_t heads = pair.name == "alibi 8" || pair.name == "t5" ? 8 : 4;
    Attention plain = pair.plain;
    plain.bias = [heads, own = pair.plain.bias](int64_t h, int64_t q, int64_t k) { return own((h + 1) % heads, q, k); };
    list.attend("bias", "of the next head", pair, plain, {"heads_permuted"});
  }
  add("of the first head", {"bias_of_one_head", "alibi_slopes_equal"},
      [](const Bias& b) { return Bias([b](int64_t, int64_t q, int64_t k) { return b(0, q, k); }); });
  add("by key head", {"bias_by_key_head"},
      [](const Bias& b) { return Bias([b](int64_t h, int64_t q, int64_t k) { return b(h / 2, q, k); }); });
  add("missing for a head", {"bias_missing_for_heads"},
      [](const Bias& b) { return Bias([b](int64_t h, int64_t q, int64_t k) { return h == 1 ? 0 : b(h, q, k); }); });
  add("missing from head 2 on", {"bias_missing_for_heads"},
      [](const Bias& b) { return Bias([b](int64_t h, int64_t q, int64_t k) { return h >= 2 ? 0 : b(h, q, k); }); });
  add(
      "one step on", {"distance_off_by_one", "off_by_one", "bucket_off_by_one"},
      [](const Bias& b) { return Bias([b](int64_t h, int64_t q, int64_t k) { return b(h, q + 1, k); }); }, false);
  for (const int64_t most : {16, 64, 128, 1024}) {
    for (const Pair& pair : {alibi(8), t5(false), clipped(), kerple()}) {
      // Offsets that are already clipped, or in the last bucket, do not change.
      if ((pair.name == "clipped" && most > 16) || (pair.name == "t5" && most > 64)) continue;
      Attention plain = pair.plain;
      plain.bias = [most, own = pair.plain.bias](int64_t h, int64_t q, int64_t k) {
        return own(h, k + std::min(q - k, most - 1), k);
      };
      list.attend("bias", "distance up to " + std::to_string(most), pair, plain,
                  {"distance_clamped", "bias_clamped", "buckets_cut"});
    }
  }
  for (const int64_t size : {128, 256, 2048}) {
    add("distance modulo " + std::to_string(size), {"distance_wrapped"}, [=](const Bias& b) {
      return Bias([=](int64_t h, int64_t q, int64_t k) { return b(h, k + (q - k) % size, k); });
    });
  }
  const auto ids = [&](const std::string& name, const Strings& faults,
                       const std::function<int64_t(const Where&, int64_t)>& id, bool slopes = true) {
    for (const Pair& pair : {alibi(8), t5(false), kerple()}) {
      if (!slopes && pair.name == "alibi 8") continue;
      Attention plain = pair.plain;
      plain.id = id;
      list.attend("bias", name, pair, plain, faults);
    }
  };
  ids("by index", {"ids_ignored", "positions_not_reset"}, [](const Where& w, int64_t) { return w.token + w.first; });
  ids(
      "queries from 0", {"ids_ignored", "queries_counted_from_zero"},
      [](const Where& w, int64_t p) { return w.key ? p : w.token; }, false);
  ids(
      "decode off by one", {"off_by_one_in_decode"},
      [](const Where& w, int64_t p) { return !w.key && w.decode() ? p + 1 : p; }, false);
  ids("keys in pages of 64", {"positions_reset", "positions_wrapped"},
      [](const Where& w, int64_t p) { return w.key && p >= 0 ? p % 64 : p; });
  ids("keys as 8 bits", {"positions_wrapped", "positions_reset"},
      [](const Where& w, int64_t p) { return w.key && p >= 0 ? p % 256 : p; });
}

void slopes_of_alibi(List& list) {
  for (const int heads : {8, 12}) {
    const Pair pair = alibi(heads);
    const auto add = [&](const std::string& name, const Strings& faults, const std::vector<double>& other) {
      Attention plain = pair.plain;
      plain.bias = [other](int64_t h, int64_t q, int64_t k) {
        return -other[static_cast<std::size_t>(h)] * static_cast<double>(q - k);
      };
      list.attend("bias", name, pair, plain, faults);
    };
    const auto series = [&](double n, double most, double first) {
      std::vector<double> all;
      for (int h = 0; h < heads; ++h) all.push_back(std::pow(2.0, -most * (h + first) / n));
      return all;
    };
    std::vector<double> own = slopes(heads), back(own.rbegin(), own.rend()), sorted = own;
    std::sort(sorted.rbegin(), sorted.rend());
    add("slopes backwards", {"alibi_slopes_reversed"}, back);
    if (heads == 12) {
      add("slopes sorted", {"alibi_slopes_sorted"}, sorted);
      add("slopes of 16", {"alibi_slopes_next_power"}, series(16, 8, 1));
      add("slopes in one series", {"alibi_slopes_one_series"}, series(12, 8, 1));
    }
    add("slopes from 1", {"alibi_slopes_first", "alibi_slopes_head_count", "bias_scaled"}, series(heads, 8, 0));
    add("bias_max of 16", {"alibi_bias_max"}, series(heads, 16, 1));
    add("equal slopes", {"alibi_slopes_equal", "bias_of_one_head"},
        std::vector<double>(static_cast<std::size_t>(heads), own[0]));
    add("slopes of half the heads", {"alibi_slopes_head_count", "alibi_bias_max"}, series(heads / 2.0, 8, 1));
    Attention plain = pair.plain;
    plain.id = [](const Where& w, int64_t) { return w.key ? w.ids[0] - w.ids[w.token] : int64_t{0}; };
    list.attend("bias", "from the wrong end", pair, plain, {"bias_from_the_wrong_end"});
    Attention narrow = pair.plain;
    narrow.bias = [own](int64_t h, int64_t q, int64_t k) {
      return static_cast<double>(
          round_bits(static_cast<float>(-own[static_cast<std::size_t>(h)] * static_cast<double>(q - k)), 16));
    };
    list.attend("bias", "in bfloat16", pair, narrow, {"bfloat16_bias"});
    Attention clamp = pair.plain;
    clamp.bias = [own](int64_t h, int64_t q, int64_t k) {
      return std::max(-4.0, -own[static_cast<std::size_t>(h)] * static_cast<double>(q - k));
    };
    list.attend("bias", "not below -4", pair, clamp, {"bias_clamped"});
  }
}

void buckets(List& list) {
  const locus::Tensor table = tensor({32, 8}, 7);
  for (const bool both : {false, true}) {
    const Pair pair = t5(both);
    const locus::VerifyOptions options{.causal = !both};
    const auto add = [&](const std::string& name, const Strings& faults,
                         const std::function<int64_t(int64_t, int64_t)>& bucket) {
      Attention plain = pair.plain;
      plain.bias = [=](int64_t h, int64_t q, int64_t k) {
        return static_cast<double>(
            table.data[static_cast<std::size_t>(std::clamp<int64_t>(bucket(q, k), 0, 31) * 8 + h)]);
      };
      list.attend("buckets", name, pair, plain, faults, options);
    };
    const auto rule = [&](const std::string& name, const std::function<void(BucketRule&)>& change) {
      BucketRule other;
      other.both = both;
      change(other);
      add(name, {"buckets_wrong"}, [=](int64_t q, int64_t k) { return t5_bucket(other, q, k); });
    };
    BucketRule own;
    own.both = both;
    rule("other direction rule", [&](BucketRule& r) { r.both = !both; });
    rule("up to 256", [](BucketRule& r) { r.furthest = 256; });
    rule("up to 64", [](BucketRule& r) { r.furthest = 64; });
    rule("up to 127", [](BucketRule& r) { r.furthest = 127; });
    rule("16 buckets", [](BucketRule& r) { r.buckets = 16; });
    rule("a quarter exact", [](BucketRule& r) { r.exact_share = 0.25; });
    rule("three quarters exact", [](BucketRule& r) { r.exact_share = 0.75; });
    rule("rounded up", [](BucketRule& r) { r.ceiling = true; });
    add("one on", {"bucket_off_by_one"}, [=](int64_t q, int64_t k) { return t5_bucket(own, q, k) + 1; });
    add("one back", {"bucket_off_by_one"}, [=](int64_t q, int64_t k) { return t5_bucket(own, q, k) - 1; });
    add("backwards", {"buckets_reversed"}, [=](int64_t q, int64_t k) { return 31 - t5_bucket(own, q, k); });
    add("other sign", {"table_transposed"}, [=](int64_t q, int64_t k) { return t5_bucket(own, k, q); });
    add("cut at 16", {"buckets_cut", "buckets_wrong", "distance_clamped"},
        [=](int64_t q, int64_t k) { return std::min<int64_t>(t5_bucket(own, q, k), 15); });
    Attention transposed = pair.plain;
    transposed.bias = [=](int64_t h, int64_t q, int64_t k) {
      return static_cast<double>(table.data[static_cast<std::size_t>(h * 32 + t5_bucket(own, q, k))]);
    };
    list.attend("buckets", "table transposed", pair, transposed, {"table_wrong"}, options);
    Attention scaled = pair.plain;
    scaled.scale = 0;
    list.attend("buckets", "scores scaled", pair, scaled, {"softmax_scale"}, options);
  }
  const locus::Tensor clips = tensor({33, 4}, 9);
  const auto clip = [&](const std::string& name, const Strings& faults, int64_t left, int64_t right, int64_t shift,
                        int sign) {
    const Pair pair = clipped();
    Attention plain = pair.plain;
    plain.bias = [=](int64_t h, int64_t q, int64_t k) {
      const int64_t row = std::clamp<int64_t>(std::clamp<int64_t>(sign * (k - q), -left, right) + shift, 0, 32);
      return static_cast<double>(clips.data[static_cast<std::size_t>(row * 4 + h)]);
    };
    list.attend("buckets", name, pair, plain, faults);
  };
  clip("clipped at 15", {"clip_off_by_one", "distance_clamped"}, 15, 15, 16, 1);
  clip("clipped at 8", {"clip_wrong", "distance_clamped"}, 8, 8, 16, 1);
  clip("one row on", {"bucket_off_by_one", "distance_off_by_one"}, 16, 16, 17, 1);
  clip("one row back", {"bucket_off_by_one", "distance_off_by_one"}, 16, 16, 15, 1);
  clip("other sign", {"table_transposed", "buckets_reversed"}, 16, 16, 16, -1);
}

void relative_keys(List& list) {
  const Pair pair = shaw();
  const ShawTables t = shaw_tables();
  using Index = std::function<std::size_t(int64_t q, int64_t k, int64_t j)>;
  const auto with = [&](const std::string& name, const Strings& faults, const Index& index) {
    Attention plain = pair.plain;
    plain.relative = [=](int64_t, const float* q, const float*, int64_t query, int64_t key) {
      double sum = 0;
      for (int64_t j = 0; j < 16; ++j)
        sum += static_cast<double>(q[j]) * static_cast<double>(t.key[index(query, key, j)]);
      return sum;
    };
    plain.relative_value = [=](int64_t query, int64_t key, int64_t j) {
      return static_cast<double>(t.value[index(query, key, j)]);
    };
    list.attend("bias", name, pair, plain, faults);
  };
  with("other sign", {"table_transposed"}, [=](int64_t q, int64_t k, int64_t j) { return t.at(k, q, j); });
  with("one on", {"distance_off_by_one", "bucket_off_by_one"},
       [=](int64_t q, int64_t k, int64_t j) { return t.at(q + 1, k, j); });
  with("clipped at 4", {"clip_wrong"},
       [=](int64_t q, int64_t k, int64_t j) { return t.at(k + std::min<int64_t>(q - k, 4), k, j); });
  with("clipped at 7", {"clip_wrong"},
       [=](int64_t q, int64_t k, int64_t j) { return t.at(k + std::min<int64_t>(q - k, 7), k, j); });
  const auto change = [&](const std::string& name, const Strings& faults, const std::function<void(Attention&)>& f) {
    Attention plain = pair.plain;
    f(plain);
    list.attend("bias", name, pair, plain, faults);
  };
  change("no values", {"relative_value_missing"}, [](Attention& a) { a.relative_value = {}; });
  change("no keys", {"relative_term_missing"}, [](Attention& a) { a.relative = {}; });
  change("nothing", {"no_positions"}, [](Attention& a) {
    a.relative = {};
    a.relative_value = {};
  });
  change("not scaled", {"relative_scale"}, [](Attention& a) { a.relative_unscaled = true; });
  change("key table for values", {"relative_value_missing"}, [t](Attention& a) {
    a.relative_value = [t](int64_t q, int64_t k, int64_t j) { return static_cast<double>(t.key[t.at(q, k, j)]); };
  });

  const auto xl = [&](const std::string& name, const Strings& faults, const std::function<void(XlWeights&)>& f) {
    XlWeights weights;
    f(weights);
    const Pair own = transformer_xl(weights);
    list.attend("bias", name, own, own.plain, faults);
  };
  xl("no content bias", {"content_bias_missing"}, [](XlWeights& w) { std::fill(w.u.begin(), w.u.end(), 0.0f); });
  xl("no position bias", {"position_bias_missing"}, [](XlWeights& w) { std::fill(w.v.begin(), w.v.end(), 0.0f); });
  xl("biases exchanged", {"relative_biases_exchanged"}, [](XlWeights& w) { std::swap(w.u, w.v); });
  xl("no positions", {"relative_term_missing"}, [](XlWeights& w) { std::fill(w.w.begin(), w.w.end(), 0.0f); });
  xl("other sign", {"table_transposed"}, [](XlWeights& w) { w.sign = -1; });
  xl("one on", {"distance_off_by_one"}, [](XlWeights& w) { w.shift = 1; });
  xl("interleaved sinusoid", {"sinusoid_order"}, [](XlWeights& w) { w.interleaved_sinusoid = true; });
  Pair own = transformer_xl();
  own.plain.relative_unscaled = true;
  list.attend("bias", "not scaled", own, own.plain, {"relative_scale"});
}

}  // namespace

void plant_in_scores(List& list) {
  any_bias(list);
  slopes_of_alibi(list);
  buckets(list);
  relative_keys(list);
}

}  // namespace mutants
