// SPDX-License-Identifier: Apache-2.0
// attend_backward() against central differences of attend() in float64, and float32 against float64.
#include "difference_check.h"
#include "locus/error.h"
#include "support/on_every_target.h"

namespace locus::testing {
namespace {

// ---- central differences

TEST(BackwardDifferences, EverySiteAndMask) {
  const Extents e{.queries = 4, .keys = 6, .heads = 2, .key_heads = 1, .dim = 3};
  for (const Learned& learned : learned_encodings(e.heads, e.dim)) {
    SCOPED_TRACE(learned.scheme);
    for (const BackwardMask& named : backward_masks(e.queries, e.keys)) {
      SCOPED_TRACE(named.name);
      check_differences(e, learned, [&](AttentionCall& call) { call.mask = named.mask; });
    }
  }
}

TEST(BackwardDifferences, ScatteredIdsPackedDocumentsCapAndSinks) {
  const Extents e{.batch = 2, .queries = 5, .keys = 5, .heads = 2, .key_heads = 2, .dim = 3};
  const std::vector<Position> ids{7, 3, 90, 4, 12};
  const std::vector<std::int64_t> boundaries{0, 2, 5};
  const std::vector<float> sinks{0.5f, -0.25f};
  for (const Learned& learned : learned_encodings(e.heads, e.dim)) {
    SCOPED_TRACE(learned.scheme);
    check_differences(e, learned, [&](AttentionCall& call) {
      call.query_ids = call.key_ids = ids;
      call.mask = {.causal = true, .by_index = true};
    });
    check_differences(e, learned, [&](AttentionCall& call) {
      call.query_boundaries = call.key_boundaries = boundaries;
      call.soft_cap = 0.75;
      call.sink_logits = sinks;
      call.scale_factor = 1.25;
    });
  }
}

// ---- float32 against float64

double largest(const Tensor& tensor) {
  double most = 0;
  for (const float x : tensor.data) most = std::max(most, std::fabs(static_cast<double>(x)));
  return most;
}

/// The largest factor of a weight in a score: the `factor` of attention_backward.h, times the scale.
double largest_factor(const Backward<double>& b, double size) {
  const double scale = 1.25 * std::max(1.0, 1 / std::sqrt(static_cast<double>(b.t.e.dim)));
  double factor = std::max(size, 1.0);  // keys are below 1, queries below size
  if (const auto* keys = std::get_if<RelativeKeys>(&b.encoding.term())) {
    // A row of the table, or W_r times waves of at most 1, plus u, v and the key.
    factor += largest(keys->key_table) + largest(keys->u) + largest(keys->v) + 1;
    factor += largest(keys->query_table) + largest(keys->column_table);
    if (!keys->w_r.data.empty()) factor += largest(keys->w_r) * static_cast<double>(keys->w_r.dim(1));
  }
  if (const auto* bias = std::get_if<ScoreBias>(&b.encoding.term()); bias != nullptr && bias->parameters > 0) {
    for (std::int64_t n = 0; n <= b.t.e.queries + b.t.e.keys; ++n) {
      for (std::int64_t head = 0; head < bias->heads; ++head) {
        double slopes[2];
        bias->parameter_slopes(head, 0, n, slopes);
        factor = std::max({factor, std::fabs(slopes[0]), std::fabs(slopes[1])});
      }
    }
  }
  if (const auto* bias = std::get_if<ScoreBias>(&b.encoding.term()); bias != nullptr && bias->network_weights > 0) {
    for (const Position n : {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200, 255}) {
      for (std::int64_t head = 0; head < bias->heads; ++head) {
        std::vector<double> slopes(static_cast<std::size_t>(bias->network_weights), 0.0);
        bias->add_network_gradient(head, n, 0, 1, slopes);
        bias->add_network_gradient(head, 0, n, 1, slopes);
        for (const double slope : slopes) factor = std::max(factor, std::fabs(slope));
      }
    }
  }
  return factor * scale;
}

template <class T>
void check_against_double(const Extents& e, const Learned& learned, double size, const Change& setup) {
  Backward<T> b(e, learned, size);
  Backward<double> exact(e, learned);
  const auto widen = [](const std::vector<T>& from, std::vector<double>& to) {
    std::transform(from.begin(), from.end(), to.begin(), [](T x) { return value_of(x); });
  };
  widen(b.t.q, exact.t.q);
  widen(b.t.k, exact.t.k);
  widen(b.t.v, exact.t.v);
  widen(b.g, exact.g);
  setup(b.t.call);
  setup(exact.t.call);
  b.run();
  exact.run();

  // The bound of attention_backward.h.
  const reference::Attention want = reference::attend(exact.t.call);
  const double s = *std::max_element(want.magnitude.begin(), want.magnitude.end());
  double lse = 0;
  for (const double x : want.log_sum_exp) lse = std::isfinite(x) ? std::max(lse, std::fabs(x)) : lse;
  const double u = 0x1p-24, d = static_cast<double>(e.dim), n = static_cast<double>(e.keys);
  const double v = largest_value(exact.t.call), capped = b.t.call.soft_cap > 0 ? 1 / b.t.call.soft_cap : 0;
  const double output_rounding = half_ulp<T>(v) / v;
  const double E = (6 * (d + 16) * s * (1 + capped) + 6 * n + 2 * d + 4 * lse + 96) * u + output_rounding;
  const double m = static_cast<double>(e.heads / e.key_heads * e.queries) + n;
  const double factor = largest_factor(exact, size);
  const double score = (E + 2 * (m + 4) * u) * d * v * factor;
  const auto rows = static_cast<double>(e.batch * e.heads * e.queries);

  std::vector<double> weight_of_key(exact.t.k.size() / static_cast<std::size_t>(e.dim), 0.0);
  for (std::size_t i = 0; i < want.probabilities.size(); ++i) {
    const std::size_t key = i % static_cast<std::size_t>(e.keys);
    const std::size_t row = i / static_cast<std::size_t>(e.keys * e.queries);
    const std::size_t head = row % static_cast<std::size_t>(e.heads) / static_cast<std::size_t>(e.heads / e.key_heads);
    const std::size_t batch = row / static_cast<std::size_t>(e.heads);
    weight_of_key[(batch * static_cast<std::size_t>(e.keys) + key) * static_cast<std::size_t>(e.key_heads) + head] +=
        want.probabilities[i];
  }
  double worst = 0;
  const auto compare = [&](const std::vector<T>& got, const std::vector<double>& right, const auto& bound) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double error = std::fabs(value_of(got[i]) - right[i]);
      const double share =
          error == 0 ? 0 : error / rounded_error<T>(right[i], bound(i / static_cast<std::size_t>(e.dim)));
      worst = share <= worst ? worst : share;
    }
  };
  compare(b.dq, exact.dq, [&](std::size_t) { return score; });
  compare(b.dk, exact.dk, [&](std::size_t row) { return score * weight_of_key[row]; });
  compare(b.dv, exact.dv, [&](std::size_t row) { return (E + (m + 1) * u) * weight_of_key[row]; });
  EXPECT_LE(worst, 1.0) << "tensors";
  const auto compare_learned = [&](const std::vector<double>& got, const std::vector<double>& right,
                                   const std::string& what) {
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], right[i], score * rows) << what << " " << i;
  };
  for (std::size_t w = 0; w < b.weights.size(); ++w) {
    compare_learned(b.weights[w], exact.weights[w], learned.weights[w]);
  }
  compare_learned(b.sinks, exact.sinks, "sinks");
}

class AttendBackward : public OnEveryTarget {};
LOCUS_ON_EVERY_TARGET(AttendBackward);

TEST_P(AttendBackward, EverySiteAndMask) {
  const Extents e{.queries = 13, .keys = 17, .heads = 4, .key_heads = 2, .dim = 11};
  for (const Learned& learned : learned_encodings(e.heads, e.dim)) {
    SCOPED_TRACE(learned.scheme);
    for (const BackwardMask& named : backward_masks(e.queries, e.keys)) {
      SCOPED_TRACE(named.name);
      check_against_double<float>(e, learned, 2, [&](AttentionCall& call) { call.mask = named.mask; });
    }
  }
}

// Several blocks both ways, with a window that cuts through them.
TEST_P(AttendBackward, EverySiteOverBlocks) {
  const Extents e{.queries = 55, .keys = 67, .heads = 1, .key_heads = 1, .dim = 17};
  for (const Learned& learned : learned_encodings(e.heads, e.dim)) {
    SCOPED_TRACE(learned.scheme);
    for (const Mask& mask : {Mask{}, Mask{.causal = true}, Mask{.causal = true, .window = 30, .sinks = 3}}) {
      check_against_double<float>(e, learned, 2, [&](AttentionCall& call) { call.mask = mask; });
    }
  }
}

TEST_P(AttendBackward, IdsBoundariesCapAndSinks) {
  const Extents e{.queries = 20, .keys = 20, .heads = 2, .key_heads = 1, .dim = 8};
  std::vector<Position> ids;
  Random dice(9);
  for (std::int64_t i = 0; i < e.keys; ++i) ids.push_back(dice.between(0, 255));
  const std::vector<std::int64_t> boundaries{0, 9, 20};
  const std::vector<float> sinks{0.5f, 2.0f};
  for (const Learned& learned : learned_encodings(e.heads, e.dim)) {
    SCOPED_TRACE(learned.scheme);
    check_against_double<float>(e, learned, 2, [&](AttentionCall& call) {
      call.query_ids = call.key_ids = ids;
      call.mask.causal = true;
    });
    check_against_double<float>(e, learned, 2, [&](AttentionCall& call) {
      call.query_boundaries = call.key_boundaries = boundaries;
      call.soft_cap = 0.75;
      call.sink_logits = sinks;
      call.scale_factor = 1.25;
    });
  }
}

TEST(BackwardOnce, HalfPrecision) {
  const Extents e{.queries = 13, .keys = 17, .heads = 2, .key_heads = 1, .dim = 8};
  const Change causal = [](AttentionCall& call) { call.mask.causal = true; };
  for (const Learned& learned : learned_encodings(e.heads, e.dim)) {
    SCOPED_TRACE(learned.scheme);
    check_against_double<BFloat16>(e, learned, 1, causal);
    check_against_double<Float16>(e, learned, 1, causal);
  }
}

// ---- guarantees

TEST(BackwardOnce, SameBitsForAnyNumberOfThreads) {
  const Extents e{.batch = 5, .queries = 60, .keys = 60, .heads = 4, .key_heads = 2, .dim = 8};
  const std::vector<float> sinks{0.5f, 2.0f, 0.0f, -1.0f};
  for (const Learned& learned : learned_encodings(e.heads, e.dim)) {
    SCOPED_TRACE(learned.scheme);
    Backward<float> one(e, learned, 2);
    one.t.call.mask.causal = true;
    one.t.call.sink_logits = sinks;
    one.run();
    for (const int threads : {2, 5}) {
      ThreadPool pool(threads);
      Backward<float> many(e, learned, 2);
      many.t.call.mask.causal = true;
      many.t.call.sink_logits = sinks;
      many.t.call.executor = &pool;
      many.run();
      EXPECT_TRUE(same_bits(one.dq, many.dq) && same_bits(one.dk, many.dk) && same_bits(one.dv, many.dv));
      EXPECT_TRUE(same_bits(one.sinks, many.sinks));
      for (std::size_t w = 0; w < one.weights.size(); ++w) EXPECT_TRUE(same_bits(one.weights[w], many.weights[w]));
    }
  }
}

// Worked by hand: weights 1/4 and 3/4 (scores 0 and ln 3), values 4 and 8, g = 1: dp = 4, 8; D = 7; ds = -3/4, 3/4;
// dq = 3/4 ln 3, dk = -3/4, 3/4 (the query is 1), dv = 1/4, 3/4.
TEST(BackwardOnce, WorkedByHand) {
  Backward<double> b({.queries = 1, .keys = 2, .dim = 1}, {"nope", {}, {}});
  b.t.q = {1.0};
  b.t.k = {0.0, std::log(3.0)};
  b.t.v = {4.0, 8.0};
  b.g = {1.0};
  b.t.call.query.data = b.t.q.data();
  b.t.call.key.data = b.t.k.data();
  b.t.call.value.data = b.t.v.data();
  b.run();
  const double bound = 64 * 8 * 0x1p-53;  // fewer than 64 roundings of numbers up to 8
  EXPECT_NEAR(b.dq[0], 0.75 * std::log(3.0), bound);
  EXPECT_NEAR(b.dk[0], -0.75, bound);
  EXPECT_NEAR(b.dk[1], 0.75, bound);
  EXPECT_NEAR(b.dv[0], 0.25, bound);
  EXPECT_NEAR(b.dv[1], 0.75, bound);
}

template <class T>
void check_unseen() {
  const Extents e{.queries = 3, .keys = 4, .heads = 1, .key_heads = 1, .dim = 8};
  const std::vector<std::uint8_t> none(4, 0);
  const std::vector<std::uint8_t> middle_row_hidden{1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0};
  for (const Learned& learned : learned_encodings(e.heads, e.dim)) {
    Backward<T> b(e, learned);
    b.t.call.mask.keys = none;
    b.run();
    for (const auto* gradient : {&b.dq, &b.dk, &b.dv}) {
      for (const T x : *gradient) EXPECT_EQ(value_of(x), 0.0);
    }
    for (const auto& weights : b.weights) {
      for (const double x : weights) EXPECT_EQ(x, 0.0);
    }
    // One query of three sees no key, and no query sees one of the keys.
    Backward<T> some(e, learned);
    some.t.call.mask.pairs = middle_row_hidden;
    some.run();
    for (std::size_t j = 0; j < 8; ++j) {
      EXPECT_EQ(value_of(some.dq[8 + j]), 0.0);
      EXPECT_NE(value_of(some.dq[j]), 0.0);
      EXPECT_EQ(value_of(some.dk[24 + j]), 0.0);
      EXPECT_EQ(value_of(some.dv[24 + j]), 0.0);
    }
  }
}
TEST(BackwardOnce, QueriesWithoutVisibleKeys) {
  check_unseen<float>();
  check_unseen<double>();
}

// A causal mask hides the tiles above the diagonal: they are not computed.
TEST(BackwardOnce, MaskedTilesAreSkipped) {
  const Extents e{.queries = 480, .keys = 480, .dim = 8};
  Backward<float> full(e, {"nope", {}, {}}), causal(e, {"nope", {}, {}});
  causal.t.call.mask.causal = true;
  const std::int64_t all = full.run().computed, some = causal.run().computed;
  EXPECT_GT(all, 50);
  EXPECT_LT(some, all * 6 / 10);
  EXPECT_GE(some, all / 2);
}

// The gradient of the rotated vectors, rotated back, is the gradient of the input of rotate().
TEST(BackwardOnce, ThroughRotation) {
  const Encoding rope("rope", {{"head_dim", std::int64_t{4}}, {"pairing", "half"}});
  const Extents e{.queries = 4, .keys = 4, .dim = 4};
  const PositionIds ids{.tokens = 4, .ids = {3, 4, 5, 6}};
  Backward<double> b(e, {"nope", {}, {}});
  const std::vector<double> raw = b.t.q;
  const auto rotated_loss = [&](std::size_t i, double change) {
    b.t.q = raw;
    b.t.q[i] += change;
    b.t.call.query.data = b.t.q.data();
    rotate(rope, b.t.call.query, ids);
    return loss_of(b);
  };
  rotated_loss(0, 0);
  b.run();
  HeadsView gradient = b.t.call.query;
  gradient.data = b.dq.data();
  rotate(rope, gradient, ids, Role::query, Direction::inverse);
  const double noise = noise_of(b) + 64 * 0x1p-53;  // rotation: a few roundings of each of 16 numbers below 2
  for (std::size_t i = 0; i < raw.size(); ++i) {
    expect_slope([&](double change) { return rotated_loss(i, change); }, b.dq[i], noise, std::to_string(i));
  }
}

TEST(BackwardRefuses, BadCallsAndWritesNothing) {
  const Extents e{.queries = 3, .keys = 4, .heads = 2, .key_heads = 1, .dim = 8};
  struct BadCall {
    std::string part_of_message;
    std::function<void(AttentionGradientCall&)> spoil;
  };
  static std::vector<double> five(5);
  const std::vector<BadCall> bad{
      {"output_gradient must be 1 x 3 x 2 x 8", [](AttentionGradientCall& c) { c.output_gradient.tokens = 4; }},
      {"query_gradient must be float32",
       [](AttentionGradientCall& c) { c.query_gradient.type = ElementType::float64; }},
      {"key_gradient must be", [](AttentionGradientCall& c) { c.key_gradient.heads = 2; }},
      {"value_gradient has no data", [](AttentionGradientCall& c) { c.value_gradient.data = nullptr; }},
      {"log_sum_exp must be given", [](AttentionGradientCall& c) { c.forward.log_sum_exp = nullptr; }},
      {"learned.bias_table must have 0", [](AttentionGradientCall& c) { c.learned.bias_table = five; }},
      {"learned.sink_logits must have 0", [](AttentionGradientCall& c) { c.learned.sink_logits = five; }},
      {"learned.w_r must have 0", [](AttentionGradientCall& c) { c.learned.w_r = five; }},
      {"mask.sinks needs", [](AttentionGradientCall& c) { c.forward.mask.sinks = 2; }}};
  for (const BadCall& one : bad) {
    Tensors<float> t(e);
    attend(t.call);
    std::vector<float> g(t.q.size(), 1.0f), dq(t.q.size(), 77.0f), dk(t.k.size(), 77.0f), dv(t.v.size(), 77.0f);
    AttentionGradientCall call{t.call, t.call.output, t.call.query, t.call.key, t.call.value};
    call.output_gradient.data = g.data();
    call.query_gradient.data = dq.data();
    call.key_gradient.data = dk.data();
    call.value_gradient.data = dv.data();
    one.spoil(call);
    try {
      attend_backward(call);
      FAIL() << one.part_of_message;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(one.part_of_message), std::string::npos) << error.what();
    }
    for (const auto* gradient : {&dq, &dk, &dv}) {
      for (const float x : *gradient) EXPECT_EQ(x, 77.0f);
    }
  }
}

}  // namespace
}  // namespace locus::testing
