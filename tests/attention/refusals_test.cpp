// SPDX-License-Identifier: Apache-2.0
// Bad calls are refused with a message that names the fault, and nothing is written. Good calls stay within their
// memory.
#include <functional>

#include "attention_check.h"
#include "kernels/guarded_buffer.h"
#include "locus/error.h"
#include "support/on_every_target.h"

namespace locus::testing {
namespace {

struct BadCall {
  std::string part_of_message;
  std::function<void(AttentionCall&)> spoil;
};

TEST(AttendRefuses, BadCallsAndWritesNothing) {
  static const std::vector<Position> three = ids_from(0, 3), five = ids_from(0, 5), far{0, 1, 2, 3, Position{1} << 40};
  static const std::vector<std::int64_t> unsorted{0, 4, 2, 5}, to_four{0, 4}, two_parts{0, 2, 5}, one_part{0, 5};
  static const std::vector<std::int64_t> row_five{5};
  static const std::vector<float> sinks(3);
  static const std::vector<std::uint8_t> bytes(7);
  static const Encoding alibi("alibi", {{"heads", std::int64_t{3}}});
  static const Encoding narrow(
      "shaw",
      {{"heads", std::int64_t{2}}, {"head_dim", std::int64_t{8}}, {"clip_left", std::int64_t{3}}, {"clip", false}});
  static const Encoding wide("shaw", {{"heads", std::int64_t{2}}, {"head_dim", std::int64_t{16}}});
  const std::vector<BadCall> bad{
      {"batch", [](AttentionCall& c) { c.key.batch = 2; }},
      {"element types", [](AttentionCall& c) { c.value.type = ElementType::bfloat16; }},
      {"head_dim must be the same", [](AttentionCall& c) { c.key.head_dim = 4; }},
      {"head_dim of query", [](AttentionCall& c) { c.query.head_dim = 0; }},
      {"multiple of key heads", [](AttentionCall& c) { c.query.heads = c.output.heads = 1; }},
      {"output must have", [](AttentionCall& c) { c.output.tokens = 4; }},
      {"value must have", [](AttentionCall& c) { c.value.tokens = 4; }},
      {"negative", [](AttentionCall& c) { c.key.tokens = -1; }},
      {"has no data", [](AttentionCall& c) { c.value.data = nullptr; }},
      {"query_ids must have", [](AttentionCall& c) { c.query_ids = three, c.key_ids = five; }},
      {"query_ids need key_ids", [](AttentionCall& c) { c.query_ids = five; }},
      {"key_ids need query_ids", [](AttentionCall& c) { c.key_ids = five; }},
      {"ids must be from", [](AttentionCall& c) { c.query_ids = far, c.key_ids = five; }},
      {"mask.keys", [](AttentionCall& c) { c.mask.keys = bytes; }},
      {"mask.pairs", [](AttentionCall& c) { c.mask.pairs = bytes; }},
      {"mask.prefix needs", [](AttentionCall& c) { c.mask.prefix = 2; }},
      {"mask.sinks needs", [](AttentionCall& c) { c.mask.sinks = 2; }},
      {"at least 0", [](AttentionCall& c) { c.mask.window = -1; }},
      {"must not decrease", [](AttentionCall& c) { c.query_boundaries = c.key_boundaries = unsorted; }},
      {"must run from 0 to 5", [](AttentionCall& c) { c.query_boundaries = c.key_boundaries = to_four; }},
      {"same documents", [](AttentionCall& c) { c.query_boundaries = two_parts, c.key_boundaries = one_part; }},
      {"sink_logits", [](AttentionCall& c) { c.sink_logits = sinks; }},
      {"soft_cap", [](AttentionCall& c) { c.soft_cap = -1; }},
      {"soft_cap", [](AttentionCall& c) { c.soft_cap = std::nan(""); }},
      {"scale", [](AttentionCall& c) { c.scale = HUGE_VAL; }},
      {"rows_wanted must be below", [](AttentionCall& c) { c.rows_wanted = row_five; }},
      {"the encoding has 3 heads", [](AttentionCall& c) { c.encoding = &alibi; }},
      {"the encoding has 2 heads of 16", [](AttentionCall& c) { c.encoding = &wide; }},
      {"shaw has rows", [](AttentionCall& c) { c.encoding = &narrow; }},
      {"shaw has rows",
       [](AttentionCall& c) {  // only head 1 sees too far
         c.encoding = &narrow;
         c.mask.custom = [](std::int64_t, std::int64_t head, std::int64_t query, std::int64_t key) {
           return head == 1 || query == key;
         };
       }},
  };
  for (const BadCall& one : bad) {
    SCOPED_TRACE(one.part_of_message);
    Tensors<float> t({.queries = 5, .keys = 5, .heads = 2, .key_heads = 2});
    one.spoil(t.call);
    try {
      attend(t.call);
      ADD_FAILURE() << "was not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(one.part_of_message), std::string::npos) << error.what();
    }
    for (const float x : t.out) ASSERT_EQ(x, 77.0f);
    for (const float x : t.lse) ASSERT_EQ(x, 77.0f);
  }
}

// The same table is enough if the mask hides keys that are too far.
TEST(AttendRefuses, OffsetsOfVisiblePairsOnly) {
  const Encoding narrow(
      "shaw",
      {{"heads", std::int64_t{1}}, {"head_dim", std::int64_t{8}}, {"clip_left", std::int64_t{3}}, {"clip", false}});
  Tensors<float> t({.queries = 30, .keys = 30});
  t.call.encoding = &narrow;
  t.call.mask = {.causal = true, .window = 4};
  expect_matches_reference(t);
}

TEST(AttendAccepts, Nothing) {
  Tensors<float> no_keys({.queries = 3, .keys = 0});
  attend(no_keys.call);
  for (const float x : no_keys.out) EXPECT_EQ(x, 0.0f);
  for (const float x : no_keys.lse) EXPECT_EQ(x, -std::numeric_limits<float>::infinity());
  Tensors<float> no_queries({.queries = 0, .keys = 3});
  attend(no_queries.call);
}

class AttendBounds : public OnEveryTarget {};
LOCUS_ON_EVERY_TARGET(AttendBounds);

template <class T>
void check_guarded(std::int64_t queries, std::int64_t keys, std::int64_t dim, Side side) {
  Tensors<T> t({.queries = queries, .keys = keys, .heads = 2, .key_heads = 1, .dim = dim});
  GuardedBuffer q(t.q, side), k(t.k, side), v(t.v, side), out(t.out, side);
  t.call.query.data = q.data();
  t.call.key.data = k.data();
  t.call.value.data = v.data();
  t.call.output.data = out.data();
  q.make_read_only();
  k.make_read_only();
  v.make_read_only();
  t.call.mask.causal = true;
  attend(t.call);
  EXPECT_TRUE(out.intact());
}

TEST_P(AttendBounds, StaysWithinItsMemory) {
  for (const Side side : {Side::before, Side::after}) {
    for (const std::int64_t dim : {1, 7, 8, 9, 17, 33}) {
      for (const std::int64_t queries : {1, 2, 13}) {
        check_guarded<float>(queries, 13, dim, side);
        check_guarded<BFloat16>(queries, 19, dim, side);
        check_guarded<Float16>(queries, 19, dim, side);
        check_guarded<double>(queries, 5, dim, side);
      }
    }
  }
}

}  // namespace
}  // namespace locus::testing
