// SPDX-License-Identifier: Apache-2.0
// Adds position rows to hidden states with every SIMD target, and compares with the reference in double.
#include "locus/add.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "elements.h"
#include "heads.h"
#include "locus/executor.h"
#include "locus/reference.h"
#include "locus/rows.h"
#include "support/on_every_target.h"

namespace locus {
namespace {

using testing::consecutive_ids;
using testing::for_every_type;
using testing::half_ulp;
using testing::ids_of;
using testing::random_elements;
using testing::rounded_error;
using testing::same_bits;
using testing::value_of;

// Hidden states [batch, tokens, dim] with gaps between them, one element off alignment.
template <class T>
class Hidden {
 public:
  Hidden(std::int64_t batch, std::int64_t tokens, std::int64_t dim, std::int64_t gap = 3)
      : view_{.type = element_type_of<T>,
              .batch = batch,
              .tokens = tokens,
              .dim = dim,
              .batch_stride = tokens * (dim + gap) + gap,
              .token_stride = dim + gap},
        memory_(random_elements<T>(static_cast<std::size_t>(1 + batch * view_.batch_stride + gap), 1)) {}

  HiddenView view() {
    HiddenView view = view_;
    view.data = memory_.data() + 1;
    return view;
  }
  const HiddenView& extents() const { return view_; }
  std::span<T> row(std::int64_t batch, std::int64_t token) {
    return std::span(memory_).subspan(index(batch, token), static_cast<std::size_t>(view_.dim));
  }
  std::span<const T> row(std::int64_t batch, std::int64_t token) const {
    return std::span(memory_).subspan(index(batch, token), static_cast<std::size_t>(view_.dim));
  }
  const std::vector<T>& memory() const { return memory_; }

 private:
  std::size_t index(std::int64_t batch, std::int64_t token) const {
    return static_cast<std::size_t>(1 + batch * view_.batch_stride + token * view_.token_stride);
  }
  HiddenView view_;
  std::vector<T> memory_;
};

// The allowed error of a sum. A wave's entry is at most 1, so it is rounded by at most 2^-25, and its angle adds 2e-9
// (rows.h); a table's entry is exact. The sum is rounded to float32, and once more to 16 bits. In double: 1e-15 +
// |id| 2e-19 for the entry, 1e-15 + |id| 1e-19 for the reference, and the rounding of the sum.
template <class T>
double sum_error(const HiddenRows& hidden, Position id, double want) {
  const bool waves = !hidden.waves.empty();
  if (sizeof(T) == 8) {
    const double far = std::fabs(static_cast<double>(id)) + std::fabs(static_cast<double>(hidden.first_position));
    const double entry = waves ? 2e-15 + far * 3e-19 : 0;
    return entry + half_ulp<double>(std::fabs(want) + entry);
  }
  const double entry = waves ? 0x1p-25 + 2e-9 : 0;
  return rounded_error<T>(want, entry + half_ulp<float>(std::fabs(want) + entry));
}

// The worst ratio of error to bound; elements between the rows must not change.
template <class T>
double error_over_bound(const Encoding& encoding, const PositionIds& ids, const Hidden<T>& before, Hidden<T> after) {
  double worst = 0;
  for (std::int64_t b = 0; b < before.extents().batch; ++b) {
    for (std::int64_t t = 0; t < before.extents().tokens; ++t) {
      const Position id = testing::place(ids, b, t)[0];
      const std::vector<double> row = reference::hidden_row(encoding.hidden(), id);
      for (std::size_t j = 0; j < row.size(); ++j) {
        const double want = value_of(before.row(b, t)[j]) + row[j];
        const double share = std::fabs(value_of(after.row(b, t)[j]) - want) / sum_error<T>(encoding.hidden(), id, want);
        worst = share <= worst ? worst : share;
      }
      std::copy(before.row(b, t).begin(), before.row(b, t).end(), after.row(b, t).begin());
    }
  }
  return same_bits(before.memory(), after.memory()) ? worst : std::numeric_limits<double>::infinity();
}

void check_every_type(const Encoding& encoding, const PositionIds& ids, std::int64_t batch = 1) {
  for_every_type([&](auto zero) {
    using T = decltype(zero);
    const Hidden<T> before(batch, ids.tokens, encoding.hidden().dim);
    Hidden<T> after = before;
    add(encoding, after.view(), ids);
    EXPECT_LE(error_over_bound(encoding, ids, before, after), 1);
  });
}

Tensor random_table(std::int64_t rows, std::int64_t dim) {
  return {.shape = {rows, dim}, .data = random_elements<float>(static_cast<std::size_t>(rows * dim), 3)};
}

struct AddCase {
  std::string name;
  Encoding encoding;
  Position last;  // an id near the end of its range, or a large one
};

std::vector<AddCase> add_cases(std::int64_t dim) {
  std::vector<AddCase> all;
  for (const std::string arrangement : {"interleaved", "concatenated"}) {
    for (const std::string rate : {"vaswani", "fairseq"}) {
      Arguments arguments{{"dim", dim}, {"arrangement", arrangement}, {"rate", rate}};
      all.push_back({arrangement + " " + rate, Encoding("sinusoidal", arguments), 1000});
      arguments.set("first_position", std::int64_t{2});
      arguments.set("zero_position", std::int64_t{1});
      all.push_back({arrangement + " " + rate + " with a zero row", Encoding("sinusoidal", arguments), 1000});
    }
  }
  all.push_back({"learned", Encoding("learned", {{"table", random_table(12, dim)}, {"row_offset", 2}}), 9});
  if (dim % 4 == 0) {
    all.push_back({"grid",
                   Encoding("sinusoidal", {{"dim", dim},
                                           {"arrangement", "concatenated"},
                                           {"axes", "grid"},
                                           {"grid_height", 3},
                                           {"grid_width", 5},
                                           {"prefix", 1}}),
                   15});
  }
  return all;
}

class AddTest : public testing::OnEveryTarget {};

TEST_P(AddTest, EveryWidth) {
  std::vector<std::int64_t> dims = {4 * lanes(), 8 * lanes() + 4};
  for (std::int64_t dim = 1; dim <= 2 * lanes() + 1; ++dim) dims.push_back(dim);
  for (const std::int64_t dim : dims) {
    for (const AddCase& one : add_cases(dim)) {
      SCOPED_TRACE(one.name + ", dim " + std::to_string(dim));
      check_every_type(one.encoding, ids_of({0, 1, 2, one.last}));
    }
  }
}

TEST_P(AddTest, Batches) {
  const Encoding encoding("sinusoidal", {{"dim", 36}});
  check_every_type(encoding, ids_of({4, 5, 6}), 2);
  check_every_type(encoding, ids_of({4, 5, 6, 100, 101, 0}, 1, 2), 2);
}

TEST_P(AddTest, ConsecutiveScatteredNegativeAndFarIds) {
  const Encoding encoding("sinusoidal", {{"dim", 34}});
  check_every_type(encoding, consecutive_ids(-40, 80));
  check_every_type(encoding, ids_of({max_position, 0, -max_position, 1 << 24, 31, 12345678}));
  check_every_type(Encoding("sinusoidal", {{"dim", 34}, {"first_position", -5}}), consecutive_ids(0, 80));
}

// The bits of a token depend only on its id, not on the order of the tokens or the number of threads. A row added to
// zeros is the row itself.
TEST_P(AddTest, SameBitsHoweverAskedFor) {
  const std::int64_t tokens = 4000;
  std::vector<std::int64_t> permutation(tokens);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), std::mt19937_64(7));
  const Encoding encodings[] = {Encoding("sinusoidal", {{"dim", 101}, {"arrangement", "concatenated"}}),
                                Encoding("learned", {{"table", random_table(tokens, 101)}})};
  for (const Encoding& encoding : encodings) {
    for_every_type([&](auto zero) {
      using T = decltype(zero);
      const PositionIds ids = consecutive_ids(0, tokens);
      const Hidden<T> before(1, tokens, 101);
      Hidden<T> all = before;
      add(encoding, all.view(), ids);
      for (const int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        Hidden<T> together = before;
        add(encoding, together.view(), ids, &pool);
        EXPECT_TRUE(same_bits(all.memory(), together.memory())) << threads;
      }
      Hidden<T> scattered(1, tokens, 101);
      PositionIds scattered_ids = ids;
      for (std::int64_t t = 0; t < tokens; ++t) {
        const std::int64_t from = permutation[static_cast<std::size_t>(t)];
        std::copy(before.row(0, from).begin(), before.row(0, from).end(), scattered.row(0, t).begin());
        scattered_ids.ids[static_cast<std::size_t>(t)] = from;
      }
      add(encoding, scattered.view(), scattered_ids);
      for (std::int64_t t = 0; t < tokens; ++t) {
        const std::int64_t from = permutation[static_cast<std::size_t>(t)];
        ASSERT_TRUE(same_bits(std::as_const(scattered).row(0, t), std::as_const(all).row(0, from))) << from;
      }
      for (std::int64_t t = 0; t < tokens; t += 111) {  // alone, elsewhere
        Hidden<T> alone(1, 1, 101, 0);
        std::copy(before.row(0, t).begin(), before.row(0, t).end(), alone.row(0, 0).begin());
        add(encoding, alone.view(), ids_of({t}));
        ASSERT_TRUE(same_bits(std::as_const(alone).row(0, 0), std::as_const(all).row(0, t))) << t;
      }
    });
    Hidden<float> zeros(1, 1, 101);
    std::fill(zeros.row(0, 0).begin(), zeros.row(0, 0).end(), 0.0f);
    std::vector<float> row(101);
    add(encoding, zeros.view(), ids_of({77}));
    hidden_row(encoding.hidden(), 77, std::span<float>(row));
    EXPECT_TRUE(same_bits(std::as_const(zeros).row(0, 0), std::span<const float>(row)));
  }
}

LOCUS_ON_EVERY_TARGET(AddTest);

// dim 4, position 1: rates 1 and 1/100. sin 1, cos 1, sin 0.01, cos 0.01.
TEST(AddByHand, Sinusoidal) {
  const auto added = [](const Arguments& more, Position id) {
    Arguments arguments{{"dim", 4}};
    for (const auto& [name, value] : more.all()) arguments.set(name, value);
    std::array<float, 4> hidden = {10, 20, 30, 40};
    add(Encoding("sinusoidal", arguments), {.data = hidden.data(), .tokens = 1, .dim = 4, .token_stride = 4},
        ids_of({id}));
    return hidden;
  };
  const auto expect_near = [](const std::array<float, 4>& got, const std::array<float, 4>& want) {
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(got[j], want[j], 4e-6) << j;  // 2^-18 is an ulp below 64
  };
  expect_near(added({}, 1), {10.841471f, 20.540302f, 30.0099998f, 40.99995f});
  expect_near(added({{"arrangement", "concatenated"}}, 1), {10.841471f, 20.0099998f, 30.540302f, 40.99995f});
  expect_near(added({{"first_position", 1}}, 0), {10.841471f, 20.540302f, 30.0099998f, 40.99995f});
  expect_near(added({}, 0), {10, 21, 30, 41});
  expect_near(added({{"zero_position", 0}}, 0), {10, 20, 30, 40});
  // fairseq: rates base^0 and base^-1; at position 10000 the slow angle is one radian.
  expect_near(added({{"rate", "fairseq"}, {"arrangement", "concatenated"}, {"base", 100.0}}, 100),
              {10 - 0.50636564f, 20.841471f, 30.862319f, 40.540302f});  // sin 100, sin 1, cos 100, cos 1
}

TEST(AddByHand, Learned) {
  const Encoding opt("learned",
                     {{"table", Tensor{.shape = {4, 2}, .data = {1, 2, 3, 4, 5, 6, 7, 8}}}, {"row_offset", 2}});
  std::array<float, 4> hidden = {100, 200, 300, 400};
  add(opt, {.data = hidden.data(), .tokens = 2, .dim = 2, .token_stride = 2}, ids_of({1, 0}));
  EXPECT_EQ(hidden, (std::array<float, 4>{107, 208, 305, 406}));
}

}  // namespace
}  // namespace locus
