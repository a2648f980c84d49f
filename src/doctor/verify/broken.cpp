// SPDX-License-Identifier: Apache-2.0
// Broken encodings. Each fault is written as a user would write it, in a few lines, without our kernels.
#include "locus/doctor/broken.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "doctor/faults.h"
#include "locus/doctor/verify_callable.h"
#include "locus/names.h"

namespace locus {
namespace {

using doctor::find_fault;

// A plain RoPE with base 10000 and replaceable parts.
struct PlainRope {
  std::function<Position(const RotateRequest&, std::int64_t token)> position =
      [](const RotateRequest& r, std::int64_t token) { return r.ids[static_cast<std::size_t>(token)]; };
  bool interleaved = false;
  bool float32_angles = false;
  double direction = 1;

  void operator()(const RotateRequest& r) const {
    const std::int64_t pairs = r.head_dim / 2;
    for (std::int64_t i = 0; i < r.tokens * r.heads * pairs; ++i) {
      const std::int64_t pair = i % pairs, head = i / pairs;
      const double frequency = std::pow(10000.0, -static_cast<double>(pair) / static_cast<double>(pairs));
      const Position p = position(r, head / r.heads);
      const double angle = float32_angles ? static_cast<double>(static_cast<float>(p) * static_cast<float>(frequency))
                                          : static_cast<double>(p) * frequency;
      const double c = std::cos(angle), s = direction * std::sin(angle);
      const auto at = [&](std::int64_t j) -> float& { return r.data[static_cast<std::size_t>(head * r.head_dim + j)]; };
      float& a = at(interleaved ? 2 * pair : pair);
      float& b = at(interleaved ? 2 * pair + 1 : pair + pairs);
      const double x = static_cast<double>(a), y = static_cast<double>(b);
      a = static_cast<float>(x * c - y * s);
      b = static_cast<float>(x * s + y * c);
    }
  }
};

Encoding plain_encoding() { return Encoding("rope", {{"head_dim", 16}, {"pairing", "half"}}); }

// Reads the cached length before the new token is added.
std::vector<Check> off_by_one_decode() {
  PlainRope rope;
  rope.position = [](const RotateRequest& r, std::int64_t t) {
    return r.tokens == 1 ? r.ids[0] - 1 : r.ids[static_cast<std::size_t>(t)];
  };
  return verify_rotate(plain_encoding(), rope);
}

// Reads only the first id and assumes that the others follow.
std::vector<Check> unreset_packed_ids() {
  PlainRope rope;
  rope.position = [](const RotateRequest& r, std::int64_t t) { return r.ids[0] + t; };
  return verify_rotate(plain_encoding(), rope);
}

std::vector<Check> ids_ignored() {
  PlainRope rope;
  rope.position = [](const RotateRequest&, std::int64_t t) { return t; };
  return verify_rotate(plain_encoding(), rope);
}

std::vector<Check> wrong_pairing() {
  PlainRope rope;
  rope.interleaved = true;
  return verify_rotate(plain_encoding(), rope);
}

std::vector<Check> float32_angles() {
  PlainRope rope;
  rope.float32_angles = true;
  return verify_rotate(plain_encoding(), rope);
}

std::vector<Check> inverse_rotation() {
  PlainRope rope;
  rope.direction = -1;
  return verify_rotate(plain_encoding(), rope);
}

// YaRN with factor 1 rotates like plain RoPE, but its cos and sin have an attention factor.
std::vector<Check> magnitude_missing() {
  const Encoding encoding("rope", {{"head_dim", 16},
                                   {"pairing", "half"},
                                   {"rule", "yarn"},
                                   {"factor", 1},
                                   {"original_length", 4096},
                                   {"attention_factor", 1.25}});
  return verify_rotate(encoding, PlainRope());
}

// ALiBi that reads its vector of penalties from the wrong end: the first key is nearest, the query itself farthest.
std::vector<Check> bias_from_the_wrong_end() {
  constexpr std::array slopes{1.0 / 4, 1.0 / 16, 1.0 / 64, 1.0 / 256};
  const auto attend = [&](const AttendRequest& r) {
    const auto document = [](std::span<const std::int64_t> ends, std::int64_t token) {
      return std::upper_bound(ends.begin(), ends.end(), token) - ends.begin();
    };
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t row = 0; row < r.queries * r.heads; ++row) {
      const std::int64_t query = row / r.heads, head = row % r.heads, group = r.heads / r.key_heads;
      std::vector<double> sum(at(r.head_dim));
      double total = 0;
      for (std::int64_t key = 0; key < r.keys; ++key) {
        const bool seen = r.key_ids[at(key)] <= r.query_ids[at(query)] &&
                          document(r.query_boundaries, query) == document(r.key_boundaries, key) &&
                          (r.key_mask.empty() || r.key_mask[at(key)] != 0);
        if (!seen) continue;
        const std::int64_t key_row = (key * r.key_heads + head / group) * r.head_dim;
        double score = 0;
        for (std::int64_t j = 0; j < r.head_dim; ++j) {
          score += static_cast<double>(r.query[at(row * r.head_dim + j)]) * static_cast<double>(r.key[at(key_row + j)]);
        }
        const double distance = static_cast<double>(r.key_ids[at(key)] - r.key_ids[0]);  // from the first key
        const double weight =
            std::exp(score / std::sqrt(static_cast<double>(r.head_dim)) - slopes[at(head)] * distance);
        total += weight;
        for (std::int64_t j = 0; j < r.head_dim; ++j)
          sum[at(j)] += weight * static_cast<double>(r.value[at(key_row + j)]);
      }
      for (std::int64_t j = 0; j < r.head_dim; ++j) {
        r.output[at(row * r.head_dim + j)] = static_cast<float>(total == 0 ? 0 : sum[at(j)] / total);
      }
    }
  };
  return verify_attend(Encoding("alibi", {{"heads", 4}}), attend);
}

struct Known {
  Broken broken;
  std::vector<Check> (*verify)();
};

const std::array known = {
    Known{{"off_by_one_decode", find_fault("off_by_one_in_decode").name}, off_by_one_decode},
    Known{{"unreset_packed_ids", find_fault("positions_not_reset").name}, unreset_packed_ids},
    Known{{"ids_ignored", find_fault("ids_ignored").name}, ids_ignored},
    Known{{"wrong_pairing", find_fault("wrong_pairing").name}, wrong_pairing},
    Known{{"float32_angles", find_fault("float32_angles").name}, float32_angles},
    Known{{"bias_from_the_wrong_end", find_fault("bias_from_the_wrong_end").name}, bias_from_the_wrong_end},
    Known{{"inverse_rotation", find_fault("inverse_rotation").name}, inverse_rotation},
    Known{{"magnitude_missing", find_fault("magnitude_missing").name}, magnitude_missing},
};

}  // namespace

std::span<const Broken> broken_encodings() {
  static const std::vector<Broken> all = [] {
    std::vector<Broken> list;
    for (const Known& one : known) list.push_back(one.broken);
    return list;
  }();
  return all;
}

std::vector<Check> verify_broken(std::string_view name) {
  return find_named("broken encoding", known, name, [](const Known& one) { return one.broken.name; }).verify();
}

}  // namespace locus
