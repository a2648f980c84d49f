// SPDX-License-Identifier: Apache-2.0
// Times rotation as models in libtorch do it: rotate_half for halves, a complex product for interleaved pairs.
#include <torch/torch.h>

#include <cmath>

#include "locus/locus.h"
#include "rotate_cases.h"
#include "torch_peers.h"

namespace locus::bench {
namespace {

using torch::indexing::Slice;

torch::ScalarType torch_type(ElementType type) {
  if (type == ElementType::bfloat16) return torch::kBFloat16;
  return type == ElementType::float16 ? torch::kHalf : torch::kFloat32;
}

torch::Tensor rotate_half(const torch::Tensor& x) {
  const auto middle = rotate_head_dim / 2;
  return torch::cat({-x.index({"...", Slice(middle, {})}), x.index({"...", Slice({}, middle)})}, -1);
}

// p / 10000^(2 i / d) for every token p and pair i, in double.
torch::Tensor angles(std::int64_t tokens) {
  const auto pairs = torch::arange(rotate_head_dim / 2, torch::kFloat64);
  const auto frequencies = torch::pow(10000.0, -2 * pairs / static_cast<double>(rotate_head_dim));
  return torch::outer(torch::arange(tokens, torch::kFloat64), frequencies).unsqueeze(1);
}

std::function<torch::Tensor()> peer_of(const RotateCase& kind, const torch::Tensor& x) {
  const torch::Tensor angle = angles(x.size(0));
  if (std::string(kind.pairing) == "interleaved") {
    const torch::Tensor turns = torch::polar(torch::ones_like(angle), angle).to(torch::kComplexFloat);
    return [x, turns] {
      const auto pairs = torch::view_as_complex(x.view({x.size(0), rotate_heads, rotate_head_dim / 2, 2}));
      return torch::view_as_real(pairs * turns).flatten(2);
    };
  }
  const torch::Tensor cos = torch::cat({angle, angle}, -1).cos().to(x.scalar_type());
  const torch::Tensor sin = torch::cat({angle, angle}, -1).sin().to(x.scalar_type());
  return [x, cos, sin] { return x * cos + rotate_half(x) * sin; };
}

// With rounding u: they round cos, the products and the sum to the element type, we round the result; each is at most
// u times |x cos| + |y sin| <= sqrt(2) times the largest value. That is 4 in all; 5 covers higher orders and float32
// errors inside.
void check(const torch::Tensor& ours, const torch::Tensor& theirs, double largest, const std::string& line) {
  const double u = ours.scalar_type() == torch::kBFloat16 ? 0x1p-8
                   : ours.scalar_type() == torch::kHalf   ? 0x1p-11
                                                          : 0x1p-24;
  const double difference = (ours.to(torch::kFloat32) - theirs.to(torch::kFloat32)).abs().max().item<double>();
  const double bound = 5 * u * std::sqrt(2.0) * largest;
  require(difference <= bound, "libtorch's result differs from ours by " + std::to_string(difference) +
                                   ", more than rounding explains (" + std::to_string(bound) + "): " + line);
}

void measure(const RotateCase& kind, const Size& size, const Pairs& pairs, const PeerReport& report) {
  const std::int64_t tokens = tokens_in(size, kind.type);
  const std::string line = std::string(kind.name) + " " + size.name;
  const torch::Tensor x =
      torch::rand({tokens, rotate_heads, rotate_head_dim}).mul_(2).sub_(1).to(torch_type(kind.type));
  torch::Tensor own = x.clone();
  const Encoding encoding("rope", {{"head_dim", rotate_head_dim}, {"pairing", std::string(kind.pairing)}},
                          std::size_t{64} << 20);
  const HeadsView view = heads_view(own.data_ptr(), kind.type, "thd", {{tokens, rotate_heads, rotate_head_dim}});
  const PositionIds ids = positions::prefill(tokens);
  const auto peer = peer_of(kind, x);
  rotate(encoding, view, ids);
  check(own, peer(), 1, line);
  report(std::string("torch ") + (std::string(kind.pairing) == "half" ? "rotate_half" : "complex multiply"), "rotate",
         line, compare([&] { rotate(encoding, view, ids); }, [&] { peer(); }, pairs));
}

}  // namespace

void torch_rotate(const Pairs& pairs, const PeerReport& report) {
  const torch::NoGradGuard inference;
  for (const RotateCase& kind : rotate_cases) {
    for (const Size& size : sizes) measure(kind, size, pairs, report);
  }
}

}  // namespace locus::bench
