// SPDX-License-Identifier: Apache-2.0
// Running sums over ranks against sums by hand.
#include "locus/mpi/running_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ranks.h"

namespace locus::tools {
namespace {

using positions::Remainder;
using positions::ShardKind;

constexpr std::int64_t batch_rows = 2, number_heads = 3;
const std::vector<std::int64_t> document_lengths{19, 1, 0, 8};

/// Sums over documents, [batch][token][head], from the first token on or back from the last.
std::vector<double> sums_by_hand(const std::vector<double>& numbers, bool backward) {
  std::vector<double> sums = numbers;
  std::int64_t all = 0, first = 0;
  for (const std::int64_t length : document_lengths) all += length;
  const auto at = [&](std::int64_t b, std::int64_t token, std::int64_t head) {
    return static_cast<std::size_t>((b * all + token) * number_heads + head);
  };
  for (const std::int64_t length : document_lengths) {
    for (std::int64_t b = 0; b < batch_rows; ++b) {
      for (std::int64_t head = 0; head < number_heads; ++head) {
        double sum = 0;
        for (std::int64_t i = 0; i < length; ++i) {
          const std::size_t place = at(b, first + (backward ? length - 1 - i : i), head);
          sums[place] = sum += numbers[place];
        }
      }
    }
    first += length;
  }
  return sums;
}

class RingSums : public ::testing::Test {
 protected:
  RingSums() {
    std::mt19937_64 random(3);
    for (double& x : numbers_) x = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
  }

  /// The numbers of the tokens of this rank.
  std::vector<double> own(const positions::DocumentShard& shard, double of_padding) const {
    std::vector<double> result;
    for (std::int64_t b = 0; b < batch_rows; ++b) {
      for (const std::int64_t token : shard.tokens) {
        for (std::int64_t head = 0; head < number_heads; ++head) {
          result.push_back(token < 0 ? of_padding : numbers_[static_cast<std::size_t>((b * all_ + token) * 3 + head)]);
        }
      }
    }
    return result;
  }

  mpi::ShardNumbers call(const positions::DocumentShard& shard, std::vector<double>& numbers) const {
    return {.communicator = MPI_COMM_WORLD,
            .shard = &shard,
            .numbers = heads_view(numbers.data(), ElementType::float64, "bthd",
                                  {{batch_rows, std::ssize(shard.tokens), number_heads, 1}})};
  }

  void compare(const positions::DocumentShard& shard, const std::vector<double>& got, const std::vector<double>& want) {
    ASSERT_EQ(got.size(), static_cast<std::size_t>(batch_rows * number_heads) * shard.tokens.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t row = i / 3, tokens = shard.tokens.size(), b = row / tokens;
      const std::int64_t token = shard.tokens[row % tokens];
      const std::size_t place = (b * static_cast<std::size_t>(all_) + static_cast<std::size_t>(token)) * 3 + i % 3;
      ASSERT_NEAR(got[i], token < 0 ? 0 : want[place], 1e-14) << "token " << token;
    }
  }

  static constexpr std::int64_t all_ = 28;
  std::vector<double> numbers_ = std::vector<double>(static_cast<std::size_t>(batch_rows * all_ * number_heads));
};

TEST_F(RingSums, AreThoseOfTheWholeDocument) {
  for (const ShardKind kind : {ShardKind::contiguous, ShardKind::zigzag}) {
    for (const Remainder remainder : {Remainder::padded, Remainder::uneven}) {
      const auto shard = positions::document_shard(kind, document_lengths, all_ranks(), rank_of_this(), remainder);
      std::vector<double> numbers = own(shard, std::nan(""));
      compare(shard, mpi::running_sums(call(shard, numbers)), sums_by_hand(numbers_, false));
      std::vector<double> gradients = own(shard, 5);
      mpi::running_sums_backward(gradients, call(shard, numbers));
      compare(shard, gradients, sums_by_hand(numbers_, true));
    }
  }
}

TEST_F(RingSums, RanksRefuseTogether) {
  auto shard = positions::document_shard(ShardKind::zigzag, document_lengths, all_ranks(), rank_of_this());
  std::vector<double> numbers = own(shard, 0);
  mpi::ShardNumbers bad = call(shard, numbers);
  if (rank_of_this() == all_ranks() - 1) bad.numbers.tokens += 1;
  EXPECT_THROW(mpi::running_sums(bad), Error);
  std::vector<double> few(1);
  EXPECT_THROW(mpi::running_sums_backward(few, call(shard, numbers)), Error);
  if (all_ranks() > 1) {
    const auto striped = positions::document_shard(ShardKind::striped, document_lengths, all_ranks(), rank_of_this());
    std::vector<double> of_striped = own(striped, 0);
    EXPECT_THROW(mpi::running_sums(call(striped, of_striped)), Error);
  }
  compare(shard, mpi::running_sums(call(shard, numbers)), sums_by_hand(numbers_, false));  // they are still in step
}

}  // namespace
}  // namespace locus::tools
