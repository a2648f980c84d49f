// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/rotate_cases.h"

#include <algorithm>
#include <numeric>

#include "doctor/random_numbers.h"
#include "doctor/verify/index.h"
#include "locus/positions.h"

namespace locus::doctor {
namespace {

class RotateCases {
 public:
  RotateCases(const Encoding& encoding, const VerifyOptions& options)
      : encoding_(encoding), options_(options), random_(options.seed) {}

  std::vector<RotateCase> all() {
    small_ones();
    long_ones();
    far_ones();
    if (options_.thorough) thorough_ones();
    return std::move(cases_);
  }

 private:
  Position last() const {
    Position most = encoding_.position_range().last;
    if (options_.max_length) most = std::min(most, *options_.max_length - 1);
    return most - 20 * (encoding_.rotation().axes - 1);  // the other axes have larger ids
  }
  Position first() const {
    return options_.max_length ? std::max<Position>(0, encoding_.position_range().first)
                               : encoding_.position_range().first;
  }

  void add(RotateCase one) {
    const auto [least, most] = std::minmax_element(one.ids.begin(), one.ids.end());
    if (*least < first() || *most > last()) return;
    fill(std::move(one));
  }

  // Also adds the case with ids clamped to the range, so that short tables are tested too.
  void add_fitted(RotateCase one) {
    for (Position& id : one.ids) id = std::clamp(id, first(), last());
    fill(std::move(one));
  }

  void fill(RotateCase one) {
    if (one.calls.empty()) one.calls = {one.tokens()};
    one.given = random_.elements(one.tokens() * one.heads * encoding_.rotation().head_dim);
    cases_.push_back(std::move(one));
  }

  static std::vector<Position> ids(std::int64_t tokens, Position start = 0) { return consecutive(tokens, start); }

  void small_ones() {
    add_fitted({.name = "prefill = exact", .ids = ids(12)});
    add_fitted({.name = "prefill of keys = exact", .ids = ids(12), .role = Role::key});
    add_fitted({.name = "chunked = exact", .ids = ids(12), .calls = {5, 5, 2}});
    add_fitted({.name = "one token at a time = exact", .ids = ids(12), .calls = std::vector<std::int64_t>(12, 1)});
    add_fitted({.name = "scattered ids = exact", .ids = {3, 40, 7, 7, 121, 0, 1, 90, 15, 16, 2, 64}});
    add_fitted({.name = "packed = exact",
                .ids = positions::packed(std::vector<std::int64_t>{5, 1, 6}).ids,
                .boundaries = {0, 5, 6, 12}});
    const positions::Padded left = positions::left_padded(std::vector<std::int64_t>{9}, 12);
    add_fitted({.name = "left-padded = exact", .ids = left.ids.ids, .mask = left.mask});
    const positions::Padded right = positions::right_padded(std::vector<std::int64_t>{9}, 12);
    add_fitted({.name = "right-padded = exact", .ids = right.ids.ids, .mask = right.mask});
    add({.name = "positions from 100 = exact", .ids = ids(12, 100), .calls = {8, 1, 1, 1, 1}});
    add({.name = "positions below 0 = exact", .ids = ids(14, -7)});
    add({.name = "keys below 0 = exact", .ids = ids(14, -7), .role = Role::key});
    add({.name = "repeated ids = exact", .ids = {10, 11, 11, 12, 12, 12, 13, 13, 11, 10}});
    for (const std::int64_t heads : {1, 2, 8, 12}) {
      add_fitted(
          {.name = std::to_string(heads) + " heads = exact", .ids = ids(7, 3), .calls = {5, 1, 1}, .heads = heads});
    }
  }

  void long_ones() {
    add({.name = "prefill of 300 tokens = exact", .ids = ids(300)});
    add({.name = "prefill of 300 keys = exact", .ids = ids(300), .role = Role::key});
    add({.name = "chunks of 16, 64 and 100 = exact", .ids = ids(230), .calls = {16, 64, 100, 1, 1, 32, 16}});
    std::vector<std::int64_t> steps;
    std::int64_t done = 0;
    for (const std::int64_t page : {16, 32, 64, 128, 256}) {
      steps.push_back(page - 2 - done);
      for (int i = 0; i < 5; ++i) steps.push_back(1);
      done = page + 3;
    }
    add({.name = "decoded across pages = exact", .ids = ids(done), .calls = steps});
    add({.name = "long documents packed = exact",
         .ids = positions::packed(std::vector<std::int64_t>{17, 3, 70, 33, 16}).ids,
         .boundaries = {0, 17, 20, 90, 123, 139}});
    std::vector<Position> others;
    for (const auto& [start, count] : {std::pair{0, 6}, {100, 9}, {37, 4}, {513, 11}}) {
      for (int i = 0; i < count; ++i) others.push_back(start + i);
    }
    add({.name = "packed from other positions = exact", .ids = others, .boundaries = {0, 6, 15, 19, 30}});
    const positions::Padded left = positions::left_padded(std::vector<std::int64_t>{41}, 110);
    add({.name = "left-padded by more than a page = exact", .ids = left.ids.ids, .mask = left.mask});
    // A prefix and two continuations.
    std::vector<Position> forked = ids(20);
    for (int branch = 0; branch < 2; ++branch) {
      for (Position id = 20; id < 24; ++id) forked.push_back(id);
    }
    add({.name = "forked after 20 tokens = exact",
         .ids = forked,
         .calls = {20, 1, 1, 1, 1, 1, 1, 1, 1},
         .forked = true});
    std::vector<Position> scattered;
    for (int i = 0; i < 40; ++i) scattered.push_back(random_.up_to(9000));
    add({.name = "scattered ids up to 9000 = exact", .ids = scattered});
  }

  void far_ones() {
    for (const int bits : {7, 8, 11, 12, 15, 16, 20, 24, 31}) {
      const Position edge = Position{1} << bits;
      const Position start = bits == 31 ? edge - 9 : edge - 5;
      for (const Role role : {Role::query, Role::key}) {
        if (role == Role::key && bits != 12 && bits != 16) continue;
        add({.name = std::string(role == Role::key ? "keys" : "positions") + " around 2^" + std::to_string(bits) +
                     " = exact",
             .ids = ids(9, start),
             .calls = {6, 1, 1, 1},
             .role = role});
      }
    }
    add({.name = "positions from 65521 = exact", .ids = ids(12, 65'521)});
    add({.name = "positions from 1000003 = exact", .ids = ids(12, 1'000'003)});
  }

  void thorough_ones() {
    for (const Role role : {Role::query, Role::key}) {
      const std::string what = role == Role::key ? "keys" : "tokens";
      add({.name = "prefill of 5,000 " + what + " = exact", .ids = ids(5000), .heads = 2, .role = role});
      for (int bits = 7; bits <= 30; ++bits) {
        add({.name = std::to_string(bits) + " bits, 200 " + what + " = exact",
             .ids = ids(200, (Position{1} << bits) - 100),
             .calls = {96, 1, 1, 1, 1, 50, 50},
             .role = role});
      }
      for (int i = 0; i < 20; ++i) {
        std::vector<Position> far;
        for (int t = 0; t < 100; ++t) far.push_back(random_.up_to(max_position));
        add({.name = "scattered " + what + " anywhere, " + std::to_string(i) + " = exact",
             .ids = far,
             .heads = 1 + random_.up_to(15),
             .role = role});
      }
    }
  }

  const Encoding& encoding_;
  const VerifyOptions& options_;
  RandomNumbers random_;
  std::vector<RotateCase> cases_;
};

}  // namespace

std::vector<RotateCase> rotate_cases(const Encoding& encoding, const VerifyOptions& options) {
  return RotateCases(encoding, options).all();
}

std::vector<Position> ids_of_axes(const Encoding& encoding, std::span<const Position> ids) {
  std::vector<Position> all;
  for (int axis = 0; axis < encoding.rotation().axes; ++axis) {
    for (const Position id : ids) {
      const Position own = axis == 0 ? 0 : 3 * axis + ((id % 7) * (axis + 2) % 11 + 11) % 11;
      all.push_back(id + own);
    }
  }
  return all;
}

}  // namespace locus::doctor
