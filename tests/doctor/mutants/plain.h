// SPDX-License-Identifier: Apache-2.0
// Plain implementations of rotation and attention, as users write them, in every arithmetic type, with hooks for
// planted faults. Uses only the verifier's requests from the library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "locus/doctor/verify_callable.h"

namespace mutants {

/// The type that each intermediate and final result is rounded to.
enum class Arithmetic { float64, float32, bfloat16, float16, to_bfloat16, to_float16 };

inline float round_bits(float x, int dropped) {  // to nearest, ties to even, by dropping low bits of the fraction
  if (!std::isfinite(x)) return x;
  auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t half = 1u << (dropped - 1), odd = (bits >> dropped) & 1u;
  bits += half - 1 + odd;
  bits &= ~((1u << dropped) - 1);
  return std::bit_cast<float>(bits);
}

inline float to_half(float x) {
  if (std::fabs(x) >= 65520.0f) return std::copysign(INFINITY, x);
  if (std::fabs(x) < 0x1p-14f) return std::nearbyint(x * 0x1p24f) * 0x1p-24f;
  return round_bits(x, 13);
}

inline double rounded(Arithmetic type, double x, bool last = false) {
  switch (type) {
    case Arithmetic::float64:
      return last ? static_cast<double>(static_cast<float>(x)) : x;
    case Arithmetic::float32:
      return static_cast<double>(static_cast<float>(x));
    case Arithmetic::bfloat16:
      return static_cast<double>(round_bits(static_cast<float>(x), 16));
    case Arithmetic::float16:
      return static_cast<double>(to_half(static_cast<float>(x)));
    case Arithmetic::to_bfloat16:
      return static_cast<double>(last ? round_bits(static_cast<float>(x), 16) : static_cast<float>(x));
    case Arithmetic::to_float16:
      return static_cast<double>(last ? to_half(static_cast<float>(x)) : static_cast<float>(x));
  }
  return x;
}

/// What code knows about the call it works on.
struct Where {
  bool key = false;        ///< the current side
  std::int64_t token = 0;  ///< its index on that side
  std::int64_t tokens = 0;
  std::int64_t first = 0;  ///< index in the sequence of the side's first token, inferred from the ids
  const std::int64_t* ids = nullptr;
  const locus::AttendRequest* attend = nullptr;
  std::int64_t axis = 0;

  bool decode() const { return attend != nullptr ? attend->queries == 1 : tokens == 1; }
};

struct Rope {
  std::int64_t head_dim = 16;
  std::int64_t width = 16;  ///< rotated coordinates
  std::int64_t start = 0;
  bool interleaved = false;
  bool evens_first = false;  ///< the output of interleaved pairs is [evens | odds]
  double base = 10000;
  double divisor = 1;  ///< linear interpolation
  double magnitude = 1;
  double scale_base = 0;  ///< xPos
  double centre = 0;
  bool roles_exchanged = false;
  std::vector<int> axis_of_pair;  ///< several axes
  Arithmetic arithmetic = Arithmetic::float32;
  bool float32_angles = false;

  // Planted faults.
  std::function<std::int64_t(const Where&, std::int64_t id)> id;
  std::function<double(std::int64_t pair, double frequency)> frequency;
  std::function<double(double position, double frequency)> angle;
  std::function<void(const Where&, std::int64_t pair, double& c, double& s)> table;
  std::function<int(const Where&, std::int64_t head, std::int64_t heads)> times;
  std::int64_t table_rows = 0;  ///< not 0: throws beyond

  double angle_of(std::int64_t pair, double position) const {
    double w = std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(width)) / divisor;
    if (frequency) w = frequency(pair, w);
    if (angle) return angle(position, w);
    if (!float32_angles) {
      // A double product is off by 1e-7 at 2^31, so whole turns are removed in long double.
      const long double turns =
          static_cast<long double>(position) * static_cast<long double>(w) / 6.283185307179586476925286766559L;
      return static_cast<double>((turns - std::floor(turns)) * 6.283185307179586476925286766559L);
    }
    return static_cast<double>(static_cast<float>(position) * static_cast<float>(w));
  }

  void turn(const Where& where, const std::vector<std::int64_t>& ids, float* head) const {
    const std::vector<float> in(head, head + head_dim);
    for (std::int64_t i = 0; i < width / 2; ++i) {
      const std::size_t axis =
          axis_of_pair.empty() ? 0 : static_cast<std::size_t>(axis_of_pair[static_cast<std::size_t>(i)]);
      const double p = static_cast<double>(ids[axis]);
      const double a = angle_of(i, p);
      double size = magnitude;
      if (scale_base > 0) {
        const double zeta = (2.0 * static_cast<double>(i) + 0.4 * static_cast<double>(head_dim)) /
                            (1.4 * static_cast<double>(head_dim));
        size *= std::pow(zeta,
                         (where.key != roles_exchanged ? -1 : 1) * (static_cast<double>(ids[0]) - centre) / scale_base);
      }
      double c = size * std::cos(a), s = size * std::sin(a);
      if (table) table(where, i, c, s);
      c = rounded(arithmetic, c);
      s = rounded(arithmetic, s);
      const std::int64_t x = start + (interleaved ? 2 * i : i), y = interleaved ? x + 1 : x + width / 2;
      const std::int64_t to_x = evens_first ? start + i : x, to_y = evens_first ? start + width / 2 + i : y;
      const double u = static_cast<double>(in[static_cast<std::size_t>(x)]),
                   v = static_cast<double>(in[static_cast<std::size_t>(y)]);
      const auto r = [&](double number) { return rounded(arithmetic, number); };
      head[to_x] = static_cast<float>(rounded(arithmetic, r(u * c) - r(v * s), true));
      head[to_y] = static_cast<float>(rounded(arithmetic, r(u * s) + r(v * c), true));
    }
    for (std::int64_t j = 0; j < head_dim; ++j) {
      if (j < start || j >= start + width)
        head[j] = static_cast<float>(rounded(arithmetic, static_cast<double>(head[j]), true));
    }
  }

  // [tokens, heads, head_dim], ids [axes, tokens].
  void rotate(float* data, std::int64_t heads, std::span<const std::int64_t> ids, Where where) const {
    const std::int64_t axes = axis_of_pair.empty() ? 1 : static_cast<std::int64_t>(ids.size()) / where.tokens;
    where.ids = ids.data();
    for (std::int64_t t = 0; t < where.tokens; ++t) {
      where.token = t;
      std::vector<std::int64_t> own;
      for (std::int64_t a = 0; a < axes; ++a) {
        where.axis = a;
        const std::int64_t given = ids[static_cast<std::size_t>(a * where.tokens + t)];
        own.push_back(id ? id(where, given) : given);
        if (table_rows > 0 && (own.back() >= table_rows || own.back() < 0))
          throw std::out_of_range("the table has no such row");
      }
      for (std::int64_t h = 0; h < heads; ++h) {
        const int count = times ? times(where, h, heads) : 1;
        for (int i = 0; i < count; ++i) turn(where, own, data + (t * heads + h) * head_dim);
      }
    }
  }

  void operator()(const locus::RotateRequest& r) const {
    Where where;
    where.key = r.role == locus::Role::key;
    where.tokens = r.tokens;
    rotate(r.data.data(), r.heads, r.ids, where);
  }
};

struct Attention {
  std::int64_t head_dim = 16;
  bool rotates = false;
  Rope rope;
  /// Added to the scaled score.
  std::function<double(std::int64_t head, std::int64_t query, std::int64_t key)> bias;
  /// Shaw and Transformer-XL: the relative term of query and key, scaled with the score, and that of the value.
  std::function<double(std::int64_t head, const float* q, const float* k, std::int64_t query, std::int64_t key)>
      relative;
  std::function<double(std::int64_t query, std::int64_t key, std::int64_t j)> relative_value;
  double scale = 0;  ///< 0: 1 / sqrt(head_dim)
  bool relative_unscaled = false;
  std::int64_t part = 0;  ///< not 0: softmax in merged parts of this many keys
  Arithmetic arithmetic = Arithmetic::float32;

  // Planted faults.
  std::function<std::int64_t(const Where&, std::int64_t id)> id;  ///< for bias and relative terms
  std::function<bool(const locus::AttendRequest&, std::int64_t i, std::int64_t j, bool seen)> mask;
  std::function<std::int64_t(std::int64_t head, std::int64_t heads, std::int64_t key_heads)> key_head, value_head;
  std::function<std::int64_t(const locus::AttendRequest&, std::int64_t j)> key_slot, value_slot;
  bool rotates_values = false;
  int zero_rest = 0;  ///< not 0: pages of this many tokens whose empty slots are visible
  enum class Merge {
    right,
    averaged,
    averaged_by_count,
    added,
    sum_not_rescaled,
    output_not_rescaled,
    by_own_sum,
    by_largest,
    last_only,
    first_only,
    first_lost,
    last_lost,
    base_two
  } merge = Merge::right;
  std::function<double(double score)> exponential;
  double extra_in_sum = 0;
  double cap = 0;
  bool fills_lse = false;
  double lse_shift = 0, lse_unit = 1;

  static bool sees(const locus::AttendRequest& r, std::int64_t i, std::int64_t j) {
    const auto u = [](std::int64_t n) { return static_cast<std::size_t>(n); };
    if (r.causal && r.key_ids[u(j)] > r.query_ids[u(i)]) return false;
    if (r.window > 0 && std::llabs(r.query_ids[u(i)] - r.key_ids[u(j)]) >= r.window) return false;
    if (!r.key_mask.empty() && r.key_mask[u(j)] == 0) return false;
    std::int64_t a = 0, b = 0;
    for (std::size_t d = 0; d + 1 < r.query_boundaries.size(); ++d) {
      if (i >= r.query_boundaries[d] && i < r.query_boundaries[d + 1]) a = static_cast<std::int64_t>(d);
      if (j >= r.key_boundaries[d] && j < r.key_boundaries[d + 1]) b = static_cast<std::int64_t>(d);
    }
    return a == b;
  }

  std::int64_t id_of(const locus::AttendRequest& r, bool key, std::int64_t token) const {
    const std::int64_t given =
        key ? r.key_ids[static_cast<std::size_t>(token)] : r.query_ids[static_cast<std::size_t>(token)];
    if (!id) return given;
    Where where = place(r, key);
    where.token = token;
    return id(where, given);
  }

  static Where place(const locus::AttendRequest& r, bool key) {
    Where where;
    where.key = key;
    where.tokens = key ? r.keys : r.queries;
    where.first = key ? 0 : r.keys - r.queries;
    where.ids = key ? r.key_ids.data() : r.query_ids.data();
    where.attend = &r;
    return where;
  }

  void operator()(const locus::AttendRequest& r) const {
    std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end()),
        v(r.value.begin(), r.value.end());
    if (rotates) {
      rope.rotate(q.data(), r.heads, r.query_ids, place(r, false));
      rope.rotate(k.data(), r.key_heads, r.key_ids, place(r, true));
      if (rotates_values) rope.rotate(v.data(), r.key_heads, r.key_ids, place(r, true));
    }
    attend(r, q, k, v);
  }

  struct Part {
    std::int64_t number = 0;  // index of the part
    double top = -INFINITY, sum = 0, count = 0;
    std::vector<double> output;
  };

  void attend(const locus::AttendRequest& r, const std::vector<float>& q, const std::vector<float>& k,
              const std::vector<float>& v) const {
    const std::int64_t d = head_dim;
    const auto round = [&](double x) { return rounded(arithmetic, x); };
    const double factor = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(d));
    for (std::int64_t i = 0; i < r.queries; ++i) {
      const std::int64_t query_id = id_of(r, false, i);
      for (std::int64_t h = 0; h < r.heads; ++h) {
        const std::int64_t own = h / (r.heads / r.key_heads);
        const std::int64_t kh = key_head ? key_head(h, r.heads, r.key_heads) : own;
        const std::int64_t vh = value_head ? value_head(h, r.heads, r.key_heads) : own;
        std::vector<Part> parts(1);
        const std::int64_t rest = zero_rest == 0 ? 0 : (zero_rest - r.keys % zero_rest) % zero_rest;
        const auto take = [&](std::int64_t index, double score, const std::function<double(std::int64_t)>& value) {
          const std::int64_t number = part > 0 ? index / part : 0;
          if (parts.back().count > 0 && parts.back().number != number) parts.emplace_back();
          Part& p = parts.back();
          p.number = number;
          if (p.output.empty()) p.output.assign(static_cast<std::size_t>(d), 0.0);
          const double next = std::max(p.top, score);
          const double old = p.top == -INFINITY ? 0 : std::exp(p.top - next);
          const double weight = exponential ? exponential(score - next) : std::exp(score - next);
          p.sum = p.sum * old + weight;
          for (std::int64_t j = 0; j < d; ++j) {
            double& sum = p.output[static_cast<std::size_t>(j)];
            sum = sum * old + round(weight) * value(j);
          }
          p.top = next;
          p.count += 1;
        };
        for (std::int64_t j = 0; j < r.keys; ++j) {
          bool seen = sees(r, i, j);
          if (mask) seen = mask(r, i, j, seen);
          if (!seen) continue;
          const std::int64_t ks = key_slot ? key_slot(r, j) : j, vs = value_slot ? value_slot(r, j) : j;
          const float* a = q.data() + (i * r.heads + h) * d;
          const float* b = ks < 0 ? nullptr : k.data() + (ks * r.key_heads + kh) * d;
          double score = 0;
          for (std::int64_t c = 0; b != nullptr && c < d; ++c)
            score += static_cast<double>(a[c]) * static_cast<double>(b[c]);
          const std::int64_t key_id = id_of(r, true, j);
          double more = 0;
          if (relative) more = relative(h, a, k.data() + (j * r.key_heads + kh) * d, query_id, key_id);
          score = round(round(score) * factor + more * (relative_unscaled ? 1 : factor));
          if (cap > 0) score = cap * std::tanh(score / cap);
          if (bias) score = round(score + round(bias(h, query_id, key_id)));
          take(j, score, [&](std::int64_t c) {
            double value =
                vs < 0 ? 0 : static_cast<double>(v[static_cast<std::size_t>((vs * r.key_heads + vh) * d + c)]);
            if (relative_value) value += relative_value(query_id, key_id, c);
            return value;
          });
        }
        for (std::int64_t j = 0; j < rest; ++j) take(r.keys + j, 0, [](std::int64_t) { return 0.0; });
        finish(r, i, h, parts);
      }
    }
  }

  // Combines the parts.
  void finish(const locus::AttendRequest& r, std::int64_t i, std::int64_t h, std::vector<Part>& parts) const {
    const std::int64_t d = head_dim;
    float* out = r.output.data() + (i * r.heads + h) * d;
    std::vector<double> total(static_cast<std::size_t>(d), 0.0);
    double top = -INFINITY, sum = 0;
    const auto add = [&](const Part& p, double weight) {
      for (std::size_t j = 0; j < total.size() && !p.output.empty(); ++j) total[j] += p.output[j] * weight;
    };
    const double n = static_cast<double>(parts.size());
    double count = 0;
    for (const Part& p : parts) count += p.count;
    for (std::size_t x = 0; x < parts.size(); ++x) {
      const Part& p = parts[x];
      const double next = std::max(top, p.top);
      const double old = top == -INFINITY ? 0 : std::exp(top - next), now = std::exp(p.top - next);
      switch (merge) {
        case Merge::averaged:
          add(p, 1 / (p.sum * n));
          sum = 1;
          continue;
        case Merge::averaged_by_count:
          add(p, p.count / (p.sum * count));
          sum = 1;
          continue;
        case Merge::added:
          add(p, 1 / p.sum);
          sum = 1;
          continue;
        case Merge::by_own_sum:
          add(p, 1);
          sum += p.sum;
          continue;
        case Merge::by_largest:
          add(p, std::exp(p.top - parts[0].top) / p.sum);
          sum += std::exp(p.top - parts[0].top);
          continue;
        case Merge::last_only:
          if (x + 1 == parts.size()) {
            add(p, 1);
            sum = p.sum;
          }
          continue;
        case Merge::first_only:
          if (x == 0) {
            add(p, 1);
            sum = p.sum;
          }
          continue;
        case Merge::first_lost:
          if (x == 0 && parts.size() > 1) continue;
          break;
        case Merge::last_lost:
          if (x + 1 == parts.size() && parts.size() > 1) continue;
          break;
        case Merge::base_two: {
          const double w = std::exp2(p.top + std::log(p.sum) - parts[0].top);
          add(p, w / p.sum);
          sum += w;
          continue;
        }
        default:
          break;
      }
      for (double& t : total) t *= merge == Merge::output_not_rescaled ? 1 : old;
      sum = sum * (merge == Merge::sum_not_rescaled ? 1 : old) + p.sum * now;
      add(p, now);
      top = next;
    }
    if (extra_in_sum != 0) sum += extra_in_sum * std::exp(-top);
    for (std::int64_t j = 0; j < d; ++j) {
      const double value = count == 0 ? 0 : total[static_cast<std::size_t>(j)] / sum;
      out[j] = static_cast<float>(rounded(arithmetic, value, true));
    }
    if (fills_lse)
      r.log_sum_exp[static_cast<std::size_t>(i * r.heads + h)] =
          static_cast<float>((top + std::log(sum)) * lse_unit + lse_shift);
  }
};

/// An engine that stores rotated keys in pages, which sequences may share.
struct PagedEngine {
  Attention attention;
  std::int64_t page = 16;

  // Planted faults.
  bool copies_shared_pages = true;
  int cached_turns = 0;            ///< how often cached keys are rotated again in each call
  std::int64_t append_offset = 0;  ///< new tokens are written this many slots off, except in the first page
  std::int64_t id_offset_after_fork = 0;
  std::int64_t id_offset_per_page = 0;
  bool rounds_length_down = false;  ///< a fork shares only whole pages and loses the rest
  bool loses_parent = false;
  std::int64_t query_offset_in_decode = 0;
  bool ids_from_length = false;  ///< counts ids of new tokens from the cached length

  struct Page {
    std::vector<float> key, value;
  };
  struct Sequence {
    std::vector<std::shared_ptr<Page>> pages;
    bool forked = false;
  };
  std::shared_ptr<std::map<std::int64_t, Sequence>> sequences = std::make_shared<std::map<std::int64_t, Sequence>>();

  void operator()(const locus::AttendRequest& r) const {
    if (!r.key_boundaries.empty() || !r.key_mask.empty()) {  // ragged batches take another path
      attention(r);
      return;
    }
    const auto row = static_cast<std::size_t>(r.key_heads * attention.head_dim), size = static_cast<std::size_t>(page);
    if (r.forked_from >= 0) {
      Sequence child = (*sequences)[r.forked_from];
      child.forked = true;
      child.pages.resize(static_cast<std::size_t>((r.cached + page - 1) / page));
      if (rounds_length_down && r.cached % page != 0) child.pages.back() = nullptr;
      if (loses_parent) child.pages.assign(child.pages.size(), nullptr);
      (*sequences)[r.sequence] = child;
    } else if (r.cached == 0) {
      (*sequences)[r.sequence] = {};
    }
    Sequence& mine = (*sequences)[r.sequence];
    std::vector<float> k(r.key.begin(), r.key.end());
    if (attention.rotates) {
      Rope rope = attention.rope;
      const bool forked = mine.forked;
      rope.id = [&, old = attention.rope.id](const Where& w, std::int64_t id) {
        std::int64_t result = old ? old(w, id) : id;
        if (ids_from_length) result = w.token;
        if (forked) result += id_offset_after_fork;
        return result + id_offset_per_page * (w.token / page);
      };
      rope.rotate(k.data(), r.key_heads, r.key_ids, Attention::place(r, true));
    }
    for (std::int64_t t = r.cached; t < r.keys; ++t) {
      std::int64_t slot = t >= page ? t + append_offset : t;
      if (slot < 0) slot = 0;
      while (static_cast<std::int64_t>(mine.pages.size()) * page <= slot) mine.pages.push_back(nullptr);
      std::shared_ptr<Page>& target = mine.pages[static_cast<std::size_t>(slot / page)];
      if (!target)
        target = std::make_shared<Page>(Page{std::vector<float>(row * size), std::vector<float>(row * size)});
      if (copies_shared_pages && target.use_count() > 1) target = std::make_shared<Page>(*target);
      const auto from = static_cast<std::size_t>(t) * row, to = static_cast<std::size_t>(slot % page) * row;
      std::copy_n(k.begin() + static_cast<std::ptrdiff_t>(from), row,
                  target->key.begin() + static_cast<std::ptrdiff_t>(to));
      std::copy_n(r.value.begin() + static_cast<std::ptrdiff_t>(from), row,
                  target->value.begin() + static_cast<std::ptrdiff_t>(to));
    }
    std::vector<float> keys(row * static_cast<std::size_t>(r.keys)), values(keys.size());
    for (std::int64_t t = 0; t < r.keys; ++t) {
      if (t / page >= static_cast<std::int64_t>(mine.pages.size())) continue;
      const std::shared_ptr<Page>& source = mine.pages[static_cast<std::size_t>(t / page)];
      if (!source) continue;
      const auto from = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(t % page) * row);
      const auto to = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(t) * row);
      std::copy_n(source->key.begin() + from, row, keys.begin() + to);
      std::copy_n(source->value.begin() + from, row, values.begin() + to);
    }
    for (int turn = 0; turn < cached_turns && attention.rotates; ++turn) {
      attention.rope.rotate(keys.data(), r.key_heads, r.key_ids.first(static_cast<std::size_t>(r.cached)), [&] {
        Where w = Attention::place(r, true);
        w.tokens = r.cached;
        return w;
      }());
    }
    std::vector<float> q(r.query.begin(), r.query.end());
    if (attention.rotates) {
      Rope rope = attention.rope;
      const bool forked = mine.forked;
      rope.id = [&, old = attention.rope.id](const Where& w, std::int64_t id) {
        std::int64_t result = old ? old(w, id) : id;
        if (ids_from_length) result = w.token + r.keys - r.queries;
        if (forked) result += id_offset_after_fork;
        if (r.queries == 1) result += query_offset_in_decode;
        return result + id_offset_per_page * ((w.token + r.keys - r.queries) / page);
      };
      rope.rotate(q.data(), r.heads, r.query_ids, Attention::place(r, false));
    }
    attention.attend(r, q, keys, values);
  }
};

}  // namespace mutants
