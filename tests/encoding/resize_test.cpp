// SPDX-License-Identifier: Apache-2.0
#include "locus/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "locus/error.h"
#include "locus/io/npy.h"
#include "support/error_of.h"
#include "support/oracle.h"

namespace locus {
namespace {

using testing::error_of;

namespace fs = std::filesystem;
constexpr ResizeOptions bilinear = {.method = ResizeMethod::bilinear};
constexpr ResizeOptions bicubic = {.method = ResizeMethod::bicubic};
constexpr ResizeOptions smooth_bilinear = {.method = ResizeMethod::bilinear, .antialias = true};
constexpr ResizeOptions smooth_bicubic = {.method = ResizeMethod::bicubic, .antialias = true};

template <class T>
std::vector<T> random_table(std::int64_t rows, std::int64_t dim) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<T> table(static_cast<std::size_t>(rows * dim));
  for (T& value : table) value = static_cast<T>(normal(random));
  return table;
}

/// Rows of the identity matrix: the result of a resize is then the weights.
std::vector<double> unit_rows(std::int64_t rows) {
  std::vector<double> table(static_cast<std::size_t>(rows * rows), 0.0);
  for (std::int64_t i = 0; i < rows; ++i) table[static_cast<std::size_t>(i * rows + i)] = 1;
  return table;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

template <class A, class B>
double largest_difference(const std::vector<A>& a, const std::vector<B>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= most)) most = difference;  // a NaN stays
  }
  return most;
}

// ---- worked by hand ----

TEST(Resize1d, LinearFourToEight) {
  // s = (o + 1/2) / 2 - 1/2 = -1/4, 1/4, 3/4, ..., 13/4, held inside [0, 3].
  const std::vector<double> table = {0, 1, 2, 3};
  EXPECT_EQ(resize_1d(table, 1, 4, 8), (std::vector<double>{0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3}));
}

TEST(Resize1d, LinearFourToTwoSkipsNothingBetweenNeighbours) {
  // s = 2 (o + 1/2) - 1/2 = 1/2, 5/2: means of neighbours, no widening.
  const std::vector<float> table = {1, 10, 3, 30, 5, 50, 11, 110};
  EXPECT_EQ(resize_1d(table, 2, 4, 2), (std::vector<float>{2, 20, 8, 80}));
}

TEST(Resize1d, ScaleOffsetShortensTheStep) {
  // step = 2 / 4.5 = 4/9: s = -5/18, 1/6, 11/18, 19/18.
  const std::vector<double> table = {0, 1};
  const ResizeOptions options = {.method = ResizeMethod::linear, .scale_offset = 0.5};
  EXPECT_LT(largest_difference(resize_1d(table, 1, 2, 4, options), std::vector<double>{0, 1.0 / 6, 11.0 / 18, 1}),
            1e-15);
}

TEST(Resize2d, BicubicWeightsAtOneHalf) {
  // Columns 6 -> 3: s = 1/2, 5/2, 9/2. The middle one has all its four neighbours; the others repeat the edge.
  const std::vector<double> weights = resize_2d(unit_rows(6), 6, {1, 6}, {1, 3}, bicubic);
  const double outer = -0.09375, inner = 0.59375;
  EXPECT_EQ(weights, (std::vector<double>{outer + inner, inner, outer, 0, 0, 0,  //
                                          0, outer, inner, inner, outer, 0,      //
                                          0, 0, 0, outer, inner, inner + outer}));
}

TEST(Resize2d, BilinearTwoByTwoToFourByFour) {
  // Weights per axis: (1, 0), (3/4, 1/4), (1/4, 3/4), (0, 1); table [[0, 4], [8, 12]] is 4 x + 8 y.
  const std::vector<double> table = {0, 4, 8, 12};
  EXPECT_EQ(resize_2d(table, 1, {2, 2}, {4, 4}, bilinear),
            (std::vector<double>{0, 1, 3, 4, 2, 3, 5, 6, 6, 7, 9, 10, 8, 9, 11, 12}));
}

TEST(Resize2d, AntialiasTriangleFourToTwo) {
  // s = 1/2, 5/2, the triangle twice as wide: 3/4, 3/4, 1/4 (and 1/4 beyond the edge, dropped), over 7/4.
  const std::vector<double> weights = resize_2d(unit_rows(4), 4, {4, 1}, {2, 1}, smooth_bilinear);
  const double a = 3.0 / 7, b = 1.0 / 7;
  EXPECT_LT(largest_difference(weights, std::vector<double>{a, a, b, 0, 0, b, a, a}), 1e-15);
}

TEST(Resize2d, AntialiasCubicDiffersWhenEnlargingToo) {
  // 2 -> 4, a = -1/2. s = -1/4: k(1/4) = 111/128, k(5/4) = -9/128, sum 102/128. s = 1/4: k(1/4), k(3/4) = 29/128.
  const std::vector<double> weights = resize_2d(unit_rows(2), 2, {2, 1}, {4, 1}, smooth_bicubic);
  const double a = 111.0 / 102, b = -9.0 / 102, c = 111.0 / 140, d = 29.0 / 140;
  EXPECT_LT(largest_difference(weights, std::vector<double>{a, b, c, d, d, c, b, a}), 1e-15);
}

// ---- an independent brute force: dense weight matrices, one double sum per element ----

/// Weights [to][from] of one axis, from the polynomials in the fraction t and from sums over every row.
std::vector<std::vector<double>> dense_weights(std::int64_t from, std::int64_t to, const ResizeOptions& options) {
  const double n = static_cast<double>(from), step = n / (static_cast<double>(to) + options.scale_offset);
  const bool cubic = options.method == ResizeMethod::bicubic;
  std::vector<std::vector<double>> weights;
  for (std::int64_t o = 0; o < to; ++o) {
    std::vector<double> row(static_cast<std::size_t>(from), 0.0);
    const double centre = (static_cast<double>(o) + 0.5) * step;  // in pixels, pixel j being [j, j + 1]
    if (options.antialias) {
      const double width = step > 1 ? step : 1;
      double total = 0;
      for (std::size_t j = 0; j < row.size(); ++j) {
        const double x = std::abs(static_cast<double>(j) + 0.5 - centre) / width;
        if (!cubic) row[j] = x < 1 ? 1 - x : 0;
        if (cubic && x < 2)
          row[j] = x < 1 ? 1.5 * x * x * x - 2.5 * x * x + 1 : -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2;
        total += row[j];
      }
      for (double& weight : row) weight /= total;
    } else {
      double s = centre - 0.5;
      if (!cubic && s < 0) s = 0;
      const double base = std::floor(s), t = s - base, a = -0.75;
      const std::vector<double> four =
          cubic ? std::vector<double>{a * (t * t * t - 2 * t * t + t), (a + 2) * t * t * t - (a + 3) * t * t + 1,
                                      -(a + 2) * t * t * t + (2 * a + 3) * t * t - a * t, a * (t * t - t * t * t)}
                : std::vector<double>{0, 1 - t, t, 0};
      for (int k = 0; k < 4; ++k) {
        const std::int64_t j = static_cast<std::int64_t>(base) + k - 1;
        row[static_cast<std::size_t>(j < 0 ? 0 : j >= from ? from - 1 : j)] += four[static_cast<std::size_t>(k)];
      }
    }
    weights.push_back(row);
  }
  return weights;
}

TEST(Resize2d, AgreesWithDenseMatrices) {
  const std::int64_t dim = 2, prefix = 1;
  std::mt19937 random(11);
  std::uniform_int_distribution<std::int64_t> length(1, 9);
  for (int round = 0; round < 200; ++round) {
    const Grid from{length(random), length(random)}, to{length(random), length(random)};
    if (from == to) continue;
    for (ResizeOptions options : {bilinear, bicubic, smooth_bilinear, smooth_bicubic}) {
      options.scale_offset = round % 3 == 0 ? 0.1 : 0;
      options.prefix_rows = prefix;
      const std::vector<double> table = random_table<double>(prefix + from.height * from.width, dim);
      std::vector<double> expected(table.begin(), table.begin() + prefix * dim);
      const auto down = dense_weights(from.height, to.height, options);
      const auto across = dense_weights(from.width, to.width, options);
      for (const auto& wy : down) {
        for (const auto& wx : across) {
          for (std::int64_t c = 0; c < dim; ++c) {
            double sum = 0;
            for (std::size_t y = 0; y < wy.size(); ++y) {
              for (std::size_t x = 0; x < wx.size(); ++x) {
                const std::size_t row = static_cast<std::size_t>(prefix) + y * wx.size() + x;
                sum += wy[y] * wx[x] * table[row * static_cast<std::size_t>(dim) + static_cast<std::size_t>(c)];
              }
            }
            expected.push_back(sum);
          }
        }
      }
      EXPECT_LT(largest_difference(resize_2d(table, dim, from, to, options), expected), 2e-14)
          << from.height << "x" << from.width << " to " << to.height << "x" << to.width;
    }
  }
}

TEST(Resize1d, AgreesWithDenseMatrices) {
  for (const double offset : {0.0, 0.1}) {
    for (std::int64_t from = 1; from <= 12; ++from) {
      for (std::int64_t to = 1; to <= 12; ++to) {
        if (from == to) continue;
        const ResizeOptions options = {.method = ResizeMethod::linear, .scale_offset = offset, .prefix_rows = 2};
        const std::vector<double> table = random_table<double>(from + 2, 1);
        std::vector<double> expected(table.begin(), table.begin() + 2);
        for (const auto& weights : dense_weights(from, to, options)) {
          double sum = 0;
          for (std::size_t j = 0; j < weights.size(); ++j) sum += weights[j] * table[2 + j];
          expected.push_back(sum);
        }
        EXPECT_LT(largest_difference(resize_1d(table, 1, from, to, options), expected), 2e-15) << from << " " << to;
      }
    }
  }
}

// ---- properties ----

TEST(Resize, AConstantTableStaysConstant) {
  for (const ResizeOptions& options : {bilinear, bicubic, smooth_bilinear, smooth_bicubic}) {
    for (const Grid to : {Grid{1, 1}, Grid{3, 8}, Grid{29, 2}}) {
      const std::vector<float> table(5 * 7 * 3, 0.7f);
      EXPECT_EQ(resize_2d(table, 3, {5, 7}, to, options),
                std::vector<float>(static_cast<std::size_t>(to.height * to.width * 3), 0.7f));
    }
  }
  EXPECT_EQ(resize_1d(std::vector<float>(10, -0.3f), 2, 5, 17), std::vector<float>(34, -0.3f));
}

TEST(Resize, TheSameGridIsACopyWithAnyOptions) {
  const std::vector<float> table = random_table<float>(13, 3);
  for (ResizeOptions options : {bilinear, bicubic, smooth_bilinear, smooth_bicubic}) {
    options.prefix_rows = 1;
    options.scale_offset = 0.1;
    EXPECT_EQ(resize_2d(table, 3, {3, 4}, {3, 4}, options), table);
  }
  EXPECT_EQ(resize_1d(table, 3, 13, 13), table);
}

TEST(Resize, AnUnchangedAxisIsCopiedExactlyWithoutAnOffset) {
  const std::vector<double> column = random_table<double>(5, 1);
  for (const ResizeOptions& options : {bilinear, bicubic, smooth_bilinear, smooth_bicubic}) {
    const std::vector<double> grid = resize_2d(column, 1, {5, 1}, {5, 3}, options);
    for (std::size_t y = 0; y < 5; ++y) EXPECT_NEAR(grid[y * 3 + 1], column[y], 1e-15);
  }
}

TEST(Resize, FloatIsTheDoubleResultRoundedOnce) {
  const std::vector<float> table = random_table<float>(6 * 5, 4);
  const std::vector<double> wide(table.begin(), table.end());
  for (const ResizeOptions& options : {bilinear, bicubic, smooth_bilinear, smooth_bicubic}) {
    const std::vector<double> exact = resize_2d(wide, 4, {6, 5}, {9, 4}, options);
    EXPECT_EQ(resize_2d(table, 4, {6, 5}, {9, 4}, options), std::vector<float>(exact.begin(), exact.end()));
  }
}

TEST(Resize, TransposingTheGridTransposesTheResult) {
  const std::vector<double> table = random_table<double>(4 * 6, 1);
  std::vector<double> turned;
  for (std::size_t x = 0; x < 6; ++x) {
    for (std::size_t y = 0; y < 4; ++y) turned.push_back(table[y * 6 + x]);
  }
  for (const ResizeOptions& options : {bilinear, bicubic, smooth_bilinear, smooth_bicubic}) {
    const std::vector<double> plain = resize_2d(table, 1, {4, 6}, {7, 3}, options);
    const std::vector<double> other = resize_2d(turned, 1, {6, 4}, {3, 7}, options);
    for (std::size_t y = 0; y < 7; ++y) {
      for (std::size_t x = 0; x < 3; ++x) EXPECT_NEAR(plain[y * 3 + x], other[x * 7 + y], 1e-14);
    }
  }
}

// ---- refusals ----

/// What resize_2d says about a table of 12 rows of 2, from 3x4.
std::string grid_fault(Grid from, Grid to, ResizeOptions options = {}, std::int64_t dim = 2) {
  return error_of([&] { resize_2d(std::vector<float>(24), dim, from, to, options); });
}

std::string line_fault(std::int64_t from, std::int64_t to, ResizeOptions options = {.method = ResizeMethod::linear}) {
  return error_of([&] { resize_1d(std::vector<double>(24), 2, from, to, options); });
}

TEST(ResizeRefuses, Sizes) {
  ASSERT_EQ(grid_fault({3, 4}, {5, 5}), "no error");
  EXPECT_EQ(grid_fault({3, 4}, {0, 5}), "resize.to must be at least 1x1, got 0x5");
  EXPECT_EQ(grid_fault({3, 4}, {5, -1}), "resize.to must be at least 1x1, got 5x-1");
  EXPECT_EQ(grid_fault({-3, -4}, {5, 5}), "resize.from must be at least 1x1, got -3x-4");
  EXPECT_EQ(grid_fault({3, 4}, {5, 5}, {}, 0), "resize.dim must be at least 1, got 0");
  EXPECT_EQ(grid_fault({3, 4}, {5, 5}, {}, 5),
            "resize.table must have whole rows of dim (5) elements, got 24 elements");
  EXPECT_EQ(grid_fault({4, 4}, {5, 5}), "resize.table must have prefix_rows (0) + 16 rows, got 12");
  ASSERT_EQ(line_fault(12, 5), "no error");
  EXPECT_EQ(line_fault(12, 0), "resize.from and resize.to must be at least 1, got 12 and 0");
  EXPECT_EQ(line_fault(11, 5), "resize.table must have prefix_rows (0) + 11 rows, got 12");
}

TEST(ResizeRefuses, Overflow) {
  const std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_NE(grid_fault({huge, huge}, {5, 5}).find("overflows"), std::string::npos);
  EXPECT_NE(grid_fault({3, 4}, {huge, huge}).find("overflows"), std::string::npos);
  EXPECT_NE(grid_fault({3, 4}, {huge, 1}).find("overflows"), std::string::npos);
  EXPECT_NE(line_fault(12, std::numeric_limits<std::int64_t>::max()).find("overflows"), std::string::npos);
}

TEST(ResizeRefuses, Options) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(grid_fault({3, 4}, {5, 5}, {.scale_offset = nan}), "resize.scale_offset must be in [0, 1), got nan");
  EXPECT_EQ(grid_fault({3, 4}, {5, 5}, {.scale_offset = 1}), "resize.scale_offset must be in [0, 1), got 1");
  EXPECT_EQ(grid_fault({3, 4}, {5, 5}, {.scale_offset = -0.1}), "resize.scale_offset must be in [0, 1), got -0.1");
  EXPECT_EQ(grid_fault({3, 4}, {5, 5}, {.prefix_rows = -1}), "resize.prefix_rows must not be negative, got -1");
  EXPECT_EQ(grid_fault({3, 4}, {5, 5}, {.prefix_rows = 13}),
            "resize.prefix_rows must be at most the table's rows (12), got 13");
  EXPECT_EQ(grid_fault({3, 4}, {5, 5}, {.prefix_rows = 1}), "resize.table must have prefix_rows (1) + 12 rows, got 12");
  EXPECT_EQ(grid_fault({3, 4}, {5, 5}, {.method = ResizeMethod::linear}),
            "resize.method must be bilinear or bicubic for a grid");
  EXPECT_EQ(line_fault(12, 5, bicubic), "resize.method must be linear for a table with one axis");
  EXPECT_EQ(line_fault(12, 5, {.method = ResizeMethod::linear, .antialias = true}),
            "resize.antialias must be off for a table with one axis");
}

// ---- what the models' own code gives ----

nlohmann::json load_json(const std::string& name) {
  std::ifstream stream(testing::oracle_folder() / "interpolate" / name);
  return nlohmann::json::parse(stream);
}

Grid grid_of(const nlohmann::json& pair) { return {pair.at(0), pair.at(1)}; }

/// The case's rule applied by Locus to `table`, in the layout of the case's result.
template <class T>
std::vector<T> model_result(const nlohmann::json& c, const std::vector<T>& table, std::int64_t dim) {
  const std::string kind = c.at("kind");
  if (kind.starts_with("sam")) {
    const std::int64_t q = c.at("q_size"), k = c.at("k_size");
    const auto from = static_cast<std::int64_t>(table.size()) / dim;
    const std::vector<T> line = resize_1d(table, dim, from, 2 * std::max(q, k) - 1);
    const double q_step = std::max(static_cast<double>(k) / static_cast<double>(q), 1.0);
    const double k_step = std::max(static_cast<double>(q) / static_cast<double>(k), 1.0);
    std::vector<T> out;
    for (std::int64_t i = 0; i < q; ++i) {
      for (std::int64_t j = 0; j < k; ++j) {
        const double offset = static_cast<double>(i) * q_step - static_cast<double>(j) * k_step;
        const auto row = static_cast<std::int64_t>(offset + static_cast<double>(k - 1) * k_step);
        out.insert(out.end(), line.begin() + row * dim, line.begin() + (row + 1) * dim);
      }
    }
    return out;
  }
  if (kind.starts_with("siglip2")) {
    std::vector<T> out;
    const std::int64_t length = c.at("max_length");
    for (const auto& shape : c.at("dst_grids")) {
      const Grid to = grid_of(shape);
      const std::vector<T> rows = resize_2d(table, dim, grid_of(c.at("src_grid")), to, smooth_bilinear);
      out.insert(out.end(), rows.begin(), rows.end());
      for (std::int64_t row = to.height * to.width; row < length; ++row) {
        out.insert(out.end(), rows.begin(), rows.begin() + dim);
      }
    }
    return out;
  }
  ResizeOptions options = {.method = ResizeMethod::bicubic, .prefix_rows = 1};
  if (kind == "vit_4_30") options.scale_offset = 0.1;
  if (kind == "dinov2") {
    options.scale_offset = c.at("args").at("offset");
    options.antialias = c.at("args").at("antialias");
  }
  return resize_2d(table, dim, grid_of(c.at("src_grid")), grid_of(c.at("dst_grid")), options);
}

TEST(ResizeOracle, EveryCase) {
  const fs::path oracle = testing::oracle_folder() / "interpolate";
  for (const std::string name : load_json("index.json")) {
    SCOPED_TRACE(name);
    const nlohmann::json c = load_json(name + ".json");
    const auto file = [&](const char* array) { return oracle / c.at("files").at(array).get<std::string>(); };
    const io::NpyArray stored = io::read_npy(file(c.at("files").contains("table") ? "table" : "rel_pos"));
    const std::int64_t dim = stored.shape.back();
    const std::vector<double> expected = io::to_doubles(io::read_npy(file("out_f64")), name);
    const std::vector<float> expected_float = io::to_floats(io::read_npy(file("out_f32")), name);
    const double scale = largest(expected);

    const std::vector<double> result = model_result(c, io::to_doubles(stored, name), dim);
    EXPECT_LE(largest_difference(result, expected), 1e-12 * scale);

    // Our result is the exact one rounded once: within half an ulp. The project's float32 result rounds the source
    // coordinate and every product, which adds up to at most 16 ulp of the largest element here.
    const std::vector<float> result_float = model_result(c, io::to_floats(stored, name), dim);
    const double ulp = std::numeric_limits<float>::epsilon() * scale;
    EXPECT_LE(largest_difference(result_float, expected), 0.5001 * ulp);
    EXPECT_LE(largest_difference(result_float, expected_float), 16 * ulp);
  }
}

}  // namespace
}  // namespace locus
