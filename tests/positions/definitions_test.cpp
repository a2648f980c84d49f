// SPDX-License-Identifier: Apache-2.0
// Compares every planner with an independent definition by counting, over random sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "base/random.h"
#include "locus/positions.h"

namespace locus::positions {
namespace {

using Int = std::int64_t;
using Ids = std::vector<Position>;

class Dice {
 public:
  Int upto(Int most) { return random_.between(0, most); }
  std::vector<Int> lengths(Int count, Int most) {
    std::vector<Int> all;
    for (Int i = 0; i < count; ++i) all.push_back(upto(most));
    return all;
  }

 private:
  Random random_{11};
};

TEST(PlannerDefinitions, PaddedRows) {
  Dice dice;
  for (int round = 0; round < 300; ++round) {
    const std::vector<Int> lengths = dice.lengths(1 + dice.upto(4), 7);
    Int width = 0;
    for (const Int length : lengths) width = std::max(width, length);
    width += dice.upto(3);
    const Position pad = dice.upto(2);
    const Padded left = left_padded(lengths, width, pad), right = right_padded(lengths, width, pad);
    ASSERT_EQ(left.ids.batch, std::ssize(lengths));
    ASSERT_EQ(left.ids.tokens, width);
    std::size_t at = 0;
    for (const Int length : lengths) {
      for (Int slot = 0; slot < width; ++slot, ++at) {
        const Int from_right = width - 1 - slot;  // the last token of a left-padded row is in the last slot
        const bool token = from_right < length;
        EXPECT_EQ(left.mask[at], token);
        EXPECT_EQ(left.ids.ids[at], token ? length - 1 - from_right : pad);
        EXPECT_EQ(right.mask[at], slot < length);
        EXPECT_EQ(right.ids.ids[at], slot < length ? slot : pad);
      }
    }
  }
}

TEST(PlannerDefinitions, AnyMask) {
  Dice dice;
  for (int round = 0; round < 300; ++round) {
    const Int batch = 1 + dice.upto(3), tokens = dice.upto(12);
    const Position pad = dice.upto(1);
    std::vector<std::uint8_t> mask;
    for (Int i = 0; i < batch * tokens; ++i) mask.push_back(static_cast<std::uint8_t>(dice.upto(1)));
    const Padded plan = from_mask(mask, batch, tokens, pad);
    EXPECT_EQ(plan.mask, mask);
    for (Int row = 0; row < batch; ++row) {
      Position next = 0;
      for (Int t = 0; t < tokens; ++t) {
        const auto at = static_cast<std::size_t>(row * tokens + t);
        EXPECT_EQ(plan.ids.ids[at], mask[at] != 0 ? next++ : pad) << row << " " << t;
      }
    }
  }
}

TEST(PlannerDefinitions, PackedDocuments) {
  Dice dice;
  for (int round = 0; round < 300; ++round) {
    const std::vector<Int> lengths = dice.lengths(dice.upto(5), 6);
    Ids want;
    std::vector<Int> boundaries{0};
    for (const Int length : lengths) {
      for (Position id = 0; id < length; ++id) want.push_back(id);
      boundaries.push_back(boundaries.back() + length);
    }
    EXPECT_EQ(packed(lengths).ids, want);
    EXPECT_EQ(packed_from_cumulative(boundaries).ids, want);
    EXPECT_EQ(packed(lengths).tokens, std::ssize(want));
  }
}

// Determines the rank of each token.
TEST(PlannerDefinitions, Shards) {
  Dice dice;
  for (int round = 0; round < 200; ++round) {
    const Int ranks = 1 + dice.upto(5), piece = 1 + dice.upto(4), tokens = 2 * ranks * piece;
    const std::map<ShardKind, std::function<Int(Int)>> owner{
        {ShardKind::contiguous, [&](Int token) { return token / (2 * piece); }},
        {ShardKind::striped, [&](Int token) { return token % ranks; }},
        {ShardKind::zigzag, [&](Int token) {
           const Int chunk = token / piece;
           return chunk < ranks ? chunk : 2 * ranks - 1 - chunk;
         }}};
    for (const auto& [kind, rank_of] : owner) {
      for (Int rank = 0; rank < ranks; ++rank) {
        Ids want;
        for (Int token = 0; token < tokens; ++token) {
          if (rank_of(token) == rank) want.push_back(token);
        }
        EXPECT_EQ(shard(kind, tokens, ranks, rank).ids, want);
        const PositionIds all = shards(kind, tokens, ranks);
        EXPECT_EQ(Ids(all.ids.begin() + rank * all.tokens, all.ids.begin() + (rank + 1) * all.tokens), want);
      }
    }
  }
}

TEST(PlannerDefinitions, Trees) {
  Dice dice;
  for (int round = 0; round < 300; ++round) {
    const Int nodes = dice.upto(9), prefix = dice.upto(20);
    // Nodes may come in any order: a random tree with permuted nodes.
    std::vector<Int> name;
    for (Int i = 0; i < nodes; ++i) name.insert(name.begin() + dice.upto(i), i);
    std::vector<Int> parents(static_cast<std::size_t>(nodes));
    for (Int i = 0; i < nodes; ++i) {
      const Int above = dice.upto(i) - 1;  // -1, or an earlier node
      parents[static_cast<std::size_t>(name[static_cast<std::size_t>(i)])] =
          above < 0 ? -1 : name[static_cast<std::size_t>(above)];
    }
    const Ids ids = tree(parents, prefix).ids;
    const std::vector<std::uint8_t> mask = ancestor_mask(parents);
    for (Int node = 0; node < nodes; ++node) {
      std::vector<bool> seen(static_cast<std::size_t>(nodes), false);
      Int depth = -1;
      for (Int up = node; up != -1; up = parents[static_cast<std::size_t>(up)]) {
        seen[static_cast<std::size_t>(up)] = true;
        ++depth;
      }
      EXPECT_EQ(ids[static_cast<std::size_t>(node)], prefix + depth);
      for (Int other = 0; other < nodes; ++other) {
        EXPECT_EQ(mask[static_cast<std::size_t>(node * nodes + other)] != 0, seen[static_cast<std::size_t>(other)]);
      }
    }
  }
}

TEST(PlannerDefinitions, SinksAndAWindow) {
  for (Int seen = 0; seen < 14; ++seen) {
    for (Int sinks = 0; sinks < 5; ++sinks) {
      for (Int window = 1; window < 7; ++window) {
        std::vector<Int> want;
        for (Int t = 0; t < seen; ++t) {
          const bool first = t < sinks, recent = seen - t <= window;
          if (first || recent) want.push_back(t);
        }
        const Streaming plan = streaming(seen, sinks, window);
        EXPECT_EQ(plan.kept, want) << seen << " " << sinks << " " << window;
        for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(plan.ids.ids[i], static_cast<Position>(i));
      }
    }
  }
}

// Token by token: text continues from the largest id so far, a token of an image has its frame, row and column.
TEST(PlannerDefinitions, TextWithImages) {
  Dice dice;
  for (int round = 0; round < 200; ++round) {
    std::vector<Segment> segments;
    std::vector<std::array<Position, 3>> want;
    Position largest = -1;
    const Int count = 1 + dice.upto(4);
    for (Int s = 0; s < count; ++s) {
      const Position first = largest + 1;
      if (dice.upto(1) == 0) {
        const Text text{.tokens = dice.upto(5)};
        segments.emplace_back(text);
        for (Int t = 0; t < text.tokens; ++t) want.push_back({first + t, first + t, first + t});
        largest += text.tokens;
        continue;
      }
      const double scales[] = {1.0, 2.0, 0.5, 12.5};
      const Vision vision{.frames = 1 + dice.upto(3),
                          .rows = 1 + dice.upto(3),
                          .cols = 1 + dice.upto(3),
                          .time_scale = scales[dice.upto(3)]};
      segments.emplace_back(vision);
      for (Int f = 0; f < vision.frames; ++f) {
        const auto time = static_cast<Position>(std::floor(static_cast<double>(f) * vision.time_scale));
        for (Int r = 0; r < vision.rows; ++r) {
          for (Int c = 0; c < vision.cols; ++c) want.push_back({first + time, first + r, first + c});
        }
        largest = std::max({largest, first + time, first + vision.rows - 1, first + vision.cols - 1});
      }
    }
    const Multimodal plan = multimodal(segments);
    ASSERT_EQ(plan.ids.tokens, std::ssize(want));
    for (int axis = 0; axis < 3; ++axis) {
      for (std::size_t t = 0; t < want.size(); ++t) {
        EXPECT_EQ(plan.ids.axis(axis)[t], want[t][static_cast<std::size_t>(axis)]) << axis << " " << t;
      }
    }
    EXPECT_EQ(plan.decode_delta, largest + 1 - std::ssize(want));  // the next token follows the largest id
  }
}

TEST(PlannerDefinitions, Grids) {
  for (Int merge = 1; merge <= 3; ++merge) {
    for (Int rows = merge; rows <= 9; rows += merge) {
      for (Int cols = merge; cols <= 9; cols += merge) {
        const PositionIds plan = grid(rows, cols, merge);
        const PositionIds flat = pixtral_ids(rows, cols, 11);
        std::size_t at = 0;
        for (Int block_row = 0; block_row < rows; block_row += merge) {
          for (Int block_col = 0; block_col < cols; block_col += merge) {
            for (Int y = 0; y < merge; ++y) {
              for (Int x = 0; x < merge; ++x, ++at) {
                EXPECT_EQ(plan.axis(0)[at], block_row + y);
                EXPECT_EQ(plan.axis(1)[at], block_col + x);
              }
            }
          }
        }
        EXPECT_EQ(plan.tokens, static_cast<Int>(at));
        const auto centres = patch_coordinates(rows, cols);
        at = 0;
        for (Int y = 0; y < rows; ++y) {
          for (Int x = 0; x < cols; ++x, ++at) {
            EXPECT_EQ(flat.ids[at], 11 * y + x);
            EXPECT_DOUBLE_EQ(centres[at][0], -1 + static_cast<double>(2 * y + 1) / static_cast<double>(rows));
            EXPECT_DOUBLE_EQ(centres[at][1], -1 + static_cast<double>(2 * x + 1) / static_cast<double>(cols));
          }
        }
      }
    }
  }
}

TEST(PlannerDefinitions, OneSequence) {
  Dice dice;
  for (int round = 0; round < 100; ++round) {
    const Int tokens = dice.upto(20), start = dice.upto(1000), prefix = dice.upto(1000);
    const Ids whole = prefill(tokens, start).ids, more = decode(prefix, tokens).ids;
    ASSERT_EQ(std::ssize(whole), tokens);
    for (Int t = 0; t < tokens; ++t) {
      EXPECT_EQ(whole[static_cast<std::size_t>(t)], start + t);
      EXPECT_EQ(more[static_cast<std::size_t>(t)], prefix + t);
    }
  }
}

}  // namespace
}  // namespace locus::positions
