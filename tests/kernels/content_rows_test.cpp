// SPDX-License-Identifier: Apache-2.0
// What kernels make from the tokens' own vectors: polar heads, and rows from neighbours. Every SIMD target and type
// against the reference in double.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "elements.h"
#include "locus/add.h"
#include "locus/executor.h"
#include "locus/polar.h"
#include "locus/positions.h"
#include "locus/reference.h"
#include "locus/rows.h"
#include "support/error_of.h"
#include "support/on_every_target.h"

namespace locus {
namespace {

using testing::error_of;
using testing::for_every_type;
using testing::random_elements;
using testing::value_of;

/// Half a unit in the last place of numbers near 1.
template <class T>
double unit() {
  if (sizeof(T) == 8) return 0x1p-53;
  if (sizeof(T) == 4) return 0x1p-24;
  return element_type_of<T> == ElementType::bfloat16 ? 0x1p-8 : 0x1p-11;
}

class ContentRows : public testing::OnEveryTarget {};
LOCUS_ON_EVERY_TARGET(ContentRows);

// Widths around the vector's; one coordinate is large, one very negative.
TEST_P(ContentRows, PolarHeadsOfEveryWidth) {
  for (std::int64_t channels = 1; channels <= 2 * lanes() + 1; ++channels) {
    const std::int64_t heads = 3, rest = channels % 3, dim = channels + rest, tokens = 2;
    const Encoding pope("pope", {{"heads", heads}, {"head_dim", dim}, {"channels", channels}, {"deviation", 1.0}});
    for_every_type([&](auto zero) {
      using T = decltype(zero);
      std::vector<T> in = random_elements<T>(static_cast<std::size_t>(tokens * heads * dim), 3);
      testing::set(in[0], 90.0);
      testing::set(in[static_cast<std::size_t>(dim)], -90.0);
      for (const Role role : {Role::query, Role::key}) {
        std::vector<T> out(static_cast<std::size_t>(tokens * heads * (dim + channels)));
        const std::int64_t narrow[] = {tokens, heads, dim}, wide[] = {tokens, heads, dim + channels};
        to_polar(pope,
                 {heads_view(in.data(), element_type_of<T>, "thd", narrow),
                  heads_view(out.data(), element_type_of<T>, "thd", wide)},
                 role);
        for (std::int64_t row = 0; row < tokens * heads; ++row) {
          std::vector<double> head;
          for (std::int64_t j = 0; j < dim; ++j) head.push_back(value_of(in[static_cast<std::size_t>(row * dim + j)]));
          const std::vector<double> want = reference::to_polar(*pope.rotation().polar, role, head, row % heads);
          for (std::size_t j = 0; j < want.size(); ++j) {
            const double got = value_of(out[static_cast<std::size_t>(row) * want.size() + j]);
            const double arithmetic = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
            const double size = j < static_cast<std::size_t>(2 * channels) ? std::max(1.0, std::fabs(head[j / 2])) : 1;
            EXPECT_NEAR(got, want[j],
                        6 * arithmetic * size + unit<T>() * std::fabs(want[j]) + (sizeof(T) == 2 ? 0x1p-25 : 0))
                << name_of(element_type_of<T>) << ", " << channels << " channels, entry " << j;
          }
        }
      }
    });
  }
}

// The channels of a group around the vector's; documents of 1 to 7 tokens packed, at any ids.
TEST_P(ContentRows, NeighboursOfEveryWidth) {
  for (std::int64_t group = 1; group <= 2 * lanes() + 1; group += group < 4 ? 1 : 3) {
    for (const bool causal : {false, true}) {
      const std::int64_t dim = 2 * group, kernel = 2 + group % 4;
      const Encoding conv("conv_position",
                          {{"dim", dim},
                           {"groups", 2},
                           {"kernel", kernel},
                           {"causal", causal},
                           {"bias", Tensor{{dim}, random_elements<float>(static_cast<std::size_t>(dim), 5)}},
                           {"deviation", 0.3}});
      const std::vector<Position> ids{7, 8, 9, 10, 11, 12, 13, 0, 50, 51, 50, 51, 52};
      const auto tokens = static_cast<std::int64_t>(ids.size());
      for_every_type([&](auto zero) {
        using T = decltype(zero);
        std::vector<T> x = random_elements<T>(static_cast<std::size_t>(tokens * dim), 4);
        std::vector<double> states;
        for (const T& one : x) states.push_back(value_of(one));
        const std::vector<double> want = reference::add_rows(conv.hidden(), ids, states);
        ThreadPool pool(2);
        add(conv, {x.data(), element_type_of<T>, 1, tokens, dim, tokens * dim, dim}, {1, 1, tokens, ids}, &pool);
        const double products = static_cast<double>(group * kernel), arithmetic = sizeof(T) == 8 ? 0x1p-53 : 0x1p-24;
        double size = 0;
        for (std::int64_t c = 0; c < dim; ++c) {
          double sum = 1;
          for (std::int64_t i = 0; i < group * kernel; ++i) {
            sum += std::fabs(conv.hidden().neighbours->weight[static_cast<std::size_t>(c * group * kernel + i)]);
          }
          size = std::max(size, sum);
        }
        for (std::size_t i = 0; i < want.size(); ++i) {
          EXPECT_NEAR(
              value_of(x[i]), want[i],
              2 * (products + 6) * arithmetic * size + unit<T>() * std::fabs(want[i]) + (sizeof(T) == 2 ? 0x1p-25 : 0))
              << name_of(element_type_of<T>) << ", group of " << group << ", entry " << i;
        }
      });
    }
  }
}

// Central differences in double: of the heads, and of the phases of keys.
TEST(PolarBackward, MatchesDifferences) {
  const std::int64_t heads = 2, dim = 5, channels = 3, tokens = 2, wide = dim + channels;
  const Tensor phases{{heads, channels}, {-0.5f, -1.0f, -2.0f, -3.0f, -4.0f, -0.25f}};
  const std::vector<double> x = random_elements<double>(static_cast<std::size_t>(tokens * heads * dim), 1),
                            g = random_elements<double>(static_cast<std::size_t>(tokens * heads * wide), 2);
  const std::int64_t narrow_extents[] = {tokens, heads, dim}, wide_extents[] = {tokens, heads, wide};
  const auto view = [](std::vector<double>& data, std::span<const std::int64_t> extents) {
    return heads_view(data.data(), ElementType::float64, "thd", extents);
  };
  const auto loss = [&](std::vector<double> in, const Tensor& at, Role role) {
    const Encoding pope("pope", {{"heads", heads}, {"head_dim", dim}, {"channels", channels}, {"phases", at}});
    std::vector<double> out(g.size());
    to_polar(pope, {view(in, narrow_extents), view(out, wide_extents)}, role);
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * g[i];
    return sum;
  };
  const double h = 0x1p-12;  // the phases hold it exactly
  for (const Role role : {Role::query, Role::key}) {
    const Encoding pope("pope", {{"heads", heads}, {"head_dim", dim}, {"channels", channels}, {"phases", phases}});
    std::vector<double> in = x, gradient = g, dx(x.size()), dphases(phases.data.size(), 0.0);
    to_polar_backward(pope,
                      {.input = view(in, narrow_extents),
                       .output_gradient = view(gradient, wide_extents),
                       .input_gradient = view(dx, narrow_extents),
                       .phases = dphases},
                      role);
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::vector<double> up = x, down = x;
      up[i] += h;
      down[i] -= h;
      EXPECT_NEAR((loss(up, phases, role) - loss(down, phases, role)) / (2 * h), dx[i], 1e-7) << i;
    }
    for (std::size_t i = 0; i < dphases.size(); ++i) {
      Tensor up = phases, down = phases;
      up.data[i] += static_cast<float>(h);
      down.data[i] -= static_cast<float>(h);
      EXPECT_NEAR((loss(x, up, role) - loss(x, down, role)) / (2 * h), dphases[i], 1e-7) << i;
    }
  }
}

// Central differences in double, of two batch rows with a jump of the ids: of the vectors, the weights and the biases.
TEST(NeighboursBackward, MatchesDifferences) {
  const std::int64_t dim = 6, groups = 2, kernel = 3, tokens = 5, batch = 2;
  const auto size = static_cast<std::size_t>(batch * tokens * dim);
  const PositionIds ids{1, 1, tokens, {3, 4, 5, 9, 10}};
  const Tensor weight{{dim, dim / groups, kernel}, random_elements<float>(54, 5)};
  const Tensor bias{{dim}, random_elements<float>(6, 6)}, factor{{dim}, {0.5f, 1, 2, 3, 0.25f, 1.5f}};
  const std::vector<double> x = random_elements<double>(size, 1), g = random_elements<double>(size, 2);
  const auto view = [&](std::vector<double>& data) {
    return HiddenView{data.data(), ElementType::float64, batch, tokens, dim, tokens * dim, dim};
  };
  for (const bool causal : {false, true}) {
    const auto conv = [&](const Tensor& with_weight, const Tensor& with_bias) {
      return Encoding("conv_position", {{"dim", dim},
                                        {"groups", groups},
                                        {"kernel", kernel},
                                        {"causal", causal},
                                        {"weight", with_weight},
                                        {"bias", with_bias},
                                        {"norm_mean", bias},
                                        {"norm_variance", factor}});
    };
    const auto loss = [&](std::vector<double> in, const Tensor& with_weight, const Tensor& with_bias) {
      add(conv(with_weight, with_bias), view(in), ids);
      double sum = 0;
      for (std::size_t i = 0; i < in.size(); ++i) sum += in[i] * g[i];
      return sum;
    };
    std::vector<double> in = x, gradient = g, dx(size), dweight(54), dbias(6);
    add_backward(conv(weight, bias),
                 {.input = view(in),
                  .output_gradient = view(gradient),
                  .input_gradient = view(dx),
                  .weight = dweight,
                  .bias = dbias},
                 ids);
    const double h = 0x1p-12;
    const auto moved = [&](auto values, std::size_t i, double by) {
      values[i] = static_cast<typename decltype(values)::value_type>(static_cast<double>(values[i]) + by);
      return values;
    };
    const auto changed = [&](const Tensor& of, std::size_t i, double by) {
      return Tensor{of.shape, moved(of.data, i, by)};
    };
    const auto exact = [](const Tensor& of, std::size_t i, double by) {  // the step that float32 takes
      return static_cast<double>(static_cast<float>(static_cast<double>(of.data[i]) + by)) -
             static_cast<double>(of.data[i]);
    };
    for (std::size_t i = 0; i < size; ++i) {
      const double slope = (loss(moved(x, i, h), weight, bias) - loss(moved(x, i, -h), weight, bias)) / (2 * h);
      EXPECT_NEAR(slope, dx[i], 1e-6) << i;
    }
    for (std::size_t i = 0; i < dweight.size(); ++i) {
      const double step = exact(weight, i, h) - exact(weight, i, -h);
      const double rise = loss(x, changed(weight, i, h), bias) - loss(x, changed(weight, i, -h), bias);
      EXPECT_NEAR(rise / step, dweight[i], 1e-5) << i;
    }
    for (std::size_t i = 0; i < dbias.size(); ++i) {
      const double step = exact(bias, i, h) - exact(bias, i, -h);
      EXPECT_NEAR((loss(x, weight, changed(bias, i, h)) - loss(x, weight, changed(bias, i, -h))) / step, dbias[i],
                  1e-5);
    }
  }
  const Encoding rows("sinusoidal", {{"dim", dim}});
  std::vector<double> in = x, other = g, dx(size);
  EXPECT_NE(error_of([&] {
              add_backward(rows, {view(in), view(other), view(dx)}, ids);
            }).find("do not depend on"),
            std::string::npos);
  std::vector<double> few(3);
  const Encoding conv("conv_position", {{"dim", dim}, {"groups", groups}, {"kernel", kernel}});
  EXPECT_EQ(error_of([&] {
              add_backward(conv, {view(in), view(other), view(dx), few}, ids);
            }),
            "add_backward: weight must have 54 values, got 3");
}

TEST(PolarRefuses, OtherWidthsHeadsAndEncodings) {
  const Encoding pope("pope", {{"heads", 2}, {"head_dim", 4}, {"channels", 3}});
  const Encoding rope("rope", {{"head_dim", 4}, {"pairing", "half"}});
  std::vector<float> narrow(24), wide(42, 9.0f);
  const auto views = [&](std::int64_t heads, std::int64_t from, std::int64_t to) {
    const std::int64_t before[] = {1, heads, from}, after[] = {1, heads, to};
    return RotateViews{heads_view(narrow.data(), ElementType::float32, "thd", before),
                       heads_view(wide.data(), ElementType::float32, "thd", after)};
  };
  EXPECT_EQ(error_of([&] { to_polar(rope, views(2, 4, 7), Role::key); }), "to_polar: rope does not make heads polar");
  EXPECT_EQ(error_of([&] { to_polar(pope, views(2, 4, 8), Role::key); }),
            "to_polar: heads must be 4 wide before and 7 after, got 4 and 8");
  EXPECT_EQ(error_of([&] { to_polar(pope, views(3, 4, 7), Role::key); }),
            "to_polar: the encoding has 2 key heads, the keys have 3");
  EXPECT_EQ(error_of([&] { rotate(pope, views(3, 4, 7), positions::prefill(2)); }),
            "rotate: the tensor has 1 tokens, the position ids 2");
  for (const float x : wide) EXPECT_EQ(x, 9.0f);  // nothing was written
  to_polar(pope, views(3, 4, 7), Role::query);    // any number of query heads
  EXPECT_NE(wide[0], 9.0f);
}

TEST(NeighboursRefuse, BadSettings) {
  const auto error = [](const Arguments& more) {
    Arguments all{{"dim", 8}, {"groups", 2}, {"kernel", 3}};
    for (const auto& [name, value] : more.all()) all.set(name, value);
    return error_of([&] { return Encoding("conv_position", all); });
  };
  EXPECT_EQ(error({{"groups", 3}}), "conv_position.groups must divide dim (8), got 3");
  EXPECT_NE(error({{"weight", Tensor{{8, 4, 2}, std::vector<float>(64)}}}).find("conv_position.weight"),
            std::string::npos);
  EXPECT_EQ(error({{"norm_mean", Tensor{{8}, std::vector<float>(8)}}}),
            "conv_position.norm_mean and norm_variance must be given together");
  EXPECT_NE(error({{"weight", Tensor{{8, 4, 3}, std::vector<float>(96)}}, {"weight_gain", Tensor{{3}, {1, 1, 1}}}})
                .find("needs a weight other than 0 at every tap"),
            std::string::npos);
  const Encoding conv("conv_position", {{"dim", 8}, {"groups", 2}, {"kernel", 3}});
  std::vector<double> row(8);
  EXPECT_NE(error_of([&] { hidden_row(conv.hidden(), 3, std::span(row)); }).find("from the vectors of neighbours"),
            std::string::npos);
}

}  // namespace
}  // namespace locus
