// SPDX-License-Identifier: Apache-2.0
// The types behind the opaque handles. Each starts with a tag of its type, so that a wrong handle is detected.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "guard.h"
#include "locus/cache.h"
#include "locus/doctor/diagnose.h"
#include "locus/encoding.h"
#include "locus/executor.h"
#include "locus/position_ids.h"

struct locus_encoding {
  static constexpr std::uint64_t kind = 0x4C6F637573456E63;
  std::uint64_t mark = kind;
  locus::Encoding encoding;
  std::string description = {};
};

struct locus_pool {
  static constexpr std::uint64_t kind = 0x4C6F63757350506C;
  explicit locus_pool(int count) : threads(count) {}
  std::uint64_t mark = kind;
  locus::ThreadPool threads;
};

struct locus_plan {
  static constexpr std::uint64_t kind = 0x4C6F637573506C6E;
  std::uint64_t mark = kind;
  locus::PositionIds ids = {};
  std::vector<std::uint8_t> mask = {};
  std::vector<std::int64_t> kept = {};
  std::int64_t decode_delta = 0;
  std::vector<std::int64_t> visible_from = {};
  std::vector<std::int64_t> slots = {};
};

struct locus_cache {
  static constexpr std::uint64_t kind = 0x4C6F637573436368;
  std::uint64_t mark = kind;
  locus::KvCache cache;
};

struct locus_cached {
  static constexpr std::uint64_t kind = 0x4C6F637573436364;
  std::uint64_t mark = kind;
  locus::CachedSequence sequence;
};

struct locus_diagnosis {
  static constexpr std::uint64_t kind = 0x4C6F637573446973;
  std::uint64_t mark = kind;
  std::vector<locus::Verdict> verdicts;
  std::string json;
};

namespace locus::c {

/// Dereferences a pointer argument. Error: NULL.
template <class T>
T& at(T* pointer, const char* name) {
  require(pointer != nullptr, name, " must not be NULL");
  return *pointer;
}

/// Checks a handle. Error: NULL, or a handle of another type.
template <class Handle>
Handle& valid(Handle* handle, const char* name) {
  require(at(handle, name).mark == Handle::kind, name, " is a handle of another type, or was freed");
  return *handle;
}

inline const Encoding& encoding_of(const locus_encoding* handle) { return valid(handle, "encoding").encoding; }

/// NULL means no pool.
inline Executor* executor_of(locus_pool* pool) { return pool == nullptr ? nullptr : &valid(pool, "pool").threads; }

/// Returns a new object to the caller. Calls `make` only if `out` is valid.
template <class Handle, class Make>
int give(Handle** out, const Make& make) noexcept {
  return guarded([&] {
    Handle*& place = at(out, "out");
    place = std::unique_ptr<Handle>(make()).release();
  });
}

/// Frees a handle. Ignores NULL and handles of another type.
template <class Handle>
void release(Handle* handle) noexcept {
  if (handle == nullptr || handle->mark != Handle::kind) return;
  handle->mark = 0;
  delete handle;
}

}  // namespace locus::c
