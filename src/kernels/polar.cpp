// SPDX-License-Identifier: Apache-2.0
#include "locus/polar.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/any_element.h"
#include "kernels/polar_simd.h"
#include "kernels/token_access.h"
#include "locus/error.h"

namespace locus {
namespace {

void check_polar(const Encoding& encoding, const HeadsView& narrow, const HeadsView& wide, Role role) {
  const Polar* polar = polar_of(encoding);
  require(polar != nullptr, "to_polar: ", encoding.scheme().name, " does not make heads polar");
  require(narrow.head_dim == polar->head_dim && wide.head_dim == encoding.rotation().head_dim,
          "to_polar: heads must be ", polar->head_dim, " wide before and ", encoding.rotation().head_dim,
          " after, got ", narrow.head_dim, " and ", wide.head_dim);
  require(narrow.type == wide.type, "to_polar: input and output must have the same type, got ", name_of(narrow.type),
          " and ", name_of(wide.type));
  require(narrow.batch == wide.batch && narrow.tokens == wide.tokens && narrow.heads == wide.heads,
          "to_polar: input and output must have the same batch, tokens and heads");
  require(narrow.data != wide.data || narrow.data == nullptr, "to_polar: the output must not be the input");
  require(role == Role::query || narrow.heads == polar->heads, "to_polar: the encoding has ", polar->heads,
          " key heads, the keys have ", narrow.heads);
}

/// cos and sin of the phases, as the kernel wants them; empty for queries.
std::vector<float> phase_rows(const Polar& polar, Role role, std::size_t room) {
  if (role == Role::query) return {};
  const auto channels = static_cast<std::size_t>(polar.channels), heads = static_cast<std::size_t>(polar.heads);
  std::vector<float> rows(heads * 2 * room, 0.0f);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t c = 0; c < channels; ++c) {
      rows[2 * h * room + c] = static_cast<float>(std::cos(polar.phases[h * channels + c]));
      rows[(2 * h + 1) * room + c] = static_cast<float>(std::sin(polar.phases[h * channels + c]));
    }
  }
  return rows;
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

void polar_doubles(const Polar& polar, Role role, std::int64_t head, const double* in, double* out) {
  for (std::int64_t c = 0; c < polar.channels; ++c) {
    const double m = softplus(in[c]);
    const double phase = role == Role::query ? 0 : polar.phases[static_cast<std::size_t>(head * polar.channels + c)];
    out[2 * c] = m * std::cos(phase);
    out[2 * c + 1] = m * std::sin(phase);
  }
}

// m = softplus(x), (u, v) = (m cos, m sin): dx = (du cos + dv sin) sigmoid(x), dphase = m (dv cos - du sin).
void head_backward(const Polar& polar, const PolarGradientCall& call, const std::array<std::int64_t, 3>& place,
                   Role role) {
  const auto [batch, token, head] = place;
  const std::byte* x = at(call.input, batch, token, head, 0);
  const std::byte* gradient = at(call.output_gradient, batch, token, head, 0);
  std::byte* to = at(call.input_gradient, batch, token, head, 0);
  const ElementType type = call.input.type;
  for (std::int64_t c = 0; c < polar.channels; ++c) {
    const auto entry = static_cast<std::size_t>(head * polar.channels + c);
    const double phase = role == Role::query ? 0 : polar.phases[entry];
    const double cos = std::cos(phase), sin = std::sin(phase), value = element_at(type, x, c);
    const double du = element_at(type, gradient, 2 * c), dv = element_at(type, gradient, 2 * c + 1);
    store_element(type, to, c, (du * cos + dv * sin) / (1 + std::exp(-value)));
    if (role == Role::key && !call.phases.empty()) call.phases[entry] += softplus(value) * (dv * cos - du * sin);
  }
  for (std::int64_t j = polar.channels; j < polar.head_dim; ++j) {
    store_element(type, to, j, element_at(type, gradient, j + polar.channels));
  }
}

}  // namespace

const Polar* polar_of(const Encoding& encoding) {
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  return rotation == nullptr || !rotation->polar ? nullptr : &*rotation->polar;
}

void to_polar(const Encoding& encoding, const RotateViews& views, Role role, Executor* executor) {
  const HeadsView &input = views.input, &output = views.output;
  check_polar(encoding, input, output, role);
  const Polar& polar = *polar_of(encoding);
  const auto channels = static_cast<std::size_t>(polar.channels);
  const std::size_t room = (channels + polar_room - 1) / polar_room * polar_room;
  const std::vector<float> cos_sin = phase_rows(polar, role, room);
  const auto rest = static_cast<std::size_t>(polar.head_dim - polar.channels) * size_of(input.type);
  for_ranges(executor, input.batch * input.tokens, grain_of(bytes_per_token(output)),
             [&](std::int64_t begin, std::int64_t end) {
               std::vector<float> scratch(3 * room);
               PolarHeads token{.in_head_stride = input.head_stride,
                                .out_head_stride = output.head_stride,
                                .heads = static_cast<std::size_t>(input.heads),
                                .channels = channels,
                                .cos_sin = cos_sin.empty() ? nullptr : cos_sin.data(),
                                .room = room,
                                .scratch = scratch.data()};
               for (std::int64_t flat = begin; flat < end; ++flat) {
                 const std::int64_t batch = flat / input.tokens, t = flat % input.tokens;
                 token.in = at(input, batch, t, 0, 0);
                 token.out = at(output, batch, t, 0, 0);
                 if (input.type != ElementType::float64) polar_heads(input.type, token);
                 for (std::int64_t h = 0; h < input.heads; ++h) {
                   if (input.type == ElementType::float64) {
                     polar_doubles(polar, role, h, reinterpret_cast<const double*>(at(input, batch, t, h, 0)),
                                   reinterpret_cast<double*>(at(output, batch, t, h, 0)));
                   }
                   if (rest > 0) {
                     std::memcpy(at(output, batch, t, h, 2 * polar.channels), at(input, batch, t, h, polar.channels),
                                 rest);
                   }
                 }
               }
             });
}

void to_polar_backward(const Encoding& encoding, const PolarGradientCall& call, Role role) {
  check_polar(encoding, call.input, call.output_gradient, role);
  check_polar(encoding, call.input_gradient, call.output_gradient, role);
  const Polar& polar = *polar_of(encoding);
  require(call.phases.empty() || call.phases.size() == polar.phases.size(), "to_polar_backward: phases must have ",
          polar.phases.size(), " values, got ", call.phases.size());
  for (std::int64_t batch = 0; batch < call.input.batch; ++batch) {
    for (std::int64_t t = 0; t < call.input.tokens; ++t) {
      for (std::int64_t h = 0; h < call.input.heads; ++h) head_backward(polar, call, {batch, t, h}, role);
    }
  }
}

}  // namespace locus
