// SPDX-License-Identifier: Apache-2.0
#include "doctor/heads_array.h"

namespace locus::doctor {
namespace {

// Calls `act` with a pointer to the elements.
template <class Act>
void with_elements(ElementType type, std::byte* bytes, const Act& act) {
  if (type == ElementType::float32) return act(reinterpret_cast<float*>(bytes));
  if (type == ElementType::float64) return act(reinterpret_cast<double*>(bytes));
  if (type == ElementType::bfloat16) return act(reinterpret_cast<BFloat16*>(bytes));
  act(reinterpret_cast<Float16*>(bytes));
}

void store(double value, float& to) { to = static_cast<float>(value); }
void store(double value, double& to) { to = value; }
void store(double value, BFloat16& to) { to = to_bfloat16(value); }
void store(double value, Float16& to) { to = to_float16(value); }
double load(double value) { return value; }
template <class T>
double load(T value) {
  return static_cast<double>(to_float(value));
}

}  // namespace

HeadsArray::HeadsArray(ElementType type, const Extents& extents)
    : type_(type), extents_(extents), bytes_(static_cast<std::size_t>(extents.count()) * size_of(type)) {}

HeadsArray::HeadsArray(ElementType type, const Extents& extents, std::span<const double> values)
    : HeadsArray(type, extents) {
  with_elements(type, bytes_.data(), [&](auto* elements) {
    for (std::size_t i = 0; i < values.size(); ++i) store(values[i], elements[i]);
  });
}

HeadsView HeadsArray::view() const {
  return {.data = bytes_.data(),
          .type = type_,
          .batch = extents_.batch,
          .tokens = extents_.tokens,
          .heads = extents_.heads,
          .head_dim = extents_.head_dim,
          .batch_stride = extents_.tokens * extents_.heads * extents_.head_dim,
          .token_stride = extents_.heads * extents_.head_dim,
          .head_stride = extents_.head_dim};
}

std::vector<double> HeadsArray::values() const {
  std::vector<double> values(static_cast<std::size_t>(extents_.count()));
  with_elements(type_, bytes_.data(), [&](const auto* elements) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = load(elements[i]);
  });
  return values;
}

double unit_roundoff(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return 0x1p-53;
    case ElementType::bfloat16:
      return 0x1p-8;
    case ElementType::float16:
      return 0x1p-11;
    case ElementType::float32:
      break;
  }
  return 0x1p-24;
}

}  // namespace locus::doctor
