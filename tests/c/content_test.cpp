// SPDX-License-Identifier: Apache-2.0
// What encodings of content and of the output need, through C: numbers that tokens bring, polar heads, turned output.
#include "c/c_support.h"
#include "locus/polar.h"
#include "locus/turn_output.h"

namespace locus {
namespace {

using namespace locus::testing;

constexpr ElementType single = ElementType::float32, wide = ElementType::float64;
constexpr std::int64_t token_count = 20, heads = 2, dim = 8;

HeadsView heads_in(std::vector<std::byte>& bytes, std::int64_t first, std::int64_t tokens, std::int64_t width = dim) {
  return heads_view(bytes.data() + first * heads * width * 4, single, "thd", {{tokens, heads, width}});
}

// Log gates of all tokens, [tokens, heads, 1].
struct GatedCache {
  OwnedEncoding encoding = c_encoding("forget_gate", {{"heads", heads}});
  std::vector<std::byte> q = numbers(single, token_count*heads*dim, 1), k = numbers(single, token_count*heads*dim, 2),
                         v = numbers(single, token_count*heads*dim, 3), gates = numbers(wide, token_count*heads, 4);
  std::vector<std::int64_t> ids;
  OwnedCache cache;
  std::int64_t sequence = -1;

  GatedCache() {
    for (std::int64_t i = 0; i < token_count; ++i) ids.push_back(i);
    for (auto* gate = reinterpret_cast<double*>(gates.data()); gate < gates_end(); ++gate) *gate = -std::abs(*gate);
    const locus_cache_shape shape = {.size = sizeof shape,
                                     .capacity = 64,
                                     .heads = heads,
                                     .head_dim = dim,
                                     .type = LOCUS_FLOAT32,
                                     .raw_keys = 0,
                                     .page_size = 16,
                                     .int8 = 0,
                                     .share_equal_pages = 0};
    locus_cache* made = nullptr;
    EXPECT_OK(locus_cache_new(encoding.get(), &shape, &made));
    cache.reset(made);
    EXPECT_OK(locus_cache_create(made, &sequence));
  }
  const double* gates_end() const { return reinterpret_cast<const double*>(gates.data()) + token_count * heads; }
  HeadsView log_gates(std::int64_t first, std::int64_t tokens) {
    return heads_view(gates.data() + first * heads * 8, wide, "thd", {{tokens, heads, 1}});
  }
  locus_new_tokens tokens(std::int64_t first, std::int64_t length) {
    return {sizeof(locus_new_tokens),
            c_view(heads_in(k, first, length)),
            c_view(heads_in(v, first, length)),
            {ids.data() + first, length},
            0,
            {}};
  }
};

TEST(CGates, ChunksInACacheEqualTheWhole) {
  GatedCache gated;
  std::vector<double> sums(token_count * heads);
  const locus_heads all_gates = c_view(gated.log_gates(0, token_count));
  ASSERT_OK(locus_running_sums(&all_gates, {}, {sums.data(), std::ssize(sums)}));
  EXPECT_EQ(sums, running_sums(gated.log_gates(0, token_count)));

  std::vector<std::byte> whole(gated.q.size()), chunked(gated.q.size());
  auto call = sized<locus_attention>();
  call.query = c_view(heads_in(gated.q, 0, token_count));
  call.key = c_view(heads_in(gated.k, 0, token_count));
  call.value = c_view(heads_in(gated.v, 0, token_count));
  call.output = c_view(heads_in(whole, 0, token_count));
  call.encoding = gated.encoding.get();
  call.mask.causal = 1;
  call.query_numbers = call.key_numbers = c_view(heads_view(sums.data(), wide, "thd", {{token_count, heads, 1}}));
  ASSERT_OK(locus_attend(&call));

  for (std::int64_t first = 0; first < token_count; first += 6) {
    const std::int64_t length = std::min<std::int64_t>(6, token_count - first);
    std::vector<double> before(first == 0 ? 0 : heads), part(static_cast<std::size_t>(length * heads));
    if (first > 0) {
      ASSERT_OK(locus_cache_last_numbers(gated.cache.get(), gated.sequence, {before.data(), heads}));
    }
    const locus_heads some = c_view(gated.log_gates(first, length));
    ASSERT_OK(locus_running_sums(&some, {before.data(), std::ssize(before)}, {part.data(), std::ssize(part)}));
    locus_new_tokens added = gated.tokens(first, length);
    added.numbers = c_view(heads_view(part.data(), wide, "thd", {{length, heads, 1}}));
    ASSERT_OK(locus_cache_append_tokens(gated.cache.get(), gated.sequence, &added, nullptr));
    auto queries = sized<locus_cache_queries>();
    queries.sequence = gated.sequence;
    queries.query = c_view(heads_in(gated.q, first, length));
    queries.output = c_view(heads_in(chunked, first, length));
    auto attention = sized<locus_cache_attention>();
    attention.queries = &queries;
    attention.count = 1;
    ASSERT_OK(locus_cache_attend(gated.cache.get(), &attention));
  }
  const auto* expected = reinterpret_cast<const float*>(whole.data());
  const auto* got = reinterpret_cast<const float*>(chunked.data());
  for (std::int64_t i = 0; i < token_count * heads * dim; ++i) ASSERT_NEAR(got[i], expected[i], 4e-6) << i;

  locus_cached* gathered = nullptr;
  ASSERT_OK(locus_cache_gather(gated.cache.get(), gated.sequence, &gathered));
  const OwnedCached owned(gathered);
  auto view = sized<locus_cached_view>();
  ASSERT_OK(locus_cached_get(gathered, &view));
  EXPECT_EQ(std::vector<double>(view.numbers.data, view.numbers.data + view.numbers.count), sums);
}

TEST(CGates, OfTheWrongShapeLeaveTheCacheUnchanged) {
  GatedCache gated;
  locus_new_tokens added = gated.tokens(0, 4);
  for (const HeadsView& wrong : {gated.log_gates(0, 3), heads_view(gated.gates.data(), wide, "thd", {{4, heads, 2}}),
                                 heads_view(gated.gates.data(), wide, "thd", {{4, 1, 1}}),
                                 heads_view(gated.gates.data(), ElementType::bfloat16, "thd", {{4, heads, 1}})}) {
    added.numbers = c_view(wrong);
    EXPECT_EQ(locus_cache_append_tokens(gated.cache.get(), gated.sequence, &added, nullptr), LOCUS_BAD_INPUT);
    const std::string message = locus_last_error();
    EXPECT_NE(message.find("numbers must be float32 or float64 [1, 4, 2, 1]"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    std::int64_t length = -1, pages = -1;
    ASSERT_OK(locus_cache_length(gated.cache.get(), gated.sequence, &length));
    EXPECT_EQ(length, 0);
    ASSERT_OK(locus_cache_free_pages(gated.cache.get(), &pages));
    EXPECT_EQ(pages, 4);
  }
  double last[3];
  EXPECT_EQ(locus_cache_last_numbers(gated.cache.get(), gated.sequence, {last, 2}), LOCUS_BAD_INPUT);  // no token yet
  added.numbers = c_view(gated.log_gates(0, 4));
  ASSERT_OK(locus_cache_append_tokens(gated.cache.get(), gated.sequence, &added, nullptr));
  EXPECT_EQ(locus_cache_last_numbers(gated.cache.get(), gated.sequence, {last, 3}), LOCUS_BAD_INPUT);
  const locus_heads gates = c_view(gated.log_gates(0, 4));
  EXPECT_EQ(locus_running_sums(&gates, {last, 3}, {last, 8}), LOCUS_BAD_INPUT);
}

TEST(CGates, AreGivenPerCallToo) {
  GatedCache gated;
  const locus_new_tokens added = gated.tokens(0, 4);
  ASSERT_OK(locus_cache_append_tokens(gated.cache.get(), gated.sequence, &added, nullptr));
  std::vector<std::byte> out(gated.q.size());
  auto queries = sized<locus_cache_queries>();
  queries.sequence = gated.sequence;
  queries.query = c_view(heads_in(gated.q, 3, 1));
  queries.output = c_view(heads_in(out, 0, 1));
  auto attention = sized<locus_cache_attention>();
  attention.queries = &queries;
  attention.count = 1;
  EXPECT_EQ(locus_cache_attend(gated.cache.get(), &attention), LOCUS_BAD_INPUT);
  EXPECT_NE(std::string(locus_last_error()).find("appended without numbers"), std::string::npos);
  queries.query_numbers = c_view(gated.log_gates(3, 1));
  queries.key_numbers = c_view(gated.log_gates(0, 4));
  EXPECT_OK(locus_cache_attend(gated.cache.get(), &attention));
}

// softplus of 2 at angle 0 for a query, rotated by 3: the definition, one pair by hand.
TEST(CPolar, MakesHeadsPolarAndRotatesThem) {
  const OwnedEncoding pope = c_encoding("pope", {{"head_dim", 4}, {"heads", 1}, {"base", 10000.0}});
  auto info = sized<locus_info>();
  ASSERT_OK(locus_encoding_info(pope.get(), &info));
  EXPECT_EQ(info.polar_width, 4);
  ASSERT_EQ(info.width, 8);
  std::vector<float> x = {2, 2, 2, 2}, polar(8), rotated(8), both(8);
  const std::int64_t heads_shape[] = {1, 4}, polar_shape[] = {1, 8};
  locus_heads from, to, done;
  ASSERT_OK(locus_heads_view(x.data(), LOCUS_FLOAT32, "td", heads_shape, &from));
  ASSERT_OK(locus_heads_view(polar.data(), LOCUS_FLOAT32, "td", polar_shape, &to));
  ASSERT_OK(locus_heads_view(both.data(), LOCUS_FLOAT32, "td", polar_shape, &done));
  ASSERT_OK(locus_to_polar(pope.get(), &from, &to, LOCUS_QUERY, nullptr));
  const std::int64_t position = 3;
  const locus_ids ids = {&position, 1, 1, 1};
  ASSERT_OK(locus_rotate(pope.get(), &from, &done, &ids, nullptr));
  rotated = polar;
  locus_heads again = to;
  again.data = rotated.data();
  ASSERT_OK(locus_rotate(pope.get(), &again, nullptr, &ids, nullptr));
  EXPECT_EQ(rotated, both);
  double length = 0, across = 0;
  for (std::size_t i = 0; i < 8; ++i) length += polar[i] * polar[i];
  const double softplus = std::log1p(std::exp(2.0));
  EXPECT_NEAR(length, 4 * softplus * softplus, 1e-4);
  for (std::size_t i = 0; i < 8; ++i) across += polar[i] * both[i];
  double expected = 0;  // channel c turns by 3 base^(-c / channels)
  for (int c = 0; c < 4; ++c) expected += softplus * softplus * std::cos(3 * std::pow(10000.0, -c / 4.0));
  EXPECT_NEAR(across, expected, 1e-4);
  EXPECT_EQ(locus_to_polar(pope.get(), &to, &from, LOCUS_QUERY, nullptr), LOCUS_BAD_INPUT);
  const OwnedEncoding rope = c_encoding("rope", {{"head_dim", 8}, {"pairing", "half"}});
  EXPECT_EQ(locus_to_polar(rope.get(), &to, &done, LOCUS_KEY, nullptr), LOCUS_BAD_INPUT);
}

// Values rotated like keys and an output turned back: with all tokens moved by 1000, the result is the same.
TEST(CTurnedOutput, DependsOnDifferencesOfPositions) {
  const OwnedEncoding rope =
      c_encoding("rope", {{"head_dim", dim}, {"pairing", "interleaved"}, {"turned_output", true}});
  auto info = sized<locus_info>();
  ASSERT_OK(locus_encoding_info(rope.get(), &info));
  EXPECT_EQ(info.turned_output, 1);
  std::vector<std::vector<std::byte>> outputs;
  for (const std::int64_t start : {std::int64_t{0}, std::int64_t{1000}}) {
    std::vector<std::byte> q = numbers(single, token_count * heads * dim, 1),
                           k = numbers(single, token_count * heads * dim, 2), v = k;
    std::vector<std::byte>& out = outputs.emplace_back(q.size());
    const PositionIds ids = positions::prefill(token_count, start);
    const locus_ids c_positions = c_ids(ids);
    auto call = sized<locus_attention>();
    call.query = c_view(heads_in(q, 0, token_count));
    call.key = c_view(heads_in(k, 0, token_count));
    call.value = c_view(heads_in(v, 0, token_count));
    call.output = c_view(heads_in(out, 0, token_count));
    call.mask.causal = 1;
    const locus_rotation as_key = {sizeof as_key, LOCUS_KEY, LOCUS_FORWARD, nullptr};
    ASSERT_OK(locus_rotate(rope.get(), &call.query, nullptr, &c_positions, nullptr));
    ASSERT_OK(locus_rotate(rope.get(), &call.key, nullptr, &c_positions, &as_key));
    ASSERT_OK(locus_rotate(rope.get(), &call.value, nullptr, &c_positions, &as_key));
    ASSERT_OK(locus_attend(&call));
    ASSERT_OK(locus_turn_output(rope.get(), &call.output, &c_positions, nullptr));
  }
  const auto* a = reinterpret_cast<const float*>(outputs[0].data());
  const auto* b = reinterpret_cast<const float*>(outputs[1].data());
  for (std::int64_t i = 0; i < token_count * heads * dim; ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << i;
}

}  // namespace
}  // namespace locus
