// SPDX-License-Identifier: Apache-2.0
// The table of rows grows block by block up to its cap, is read without a lock while other threads extend it, and
// contains the rows of rotation_row.
#include "encoding/row_table.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "heads.h"
#include "locus/encoding.h"
#include "locus/rotate.h"
#include "locus/rows.h"

namespace locus {
namespace {

using testing::consecutive_ids;
using testing::Heads;
using testing::ids_of;
using testing::packed;
using testing::same_bits;
using testing::same_heads;

constexpr std::int64_t block = RowTable::block_rows;
constexpr std::size_t block_bytes(std::int64_t row_floats) {
  return static_cast<std::size_t>(block * row_floats) * sizeof(float);
}

// Rows that identify their position: {position, position + 0.5, ..}. Counts its calls.
struct Filler {
  explicit Filler(std::int64_t floats) : row_floats(floats) {}
  void operator()(Position first, std::int64_t count, float* rows) {
    ++calls;
    for (std::int64_t i = 0; i < count * row_floats; ++i) {
      rows[i] = static_cast<float>(first + i / row_floats) + (i % row_floats == 0 ? 0.0f : 0.5f);
    }
  }
  std::int64_t row_floats;
  std::atomic<int> calls = 0;
};

TEST(RowTableTest, GrowsBlockByBlock) {
  RowTable table(3, 1 << 20);
  Filler filler(3);
  const RowTable::Fill fill = std::ref(filler);
  EXPECT_EQ(table.bytes(), 0u);
  const float* first = table.row(0, fill);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(filler.calls, 1);
  EXPECT_EQ(table.bytes(), block_bytes(3));
  EXPECT_EQ(table.row(block - 1, fill), first + (block - 1) * 3);
  EXPECT_EQ(filler.calls, 1) << "one block, one call";
  EXPECT_EQ(table.row(2 * block, fill), nullptr) << "not next in line";
  EXPECT_EQ(filler.calls, 1);
  const float* second = table.row(block + 7, fill);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second[0], static_cast<float>(block + 7));
  EXPECT_EQ(second[2], static_cast<float>(block + 7) + 0.5f);
  EXPECT_NE(table.row(2 * block, fill), nullptr) << "now it is";
  EXPECT_EQ(filler.calls, 3);
  EXPECT_EQ(table.bytes(), 3 * block_bytes(3));
  for (Position p = 3 * block; p < 40 * block; p += block) ASSERT_NE(table.row(p, fill), nullptr);
  EXPECT_EQ(table.row(0, fill), first) << "rows never move";
}

TEST(RowTableTest, RespectsItsCap) {
  Filler filler(4);
  const RowTable::Fill fill = std::ref(filler);
  RowTable table(4, 2 * block_bytes(4) + block_bytes(4) - 1);
  EXPECT_NE(table.row(0, fill), nullptr);
  EXPECT_NE(table.row(block, fill), nullptr);
  EXPECT_EQ(table.row(2 * block, fill), nullptr) << "a third block does not fit";
  EXPECT_EQ(table.bytes(), 2 * block_bytes(4));
  for (const std::size_t cap : {std::size_t{0}, block_bytes(4) - 1}) {
    RowTable none(4, cap);
    EXPECT_EQ(none.row(0, fill), nullptr);
    EXPECT_EQ(none.bytes(), 0u);
  }
  EXPECT_EQ(filler.calls, 2);
}

TEST(RowTableTest, FarAndNegativePositionsAreNotKept) {
  RowTable table(2, std::size_t{64} << 20);
  const RowTable::Fill never = [](Position, std::int64_t, float*) { FAIL(); };
  for (const Position p : {Position{-1}, -max_position, max_position, max_position + 1, block, 10 * block}) {
    EXPECT_EQ(table.row(p, never), nullptr) << p;
  }
}

TEST(RowTableTest, AFillThatThrowsLeavesItAsItWas) {
  RowTable table(2, 1 << 20);
  EXPECT_THROW(table.row(0, [](Position, std::int64_t, float*) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(table.bytes(), 0u);
  Filler filler(2);
  EXPECT_NE(table.row(0, std::ref(filler)), nullptr);
}

// Four threads read the table upwards, so that each sometimes builds a block; all rows they read are complete.
TEST(RowTableTest, GrownByFourThreadsAtOnce) {
  constexpr std::int64_t blocks = 100;
  for (int round = 0; round < 5; ++round) {
    RowTable table(6, blocks * block_bytes(6));
    Filler filler(6);
    const RowTable::Fill fill = std::ref(filler);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (Position p = thread; p < blocks * block; p += 7) {
          const float* row = table.row(p, fill);
          if (row == nullptr || row[0] != static_cast<float>(p) || row[5] != static_cast<float>(p) + 0.5f) ++wrong;
          row = table.row((p * 31) % (blocks * block), fill);  // present, next, or not yet present
          if (row != nullptr && row[0] != static_cast<float>((p * 31) % (blocks * block))) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(filler.calls, blocks) << "every block is built once";
    EXPECT_EQ(table.bytes(), blocks * block_bytes(6));
  }
}

// ---- the table of an Encoding ----

TEST(EncodingTable, HoldsTheBitsOfRotationRow) {
  const Encoding encodings[] = {
      Encoding("rope", {{"head_dim", 34}, {"pairing", "half"}}),
      Encoding("rope", {{"head_dim", 34}, {"pairing", "half"}, {"profile", "ggml"}}),
      Encoding("rope", {{"head_dim", 34}, {"pairing", "half"}, {"profile", "hf"}, {"table_type", "bfloat16"}}),
      Encoding("rope",
               {{"head_dim", 34}, {"pairing", "half"}, {"rule", "yarn"}, {"factor", 4}, {"original_length", 4096}}),
  };
  for (const Encoding& encoding : encodings) {
    Heads<float> heads(packed(1, 1000, 1, 34));
    rotate(encoding, heads.view(), consecutive_ids(0, 1000));
    const RowTable& table = encoding.row_table();
    EXPECT_EQ(table.bytes(), 4 * block_bytes(34));
    const RowTable::Fill never = [](Position, std::int64_t, float*) { FAIL() << "it is there already"; };
    for (Position p = 0; p < 4 * block; ++p) {
      const float* kept = table.row(p, never);
      ASSERT_NE(kept, nullptr);
      std::vector<float> row(34);
      rotation_row(encoding.rotation(), Role::query, std::span(&p, 1), std::span(row).first(17),
                   std::span(row).last(17));
      ASSERT_TRUE(same_bits(std::span<const float>(kept, 34), std::span<const float>(row))) << p;
    }
  }
}

TEST(EncodingTable, RespectsTheCapGivenToTheEncoding) {
  const Arguments arguments{{"head_dim", 32}, {"pairing", "half"}};
  const Encoding capped("rope", arguments, 3 * block_bytes(32));
  const Encoding none("rope", arguments, 0);
  const Encoding open("rope", arguments);
  Heads<float> a(packed(1, 2000, 1, 32));
  Heads<float> b = a;
  Heads<float> c = a;
  rotate(capped, a.view(), consecutive_ids(0, 2000));
  rotate(none, b.view(), consecutive_ids(0, 2000));
  rotate(open, c.view(), consecutive_ids(0, 2000));
  EXPECT_EQ(capped.row_table().bytes(), 3 * block_bytes(32));
  EXPECT_EQ(none.row_table().bytes(), 0u);
  EXPECT_EQ(open.row_table().bytes(), 8 * block_bytes(32));
  EXPECT_TRUE(same_heads(a, b) && same_heads(a, c));
  EXPECT_EQ(Encoding(open).row_table().bytes(), open.row_table().bytes()) << "copies share the table";
}

// One Encoding, four threads, each extending the table while the others read it.
TEST(EncodingTable, SharedByThreads) {
  const Encoding shared("rope", {{"head_dim", 34}, {"pairing", "interleaved"}});
  const Encoding apart("rope", {{"head_dim", 34}, {"pairing", "interleaved"}});
  const Heads<float> before(packed(1, 5000, 1, 34));
  Heads<float> want = before;
  rotate(apart, want.view(), consecutive_ids(0, 5000));
  std::vector<Heads<float>> results(4, before);
  std::vector<std::thread> threads;
  for (Heads<float>& result : results) {
    threads.emplace_back([&] { rotate(shared, result.view(), consecutive_ids(0, 5000)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Heads<float>& result : results) EXPECT_TRUE(same_heads(want, result));
}

// The peak of this process grows by less than 100 MB, in all types, when a token is at the end of the range.
TEST(EncodingTable, OneTokenAtTheEndOfTheRangeIsCheap) {
  const auto peak_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const auto before = peak_kilobytes();
  testing::for_every_type([](auto zero) {
    const Encoding encoding("rope", {{"head_dim", 128}, {"pairing", "half"}});
    Heads<decltype(zero)> token(packed(1, 1, 32, 128));
    rotate(encoding, token.view(), ids_of({max_position}));
    EXPECT_EQ(encoding.row_table().bytes(), 0u);
  });
  EXPECT_LT(peak_kilobytes() - before, 100 * 1000);
}

}  // namespace
}  // namespace locus
