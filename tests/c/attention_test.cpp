// SPDX-License-Identifier: Apache-2.0
// Attention, cache and diagnosis through C: the same bits as through C++.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "c/c_support.h"
#include "locus/doctor/diagnosis_fields.h"

namespace locus {
namespace {

using namespace locus::testing;

constexpr ElementType f32 = ElementType::float32;

// Query, key, value and output [batch 2, tokens 6, heads, 8], once for C++ and once for C.
struct Tensors {
  std::vector<std::byte> q, k, v, o;
  explicit Tensors(ElementType type)
      : q(numbers(type, 2 * 6 * 4 * 8, 1)),
        k(numbers(type, 2 * 6 * 2 * 8, 2)),
        v(numbers(type, 2 * 6 * 2 * 8, 3)),
        o(q.size()) {}
};
HeadsView view(std::vector<std::byte>& bytes, ElementType type, std::int64_t heads) {
  return heads_view(bytes.data(), type, "bthd", {{2, 6, heads, 8}});
}

AttentionCall cpp_call(Tensors& t, ElementType type) {
  AttentionCall call;
  call.query = view(t.q, type, 4);
  call.key = view(t.k, type, 2);
  call.value = view(t.v, type, 2);
  call.output = view(t.o, type, 4);
  return call;
}
locus_attention c_call(Tensors& t, ElementType type) {
  auto call = sized<locus_attention>();
  call.query = c_view(view(t.q, type, 4));
  call.key = c_view(view(t.k, type, 2));
  call.value = c_view(view(t.v, type, 2));
  call.output = c_view(view(t.o, type, 4));
  return call;
}

TEST(CAttend, EveryFieldReachesTheKernel) {
  const Encoding alibi("alibi", {{"heads", 4}});
  const OwnedEncoding handle = c_encoding(alibi);
  const std::vector<std::int64_t> ids = {3, 4, 5, 6, 7, 8}, boundaries = {0, 2, 6}, wanted = {1, 5};
  const std::vector<std::uint8_t> keys = {1, 1, 1, 0, 1, 1}, pairs(36, 1);
  const std::vector<float> sinks = {0.5f, -1.0f, 0.0f, 2.0f};
  for (const ElementType type : {f32, ElementType::bfloat16, ElementType::float16, ElementType::float64}) {
    Tensors mine(type), theirs(type);
    std::vector<float> lse(48), lse2(48), weights(2 * 4 * 2 * 6), weights2(weights.size());
    AttentionCall call = cpp_call(theirs, type);
    call.encoding = &alibi;
    call.query_ids = call.key_ids = ids;
    call.mask = {.causal = true, .by_index = true, .prefix = 1, .window = 3, .sinks = 1, .keys = keys, .pairs = pairs};
    call.query_boundaries = call.key_boundaries = boundaries;
    call.scale = 0.25;
    call.scale_factor = 1.5;
    call.soft_cap = 20;
    call.sink_logits = sinks;
    call.log_sum_exp = lse.data();
    call.rows_wanted = wanted;
    call.probabilities = weights.data();
    attend(call);

    locus_attention same = c_call(mine, type);
    same.encoding = handle.get();
    same.query_ids = same.key_ids = c_span(ids);
    same.mask = {1, 1, 1, 3, 1, {keys.data(), 6}, {pairs.data(), 36}};
    same.query_boundaries = same.key_boundaries = c_span(boundaries);
    same.scale = 0.25;
    same.scale_factor = 1.5;
    same.soft_cap = 20;
    same.sink_logits = {sinks.data(), 4};
    same.log_sum_exp = lse2.data();
    same.rows_wanted = c_span(wanted);
    same.probabilities = weights2.data();
    ASSERT_OK(locus_attend(&same));
    EXPECT_EQ(mine.o, theirs.o) << name_of(type);
    EXPECT_EQ(lse, lse2);
    EXPECT_EQ(weights, weights2);
    EXPECT_NE(mine.o, std::vector<std::byte>(mine.o.size()));
  }
}

TEST(CAttend, DefaultsEqualCpp) {
  Tensors mine(f32), theirs(f32);
  attend(cpp_call(theirs, f32));
  const locus_attention same = c_call(mine, f32);
  ASSERT_OK(locus_attend(&same));
  EXPECT_EQ(mine.o, theirs.o);
}

TEST(CAttend, BackwardEqualsCpp) {
  const Encoding encoding("kerple", {{"heads", 4}});
  const OwnedEncoding handle = c_encoding(encoding);
  const auto parameters = static_cast<std::size_t>(4 * encoding.score().parameters);
  Tensors mine(f32), theirs(f32), mine_gradient(f32), their_gradient(f32);
  std::vector<float> lse(48), lse2(48);
  std::vector<double> learned(parameters);
  std::vector<std::byte> out = numbers(f32, 2 * 6 * 4 * 8, 9);

  AttentionCall forward = cpp_call(theirs, f32);
  forward.encoding = &encoding;
  forward.mask.causal = true;
  forward.log_sum_exp = lse.data();
  attend(forward);
  AttentionGradientCall call{.forward = forward,
                             .output_gradient = view(out, f32, 4),
                             .query_gradient = view(their_gradient.q, f32, 4),
                             .key_gradient = view(their_gradient.k, f32, 2),
                             .value_gradient = view(their_gradient.v, f32, 2)};
  call.learned.bias_parameters = learned;
  attend_backward(call);

  locus_attention same = c_call(mine, f32);
  same.encoding = handle.get();
  same.mask.causal = 1;
  same.log_sum_exp = lse2.data();
  ASSERT_OK(locus_attend(&same));
  auto gradient = sized<locus_attention_gradient>();
  gradient.forward = &same;
  gradient.output_gradient = c_view(view(out, f32, 4));
  gradient.query_gradient = c_view(view(mine_gradient.q, f32, 4));
  gradient.key_gradient = c_view(view(mine_gradient.k, f32, 2));
  gradient.value_gradient = c_view(view(mine_gradient.v, f32, 2));
  // KERPLE learns two numbers per head, which are asked for by name, the last one first.
  std::int64_t count = 0;
  ASSERT_OK(locus_encoding_learned_count(handle.get(), &count));
  ASSERT_EQ(count, encoding.score().parameters);
  std::vector<std::vector<double>> found(static_cast<std::size_t>(count), std::vector<double>(4));
  std::vector<locus_learned_gradient> wanted;
  for (std::int64_t i = count - 1; i >= 0; --i) {
    auto weight = sized<locus_learned_weight>();
    ASSERT_OK(locus_encoding_learned(handle.get(), i, &weight));
    EXPECT_EQ(weight.name, encoding.learned_weights()[static_cast<std::size_t>(i)].name);
    EXPECT_EQ(weight.rank, 1);
    EXPECT_EQ(weight.shape[0], 4);
    EXPECT_EQ(weight.in_hidden, 0);
    wanted.push_back({weight.name, {found[static_cast<std::size_t>(i)].data(), weight.count}});
  }
  gradient.learned = wanted.data();
  gradient.learned_count = std::ssize(wanted);
  ASSERT_OK(locus_attend_backward(&gradient));
  EXPECT_EQ(mine_gradient.q, their_gradient.q);
  EXPECT_EQ(mine_gradient.k, their_gradient.k);
  EXPECT_EQ(mine_gradient.v, their_gradient.v);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t head = 0; head < 4; ++head) EXPECT_EQ(found[i][head], learned[head * found.size() + i]) << i;
  }
  EXPECT_NE(mine_gradient.q, mine.q);
}

// ---- cache

std::vector<std::byte> bytes_of(const HeadsView& heads) {
  std::vector<std::byte> result;
  const auto* data = static_cast<const std::byte*>(heads.data);
  const std::size_t size = size_of(heads.type);
  for (std::int64_t t = 0; t < heads.tokens; ++t) {
    for (std::int64_t h = 0; h < heads.heads; ++h) {
      const std::byte* head = data + static_cast<std::size_t>(t * heads.token_stride + h * heads.head_stride) * size;
      result.insert(result.end(), head, head + static_cast<std::size_t>(heads.head_dim) * size);
    }
  }
  return result;
}

HeadsView cpp_view(const locus_heads& heads) {
  return {heads.data,         static_cast<ElementType>(heads.type),
          heads.batch,        heads.tokens,
          heads.heads,        heads.head_dim,
          heads.batch_stride, heads.token_stride,
          heads.head_stride};
}

void expect_same(const KvCache& cache, const locus_cache* handle, std::int64_t sequence) {
  const CachedSequence expected = cache.gather(sequence);
  locus_cached* gathered = nullptr;
  ASSERT_OK(locus_cache_gather(handle, sequence, &gathered));
  const OwnedCached owned(gathered);
  auto got = sized<locus_cached_view>();
  ASSERT_OK(locus_cached_get(gathered, &got));
  EXPECT_EQ(std::vector<std::int64_t>(got.ids.data, got.ids.data + got.ids.count), expected.ids);
  EXPECT_EQ(bytes_of(cpp_view(got.keys)), bytes_of(expected.keys));
  EXPECT_EQ(bytes_of(cpp_view(got.values)), bytes_of(expected.values));
}

// Two queries of one sequence, as a tree, and one of another, in one call.
void expect_same_attention(const KvCache& cache, const locus_cache* handle, std::int64_t a, std::int64_t b) {
  std::vector<std::byte> q = numbers(ElementType::bfloat16, 3 * 4 * 8, 9);
  std::vector<std::byte> output(q.size()), c_output(q.size());
  const std::vector<std::uint8_t> tree = {1, 0, 0, 1};
  const auto view = [](std::vector<std::byte>& data, std::int64_t first, std::int64_t count) {
    return heads_view(data.data() + first * 4 * 8 * 2, ElementType::bfloat16, "thd", {{count, 4, 8}});
  };
  std::vector<float> lse(2 * 4), c_lse(lse.size());
  const CachedQueries both[] = {
      {.sequence = a, .query = view(q, 0, 2), .output = view(output, 0, 2), .tree = tree, .log_sum_exp = lse.data()},
      {.sequence = b, .query = view(q, 2, 1), .output = view(output, 2, 1)}};
  CachedAttention batch{.queries = both, .scale = 0.3, .soft_cap = 5};
  batch.mask.window = 5;
  batch.mask.sinks = 1;
  cache.attend(batch);
  const locus_cache_queries c_both[] = {
      {sizeof(locus_cache_queries),
       a,
       c_view(view(q, 0, 2)),
       c_view(view(c_output, 0, 2)),
       {},
       {tree.data(), std::ssize(tree)},
       c_lse.data(),
       {},
       {}},
      {sizeof(locus_cache_queries), b, c_view(view(q, 2, 1)), c_view(view(c_output, 2, 1)), {}, {}, nullptr, {}, {}}};
  auto call = sized<locus_cache_attention>();
  call.queries = c_both;
  call.count = 2;
  call.window = 5;
  call.sinks = 1;
  call.scale = 0.3;
  call.soft_cap = 5;
  ASSERT_OK(locus_cache_attend(handle, &call));
  EXPECT_EQ(c_output, output);
  EXPECT_EQ(c_lse, lse);
}

TEST(CCache, EveryOperationEqualsCpp) {
  const Encoding rope("rope", {{"head_dim", 8}, {"pairing", "half"}});
  const Encoding slower("rope", {{"head_dim", 8}, {"pairing", "half"}, {"rule", "linear"}, {"factor", 2}});
  const OwnedEncoding handle = c_encoding(rope), other = c_encoding(slower);
  for (const std::int32_t raw : {0, 1}) {
    KvCache cache(rope, {.capacity = 64,
                         .heads = 2,
                         .head_dim = 8,
                         .type = ElementType::bfloat16,
                         .form = raw == 1 ? KeyForm::raw : KeyForm::rotated,
                         .page_size = 16});
    const locus_cache_shape shape = {sizeof shape, 64, 2, 8, LOCUS_BFLOAT16, raw, 16, 0, 0};
    locus_cache* made = nullptr;
    ASSERT_OK(locus_cache_new(handle.get(), &shape, &made));
    const OwnedCache owned(made);
    std::vector<std::byte> k = numbers(ElementType::bfloat16, 16 * 2 * 8), v = numbers(ElementType::bfloat16, 256, 5);
    const HeadsView keys = heads_view(k.data(), ElementType::bfloat16, "thd", {{16, 2, 8}});
    const HeadsView values = heads_view(v.data(), ElementType::bfloat16, "thd", {{16, 2, 8}});
    const locus_heads c_keys = c_view(keys), c_values = c_view(values);
    std::vector<std::int64_t> ids(16);
    std::iota(ids.begin(), ids.end(), 100);

    std::int64_t a = -1, b = -1, length = -1, room = -1;
    ASSERT_OK(locus_cache_create(made, &a));
    ASSERT_EQ(a, cache.create());
    cache.append(a, keys, values, ids);
    ASSERT_OK(locus_cache_append(made, a, &c_keys, &c_values, c_span(ids), nullptr));
    expect_same(cache, made, a);
    ASSERT_OK(locus_cache_fork(made, a, &b));
    ASSERT_EQ(b, cache.fork(a));
    cache.truncate(b, 12);
    ASSERT_OK(locus_cache_truncate(made, b, 12));
    cache.slide(b, 2, 6, true);
    ASSERT_OK(locus_cache_slide(made, b, 2, 6, 1));
    expect_same(cache, made, b);
    cache.shift(b, 40);
    ASSERT_OK(locus_cache_shift(made, b, 40));
    cache.relocate(b, 4, 8, 1000);
    ASSERT_OK(locus_cache_relocate(made, b, 4, 8, 1000));
    cache.divide(b, 4, 8, 3);
    ASSERT_OK(locus_cache_divide(made, b, 4, 8, 3));
    const std::vector<std::int64_t> deltas = {7}, kept = {3, 6};
    cache.shift(b, 1, 3, deltas);
    ASSERT_OK(locus_cache_shift_range(made, b, 1, 3, c_span(deltas)));
    expect_same(cache, made, b);
    expect_same_attention(cache, made, a, b);
    const std::int64_t fork = cache.fork(b);
    ASSERT_OK(locus_cache_fork(made, b, &length));
    ASSERT_EQ(length, fork);
    cache.keep(fork, 2, kept);
    ASSERT_OK(locus_cache_keep(made, fork, 2, c_span(kept)));
    expect_same(cache, made, fork);
    const std::vector<std::int64_t> drafts(16, 5000);
    cache.append(fork, {.keys = keys, .values = values, .ids = drafts, .any_order = true});
    ASSERT_OK(locus_cache_append_tree(made, fork, &c_keys, &c_values, c_span(drafts), nullptr));
    expect_same(cache, made, fork);
    cache.free(fork);
    ASSERT_OK(locus_cache_drop(made, fork));
    cache.settle(b);
    ASSERT_OK(locus_cache_settle(made, b));
    expect_same(cache, made, b);
    cache.set_encoding(slower, true);
    ASSERT_OK(locus_cache_set_encoding(made, other.get(), 1));
    expect_same(cache, made, b);
    expect_same(cache, made, a);
    ASSERT_OK(locus_cache_length(made, b, &length));
    EXPECT_EQ(length, 8);
    cache.free(a);
    ASSERT_OK(locus_cache_drop(made, a));
    ASSERT_OK(locus_cache_free_pages(made, &room));
    EXPECT_EQ(room, cache.free_pages());
    ASSERT_OK(locus_cache_pages_for(made, b, 100, &room));
    EXPECT_EQ(room, cache.pages_for(b, 100));
    EXPECT_EQ(locus_cache_length(made, a, &length), LOCUS_BAD_INPUT);
  }
}

// ---- diagnosis

void expect_verdicts(locus_diagnosis* diagnosis, const std::vector<Verdict>& expected) {
  std::int64_t count = 0;
  ASSERT_OK(locus_diagnosis_count(diagnosis, &count));
  ASSERT_EQ(count, static_cast<std::int64_t>(expected.size()));
  for (std::int64_t i = 0; i < count; ++i) {
    auto verdict = sized<locus_verdict>();
    ASSERT_OK(locus_diagnosis_verdict(diagnosis, i, &verdict));
    const Verdict& same = expected[static_cast<std::size_t>(i)];
    EXPECT_EQ(verdict.name, same.name);
    EXPECT_EQ(verdict.text, same.text);
    EXPECT_EQ(verdict.evidence, same.evidence);
    EXPECT_EQ(verdict.confidence, same.confidence);
    EXPECT_EQ(verdict.about, name_of(same.about));
  }
}

/// The JSON has every field of the C++ result, with its value.
template <class Found>
void expect_fields(locus_diagnosis* diagnosis, const Found& expected) {
  const char* text = nullptr;
  ASSERT_OK(locus_diagnosis_json(diagnosis, &text));
  const auto json = nlohmann::json::parse(text);
  std::size_t fields = 0;
  visit_fields(expected, [&](std::string_view name, const auto& value) {
    ++fields;
    ASSERT_TRUE(json.contains(name)) << name;
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value> || std::is_convertible_v<Value, std::string_view>) {
      EXPECT_EQ(json[std::string(name)], value) << name;
    }
  });
  EXPECT_EQ(json.size(), fields);
  ASSERT_EQ(json["verdicts"].size(), expected.verdicts.size());
  EXPECT_EQ(json["verdicts"][0]["name"], expected.verdicts[0].name);
}

TEST(CDiagnosis, NamesTheFault) {
  const Encoding half("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const Encoding wrong("rope", {{"head_dim", 16}, {"pairing", "interleaved"}});
  const OwnedEncoding handle = c_encoding(half);
  std::vector<std::byte> before = numbers(f32, 2 * 12 * 16), after = before;
  const PositionIds ids = positions::prefill(12);
  const auto view_of = [](std::vector<std::byte>& bytes) {
    return heads_view(bytes.data(), f32, "htd", {{2, 12, 16}});  // heads first, so that strides matter
  };
  rotate(wrong, view_of(after), ids);
  auto dump = sized<locus_dump>();
  dump.before = c_view(view_of(before));
  dump.after = c_view(view_of(after));
  dump.expected = handle.get();
  const locus_ids plain = c_ids(ids);
  dump.positions = &plain;
  locus_diagnosis* made = nullptr;
  ASSERT_OK(locus_diagnose(&dump, &made));
  const OwnedDiagnosis owned(made);
  auto first = sized<locus_verdict>();
  ASSERT_OK(locus_diagnosis_verdict(made, 0, &first));
  EXPECT_NE(std::string(first.name).find("pairing"), std::string::npos) << first.name;

  RotationDump same{1, 12, 2, 16, {}, {}};
  for (std::vector<double>* values : {&same.before, &same.after}) {
    const auto* floats = reinterpret_cast<const float*>((values == &same.before ? before : after).data());
    for (std::size_t t = 0; t < 12; ++t) {
      for (std::size_t h = 0; h < 2; ++h) {
        for (std::size_t j = 0; j < 16; ++j) values->push_back(static_cast<double>(floats[(h * 12 + t) * 16 + j]));
      }
    }
  }
  const Diagnosis expected = diagnose(same, {.encoding = half, .positions = ids});
  expect_verdicts(made, expected.verdicts);
  expect_fields(made, expected);
}

TEST(CDiagnosis, ValuesMustStay) {
  const Encoding rope("rope", {{"head_dim", 16}, {"pairing", "half"}});
  std::vector<std::byte> before = numbers(f32, 2 * 12 * 16), after = before;
  const auto view_of = [](std::vector<std::byte>& bytes) {
    return heads_view(bytes.data(), f32, "thd", {{12, 2, 16}});
  };
  for (const bool rotated : {false, true}) {
    if (rotated) rotate(rope, view_of(after), positions::prefill(12));
    auto dump = sized<locus_dump>();
    dump.before = c_view(view_of(before));
    dump.after = c_view(view_of(after));
    dump.role = LOCUS_VALUE;
    locus_diagnosis* made = nullptr;
    ASSERT_OK(locus_diagnose(&dump, &made));
    const OwnedDiagnosis owned(made);
    auto first = sized<locus_verdict>();
    ASSERT_OK(locus_diagnosis_verdict(made, 0, &first));
    EXPECT_STREQ(first.name, rotated ? "values_rotated" : "as_expected");
  }
}

TEST(CDiagnosis, OfBiases) {
  const Encoding alibi("alibi", {{"heads", 8}}), other("alibi", {{"heads", 4}});
  const OwnedEncoding handle = c_encoding(alibi);
  std::vector<std::int64_t> places(10);
  std::iota(places.begin(), places.end(), 0);
  std::vector<double> bias = bias_matrix(alibi, places, places);
  for (double& value : bias) value *= 2;
  locus_diagnosis* made = nullptr;
  ASSERT_OK(locus_diagnose_bias(bias.data(), 8, 10, 10, handle.get(), &made));
  const OwnedDiagnosis owned(made);
  const BiasDiagnosis expected = diagnose_bias({8, 10, 10, bias}, alibi);
  expect_verdicts(made, expected.verdicts);
  expect_fields(made, expected);
}

}  // namespace
}  // namespace locus
