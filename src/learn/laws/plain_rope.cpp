// SPDX-License-Identifier: Apache-2.0
#include "learn/laws/plain_rope.h"

#include <cmath>
#include <numbers>

namespace locus::learn {
namespace {

using Product = RopeForm::Product;

void turn(double& first, double& second, double angle, Product product) {
  double c = std::cos(angle), s = std::sin(angle);
  if (product == Product::exchanged) std::swap(c, s);
  if (product == Product::inverse) s = -s;
  const double old = first;
  first = product == Product::same_sign ? first * c + second * s : first * c - second * s;
  second = second * c + (product == Product::overwritten ? first : old) * s;
}

double usual_angle(double position, std::int64_t pair, std::int64_t width) {
  return position * std::pow(10000.0, -2.0 * static_cast<double>(pair) / static_cast<double>(width));
}

}  // namespace

std::vector<double> plain_rope(const Array& x, const std::vector<std::int64_t>& ids, const RopeForm& form) {
  const std::int64_t dim = x.shape.back(), width = form.width > 0 ? form.width : dim;
  const auto heads = static_cast<std::int64_t>(x.values.size()) / dim / x.size(0);
  std::vector<double> values = x.values;
  for (std::int64_t row = 0; row < x.size(0) * heads; ++row) {
    const auto position = static_cast<double>(ids[static_cast<std::size_t>(row / heads)]);
    double* const head = values.data() + row * dim;
    for (std::int64_t pair = 0; pair < width / 2; ++pair) {
      const double angle = form.angle ? form.angle(position, pair, width) : usual_angle(position, pair, width);
      double& first = head[form.half ? pair : 2 * pair];
      double& second = head[form.half ? pair + width / 2 : 2 * pair + 1];
      turn(first, second, angle, form.product);
    }
  }
  return values;
}

std::vector<Mistake> rope_mistakes(const Array& x, const std::vector<std::int64_t>& ids, bool half,
                                   std::int64_t width) {
  const auto with = [&x, &ids](const RopeForm& form) { return [&x, &ids, form] { return plain_rope(x, ids, form); }; };
  const auto product = [=](Product wrong) { return with({.half = half, .width = width, .product = wrong}); };
  const auto angle = [=](auto wrong) { return with({.half = half, .width = width, .angle = wrong}); };
  return {
      {"fault.overwritten_in_place", product(Product::overwritten)},
      {"fault.product_sign", product(Product::same_sign)},
      {"fault.cos_and_sin_exchanged", product(Product::exchanged)},
      {"fault.inverse_rotation", product(Product::inverse)},
      {"fault.wrong_pairing", with({.half = !half, .width = width})},
      {"rope.exponent_halved", angle([](double p, std::int64_t i, std::int64_t w) {
         return p * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(w));
       })},
      {"fault.frequencies_reversed",
       angle([](double p, std::int64_t i, std::int64_t w) { return usual_angle(p, w / 2 - 1 - i, w); })},
      {"fault.frequencies_constant", angle([](double p, std::int64_t, std::int64_t) { return p; })},
      {"rope.degrees",
       angle([](double p, std::int64_t i, std::int64_t w) { return usual_angle(p, i, w) * std::numbers::pi / 180; })},
  };
}

}  // namespace locus::learn
