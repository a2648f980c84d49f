// SPDX-License-Identifier: Apache-2.0
#include "locus/initial_weights.h"

#include <algorithm>
#include <cmath>

#include "locus/double_double.h"
#include "locus/error.h"
#include "locus/text.h"

namespace locus {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014): unlike std::normal_distribution, the same on every platform.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double uniform(std::uint64_t& state) { return (static_cast<double>(next(state) >> 11) + 0.5) * 0x1p-53; }

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return joined(shape, " x ", [](std::int64_t extent) { return extent < 0 ? "any" : std::to_string(extent); });
}

}  // namespace

Tensor normal_weights(std::vector<std::int64_t> shape, std::int64_t seed, double deviation) {
  std::size_t size = 1;
  for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
  Tensor tensor{.shape = std::move(shape), .data = std::vector<float>(size)};
  std::uint64_t state = static_cast<std::uint64_t>(seed);
  for (std::size_t i = 0; i < size; i += 2) {  // Box and Muller: two at a time
    const double radius = deviation * std::sqrt(-2 * std::log(uniform(state)));
    const double angle = 2 * double_double_pi.hi * uniform(state);
    tensor.data[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < size) tensor.data[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return tensor;
}

Tensor weights_or_normal(std::string_view owner, const Arguments& arguments, std::string_view name,
                         const std::vector<std::int64_t>& shape, std::int64_t stream) {
  if (!arguments.has(name)) {
    constexpr std::int64_t most = std::int64_t{1} << 32;
    std::int64_t left = most;
    for (const std::int64_t extent : shape) left /= std::max<std::int64_t>(extent, 1);
    require(left > 0, owner, ".", name, " must have at most 2^32 values, got ", [&] { return shape_text(shape); });
    // Streams give the tensors of one scheme different numbers. Unsigned, because any seed is allowed and the sum may
    // wrap.
    const std::uint64_t apart = static_cast<std::uint64_t>(stream) * 0x632be59bd9b4e019u;
    const std::uint64_t seed = static_cast<std::uint64_t>(arguments.integer("seed")) + apart;
    return normal_weights(shape, static_cast<std::int64_t>(seed), arguments.real("deviation"));
  }
  const Tensor& tensor = arguments.tensor(name);
  bool fits = tensor.shape.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] < 0 || shape[i] == tensor.shape[i];
  if (!fits) {
    fail(owner, ".", name, " must have the shape ", shape_text(shape), ", got ", shape_text(tensor.shape));
  }
  return tensor;
}

Parameter seed_parameter() {
  return {.name = "seed",
          .kind = ValueKind::integer,
          .meaning = "seed of the initial weights, if none are given",
          .fallback = std::int64_t{0}};
}

Parameter deviation_parameter() {
  return {.name = "deviation",
          .kind = ValueKind::real,
          .meaning = "standard deviation of the initial weights",
          .fallback = 0.02,
          .least = 0};
}

}  // namespace locus
