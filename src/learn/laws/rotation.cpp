// SPDX-License-Identifier: Apache-2.0
#include "learn/laws/rotation.h"

#include <cmath>

#include "learn/laws/compare.h"
#include "learn/laws/doctors_view.h"
#include "learn/laws/plain_rope.h"
#include "locus/doctor/verify_callable.h"
#include "locus/reference.h"

namespace locus::learn::rotation {

Encoding rope(bool half, std::int64_t rotary_dim) {
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

namespace {

/// The same query and key at the same distance, at the beginning and farther on.
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
void ask_the_doctor(const Encoding& encoding, const Rotate& rotate) {
  const auto function = [&](const RotateRequest& request) {
    const Array x =
        Array::real({request.tokens, request.heads, request.head_dim}, {request.data.begin(), request.data.end()});
    const Array turned = rotate(x, Ids(request.ids.begin(), request.ids.end()));
    for (std::size_t i = 0; i < turned.values.size(); ++i) request.data[i] = static_cast<float>(turned.values[i]);
  };
  require_passed(verify_rotate(encoding, function, VerifyOptions{.max_length = 4096}));
}

}  // namespace

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

}  // namespace locus::learn::rotation
