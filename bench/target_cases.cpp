// SPDX-License-Identifier: Apache-2.0
// Times every kernel on each SIMD target of this CPU against the next narrower one, on data that fits the L2 cache. A
// better target must not be slower: where wide vectors do not pay, the kernel uses narrower ones.
#include <algorithm>
#include <memory>

#include "attention_problem.h"
#include "cases.h"
#include "locus/attention_backward.h"
#include "locus/io/gguf_blocks.h"
#include "locus/locus.h"
#include "probe/ops.h"
#include "simd_targets.h"

namespace locus::bench {
namespace {

// Slower by less than this is taken for noise.
constexpr double target_bar = 0.97;

/// A kernel on one shape.
struct Work {
  std::string name;
  double amount = 0;  ///< bytes moved or operations done by one call
  std::string unit = "GB/s";
  std::function<std::function<void()>()> prepare;  ///< returns the call, which owns its data
};

std::size_t pages(std::int64_t bytes) { return static_cast<std::size_t>((bytes + 4095) / 4096 * 4096); }

std::shared_ptr<Buffer> values_of(ElementType type, std::int64_t count) {
  auto buffer = std::make_shared<Buffer>(pages(count * static_cast<std::int64_t>(size_of(type))));
  if (type != ElementType::float32) {  // 1 or 2^-7 in either 16-bit format
    std::fill_n(static_cast<std::uint16_t*>(buffer->data()), buffer->bytes() / 2, std::uint16_t{0x3c00});
  }
  return buffer;
}

// ---- rotation, addition, rows

struct RotateShape {
  const char* pairing;
  ElementType type;
  std::int64_t head_dim, rotary_dim;
};

Work rotate_work(const RotateShape& shape) {
  constexpr std::int64_t heads = 32;
  const std::int64_t tokens = 262144 / (heads * shape.head_dim * static_cast<std::int64_t>(size_of(shape.type)));
  std::string name = std::string("rotate ") + shape.pairing + " " + std::string(name_of(shape.type)) + ", heads of " +
                     std::to_string(shape.head_dim);
  if (shape.rotary_dim != shape.head_dim) name += ", " + std::to_string(shape.rotary_dim) + " rotated";
  return {name, 2 * 262144.0, "GB/s", [=] {
            const Encoding encoding(
                "rope", {{"head_dim", shape.head_dim}, {"rotary_dim", shape.rotary_dim}, {"pairing", shape.pairing}});
            const auto buffer = values_of(shape.type, tokens * heads * shape.head_dim);
            const HeadsView view = heads_view(buffer->data(), shape.type, "thd", {{tokens, heads, shape.head_dim}});
            return [=, ids = positions::prefill(tokens)] {
              (void)buffer;
              rotate(encoding, view, ids);
            };
          }};
}

Work add_work(ElementType type, bool waves) {
  constexpr std::int64_t dim = 4096;
  const std::int64_t tokens = 262144 / (dim * static_cast<std::int64_t>(size_of(type)));
  return {
      std::string("add ") + (waves ? "sinusoidal " : "learned ") + std::string(name_of(type)), 2 * 262144.0, "GB/s",
      [=] {
        const Encoding encoding =
            waves ? Encoding("sinusoidal", {{"dim", dim}}) : Encoding("learned", {{"dim", dim}, {"max_positions", 64}});
        const auto buffer = values_of(type, tokens * dim);
        const HiddenView view{.data = buffer->data(), .type = type, .tokens = tokens, .dim = dim, .token_stride = dim};
        return [=, ids = positions::prefill(tokens)] {
          (void)buffer;
          add(encoding, view, ids);
        };
      }};
}

Work rows_work(bool scattered) {
  constexpr std::int64_t rows = 512, head_dim = 128;
  return {scattered ? "rows, scattered" : "rows, consecutive", rows * head_dim * 4.0, "GB/s", [=] {
            const Encoding encoding("rope", {{"head_dim", head_dim}, {"pairing", "half"}});
            const auto buffer = values_of(ElementType::float32, rows * head_dim);
            std::vector<Position> ids(rows);
            for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<Position>(i * 2654435761u % 2147483647u);
            return [=] {
              if (scattered) {
                rotation_rows(encoding.rotation(), ids, buffer->floats());
              } else {
                rotation_rows(encoding.rotation(), 1000000, rows, buffer->floats());
              }
            };
          }};
}

// ---- attention

struct AttentionShape {
  const char* name;
  std::int64_t queries, keys, heads, head_dim;
  const char* axes = "htd";
  const char* scheme = "";  ///< "": no position term
};

/// Tensors of one shape, a call on them and its backward pass.
class AttentionTensors {
 public:
  explicit AttentionTensors(const AttentionShape& shape)
      : shape_(shape), log_sum_exp_(static_cast<std::size_t>(shape.heads * shape.queries)) {
    if (*shape.scheme != 0) encoding_.emplace(shape.scheme, Arguments{{"heads", shape.heads}});
    for (std::size_t i = 0; i < tensors; ++i) {
      buffers_.push_back(std::make_unique<Buffer>(pages(tokens(i) * shape.heads * shape.head_dim * 4)));
      fill_normal(*buffers_.back(), static_cast<unsigned>(i));
    }
  }
  void forward() { attend(call()); }
  void backward() {
    attend_backward({.forward = call(),
                     .output_gradient = view(out_gradient),
                     .query_gradient = view(query_gradient),
                     .key_gradient = view(key_gradient),
                     .value_gradient = view(value_gradient)});
  }

 private:
  enum Tensor : std::size_t {
    query,
    output,
    out_gradient,
    query_gradient,
    key,
    value,
    key_gradient,
    value_gradient,
    tensors
  };
  std::int64_t tokens(std::size_t tensor) const { return tensor < key ? shape_.queries : shape_.keys; }
  HeadsView view(Tensor tensor) {
    const std::int64_t n = tokens(tensor), heads = shape_.heads, dim = shape_.head_dim;
    const bool by_head = shape_.axes == std::string("htd");
    return heads_view(buffers_[tensor]->data(), ElementType::float32, shape_.axes,
                      {{by_head ? heads : n, by_head ? n : heads, dim}});
  }
  AttentionCall call() {
    AttentionCall call{.query = view(query),
                       .key = view(key),
                       .value = view(value),
                       .output = view(output),
                       .encoding = encoding_ ? &*encoding_ : nullptr,
                       .log_sum_exp = log_sum_exp_.data(),
                       .skip_irrelevant_blocks = false};
    call.mask.causal = true;
    return call;
  }

  AttentionShape shape_;
  std::optional<Encoding> encoding_;
  std::vector<float> log_sum_exp_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

double visible_flops(const AttentionShape& shape) {
  const auto q = static_cast<double>(shape.queries), k = static_cast<double>(shape.keys);
  return 4 * static_cast<double>(shape.heads * shape.head_dim) * (q * (k - q) + q * (q + 1) / 2);
}

Work attention_work(const AttentionShape& shape, bool backward) {
  const std::string name = std::string(shape.name) + (backward ? ", backward" : "");
  return {name, visible_flops(shape) * (backward ? 2.5 : 1), "GFLOP/s", [=] {
            const auto work = std::make_shared<AttentionTensors>(shape);
            work->forward();  // the backward pass needs its output
            return [=] { backward ? work->backward() : work->forward(); };
          }};
}

// ---- matrix products

Work product_work(probe::WeightType type, std::int64_t rows_of_x) {
  constexpr std::int64_t rows = 256, columns = 1024;
  const io::GgufBlock& block = *io::find_gguf_block(type);
  const auto row_bytes = columns / static_cast<std::int64_t>(block.elements) * static_cast<std::int64_t>(block.bytes);
  return {"matrix " + std::string(io::name_of(type)) + " times " + std::to_string(rows_of_x) + " vectors",
          2.0 * rows * columns * static_cast<double>(rows_of_x), "GFLOP/s", [=] {
            const auto buffer = std::make_shared<Buffer>(pages(rows * row_bytes));
            std::fill_n(static_cast<std::uint8_t*>(buffer->data()), buffer->bytes(), std::uint8_t{0x22});
            probe::Linear linear;
            linear.weight = {.type = type,
                             .rows = rows,
                             .columns = columns,
                             .row_bytes = row_bytes,
                             .data = static_cast<const std::byte*>(buffer->data())};
            probe::Rows x(rows_of_x, columns);
            std::fill(x.data.begin(), x.data.end(), 0.5f);
            return [=] {
              (void)buffer;
              (void)probe::products(x, {&linear}, nullptr);
            };
          }};
}

std::vector<Work> all_work() {
  std::vector<Work> all;
  constexpr ElementType types[] = {ElementType::float32, ElementType::bfloat16, ElementType::float16};
  for (const char* pairing : {"half", "interleaved"}) {
    for (const ElementType type : types) {
      for (const std::int64_t dim : {64, 80, 96, 128, 256}) all.push_back(rotate_work({pairing, type, dim, dim}));
      all.push_back(rotate_work({pairing, type, 128, 32}));
    }
  }
  for (const ElementType type : types) all.push_back(add_work(type, false));
  all.push_back(add_work(ElementType::float32, true));
  for (const bool scattered : {false, true}) all.push_back(rows_work(scattered));
  const AttentionShape attention[] = {
      {"attention 512, 2 heads of 64", 512, 512, 2, 64},
      {"attention 512 ALiBi, 2 heads of 64", 512, 512, 2, 64, "htd", "alibi"},
      {"attention 512, 2 heads of 128", 512, 512, 2, 128},
      {"attention 64, 16 heads of 16", 64, 64, 16, 16},
      {"attention 128, 8 heads of 32", 128, 128, 8, 32},
  };
  for (const AttentionShape& shape : attention) {
    for (const bool backward : {false, true}) all.push_back(attention_work(shape, backward));
  }
  for (const char* axes : {"htd", "thd"}) {
    const bool by_head = axes == std::string("htd");
    all.push_back(attention_work(
        {by_head ? "decode [h,t,d], 4 heads of 64" : "decode [t,h,d], 4 heads of 64", 1, 512, 4, 64, axes}, false));
    all.push_back(attention_work(
        {by_head ? "decode [h,t,d], 2 heads of 128" : "decode [t,h,d], 2 heads of 128", 1, 512, 2, 128, axes}, false));
  }
  using probe::WeightType;
  for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::bf16, WeightType::q8_0, WeightType::q4_0,
                                WeightType::q4_k, WeightType::q6_k}) {
    all.push_back(product_work(type, 1));
  }
  return all;
}

Case measure_target(const Work& work, std::int64_t target, std::int64_t narrower, const Pairs& pairs) {
  const std::function<void()> call = work.prepare();
  return {.group = {},
          .name = {},
          .limit = std::string(target_name(narrower)),
          .result = compare(at_most(target, call), at_most(narrower, call), pairs),
          .bar = target_bar,
          .beatable = true,
          .amount = work.amount,
          .unit = work.unit};
}

}  // namespace

std::vector<PlannedCase> plan_target_cases() {
  std::vector<PlannedCase> cases;
  const std::vector<std::int64_t> targets = simd_targets();
  for (const Work& work : all_work()) {
    for (std::size_t i = 0; i + 1 < targets.size(); ++i) {
      const std::int64_t target = targets[i], narrower = targets[i + 1];
      cases.push_back({"targets", work.name + ", " + std::string(target_name(target)),
                       [=](const Pairs& pairs) { return measure_target(work, target, narrower, pairs); }});
    }
  }
  return cases;
}

}  // namespace locus::bench
