// SPDX-License-Identifier: Apache-2.0
// An Encoding: made from every scheme, bound to its site, its range of positions and its length.
#include "locus/encoding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/rotate.h"
#include "locus/rows.h"
#include "support/error_of.h"

namespace locus {
namespace {

using testing::error_of;

void check(const Encoding& encoding, Position position) { encoding.check_positions(std::span(&position, 1)); }

void expect_range(const Encoding& encoding, Position first, Position last) {
  EXPECT_EQ(encoding.position_range().first, first);
  EXPECT_EQ(encoding.position_range().last, last);
  EXPECT_NO_THROW(check(encoding, first));
  EXPECT_NO_THROW(check(encoding, last));
  EXPECT_THROW(check(encoding, first - 1), Error);
  EXPECT_THROW(check(encoding, last + 1), Error);
}

std::vector<double> cosines(const Encoding& encoding, Position position) {
  std::vector<double> cos(static_cast<std::size_t>(encoding.rotation().pairs()));
  std::vector<double> sin(cos.size());
  rotation_row(encoding.rotation(), Role::query, std::span(&position, 1), std::span<double>(cos),
               std::span<double>(sin));
  return cos;
}

TEST(EncodingTest, EverySchemesExampleMakesOne) {
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    const Encoding encoding(scheme->name, scheme->example);
    EXPECT_EQ(&encoding.scheme(), scheme);
    EXPECT_EQ(encoding.site(), scheme->site);
    EXPECT_EQ(encoding.claims(), scheme->claims) << "an example has default arguments";
    for (const Parameter& parameter : parameters_of(*scheme, scheme->example)) {
      if (parameter.fallback || parameter.required) {
        EXPECT_TRUE(encoding.arguments().has(parameter.name)) << parameter.name;
      }
    }
    EXPECT_NO_THROW(check(encoding, 0));
  }
}

TEST(EncodingTest, OnlyItsOwnSiteHasATerm) {
  for (const Scheme* scheme : schemes()) {
    const Encoding encoding(scheme->name, scheme->example);
    const auto expect_site = [&](Site site, const std::function<void()>& ask) {
      if (scheme->site == site) {
        EXPECT_NO_THROW(ask()) << scheme->name;
      } else {
        EXPECT_EQ(error_of(ask), std::string(scheme->name) + " acts at the site " + std::string(name_of(scheme->site)) +
                                     ", not at " + std::string(name_of(site)));
      }
    };
    expect_site(Site::hidden, [&] { encoding.hidden(); });
    expect_site(Site::query_key, [&] { encoding.rotation(); });
    expect_site(Site::score, [&] { encoding.score(); });
    expect_site(Site::relative_key, [&] { encoding.relative_keys(); });
    EXPECT_EQ(std::holds_alternative<std::monostate>(encoding.term()), scheme->site == Site::none) << scheme->name;
  }
}

TEST(EncodingTest, UnknownSchemesAndParametersAreNamed) {
  const std::string unknown = error_of([] { Encoding("ropee"); });
  EXPECT_EQ(unknown.find("unknown scheme 'ropee'; did you mean 'rope'? known: nope, "), 0u) << unknown;
  for (const Scheme* scheme : schemes()) EXPECT_NE(unknown.find(scheme->name), std::string::npos) << scheme->name;
  EXPECT_EQ(error_of([] { Encoding("nope", {{"dim", 4}}); }), "unknown nope parameter 'dim'; known: none");
  EXPECT_EQ(error_of([] {
              Encoding("rope", {{"head_dim", 128}, {"pairing", "half"}, {"rotary_dim", 129}});
            }),
            "rope.rotary_dim must be even and at most head_dim (128), got 129");
  // A parameter of another rule is unknown here.
  const std::string other = error_of([] {
    Encoding("rope", {{"head_dim", 64}, {"pairing", "half"}, {"beta_fast", 32}});
  });
  EXPECT_EQ(other.find("unknown rope parameter 'beta_fast'; known: head_dim, pairing"), 0u) << other;
}

// ---- positions

TEST(PositionRangeTest, RotationsAcceptBothSignsTo31Bits) {
  expect_range(Encoding("rope", {{"head_dim", 8}, {"pairing", "half"}}), -max_position, max_position);
  EXPECT_EQ(error_of([] {
              check(Encoding("rope", {{"head_dim", 8}, {"pairing", "half"}}), max_position + 1);
            }),
            "rope positions must be from -2147483647 to 2147483647, got 2147483648");
}

TEST(PositionRangeTest, ALearnedTableNamesItsLimit) {
  const Encoding encoding("learned", {{"max_positions", 512}, {"dim", 8}});
  expect_range(encoding, 0, 511);
  EXPECT_EQ(error_of([&] { check(encoding, 512); }),
            "learned positions must be from 0 to 511 (the rows of its table), got 512");
  EXPECT_EQ(error_of([&] { check(encoding, -1); }),
            "learned positions must be from 0 to 511 (the rows of its table), got -1");
}

TEST(PositionRangeTest, NamesTheFirstBadId) {
  const Encoding encoding("learned", {{"max_positions", 10}, {"dim", 1}});
  const std::vector<Position> ids{0, 9, 12, 11};
  const std::string message = error_of([&] { encoding.check_positions(ids); });
  EXPECT_EQ(message.substr(message.rfind(' ')), " 12");
}

TEST(PositionRangeTest, XposEndsAtTheRangeOfFloat32) {
  // (2/7)^(n/512) >= 2^-126: n <= 512 * 126 ln 2 / ln 3.5 = 35694.2.
  const auto reach = static_cast<Position>(512 * 126 * std::log(2.0) / std::log(3.5));
  EXPECT_NEAR(static_cast<double>(reach), 35690, 10);
  const Encoding encoding("xpos", {{"head_dim", 64}, {"pairing", "interleaved"}});
  expect_range(encoding, -reach, reach);
  expect_range(Encoding("xpos", {{"head_dim", 64}, {"pairing", "half"}, {"centre", 1000}}), 1000 - reach, 1000 + reach);
  EXPECT_NE(error_of([&] { check(encoding, 36000); }).find("its scale leaves the range of the element type"),
            std::string::npos);
  for (const Role role : {Role::query, Role::key}) {
    for (const Position p : {-reach, reach}) {
      std::vector<float> cos(32), sin(32);
      rotation_row(encoding.rotation(), role, std::span(&p, 1), std::span<float>(cos), std::span<float>(sin));
      for (std::size_t i = 0; i < cos.size(); ++i) {
        EXPECT_TRUE(std::isfinite(cos[i]) && std::isfinite(sin[i]));
        EXPECT_GT(std::hypot(static_cast<double>(cos[i]), static_cast<double>(sin[i])), 0x1p-127);
      }
    }
  }
}

TEST(PositionRangeTest, XposEndsSoonerInFloat16) {
  // (2/7)^(n/512) >= 2^-14, the smallest normal float16: n <= 512 * 14 ln 2 / ln 3.5 = 3966.0.
  const auto reach = static_cast<Position>(512 * 14 * std::log(2.0) / std::log(3.5));
  EXPECT_NEAR(static_cast<double>(reach), 3965, 2);
  const Encoding encoding("xpos", {{"head_dim", 4}, {"pairing", "half"}, {"centre", 100}});
  EXPECT_EQ(encoding.position_range(ElementType::float16).first, 100 - reach);
  EXPECT_EQ(encoding.position_range(ElementType::float16).last, 100 + reach);
  EXPECT_EQ(encoding.position_range(ElementType::bfloat16).last, encoding.position_range().last);
  // Every accepted id keeps vectors of length 1 finite and above 0, in both roles; all others are refused.
  for (const Position p : {100 - reach - 1, 100 - reach, 100 + reach, 100 + reach + 1, Position{5000}}) {
    for (const Role role : {Role::query, Role::key}) {
      std::vector<Float16> x(4, to_float16(1.0f));
      const HeadsView view = heads_view(x.data(), ElementType::float16, "td", std::vector<std::int64_t>{1, 4});
      const PositionIds ids{.tokens = 1, .ids = {p}};
      if (std::abs(p - 100) > reach) {
        EXPECT_NE(
            error_of([&] { rotate(encoding, view, ids, role); }).find("its scale leaves the range of the element type"),
            std::string::npos)
            << p;
        continue;
      }
      rotate(encoding, view, ids, role);
      double length = 0;
      for (const Float16 element : x) length += std::pow(static_cast<double>(to_float(element)), 2);
      EXPECT_TRUE(std::isfinite(length) && length > 0) << p;
    }
  }
  std::vector<Float16> keys(4);
  const HeadsView view = heads_view(keys.data(), ElementType::float16, "td", std::vector<std::int64_t>{1, 4});
  EXPECT_THROW(shift(encoding, view, {.tokens = 1, .ids = {reach + 1}}), Error);
}

TEST(PositionRangeTest, GridsAndWindowsEndWithTheirCells) {
  expect_range(Encoding("rope", {{"head_dim", 16},
                                 {"pairing", "half"},
                                 {"axes", "dinov3"},
                                 {"grid_height", 3},
                                 {"grid_width", 5},
                                 {"prefix", 2}}),
               0, 2 + 15 - 1);
  expect_range(Encoding("sinusoidal", {{"dim", 16},
                                       {"axes", "grid"},
                                       {"arrangement", "concatenated"},
                                       {"grid_height", 3},
                                       {"grid_width", 5},
                                       {"prefix", 1}}),
               0, 1 + 15 - 1);
  const Encoding swin("relative_bias", {{"heads", 2}, {"index", "swin"}, {"window_height", 7}, {"window_width", 4}});
  expect_range(swin, 0, 27);
  EXPECT_EQ(error_of([&] { check(swin, 28); }),
            "relative_bias positions must be from 0 to 27 (the cells of its window), got 28");
}

// ---- length

TEST(AtLength, ChangesLengthDependentEncodingsOnly) {
  const Encoding plain("rope", {{"head_dim", 8}, {"pairing", "half"}});
  EXPECT_FALSE(plain.length_dependent());
  EXPECT_EQ(cosines(plain.at_length(1 << 20), 77), cosines(plain, 77));

  const Encoding dynamic(
      "rope", {{"head_dim", 8}, {"pairing", "half"}, {"rule", "dynamic_ntk"}, {"factor", 2}, {"max_length", 2048}});
  EXPECT_TRUE(dynamic.length_dependent());
  EXPECT_FALSE(dynamic.claims().has(Claim::cache_safe));
  EXPECT_EQ(cosines(dynamic.at_length(2048), 77), cosines(plain, 77)) << "not extended";
  EXPECT_NE(cosines(dynamic.at_length(4096), 77), cosines(plain, 77));
  EXPECT_EQ(cosines(dynamic.at_length(4096).at_length(100), 77), cosines(plain, 77)) << "and back";
}

// torchscale: ceil(length / 2).
TEST(AtLength, MovesTheCentreOfXpos) {
  const Encoding moving("xpos", {{"head_dim", 8}, {"pairing", "interleaved"}, {"moving_centre", true}, {"length", 10}});
  EXPECT_TRUE(moving.length_dependent());
  EXPECT_EQ(moving.rotation().scale->centre, 5);
  EXPECT_EQ(moving.at_length(11).rotation().scale->centre, 6);
  EXPECT_EQ(error_of([&] { moving.at_length(0); }), "xpos.length must be at least 1 and at most 2147483648, got 0");
}

TEST(AtLength, ChangesEveryEncodingThatIsNotSafeToCache) {
  const Encoding mpt("alibi", {{"heads", 1}, {"form", "mpt"}, {"length", 10}});
  EXPECT_FALSE(mpt.claims().has(Claim::cache_safe));
  EXPECT_TRUE(mpt.length_dependent());
  EXPECT_EQ(mpt.score().value(0, 0, 9), 0);                          // slope 2^-8 times (9 - (10 - 1))
  EXPECT_EQ(mpt.at_length(20).score().value(0, 0, 9), -10.0 / 256);  // 9 - (20 - 1)
}

// ---- weights

TEST(Learned, FourThousandSquaredHas16777216Parameters) {
  const Encoding encoding("learned", {{"max_positions", 4096}, {"dim", 4096}});
  EXPECT_EQ(encoding.hidden().table.data.size(), 16'777'216u);
}

TEST(Learned, RowOffsetsMoveTheRows) {
  const Tensor table{{5, 2}, {0, 1, 10, 11, 20, 21, 30, 31, 40, 41}};
  const Encoding encoding("learned", {{"table", table}, {"row_offset", 2}});  // OPT
  expect_range(encoding, 0, 2);
  std::vector<float> row(2);
  for (const Position p : {0, 1, 2}) {
    hidden_row(encoding.hidden(), p, std::span<float>(row));
    EXPECT_EQ(row[0], static_cast<float>(10 * (p + 2)));
    EXPECT_EQ(row[1], static_cast<float>(10 * (p + 2) + 1));
  }
  // Usable positions, so the table has row_offset more rows.
  const Encoding seeded("learned", {{"max_positions", 512}, {"dim", 4}, {"row_offset", 2}});
  EXPECT_EQ(seeded.hidden().table.shape, (std::vector<std::int64_t>{514, 4}));
  expect_range(seeded, 0, 511);
}

TEST(Learned, ShapesMustAgree) {
  const Tensor table{{5, 2}, std::vector<float>(10)};
  EXPECT_EQ(error_of([&] {
              Encoding("learned", {{"table", table}, {"dim", 3}});
            }),
            "learned.table must have the shape any x 3, got 5 x 2");
  EXPECT_EQ(error_of([&] {
              Encoding("learned", {{"table", table}, {"max_positions", 4}});
            }),
            "learned.table must have the shape 4 x any, got 5 x 2");
  EXPECT_NE(error_of([&] {
              Encoding("learned", {{"table", table}, {"row_offset", 5}});
            }).find("more rows"),
            std::string::npos);
  EXPECT_EQ(error_of([] { Encoding("learned", {{"dim", 3}}); }), "learned needs max_positions and dim, or a table");
}

// n draws have a mean within 5 deviation / sqrt(n) and a variance within 5 sqrt(2/n) except for one seed in a million.
TEST(InitialWeights, HaveTheGivenMeanAndDeviation) {
  const double n = 1 << 18;
  for (const double deviation : {0.02, 1.0}) {
    for (const std::int64_t seed : {0, 1, -5}) {
      const Tensor tensor = normal_weights({512, 512}, seed, deviation);
      double sum = 0;
      double squares = 0;
      int within = 0;
      for (const float value : tensor.data) {
        const double scaled = static_cast<double>(value) / deviation;
        sum += scaled;
        squares += scaled * scaled;
        within += std::fabs(scaled) < 1 ? 1 : 0;
      }
      EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
      EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2 / n));
      const double share = std::erf(std::sqrt(0.5));  // of a normal distribution within one deviation
      EXPECT_NEAR(within / n, share, 5 * std::sqrt(share * (1 - share) / n));
    }
  }
}

TEST(InitialWeights, AreReproducibleAndDifferBySeedAndTable) {
  EXPECT_EQ(normal_weights({64}, 7, 0.02).data, normal_weights({64}, 7, 0.02).data);
  EXPECT_NE(normal_weights({64}, 7, 0.02).data, normal_weights({64}, 8, 0.02).data);
  const Arguments shape{{"heads", 2}, {"head_dim", 4}, {"values", true}, {"seed", 3}};
  const Encoding shaw("shaw", shape);
  EXPECT_EQ(shaw.relative_keys().key_table.data, Encoding("shaw", shape).relative_keys().key_table.data);
  EXPECT_NE(shaw.relative_keys().key_table.data, shaw.relative_keys().value_table.data);
  const Encoding xl("transformer_xl", {{"heads", 2}, {"head_dim", 4}});
  EXPECT_NE(xl.relative_keys().u.data, xl.relative_keys().v.data);
}

}  // namespace
}  // namespace locus
