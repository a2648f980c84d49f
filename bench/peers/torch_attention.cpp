// SPDX-License-Identifier: Apache-2.0
// Times attention with ALiBi in libtorch, with scores in memory, and OpenBLAS's sgemm, for the "sgemm-equivalent" of
// attention that skips.
#include <torch/torch.h>

#include <cmath>

#include "attention_problem.h"
#include "locus/locus.h"
#include "torch_peers.h"

namespace locus::bench {
namespace {

torch::Tensor tensor_of(Buffer& buffer, std::int64_t tokens) {
  return torch::from_blob(buffer.data(), {attention_heads, tokens, attention_head_dim}, torch::kFloat32);
}

// slope_h (key - query), and -infinity above the diagonal. With 8 heads the slopes are 2^-1 .. 2^-8.
torch::Tensor alibi_bias(std::int64_t tokens) {
  const auto ids = torch::arange(tokens, torch::kFloat32);
  const auto distance = ids.unsqueeze(0) - ids.unsqueeze(1);
  const auto slopes = torch::pow(2.0, -torch::arange(1, attention_heads + 1, torch::kFloat32)).view({-1, 1, 1});
  return (slopes * distance).masked_fill(distance > 0, -INFINITY);
}

void materialised(std::int64_t tokens, const Pairs& pairs, const PeerReport& report) {
  AttentionProblem problem(tokens, tokens);
  const Encoding encoding("alibi", {{"heads", attention_heads}});
  const AttentionCall call = problem.call(&encoding);
  const torch::Tensor q = tensor_of(problem.query(), tokens), k = tensor_of(problem.key(), tokens),
                      v = tensor_of(problem.value(), tokens), bias = alibi_bias(tokens);
  const double scale = 1 / std::sqrt(static_cast<double>(attention_head_dim));
  const auto peer = [&] {
    return torch::bmm(torch::softmax(torch::baddbmm(bias, q, k.transpose(1, 2), 1, scale), -1), v);
  };
  attend(call);
  // attention.h bounds our error by (2 (d + 16) s + 4 n + 16) u v; libtorch, in the same precision, gets the same
  // bound. s, the sum of absolute terms of a score, is at most |q| |k| scale + the bias.
  const double largest = v.abs().max().item<double>();
  const double score = scale * q.norm(2, -1).max().item<double>() * k.norm(2, -1).max().item<double>() *
                           std::sqrt(static_cast<double>(attention_head_dim)) +
                       static_cast<double>(tokens) / 2;
  const double bound =
      2 * (2 * (attention_head_dim + 16) * score + 4 * static_cast<double>(tokens) + 16) * 0x1p-24 * largest;
  const double difference = (tensor_of(problem.output(), tokens) - peer()).abs().max().item<double>();
  require(difference <= bound, "libtorch's attention differs from ours by " + std::to_string(difference) +
                                   ", more than rounding explains (" + std::to_string(bound) + ")");
  report("torch softmax of T x T scores", "attention", "ALiBi dense " + std::to_string(tokens),
         compare([&] { attend(call); }, [&] { peer(); }, pairs));
}

// An sgemm of as many operations as attention without skipping, so that the ratio of times is a ratio of rates. It
// times 1,024 cubed and scales the result.
void sgemm_equivalent(std::int64_t tokens, const Pairs& pairs, const PeerReport& report) {
  AttentionProblem problem(tokens, tokens);
  const Encoding encoding("alibi", {{"heads", attention_heads}});
  AttentionCall call = problem.call(&encoding);
  call.skip_irrelevant_blocks = true;
  constexpr double cube = 1024;
  const auto side = static_cast<std::int64_t>(cube);
  const torch::Tensor a = torch::rand({side, side}), b = torch::rand({side, side});
  torch::Tensor c = torch::empty({side, side});
  Comparison result = compare([&] { attend(call); }, [&] { torch::mm_out(c, a, b); }, pairs);
  const double scale = problem.flops() / (2 * cube * cube * cube);
  result.share = {result.share.median * scale, result.share.low * scale, result.share.high * scale};
  result.limit_seconds *= scale;
  report("OpenBLAS sgemm of as many operations", "attention", "ALiBi with skipping " + std::to_string(tokens), result);
}

}  // namespace

void torch_attention(bool quick, const Pairs& pairs, const PeerReport& report) {
  const torch::NoGradGuard inference;
  for (const std::int64_t tokens : {2048, 4096}) {
    if (quick && tokens > 2048) break;
    materialised(tokens, pairs, report);
    sgemm_equivalent(tokens, pairs, report);
  }
}

}  // namespace locus::bench
