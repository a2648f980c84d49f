// SPDX-License-Identifier: Apache-2.0
// The pages of a cache: their memory, their users, and which of them are equal.
//
// A page holds page_size tokens. Its numbers are ordered by head: attention reads a head of a page as one stream.
//
//   keys [heads][page_size][head_dim]   values [heads][page_size][head_dim]
//
// A page also has the ids that its keys are stored at, [axes][page_size], the scales of 8-bit numbers, the turns of raw
// keys, [page_size][cos | sin], and the numbers that tokens bring, [page_size][number_size].
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "attention/problem.h"
#include "locus/cache.h"

namespace locus {

using PageId = std::int32_t;

using Part = RowSupply::Part;

class Pages {
 public:
  /// `turn_size`: floats per token for raw keys, otherwise 0. `number_size`: doubles that a token brings.
  Pages(const CacheShape& shape, std::int64_t axes, std::int64_t turn_size, std::int64_t number_size);

  std::int64_t size() const { return shape_.page_size; }
  std::int64_t free() const { return static_cast<std::int64_t>(vacant_.size()); }
  /// Returns a free page with one user. There must be one.
  PageId take();
  void retain(PageId page) { ++pages_[index(page)].users; }
  void release(PageId page);
  std::int64_t users(PageId page) const { return pages_[index(page)].users; }
  /// Returns the number of slots, from the first, that hold tokens of any user.
  std::int64_t filled(PageId page) const { return pages_[index(page)].filled; }
  void set_filled(PageId page, std::int64_t filled) { pages_[index(page)].filled = filled; }
  /// Returns the number of pages in use.
  std::vector<PageId> used() const;

  bool integers() const { return shape_.storage == KvStorage::int8; }
  std::int64_t element_size() const { return element_size_; }
  /// Elements from one head of a page to the next; scales are page_size apart.
  std::int64_t head_stride() const { return shape_.page_size * shape_.head_dim; }

  std::byte* at(Part part, PageId page, std::int64_t head, std::int64_t slot) const;
  float* scale(Part part, PageId page, std::int64_t head, std::int64_t slot);
  const float* scale(Part part, PageId page, std::int64_t head, std::int64_t slot) const;
  Position* ids(PageId page, std::int64_t axis);
  const Position* ids(PageId page, std::int64_t axis) const;
  float* turn(PageId page, std::int64_t slot);
  const float* turn(PageId page, std::int64_t slot) const;
  double* numbers(PageId page, std::int64_t slot);
  const double* numbers(PageId page, std::int64_t slot) const;
  /// Changes the size of turns; existing ones are lost.
  void resize_turns(std::int64_t size);
  /// Returns a view of slots [slot, slot + count) of pages of elements.
  HeadsView view(Part part, PageId page, std::int64_t slot, std::int64_t count) const;

  /// Converts one head of a stored token to and from float32.
  void read(Part part, PageId page, std::int64_t head, std::int64_t slot, float* to) const;
  void write_integers(Part part, PageId page, std::int64_t head, std::int64_t slot, const float* from);

  /// Copies `count` slots between pages of the same shape: numbers, ids, scales and turns.
  struct Slots {
    PageId page = 0;
    std::int64_t first = 0;
  };
  void copy(const Pages& source, const Slots& from, const Slots& to, std::int64_t count);

  /// Returns an entered page with the same contents, or else enters this one. It must be full.
  std::optional<PageId> find_equal_or_enter(PageId page);
  bool entered(PageId page) const { return pages_[index(page)].hash.has_value(); }
  /// Removes a page that is about to change from the entered ones.
  void forget(PageId page);

 private:
  struct Page {
    std::int64_t users = 0;
    std::int64_t filled = 0;
    std::optional<std::size_t> hash = {};
  };
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  bool equal(PageId a, PageId b) const;
  std::size_t hash(PageId page) const;
  std::int64_t part_bytes() const { return shape_.heads * head_stride() * element_size_; }
  std::int64_t scales_per_page() const { return integers() ? 2 * shape_.heads * shape_.page_size : 0; }

  CacheShape shape_;
  std::int64_t axes_, turn_size_, number_size_, element_size_;
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::vector<float> scales_, turns_;
  std::vector<double> numbers_;
  std::vector<Position> ids_;
  std::vector<Page> pages_;
  std::vector<PageId> vacant_;
  std::unordered_multimap<std::size_t, PageId> by_hash_;
};

}  // namespace locus
