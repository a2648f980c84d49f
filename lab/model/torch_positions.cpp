// SPDX-License-Identifier: Apache-2.0
#include "model/torch_positions.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace locus::lab {
namespace {

constexpr std::int64_t t5_buckets = 32, t5_distance = 128, shaw_clip = 16;

at::Tensor rates(std::int64_t width, double base) {
  return at::pow(base, -at::arange(0, width, 2, at::kDouble) / static_cast<double>(width));
}

at::Tensor angles(const at::Tensor& positions, std::int64_t width, double base = 10000) {
  return positions.unsqueeze(1) * rates(width, base).unsqueeze(0);
}

/// Returns key - query [length, length].
at::Tensor offsets(std::int64_t length) { return at::arange(length).unsqueeze(0) - at::arange(length).unsqueeze(1); }

at::Tensor turned_halves(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  return at::cat({a * cos - b * sin, b * cos + a * sin}, -1);
}

at::Tensor turned_neighbours(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const at::Tensor a = x.slice(-1, 0, x.size(-1), 2), b = x.slice(-1, 1, x.size(-1), 2);
  return at::stack({a * cos - b * sin, b * cos + a * sin}, -1).flatten(-2);
}

// Press et al. 2021: the geometric sequence that starts at 2^(-8/heads), for a number of heads that is a power of two.
at::Tensor alibi_slopes(std::int64_t heads) {
  return at::pow(2.0, -8.0 * at::arange(1, heads + 1, at::kDouble) / static_cast<double>(heads));
}

// Raffel et al. 2019, as in T5's code.
at::Tensor t5_bucket(std::int64_t length, bool causal) {
  const at::Tensor offset = offsets(length);
  const std::int64_t count = causal ? t5_buckets : t5_buckets / 2, exact = count / 2;
  const at::Tensor distance = causal ? offset.neg().clamp_min(0) : offset.abs();
  const at::Tensor part = at::log(distance.clamp_min(1).to(at::kDouble) / static_cast<double>(exact)) /
                          std::log(static_cast<double>(t5_distance) / static_cast<double>(exact));
  const at::Tensor far = (exact + (part * static_cast<double>(count - exact)).to(at::kLong)).clamp_max(count - 1);
  const at::Tensor bucket = at::where(distance < exact, distance, far);
  return causal ? bucket : bucket + offset.gt(0).to(at::kLong) * count;
}

}  // namespace

bool TorchPositions::knows(const SchemeText& scheme) {
  constexpr std::array names{"nope", "sinusoidal", "learned", "rope", "xpos", "alibi", "t5", "shaw", "transformer_xl"};
  if (std::find(names.begin(), names.end(), scheme.name) == names.end()) return false;
  return std::all_of(scheme.arguments.all().begin(), scheme.arguments.all().end(),
                     [&](const auto& argument) { return scheme.name == "rope" && argument.first == "base"; });
}

TorchPositions::TorchPositions(const SchemeText& scheme, const ModelShape& shape, bool causal, std::int64_t length)
    : name_(scheme.name),
      length_(length),
      heads_(shape.heads),
      scale_(1 / std::sqrt(static_cast<double>(shape.width / shape.heads))) {
  mask_ = at::zeros({1, length, length});
  if (causal) mask_ = mask_.masked_fill(at::ones({length, length}, at::kBool).triu(1), -HUGE_VAL);
  const at::Tensor positions = at::arange(length, at::kDouble);
  if (name_ == "sinusoidal") {
    const at::Tensor turns = angles(positions, shape.width);
    rows_ = at::stack({turns.sin(), turns.cos()}, -1).flatten(-2).to(at::kFloat);
  } else if (name_ == "rope" || name_ == "xpos") {
    make_rotation(scheme, shape.width / shape.heads);
  } else if (name_ == "alibi") {
    const at::Tensor slopes = alibi_slopes(heads_).view({heads_, 1, 1});
    mask_ = mask_ - (slopes * offsets(length).abs()).to(at::kFloat);
  } else if (name_ == "t5") {
    index_ = t5_bucket(length, causal);
    scale_ = 1;
  } else if (name_ == "shaw") {
    index_ = offsets(length).clamp(-shaw_clip, shaw_clip) + shaw_clip;
  } else if (name_ == "transformer_xl") {
    index_ = offsets(length) + length - 1;
    const at::Tensor turns = angles(at::arange(length - 1, -length, -1, at::kDouble), shape.width);
    waves_ = at::cat({turns.sin(), turns.cos()}, 1).to(at::kFloat);
  }
}

void TorchPositions::make_rotation(const SchemeText& scheme, std::int64_t dim) {
  const at::Tensor positions = at::arange(length_, at::kDouble);
  const at::Tensor turns = angles(positions, dim, scheme.arguments.maybe_real("base").value_or(10000));
  at::Tensor scale = at::ones({length_, dim / 2}, at::kDouble);
  if (name_ == "xpos") {
    // Sun et al. 2022, with the centre at 0: zeta_i = (2i + 0.4 d) / (1.4 d), to the power position / 512.
    const auto width = static_cast<double>(dim);
    const at::Tensor zeta = (at::arange(0, dim, 2, at::kDouble) + 0.4 * width) / (1.4 * width);
    scale = at::pow(zeta.unsqueeze(0), positions.unsqueeze(1) / 512);
  }
  query_cos_ = (turns.cos() * scale).to(at::kFloat);
  query_sin_ = (turns.sin() * scale).to(at::kFloat);
  key_cos_ = (turns.cos() / scale).to(at::kFloat);
  key_sin_ = (turns.sin() / scale).to(at::kFloat);
}

void TorchPositions::rotate(at::Tensor& q, at::Tensor& k) const {
  if (!query_cos_.defined()) return;
  const auto turned = name_ == "xpos" ? turned_neighbours : turned_halves;
  q = turned(q, query_cos_, query_sin_);
  k = turned(k, key_cos_, key_sin_);
}

// Dai et al. 2019, section 3.3: (q + u).k + (q + v).(W_r R_(i - j)).
at::Tensor TorchPositions::transformer_xl(const at::Tensor& q, const at::Tensor& k, const at::Tensor& learned) const {
  const std::int64_t dim = q.size(3), width = heads_ * dim;
  const at::Tensor u = learned.narrow(0, 0, width).view({heads_, 1, dim});
  const at::Tensor v = learned.narrow(0, width, width).view({heads_, 1, dim});
  const at::Tensor w = learned.narrow(0, 2 * width, width * width).view({width, width});
  const at::Tensor r = at::linear(waves_, w).view({2 * length_ - 1, heads_, dim}).permute({1, 2, 0});
  const at::Tensor by_distance = at::matmul(q + v, r);  // [rows, heads, length, 2 length - 1]
  return at::matmul(q + u, k.transpose(-2, -1)) +
         by_distance.gather(-1, index_.expand({q.size(0), heads_, length_, length_}));
}

at::Tensor TorchPositions::scores(const at::Tensor& q, const at::Tensor& k, const at::Tensor& learned) const {
  if (name_ == "transformer_xl") return scale_ * transformer_xl(q, k, learned) + mask_;
  at::Tensor score = at::matmul(q, k.transpose(-2, -1));
  if (name_ == "shaw") {
    const at::Tensor by_offset = at::matmul(q, learned.view({2 * shaw_clip + 1, q.size(3)}).t());
    score = score + by_offset.gather(-1, index_.expand({q.size(0), heads_, length_, length_}));
  }
  if (scale_ != 1) score = score * scale_;
  if (name_ == "t5") score = score + learned.view({t5_buckets, heads_}).index({index_}).permute({2, 0, 1});
  return score + mask_;
}

}  // namespace locus::lab
