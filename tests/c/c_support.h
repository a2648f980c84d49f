// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the C API: handles that free themselves, and the same objects in C++.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "locus.h"
#include "locus/locus.h"

namespace locus::testing {

template <class Handle, void (*free_handle)(Handle*)>
struct Freer {
  void operator()(Handle* handle) const { free_handle(handle); }
};
template <class Handle, void (*free_handle)(Handle*)>
using Owned = std::unique_ptr<Handle, Freer<Handle, free_handle>>;

using OwnedEncoding = Owned<locus_encoding, locus_encoding_free>;
using OwnedPool = Owned<locus_pool, locus_pool_free>;
using OwnedPlan = Owned<locus_plan, locus_plan_free>;
using OwnedCache = Owned<locus_cache, locus_cache_free>;
using OwnedCached = Owned<locus_cached, locus_cached_free>;
using OwnedDiagnosis = Owned<locus_diagnosis, locus_diagnosis_free>;

#define EXPECT_OK(call) EXPECT_EQ(call, LOCUS_OK) << locus_last_error()
#define ASSERT_OK(call) ASSERT_EQ(call, LOCUS_OK) << locus_last_error()

/// A struct that carries its size; all else is zero.
template <class Struct>
Struct sized() {
  Struct made = {};
  made.size = sizeof made;
  return made;
}
inline constexpr std::size_t segment_size = sizeof(locus_segment);

/// The encoding with these arguments, made through the C API alone.
inline OwnedEncoding c_encoding(std::string_view scheme, const Arguments& arguments) {
  std::vector<std::string> texts;
  for (const auto& entry : arguments.all()) texts.push_back(to_text(entry.second));
  std::vector<locus_setting> settings;
  for (const auto& [name, value] : arguments.all()) {
    locus_setting setting = {};
    setting.name = name.c_str();
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      setting.weights = {tensor->data.data(), static_cast<std::int64_t>(tensor->data.size())};
      setting.shape = {tensor->shape.data(), static_cast<std::int64_t>(tensor->shape.size())};
    } else {
      setting.text = texts[settings.size()].c_str();
    }
    settings.push_back(setting);
  }
  locus_encoding* encoding = nullptr;
  EXPECT_OK(locus_encoding_new(std::string(scheme).c_str(), settings.data(), static_cast<std::int64_t>(settings.size()),
                               &encoding));
  return OwnedEncoding(encoding);
}

inline OwnedEncoding c_encoding(const Encoding& encoding) {
  return c_encoding(encoding.scheme().name, encoding.arguments());
}

/// The same view in C.
inline locus_heads c_view(const HeadsView& view) {
  return {view.data,         static_cast<std::int32_t>(view.type),
          view.batch,        view.tokens,
          view.heads,        view.head_dim,
          view.batch_stride, view.token_stride,
          view.head_stride};
}

inline locus_ids c_ids(const PositionIds& ids) { return {ids.ids.data(), ids.axes, ids.batch, ids.tokens}; }

inline locus_span_i64 c_span(const std::vector<std::int64_t>& values) {
  return {values.data(), static_cast<std::int64_t>(values.size())};
}

/// Bytes of float32, float64 or 16-bit elements holding values between -2 and 2, the same for the same arguments.
inline std::vector<std::byte> numbers(ElementType type, std::int64_t count, std::uint32_t seed = 1) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size_of(type));
  std::uint32_t state = seed;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    state = state * 1664525u + 1013904223u;
    const double value = static_cast<double>(state >> 8) * 0x1p-22 - 2;
    const float single = static_cast<float>(value);
    const BFloat16 brain = to_bfloat16(single);
    const Float16 half = to_float16(single);
    const void* from = &single;
    if (type == ElementType::float64) from = &value;
    if (type == ElementType::bfloat16) from = &brain;
    if (type == ElementType::float16) from = &half;
    std::memcpy(bytes.data() + i * size_of(type), from, size_of(type));
  }
  return bytes;
}

}  // namespace locus::testing
