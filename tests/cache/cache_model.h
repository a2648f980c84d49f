// SPDX-License-Identifier: Apache-2.0
// A model of a cache for state_machine_test.cpp: it keeps the raw keys of every sequence in a list. Keys are rotated by
// the double reference; attention is computed here from them.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <numeric>

#include "cache_tokens.h"
#include "locus/error.h"

namespace locus::testing::cache_model {

using Int = std::int64_t;

struct Token {
  Int number = 0;
  int roundings = 1;          // of its stored key
  bool moved = false;         // not where it is stored
  std::vector<Position> ids;  // one per axis
  friend bool operator==(const Token&, const Token&) = default;
};
using Tokens = std::vector<Token>;

struct Model {
  Int axes = 1;
  bool rotates = true, raw = false;
  std::map<SequenceId, Tokens> sequences;
  Int next = 0;

  SequenceId lowest_free() const {
    SequenceId id = 0;
    while (sequences.contains(id)) ++id;
    return id;
  }
};

struct Kind {
  const char* name;
  Encoding encoding;
  CacheShape shape;
};

inline Encoding mrope() { return rope({{"axes", "mrope"}, {"sections", std::vector<double>{4, 2, 2}}}); }

inline std::vector<Kind> kinds() {
  const auto shape = [](ElementType type, Int page, KeyForm form = KeyForm::rotated,
                        KvStorage storage = KvStorage::elements) {
    return CacheShape{.capacity = 6000,
                      .heads = heads,
                      .head_dim = dim,
                      .type = type,
                      .form = form,
                      .storage = storage,
                      .page_size = page};
  };
  using enum ElementType;
  CacheShape sharing = shape(float32, 16);
  sharing.share_equal_pages = true;
  return {
      {"float32", rope(), shape(float32, 16)},
      {"bfloat16", rope(), shape(bfloat16, 17)},
      {"float16", rope(), shape(float16, 32)},
      {"int8", rope(), shape(float32, 16, KeyForm::rotated, KvStorage::int8)},
      {"int8 of bfloat16", rope(), shape(bfloat16, 16, KeyForm::rotated, KvStorage::int8)},
      {"raw", rope(), shape(float32, 16, KeyForm::raw)},
      {"raw int8", rope(), shape(float16, 16, KeyForm::raw, KvStorage::int8)},
      {"sharing", rope(), sharing},
      {"interleaved, part of the head", rope({{"pairing", "interleaved"}, {"rotary_dim", 8}}), shape(float32, 16)},
      {"another order", rope({{"pairing", "interleaved"}, {"output_order", "deinterleaved"}}),
       shape(bfloat16, 16, KeyForm::raw)},
      {"float32 angles", rope({{"profile", "hf"}}), shape(float32, 16)},
      {"M-RoPE", mrope(), shape(float32, 16)},
      {"M-RoPE raw", mrope(), shape(bfloat16, 16, KeyForm::raw)},
      {"ALiBi", Encoding("alibi", {{"heads", 2 * heads}}), shape(float16, 16)},
      {"Shaw",
       Encoding("shaw", {{"heads", 2 * heads}, {"head_dim", dim}, {"clip_left", 4}, {"clip_right", 4}, {"seed", 1}}),
       shape(float32, 16)},
      {"none", Encoding("nope"), shape(float32, 16)}};
}

struct Sut {
  explicit Sut(const Kind& given) : setup(given), cache(given.encoding, given.shape) {}
  const Kind& setup;
  KvCache cache;
};

// ---- what the model says

// The largest error of a stored number: `roundings` of the type, or of 8 bits.
inline double error_of(const Kind& setup, int roundings, double largest) {
  const double own = bound(setup.shape.type, roundings);
  return setup.shape.storage == KvStorage::int8 ? roundings * largest / 200 + own : own;
}

template <class T>
std::vector<double> numbers_as(Int first) {
  std::vector<double> numbers;
  for (const T value : tokens_of<T>(first, 1)) numbers.push_back(static_cast<double>(to_float(value)));
  return numbers;
}
inline std::vector<double> numbers_of(ElementType type, Int first) {  // [heads][dim]
  if (type == ElementType::bfloat16) return numbers_as<BFloat16>(first);
  if (type == ElementType::float16) return numbers_as<Float16>(first);
  return numbers_as<float>(first);
}

inline std::vector<double> key_of(const Kind& setup, const Token& token) {
  std::vector<double> raw = numbers_of(setup.shape.type, token.number);
  if (setup.encoding.site() != Site::query_key) return raw;
  std::vector<double> turned;
  for (Int h = 0; h < heads; ++h) {
    const std::vector<double> head(raw.begin() + h * dim, raw.begin() + (h + 1) * dim);
    const auto one = reference::rotate(setup.encoding.rotation(), Role::key, Direction::forward, token.ids, head);
    turned.insert(turned.end(), one.begin(), one.end());
  }
  return turned;
}

inline void check_keys(const Sut& sut, const Tokens& tokens, const CachedSequence& gathered) {
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const std::vector<double> key = key_of(sut.setup, tokens[t]);
    const std::vector<double> value = numbers_of(sut.setup.shape.type, tokens[t].number + 100000);
    const int roundings = tokens[t].roundings + 1;
    for (Int i = 0; i < heads * dim; ++i) {
      const auto at = [&](const HeadsView& view) {
        return static_cast<double>(number_at(view, static_cast<Int>(t), i / dim, i % dim));
      };
      const auto j = static_cast<std::size_t>(i);
      RC_ASSERT(std::fabs(at(gathered.keys) - key[j]) <= error_of(sut.setup, roundings, 1.5));
      RC_ASSERT(std::fabs(at(gathered.values) - value[j]) <=
                (sut.setup.shape.storage == KvStorage::int8 ? error_of(sut.setup, 1, 1.0) : 0.0));
    }
  }
}

inline std::vector<std::byte> outputs(const Sut& sut, SequenceId sequence, const std::vector<float>& query,
                                      Int queries) {
  const ElementType type = sut.setup.shape.type;
  std::vector<std::byte> numbers(query.size() * size_of(type)), output(numbers.size());
  for (std::size_t i = 0; i < query.size(); ++i) {
    if (type == ElementType::float32) reinterpret_cast<float*>(numbers.data())[i] = query[i];
    if (type == ElementType::bfloat16) reinterpret_cast<BFloat16*>(numbers.data())[i] = to_bfloat16(query[i]);
    if (type == ElementType::float16) reinterpret_cast<Float16*>(numbers.data())[i] = to_float16(query[i]);
  }
  const std::vector<Int> extents{queries, 2 * heads, dim};
  const CachedQueries one{.sequence = sequence,
                          .query = heads_view(numbers.data(), type, "thd", extents),
                          .output = heads_view(output.data(), type, "thd", extents)};
  sut.cache.attend({.queries = std::span(&one, 1)});
  return output;
}

// Attention over the gathered keys by attend() of attention.h, which its own tests check against the reference; the
// cache reads pages instead. 8-bit numbers of a 16-bit cache are rounded once more when gathered.
inline void check_attention(const Sut& sut, SequenceId sequence, const CachedSequence& gathered) {
  const Int count = gathered.keys.tokens, queries = std::min<Int>(count, 3);
  if (count == 0) return;
  std::vector<float> query;
  for (Int i = 0; i < queries * 2 * heads * dim; ++i) query.push_back(std::sin(static_cast<float>(i) * 0.7f));
  const ElementType type = sut.setup.shape.type;
  const std::vector<std::byte> got = outputs(sut, sequence, query, queries);
  const std::vector<Int> extents{queries, 2 * heads, dim}, all{count, heads, dim};
  std::vector<float> keys, values, expected(query.size());
  for (Int i = 0; i < count * heads * dim; ++i) {
    keys.push_back(number_at(gathered.keys, i / (heads * dim), i / dim % heads, i % dim));
    values.push_back(number_at(gathered.values, i / (heads * dim), i / dim % heads, i % dim));
  }
  if (type != ElementType::float32) {
    for (float& q : query) q = type == ElementType::bfloat16 ? to_float(to_bfloat16(q)) : to_float(to_float16(q));
  }
  const auto view = [](std::vector<float>& data, const std::vector<Int>& shape) {
    return heads_view(data.data(), ElementType::float32, "thd", shape);
  };
  AttentionCall call{.query = view(query, extents),
                     .key = view(keys, all),
                     .value = view(values, all),
                     .output = view(expected, extents)};
  call.mask = {.causal = true, .by_index = true};
  const std::vector<Position> ids(gathered.ids.begin(), gathered.ids.begin() + count);
  if (sut.setup.encoding.site() == Site::score || sut.setup.encoding.site() == Site::relative_key) {
    call.encoding = &sut.setup.encoding;
    call.key_ids = ids;
    call.query_ids = std::span(ids).last(static_cast<std::size_t>(queries));
  }
  attend(call);
  const bool integers = sut.setup.shape.storage == KvStorage::int8;
  const double allowed = bound(type, 1) + (integers ? 8 * bound(type, 1) : 1e-5);
  for (Int i = 0; i < std::ssize(expected); ++i) {
    const HeadsView output = heads_view(const_cast<std::byte*>(got.data()), type, "thd", extents);
    const double one = static_cast<double>(number_at(output, i / (2 * heads * dim), i / dim % (2 * heads), i % dim));
    RC_ASSERT(std::fabs(one - static_cast<double>(expected[static_cast<std::size_t>(i)])) <= allowed);
  }
}

inline void check(const Model& model, Sut& sut, SequenceId sequence) {
  const Tokens& tokens = model.sequences.at(sequence);
  RC_ASSERT(sut.cache.length(sequence) == std::ssize(tokens));
  const std::vector<Position> positions = sut.cache.positions(sequence);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    for (std::size_t axis = 0; axis < tokens[t].ids.size(); ++axis) {
      RC_ASSERT(positions[axis * tokens.size() + t] == tokens[t].ids[axis]);
    }
  }
  const CachedSequence gathered = sut.cache.gather(sequence);
  RC_ASSERT(gathered.ids == positions);
  check_keys(sut, tokens, gathered);
  check_attention(sut, sequence, gathered);
}

}  // namespace locus::testing::cache_model
