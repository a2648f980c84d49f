// SPDX-License-Identifier: Apache-2.0
#include "profiles/engine_row.h"

#include <algorithm>
#include <cmath>

#include "locus/double_double.h"
#include "locus/element.h"

namespace locus {
namespace {

// transformers and vLLM: angle, cosine and product with the factor are all float32.
void single_row(const Rotation& rotation, const Coordinates& coordinates, std::span<float> cos, std::span<float> sin) {
  const float magnitude = static_cast<float>(rotation.magnitude);
  for (std::size_t i = 0; i < cos.size(); ++i) {
    float position = static_cast<float>(coordinates.coordinate(rotation.axis[i]));
    if (coordinates.real) position *= static_cast<float>(2 * double_double_pi.hi);
    const float angle = position * rotation.single_freq[i];
    cos[i] = static_cast<float>(std::cos(static_cast<double>(angle))) * magnitude;
    sin[i] = static_cast<float>(std::sin(static_cast<double>(angle))) * magnitude;
  }
}

// ggml's pair index whose frequency turns `times` times within the trained length.
float ggml_correction(const GgmlRope& call, float times) {
  const float pi = static_cast<float>(double_double_pi.hi);
  return static_cast<float>(call.n_dims) * std::log(static_cast<float>(call.original_length) / (times * 2 * pi)) /
         (2 * std::log(call.freq_base));
}

// ggml: the angle of the next pair is the previous one times base^(-2/n_dims), all in float32.
void ggml_row(const Rotation& rotation, const Coordinates& coordinates, std::span<float> cos, std::span<float> sin) {
  const GgmlRope& call = *rotation.ggml;
  const float step = std::pow(call.freq_base, -2.0f / static_cast<float>(call.n_dims));
  float low = 0;
  float high = 0;
  float magnitude = call.attn_factor;
  if (call.ext_factor != 0) {
    low = std::max(0.0f, std::floor(ggml_correction(call, call.beta_fast)));
    high = std::min(static_cast<float>(call.n_dims - 1), std::ceil(ggml_correction(call, call.beta_slow)));
    magnitude *= 1.0f + 0.1f * std::log(1.0f / call.freq_scale);
  }
  std::array<float, max_axes> theta{};
  for (std::size_t a = 0; a < max_axes; ++a) theta[a] = static_cast<float>(coordinates.whole[a]);
  for (std::size_t i = 0; i < cos.size(); ++i) {
    const std::size_t axis = rotation.axis[i];
    if (rotation.restarts_per_axis && i > 0 && axis != rotation.axis[i - 1]) {
      theta[axis] = static_cast<float>(coordinates.whole[axis]);
    }
    const float kept = call.freq_factors.empty() ? theta[axis] : theta[axis] / call.freq_factors[i];
    float angle = call.freq_scale * kept;
    if (call.ext_factor != 0) {
      const float ramp = (static_cast<float>(i) - low) / std::max(0.001f, high - low);
      const float keep = (1 - std::min(1.0f, std::max(0.0f, ramp))) * call.ext_factor;
      angle = angle * (1 - keep) + kept * keep;
    }
    cos[i] = std::cos(angle) * magnitude;
    sin[i] = std::sin(angle) * magnitude;
    for (float& t : theta) t *= step;
  }
}

}  // namespace

void engine_row(const Rotation& rotation, const Coordinates& coordinates, std::span<float> cos, std::span<float> sin) {
  if (rotation.profile == Profile::ggml) {
    ggml_row(rotation, coordinates, cos, sin);
  } else {
    single_row(rotation, coordinates, cos, sin);
  }
}

void round_to(ElementType type, std::span<float> values) {
  if (type == ElementType::float32) return;
  for (float& value : values) {
    if (type == ElementType::bfloat16) value = to_float(to_bfloat16(value));
    if (type == ElementType::float16) value = to_float(to_float16(value));
  }
}

}  // namespace locus
