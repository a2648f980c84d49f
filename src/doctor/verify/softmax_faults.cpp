// SPDX-License-Identifier: Apache-2.0
// Wrong scales and sums, and partial softmaxes that are merged wrongly.
#include <algorithm>
#include <cmath>

#include "doctor/verify/fault_model.h"

namespace locus::doctor {
namespace {

using Weights =
    std::function<std::vector<double>(const AskedCall&, std::span<const double>, std::span<const std::int64_t>)>;

// Scores split into parts by key index: the largest score and the sum of each part, and the part of each score.
struct Parts {
  std::vector<std::size_t> part;
  std::vector<double> top, sum, count;
};

Parts cut(std::span<const double> scores, std::span<const std::int64_t> keys, std::int64_t size) {
  Parts parts;
  std::int64_t last = -1;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (parts.top.empty() || keys[i] / size != last) {
      parts.top.push_back(-HUGE_VAL);
      parts.sum.push_back(0);
      parts.count.push_back(0);
      last = keys[i] / size;
    }
    parts.part.push_back(parts.top.size() - 1);
    parts.top.back() = std::max(parts.top.back(), scores[i]);
    parts.count.back() += 1;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    parts.sum[parts.part[i]] += std::exp(scores[i] - parts.top[parts.part[i]]);
  }
  return parts;
}

// How keys are split: into parts of `size` keys or, if that is 0, into `count` equal parts.
struct Cut {
  std::int64_t size = 0;
  std::int64_t count = 0;
  std::int64_t length(const AskedCall& call) const { return size > 0 ? size : (call.keys + count - 1) / count; }
  std::string text() const {
    return size > 0 ? "parts of " + std::to_string(size) + " keys" : std::to_string(count) + " parts";
  }
};

std::vector<Cut> cuts() {
  std::vector<Cut> all;
  for (const std::int64_t size : page_sizes) all.push_back({.size = size});
  for (const std::int64_t count : {2, 4, 8}) all.push_back({.count = count});
  return all;
}

// Multiplies the softmax of each part by the part's share.
Weights merged(const Cut& size, const std::function<std::vector<double>(const Parts&)>& shares) {
  return [=](const AskedCall& call, std::span<const double> scores, std::span<const std::int64_t> keys) {
    const Parts parts = cut(scores, keys, size.length(call));
    const std::vector<double> share = shares(parts);
    std::vector<double> weights;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::size_t p = parts.part[i];
      weights.push_back(std::exp(scores[i] - parts.top[p]) / parts.sum[p] * share[p]);
    }
    return weights;
  };
}

std::vector<double> normalised(std::vector<double> shares) {
  double total = 0;
  for (const double s : shares) total += s;
  for (double& s : shares) s /= total;
  return shares;
}

template <class F>
std::vector<double> by_part(const Parts& parts, const F& f) {
  std::vector<double> all;
  for (std::size_t p = 0; p < parts.top.size(); ++p) all.push_back(f(p));
  return all;
}

}  // namespace

Models softmax_faults(const Encoding& encoding) {
  Models all;
  const auto scale = [&](const std::string& detail, double factor) {
    all.push_back({.fault = "softmax_scale", .detail = detail, .scale = factor});
  };
  double d = 16;
  if (const auto* rotation = std::get_if<Rotation>(&encoding.term())) d = static_cast<double>(rotation->head_dim);
  if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) d = static_cast<double>(keys->head_dim);
  scale("missing", std::sqrt(d));
  scale("applied twice", 1 / std::sqrt(d));
  for (const double factor : {std::sqrt(2.0), std::sqrt(0.5), 2.0, 0.5, std::log(2.0), 1 / std::log(2.0)}) {
    scale("times " + std::to_string(factor), factor);
  }
  if (const auto* rotation = std::get_if<Rotation>(&encoding.term());
      rotation != nullptr && rotation->rotary_dim != rotation->head_dim) {
    scale("of rotary_dim", std::sqrt(d / static_cast<double>(rotation->rotary_dim)));
  }
  const auto with = [&](std::string_view fault, const std::string& detail, const Weights& weights) {
    all.push_back({.fault = fault, .detail = detail, .weights = weights});
  };
  const auto softmax_of = [](const std::function<double(double score, double top)>& f, double more) {
    return [=](const AskedCall&, std::span<const double> scores, std::span<const std::int64_t>) {
      double top = -HUGE_VAL, total = 0;
      for (const double s : scores) top = std::max(top, s);
      std::vector<double> weights;
      for (const double s : scores) weights.push_back(f(s, top)), total += weights.back();
      for (double& w : weights) w /= total + more * std::exp(-top);
      return weights;
    };
  };
  const auto e = [](double s, double top) { return std::exp(s - top); };
  with("softmax_sum", "one extra term", softmax_of(e, 1));
  const auto without = [](const std::function<bool(std::size_t i, std::size_t count)>& lost) {
    return [=](const AskedCall&, std::span<const double> scores, std::span<const std::int64_t>) {
      double top = -HUGE_VAL, total = 0;
      for (const double s : scores) top = std::max(top, s);
      std::vector<double> weights;
      for (std::size_t i = 0; i < scores.size(); ++i) {
        weights.push_back(std::exp(scores[i] - top));
        if (!lost(i, scores.size())) total += weights.back();
      }
      for (double& w : weights) w /= total;
      return weights;
    };
  };
  with("softmax_sum", "without the first key", without([](std::size_t i, std::size_t) { return i == 0; }));
  with("softmax_sum", "without the last key", without([](std::size_t i, std::size_t n) { return i + 1 == n; }));
  for (const std::int64_t lost : {1, 2, 4, 8}) {
    if (static_cast<double>(lost) < d) {
      all.push_back(
          {.fault = "coordinates_not_scored", .detail = "the last " + std::to_string(lost), .lost_coordinates = lost});
    }
  }
  with("softmax_base", "2", softmax_of([](double s, double top) { return std::exp2(s - top); }, 0));
  for (const double cap : {5.0, 10.0, 15.0, 20.0, 30.0, 50.0}) {
    with("soft_cap", std::to_string(static_cast<int>(cap)),
         softmax_of([cap](double s, double) { return std::exp(cap * std::tanh(s / cap)); }, 0));
  }
  with("softmax_missing", "not normalised",
       [](const AskedCall&, std::span<const double> scores, std::span<const std::int64_t>) {
         double top = -HUGE_VAL;
         for (const double s : scores) top = std::max(top, s);
         std::vector<double> weights;
         for (const double s : scores) weights.push_back(std::exp(s - top));
         return weights;
       });
  with("softmax_missing", "scores as they are",
       [](const AskedCall&, std::span<const double> scores, std::span<const std::int64_t>) {
         return std::vector<double>(scores.begin(), scores.end());
       });
  for (const Cut& size : cuts()) {
    const std::string detail = size.text();
    with("parts_averaged", detail,
         merged(size, [](const Parts& p) { return normalised(by_part(p, [](std::size_t) { return 1.0; })); }));
    with("parts_averaged", detail + ", by count", merged(size, [](const Parts& p) { return normalised(p.count); }));
    with("parts_added", detail,
         merged(size, [](const Parts& p) { return by_part(p, [](std::size_t) { return 1.0; }); }));
    with("parts_not_rescaled", detail, merged(size, [](const Parts& p) { return normalised(p.sum); }));
    with("parts_not_rescaled", detail + ", by the largest score only", merged(size, [](const Parts& p) {
           return normalised(by_part(p, [&](std::size_t i) { return std::exp(p.top[i] - p.top[0]); }));
         }));
    with("parts_lost", detail + ", all but the last", merged(size, [](const Parts& p) {
           return by_part(p, [&](std::size_t i) { return i + 1 == p.top.size() ? 1.0 : 0.0; });
         }));
    with("parts_lost", detail + ", all but the first",
         merged(size, [](const Parts& p) { return by_part(p, [&](std::size_t i) { return i == 0 ? 1.0 : 0.0; }); }));
    with("parts_lost", detail + ", the first", merged(size, [](const Parts& p) {
           if (p.top.size() == 1) return std::vector<double>{1.0};
           return normalised(
               by_part(p, [&](std::size_t i) { return i == 0 ? 0.0 : p.sum[i] * std::exp(p.top[i] - p.top[0]); }));
         }));
    with("parts_lost", detail + ", the last", merged(size, [](const Parts& p) {
           if (p.top.size() == 1) return std::vector<double>{1.0};
           return normalised(by_part(p, [&](std::size_t i) {
             return i + 1 == p.top.size() ? 0.0 : p.sum[i] * std::exp(p.top[i] - p.top[0]);
           }));
         }));
    // The running sum or output keeps its old scale when a larger score follows.
    const auto running = [&](const std::string& which, bool sum_rescaled, bool output_rescaled) {
      with("parts_not_rescaled", detail + ", " + which, merged(size, [=](const Parts& p) {
             double top = -HUGE_VAL, total = 0;
             std::vector<double> share(p.top.size(), 0.0);
             for (std::size_t i = 0; i < p.top.size(); ++i) {
               const double next = std::max(top, p.top[i]);
               const double old = top == -HUGE_VAL ? 0 : std::exp(top - next);
               total = total * (sum_rescaled ? old : 1) + p.sum[i] * std::exp(p.top[i] - next);
               for (std::size_t j = 0; j < i; ++j) share[j] *= output_rescaled ? old : 1;
               share[i] = p.sum[i] * std::exp(p.top[i] - next);
               top = next;
             }
             for (double& s : share) s /= total;
             return share;
           }));
    };
    running("the running sum", false, true);
    running("the running output", true, false);
    running("the running sum and output", false, false);
    with("parts_wrong_base", detail, merged(size, [](const Parts& p) {
           return normalised(
               by_part(p, [&](std::size_t i) { return std::exp2(p.top[i] - p.top[0] + std::log(p.sum[i])); }));
         }));
  }
  return all;
}

}  // namespace locus::doctor
