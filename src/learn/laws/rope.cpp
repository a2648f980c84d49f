// SPDX-License-Identifier: Apache-2.0
// rotate(x, positions), with either pairing: position 0 changes nothing, lengths stay, only the offset matters; and the
// same with a narrower slice, and as a shift of keys that were rotated before.
#include <cmath>

#include "learn/laws/compare.h"
#include "learn/laws/doctors_view.h"
#include "learn/laws/laws.h"
#include "learn/laws/plain_rope.h"
#include "locus/doctor/verify_callable.h"
#include "locus/reference.h"

namespace locus::learn {
namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::int64_t tokens = 8, heads = 2, dim = 8;
const Ids ids = {0, 1, 2, 3, 5, 9, 17, 40};

Encoding rope(bool half, std::int64_t rotary_dim = dim) {
  return Encoding("rope", {{"head_dim", dim}, {"rotary_dim", rotary_dim}, {"pairing", half ? "half" : "interleaved"}});
}

std::vector<double> rotated(const Encoding& encoding, const Array& x, const Ids& positions) {
  std::vector<double> values;
  for (std::size_t row = 0; row < static_cast<std::size_t>(x.size(0) * heads); ++row) {
    const Position id = positions[row / heads];
    const auto head = std::span(x.values).subspan(row * dim, dim);
    const std::vector<double> one =
        reference::rotate(encoding.rotation(), Role::query, Direction::forward, std::span(&id, 1), head);
    values.insert(values.end(), one.begin(), one.end());
  }
  return values;
}

double dot(const double* a, const double* b) {
  double sum = 0;
  for (std::int64_t c = 0; c < dim; ++c) sum += a[c] * b[c];
  return sum;
}

/// Parameters of the sentence for row `row` of [tokens, heads].
Parameters place_of(std::size_t row, const Ids& positions) {
  return {{"token", shown(row / heads)}, {"head", shown(row % heads)}, {"position", shown(positions[row / heads])}};
}

void check_norms(const Array& x, const Array& turned, const Ids& positions, const std::string& cause) {
  for (std::size_t row = 0; row < static_cast<std::size_t>(x.size(0) * heads); ++row) {
    const double* const before = x.values.data() + row * dim;
    const double* const after = turned.values.data() + row * dim;
    const double from = std::sqrt(dot(before, before)), to = std::sqrt(dot(after, after));
    if (agree(from, to)) continue;
    Parameters parameters = place_of(row, positions);
    parameters["from"] = shown(from);
    parameters["to"] = shown(to);
    throw BrokenLaw{"rope.norm", cause, parameters};
  }
}

/// The same query and key at the same distance, at the beginning and farther on.
template <class Rotate>
void check_relative(const Rotate& rotate, const Array& x, const std::string& cause) {
  const Ids near = {7, 4, 7, 4, 7, 4, 7, 4}, far = {27, 24, 27, 24, 27, 24, 27, 24};
  const Array one = rotate(x, near), other = rotate(x, far);
  for (std::size_t token = 0; token + 1 < static_cast<std::size_t>(tokens); token += 2) {
    const std::size_t query = token * heads * dim, key = (token + 1) * heads * dim;
    const double first = dot(&one.values[query], &one.values[key]);
    const double second = dot(&other.values[query], &other.values[key]);
    if (agree(first, second)) continue;
    throw BrokenLaw{
        "rope.relative", cause, {{"token", shown(token)}, {"first", shown(first)}, {"second", shown(second)}}};
  }
}

void check_first_position(const Array& x, const Array& turned, const Ids& positions, const std::string& cause) {
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const std::size_t row = i / dim;
    if (positions[row / heads] == 0 && !agree(x.values[i], turned.values[i])) {
      throw BrokenLaw{"rope.zero", cause, place_of(row, positions)};
    }
  }
}

std::string cause_of(const Array& x, const Array& turned, const Encoding& encoding, bool half, std::int64_t width) {
  const std::string known = likely_cause(turned.values, rope_mistakes(x, ids, half, width));
  return known.empty() ? fault_of(encoding, x, turned, ids) : known;
}

/// As `RotateFunction` of the doctor, which checks what these laws do not: packed, decoded and scattered ids.
template <class Rotate>
void ask_the_doctor(const Encoding& encoding, const Rotate& rotate) {
  const auto function = [&](const RotateRequest& request) {
    const Array x =
        Array::real({request.tokens, request.heads, request.head_dim}, {request.data.begin(), request.data.end()});
    const Array turned = rotate(x, Ids(request.ids.begin(), request.ids.end()));
    for (std::size_t i = 0; i < turned.values.size(); ++i) request.data[i] = static_cast<float>(turned.values[i]);
  };
  require_passed(verify_rotate(encoding, function, VerifyOptions{.max_length = 4096}));
}

template <class Rotate>
void check_rotation(const Encoding& encoding, bool half, std::int64_t width, const Rotate& rotate) {
  Random random(21);
  const Array x = random_array(random, {tokens, heads, dim});
  const Array turned = rotate(x, ids);
  const std::vector<double> wanted = rotated(encoding, x, ids);
  const std::string cause = agree(turned.values, wanted) ? "" : cause_of(x, turned, encoding, half, width);
  check_first_position(x, turned, ids, cause);
  check_norms(x, turned, ids, cause);
  check_relative(rotate, x, cause);
  require_equal(turned.values, wanted, "rope.angles", cause,
                [&](std::size_t index) { return place_of(index / dim, ids); });
  ask_the_doctor(encoding, rotate);
}

void laws_of_rope(Solution& solution, bool half) {
  check_rotation(rope(half), half, 0, [&](const Array& x, const Ids& positions) {
    return solution.call("rotate", {x, Array::ids(positions)}, x.shape);
  });
}

}  // namespace

void laws_of_rope_interleaved(Solution& solution) { laws_of_rope(solution, false); }
void laws_of_rope_half(Solution& solution) { laws_of_rope(solution, true); }

void laws_of_partial_rope(Solution& solution) {
  constexpr std::int64_t width = 4;
  const auto rotate = [&](const Array& x, const Ids& positions) {
    return solution.call("rotate", {x, Array::ids(positions), Array::number(width)}, x.shape);
  };
  Random random(22);
  const Array x = random_array(random, {tokens, heads, dim});
  const Array turned = rotate(x, ids);
  const std::string cause = likely_cause(
      turned.values,
      {{"partial.all_rotated", [&] { return plain_rope(x, ids, {.half = true}); }},
       {"partial.exponents_of_whole_head", [&] {
          return plain_rope(x, ids, {.half = true, .width = width, .angle = [](double p, std::int64_t i, std::int64_t) {
                                       return p * std::pow(10000.0, -2.0 * static_cast<double>(i) / dim);
                                     }});
        }}});
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    if (static_cast<std::int64_t>(i % dim) < width || agree(x.values[i], turned.values[i])) continue;
    const bool zero = agree(turned.values[i], 0);
    Parameters parameters = place_of(i / dim, ids);
    parameters["coordinate"] = shown(i % dim);
    throw BrokenLaw{"partial.rest",
                    zero            ? "partial.rest_lost"
                    : cause.empty() ? "partial.wrong_end"
                                    : cause,
                    parameters};
  }
  if (!cause.empty()) throw BrokenLaw{"rope.angles", cause, place_of(2, ids)};
  check_rotation(rope(true, width), true, width, rotate);
  for (const std::int64_t other : {std::int64_t{2}, dim}) {
    const Array again = solution.call("rotate", {x, Array::ids(ids), Array::number(other)}, x.shape);
    require_equal(again.values, rotated(rope(true, other), x, ids), "partial.width", "",
                  [&](std::size_t index) { return place_of(index / dim, ids); });
  }
}

void laws_of_cache_shift(Solution& solution) {
  Random random(23);
  const Encoding encoding = rope(true);
  const Array x = random_array(random, {tokens, heads, dim});
  const Ids now = {20, 21, 22, 23, 25, 29, 37, 60};
  Array cached = x;
  cached.values = rotated(encoding, x, ids);
  const auto shift = [&](const Array& keys, const Ids& from, const Ids& to) {
    return solution.call("shift_keys", {keys, Array::ids(from), Array::ids(to)}, keys.shape);
  };
  const auto turned_by = [&](const auto& amount) {
    return [&, amount] {
      Ids by;
      for (std::size_t i = 0; i < ids.size(); ++i) by.push_back(amount(i));
      return plain_rope(cached, by, {.half = true});
    };
  };
  const Array shifted = shift(cached, ids, now);
  const std::string cause = likely_cause(
      shifted.values, {{"cache.rotated_again", turned_by([&](std::size_t i) { return now[i]; })},
                       {"cache.backwards", turned_by([&](std::size_t i) { return ids[i] - now[i]; })},
                       {"cache.by_index", turned_by([](std::size_t i) { return static_cast<std::int64_t>(i); })},
                       {"cache.not_moved", [&] { return cached.values; }},
                       {"fault.wrong_pairing", [&] {
                          Ids by(ids.size(), 20);
                          return plain_rope(cached, by, {.half = false});
                        }}});
  const Array still = shift(cached, ids, ids);
  require_equal(still.values, cached.values, "cache.zero", cause,
                [&](std::size_t i) { return place_of(i / dim, ids); });
  check_norms(cached, shifted, now, cause);
  require_equal(shifted.values, rotated(encoding, x, now), "cache.fresh", cause,
                [&](std::size_t i) { return place_of(i / dim, now); });

  // A gap: each key moves by its own amount.
  const Ids gap = {0, 1, 2, 3, 4, 5, 6, 7};
  const Array closed = shift(cached, ids, gap);
  require_equal(closed.values, rotated(encoding, x, gap), "cache.gap", "cache.one_amount",
                [&](std::size_t i) { return place_of(i / dim, gap); });
}

void laws_of_relative_score(Solution& solution) {
  Random random(24);
  const Array x = random_array(random, {2, 1, dim});
  const Array q = Array::real({dim}, {x.values.begin(), x.values.begin() + dim});
  const Array k = Array::real({dim}, {x.values.begin() + dim, x.values.end()});
  const auto score = [&](std::int64_t offset) {
    return solution.call("relative_score", {q, k, Array::number(offset)}, {}).values.at(0);
  };
  const auto rotated_dot = [&](std::int64_t i, std::int64_t j, bool half) {
    const std::vector<double> both = plain_rope(x, {i, j}, {.half = half});
    return dot(both.data(), both.data() + dim);
  };
  const auto turned = [](auto value) { return [value] { return std::vector<double>{value}; }; };
  const double three = score(3);
  const std::string cause = likely_cause({three}, {{"relative.sign", turned(rotated_dot(0, 3, true))},
                                                   {"fault.wrong_pairing", turned(rotated_dot(3, 0, false))},
                                                   {"relative.plain", turned(rotated_dot(0, 0, true))}});
  if (!agree(score(0), rotated_dot(0, 0, true))) throw BrokenLaw{"relative.zero", cause};
  for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{3, 0}, {7, 4}, {103, 100}, {2, 7}, {40, 0}}) {
    // q at i and k at j, rotated and multiplied, is what r = i - j alone must give.
    const double got = score(i - j);
    if (agree(got, rotated_dot(i, j, true))) continue;
    const bool sign_lost = cause.empty() && i < j && agree(got, rotated_dot(j, i, true));
    throw BrokenLaw{"relative.identity",
                    sign_lost ? "relative.absolute" : cause,
                    {{"query", shown(i)}, {"key", shown(j)}, {"offset", shown(i - j)}}};
  }
}

}  // namespace locus::learn
