// SPDX-License-Identifier: Apache-2.0
// Block layouts as defined in ggml-common.h. h is a float16; integers are unsigned unless stated otherwise.
//
//   Q8_0   32 elements   h d | 32 signed bytes q                      x_i = d q_i
//   Q4_0   32 elements   h d | 16 bytes                               x_i = d (q_i - 8)
//          byte j holds element j in its low and element j + 16 in its high four bits
//   Q4_K  256 elements   h d | h m | 12 bytes | 128 bytes             x_i = d s_b q_i - m t_b, b = i / 32
//          the eight scales s_b and minima t_b have six bits each:
//            b < 4    s_b: bits 0-5 of byte b         t_b: bits 0-5 of byte b + 4
//            b >= 4   s_b: low half of byte b + 4, above it bits 6-7 of byte b - 4
//                     t_b: high half of byte b + 4, above it bits 6-7 of byte b
//          each 32 bytes of q hold 64 elements: 32 in the low halves, the next 32 in the high halves
//   Q6_K  256 elements   128 bytes low | 64 bytes high | 16 signed bytes s | h d       x_i = d s_(i / 16) (q_i - 32)
//          in each half of 128 elements, for l < 32 and r = 0 .. 3, element 32 r + l takes its low four bits from low
//          byte l (r even) or l + 32 (r odd), from the low (r < 2) or high half of it, and bits 4-5 from bits 2r, 2r +
//          1 of high byte l
//
// Products are computed in float32 from left to right, so that results are bit-identical to ggml's.
#include "locus/io/gguf_blocks.h"

#include <algorithm>
#include <array>

#include "locus/element.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

std::uint32_t byte_at(const std::byte* bytes, std::size_t index) {
  return std::to_integer<std::uint32_t>(bytes[index]);
}
std::uint32_t low_half(std::uint32_t byte) { return byte & 15u; }
std::uint32_t high_half(std::uint32_t byte) { return byte >> 4; }
float half_at(const std::byte* bytes) { return to_float(load<Float16>(bytes)); }

void decode_f32(const std::byte* block, float* out) { *out = load<float>(block); }
void decode_f16(const std::byte* block, float* out) { *out = half_at(block); }
void decode_bf16(const std::byte* block, float* out) { *out = to_float(load<BFloat16>(block)); }

void decode_q8_0(const std::byte* block, float* out) {
  const float d = half_at(block);
  for (std::size_t i = 0; i < 32; ++i) out[i] = d * static_cast<float>(load<std::int8_t>(block + 2 + i));
}

void decode_q4_0(const std::byte* block, float* out) {
  const float d = half_at(block);
  const auto value = [d](std::uint32_t q) { return d * (static_cast<float>(q) - 8.0f); };
  for (std::size_t j = 0; j < 16; ++j) {
    const std::uint32_t q = byte_at(block, 2 + j);
    out[j] = value(low_half(q));
    out[j + 16] = value(high_half(q));
  }
}

struct ScaleAndMinimum {
  std::uint32_t scale, minimum;
};

ScaleAndMinimum q4_k_scale(const std::byte* packed, std::size_t b) {
  if (b < 4) return {byte_at(packed, b) & 63u, byte_at(packed, b + 4) & 63u};
  const std::uint32_t both = byte_at(packed, b + 4);
  return {low_half(both) | byte_at(packed, b - 4) >> 6 << 4, high_half(both) | byte_at(packed, b) >> 6 << 4};
}

void decode_q4_k(const std::byte* block, float* out) {
  const float d = half_at(block), m = half_at(block + 2);
  const std::byte* const packed_scales = block + 4;
  const std::byte* const quants = block + 16;
  for (std::size_t b = 0; b < 8; ++b) {
    const ScaleAndMinimum factors = q4_k_scale(packed_scales, b);
    const float scale = d * static_cast<float>(factors.scale), minimum = m * static_cast<float>(factors.minimum);
    for (std::size_t l = 0; l < 32; ++l) {
      const std::uint32_t both = byte_at(quants, b / 2 * 32 + l);
      const std::uint32_t q = b % 2 == 0 ? low_half(both) : high_half(both);
      out[b * 32 + l] = scale * static_cast<float>(q) - minimum;
    }
  }
}

void decode_q6_k(const std::byte* block, float* out) {
  const float d = half_at(block + 208);
  for (std::size_t half = 0; half < 2; ++half) {
    const std::byte* const low = block + half * 64;
    const std::byte* const high = block + 128 + half * 32;
    const std::byte* const scales = block + 192 + half * 8;
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t l = 0; l < 32; ++l) {
        const std::uint32_t both = byte_at(low, r % 2 * 32 + l);
        const std::uint32_t q = (r < 2 ? low_half(both) : high_half(both)) | (byte_at(high, l) >> 2 * r & 3u) << 4;
        const auto scale = static_cast<float>(load<std::int8_t>(scales + 2 * r + l / 16));
        out[half * 128 + r * 32 + l] = d * scale * (static_cast<float>(q) - 32.0f);
      }
    }
  }
}

constexpr GgufBlock row(std::uint32_t type, std::string_view name, std::size_t elements, std::size_t bytes,
                        void (*decode)(const std::byte*, float*) = nullptr) {
  return {static_cast<GgufTensorType>(type), name, elements, bytes, decode};
}

constexpr std::array block_types = {
    row(0, "F32", 1, 4, decode_f32),
    row(1, "F16", 1, 2, decode_f16),
    row(2, "Q4_0", 32, 18, decode_q4_0),
    row(3, "Q4_1", 32, 20),
    row(6, "Q5_0", 32, 22),
    row(7, "Q5_1", 32, 24),
    row(8, "Q8_0", 32, 34, decode_q8_0),
    row(9, "Q8_1", 32, 36),
    row(10, "Q2_K", 256, 84),
    row(11, "Q3_K", 256, 110),
    row(12, "Q4_K", 256, 144, decode_q4_k),
    row(13, "Q5_K", 256, 176),
    row(14, "Q6_K", 256, 210, decode_q6_k),
    row(15, "Q8_K", 256, 292),
    row(16, "IQ2_XXS", 256, 66),
    row(17, "IQ2_XS", 256, 74),
    row(18, "IQ3_XXS", 256, 98),
    row(19, "IQ1_S", 256, 50),
    row(20, "IQ4_NL", 32, 18),
    row(21, "IQ3_S", 256, 110),
    row(22, "IQ2_S", 256, 82),
    row(23, "IQ4_XS", 256, 136),
    row(24, "I8", 1, 1),
    row(25, "I16", 1, 2),
    row(26, "I32", 1, 4),
    row(27, "I64", 1, 8),
    row(28, "F64", 1, 8),
    row(29, "IQ1_M", 256, 56),
    row(30, "BF16", 1, 2, decode_bf16),
    row(34, "TQ1_0", 256, 54),
    row(35, "TQ2_0", 256, 66),
    row(39, "MXFP4", 32, 17),
    row(40, "NVFP4", 64, 36),
    row(41, "Q1_0", 128, 18),
    row(42, "Q2_0", 64, 18),
};

}  // namespace

const GgufBlock* find_gguf_block(GgufTensorType type) {
  const auto found =
      std::find_if(block_types.begin(), block_types.end(), [&](const GgufBlock& b) { return b.type == type; });
  return found == block_types.end() ? nullptr : &*found;
}

std::string_view name_of(GgufTensorType type) {
  const GgufBlock* const block = find_gguf_block(type);
  return block == nullptr ? "an unknown type" : block->name;
}

std::vector<float> to_floats(const GgufTensor& tensor, const std::string& name) {
  const GgufBlock* const block = find_gguf_block(tensor.type);
  require(block != nullptr && block->decode != nullptr, name, ": tensor ", shown(tensor.name),
          " must be F32, F16, BF16, Q8_0, Q4_0, Q4_K or Q6_K to be read as numbers, got ", name_of(tensor.type));
  const std::string subject = name + ": tensor " + shown(tensor.name);
  const std::uint64_t elements = checked_elements(tensor.shape, subject);
  require(elements % block->elements == 0 && elements / block->elements == tensor.bytes.size() / block->bytes &&
              tensor.bytes.size() % block->bytes == 0,
          subject, " must have whole ", block->name, " blocks for its shape of ", elements, " elements, got ",
          tensor.bytes.size(), " bytes");
  std::vector<float> values(static_cast<std::size_t>(elements));
  const std::byte* from = tensor.bytes.data();
  for (std::size_t at = 0; at < values.size(); at += block->elements, from += block->bytes) {
    block->decode(from, values.data() + at);
  }
  return values;
}

}  // namespace locus::io
