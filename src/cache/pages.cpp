// SPDX-License-Identifier: Apache-2.0
#include "cache/pages.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string_view>

#include "kernels/quantise.h"
#include "locus/error.h"
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace locus {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t small_alignment = 4096;

// Attention reads several pages of a cache at once: huge pages of memory avoid TLB misses.
void ask_for_huge_pages([[maybe_unused]] std::byte* bytes, [[maybe_unused]] std::size_t count) {
#ifdef __linux__
  if (count >= huge_page)
    madvise(bytes, count / huge_page * huge_page, MADV_HUGEPAGE);  // a hint: failure is not an error
#endif
}

std::int64_t checked_pages(const CacheShape& shape) {
  require(shape.capacity >= 1 && shape.heads >= 1 && shape.head_dim >= 1,
          "cache: capacity, heads and head_dim must be at least 1, got ", shape.capacity, ", ", shape.heads, " and ",
          shape.head_dim);
  require(shape.page_size >= 16 && shape.page_size <= 256, "cache: page_size must be 16 to 256, got ", shape.page_size);
  require(shape.type != ElementType::float64, "cache: keys are stored as float32, bfloat16 or float16, not float64");
  constexpr std::int64_t most = std::int64_t{1} << 40;
  require(shape.head_dim <= most / shape.heads && shape.capacity <= most / shape.heads / shape.head_dim,
          "cache: ", shape.capacity, " x ", shape.heads, " x ", shape.head_dim, " values are more than 2^40");
  const std::int64_t pages = (shape.capacity - 1) / shape.page_size + 1;
  constexpr std::int64_t most_pages = std::int64_t{1} << 30;
  require(pages <= most_pages, "cache: ", pages, " pages are more than 2^30; use larger ones than ", shape.page_size);
  require(pages * shape.page_size <= most / shape.heads / shape.head_dim, "cache: ", pages, " whole pages of ",
          shape.page_size, " tokens are more than 2^40 values");
  return pages;
}

std::size_t hash_of(const void* data, std::size_t bytes) {
  return std::hash<std::string_view>()({static_cast<const char*>(data), bytes});
}

}  // namespace

void Pages::Free::operator()(std::byte* bytes) const { std::free(bytes); }

Pages::Pages(const CacheShape& shape, std::int64_t axes, std::int64_t turn_size, std::int64_t number_size)
    : shape_(shape),
      axes_(axes),
      turn_size_(turn_size),
      number_size_(number_size),
      element_size_(shape.storage == KvStorage::int8 ? 1 : static_cast<std::int64_t>(size_of(shape.type))) {
  const std::int64_t count = checked_pages(shape);
  const std::int64_t needed = 2 * count * part_bytes();
  try {
    const std::size_t alignment = index(needed) >= huge_page ? huge_page : small_alignment;
    const std::size_t whole = (index(needed) + alignment - 1) / alignment * alignment;
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
    if (bytes_ == nullptr) throw std::bad_alloc();
    ask_for_huge_pages(bytes_.get(), whole);
    scales_.resize(index(count * scales_per_page()));
    turns_.resize(index(count * shape.page_size * turn_size));
    numbers_.resize(index(count * shape.page_size * number_size));
    ids_.resize(index(count * axes * shape.page_size));
    pages_.resize(index(count));
  } catch (const std::bad_alloc&) {
    fail("cache: no memory for ", needed, " bytes of keys and values");
  }
  for (std::int64_t page = count; page-- > 0;) vacant_.push_back(static_cast<PageId>(page));
}

PageId Pages::take() {
  const PageId page = vacant_.back();
  vacant_.pop_back();
  pages_[index(page)] = {.users = 1};
  return page;
}

void Pages::release(PageId page) {
  if (--pages_[index(page)].users > 0) return;
  forget(page);
  vacant_.push_back(page);
}

std::vector<PageId> Pages::used() const {
  std::vector<PageId> all;
  for (std::size_t page = 0; page < pages_.size(); ++page) {
    if (pages_[page].users > 0) all.push_back(static_cast<PageId>(page));
  }
  return all;
}

std::byte* Pages::at(Part part, PageId page, std::int64_t head, std::int64_t slot) const {
  const std::int64_t half = 2 * std::int64_t{page} + (part == Part::values ? 1 : 0);
  return bytes_.get() + half * part_bytes() + (head * head_stride() + slot * shape_.head_dim) * element_size_;
}

const float* Pages::scale(Part part, PageId page, std::int64_t head, std::int64_t slot) const {
  const std::int64_t row = (2 * std::int64_t{page} + (part == Part::values ? 1 : 0)) * shape_.heads + head;
  return scales_.data() + row * shape_.page_size + slot;
}
float* Pages::scale(Part part, PageId page, std::int64_t head, std::int64_t slot) {
  return const_cast<float*>(static_cast<const Pages*>(this)->scale(part, page, head, slot));
}

const Position* Pages::ids(PageId page, std::int64_t axis) const {
  return ids_.data() + (page * axes_ + axis) * shape_.page_size;
}
Position* Pages::ids(PageId page, std::int64_t axis) {
  return const_cast<Position*>(static_cast<const Pages*>(this)->ids(page, axis));
}

const float* Pages::turn(PageId page, std::int64_t slot) const {
  return turns_.data() + (page * shape_.page_size + slot) * turn_size_;
}
float* Pages::turn(PageId page, std::int64_t slot) {
  return const_cast<float*>(static_cast<const Pages*>(this)->turn(page, slot));
}

const double* Pages::numbers(PageId page, std::int64_t slot) const {
  return numbers_.data() + (page * shape_.page_size + slot) * number_size_;
}
double* Pages::numbers(PageId page, std::int64_t slot) {
  return const_cast<double*>(static_cast<const Pages*>(this)->numbers(page, slot));
}

void Pages::resize_turns(std::int64_t size) {
  turns_.resize(index(std::ssize(pages_) * shape_.page_size * size));
  turn_size_ = size;
}

HeadsView Pages::view(Part part, PageId page, std::int64_t slot, std::int64_t count) const {
  return {.data = at(part, page, 0, slot),
          .type = shape_.type,
          .batch = 1,
          .tokens = count,
          .heads = shape_.heads,
          .head_dim = shape_.head_dim,
          .batch_stride = 0,
          .token_stride = shape_.head_dim,
          .head_stride = head_stride()};
}

void Pages::read(Part part, PageId page, std::int64_t head, std::int64_t slot, float* to) const {
  const std::byte* from = at(part, page, head, slot);
  if (integers()) {
    const float times = *scale(part, page, head, slot);
    const auto* integers = reinterpret_cast<const std::int8_t*>(from);
    for (std::int64_t j = 0; j < shape_.head_dim; ++j) to[j] = times * static_cast<float>(integers[j]);
    return;
  }
  const auto widen = [&](const auto* elements) {
    for (std::int64_t j = 0; j < shape_.head_dim; ++j) to[j] = to_float(elements[j]);
  };
  if (shape_.type == ElementType::float32) return widen(reinterpret_cast<const float*>(from));
  if (shape_.type == ElementType::bfloat16) return widen(reinterpret_cast<const BFloat16*>(from));
  widen(reinterpret_cast<const Float16*>(from));
}

void Pages::write_integers(Part part, PageId page, std::int64_t head, std::int64_t slot, const float* from) {
  *scale(part, page, head, slot) =
      quantise(from, shape_.head_dim, reinterpret_cast<std::int8_t*>(at(part, page, head, slot)));
}

void Pages::copy(const Pages& source, const Slots& from, const Slots& to, std::int64_t count) {
  const auto bytes = index(count * shape_.head_dim * element_size_);
  for (const Part part : {Part::keys, Part::values}) {
    for (std::int64_t head = 0; head < shape_.heads; ++head) {
      std::memcpy(at(part, to.page, head, to.first), source.at(part, from.page, head, from.first), bytes);
      if (!integers()) continue;
      const float* scales = source.scale(part, from.page, head, from.first);
      std::memcpy(scale(part, to.page, head, to.first), scales, index(count) * sizeof(float));
    }
  }
  for (std::int64_t axis = 0; axis < axes_; ++axis) {
    std::memcpy(ids(to.page, axis) + to.first, source.ids(from.page, axis) + from.first,
                index(count) * sizeof(Position));
  }
  std::copy_n(source.numbers(from.page, from.first), count * number_size_, numbers(to.page, to.first));
  if (turn_size_ == 0) return;
  std::memcpy(turn(to.page, to.first), source.turn(from.page, from.first), index(count * turn_size_) * sizeof(float));
}

// ---- equal pages

std::size_t Pages::hash(PageId page) const {
  const std::size_t numbers = hash_of(at(Part::keys, page, 0, 0), index(2 * part_bytes()));
  const std::size_t places = hash_of(ids(page, 0), index(axes_ * shape_.page_size) * sizeof(Position));
  return numbers * 31 + places;
}

bool Pages::equal(PageId a, PageId b) const {
  const auto same = [](const void* x, const void* y, std::int64_t bytes) {
    return bytes == 0 || std::memcmp(x, y, index(bytes)) == 0;  // what a cache does not keep has no memory: null
  };
  const auto float_size = static_cast<std::int64_t>(sizeof(float));
  const auto double_size = static_cast<std::int64_t>(sizeof(double));
  return same(numbers(a, 0), numbers(b, 0), shape_.page_size * number_size_ * double_size) &&
         same(at(Part::keys, a, 0, 0), at(Part::keys, b, 0, 0), 2 * part_bytes()) &&
         same(ids(a, 0), ids(b, 0), axes_ * shape_.page_size * static_cast<std::int64_t>(sizeof(Position))) &&
         (!integers() || same(scale(Part::keys, a, 0, 0), scale(Part::keys, b, 0, 0), scales_per_page() * float_size));
}

std::optional<PageId> Pages::find_equal_or_enter(PageId page) {
  const std::size_t own = hash(page);
  const auto [begin, end] = by_hash_.equal_range(own);
  for (auto found = begin; found != end; ++found) {
    if (found->second != page && equal(found->second, page)) return found->second;
  }
  if (!pages_[index(page)].hash) {
    by_hash_.emplace(own, page);
    pages_[index(page)].hash = own;
  }
  return {};
}

void Pages::forget(PageId page) {
  std::optional<std::size_t>& own = pages_[index(page)].hash;
  if (!own) return;
  const auto [begin, end] = by_hash_.equal_range(*own);
  const auto found = std::find_if(begin, end, [&](const auto& entry) { return entry.second == page; });
  if (found != end) by_hash_.erase(found);
  own.reset();
}

}  // namespace locus
