// SPDX-License-Identifier: Apache-2.0
// Times tables of cos and sin against writing as many bytes, and against the C library.
#include <cmath>

#include "buffer.h"
#include "cases.h"
#include "locus/locus.h"
#include "machine_limits.h"
#include "simd_targets.h"

namespace locus::bench {
namespace {

constexpr std::int64_t row_head_dim = 128;
constexpr std::size_t rows = 131072;
constexpr std::size_t bytes = rows * row_head_dim * sizeof(float);

// A value unknown to the compiler.
volatile float one = 1.0f;

Encoding rope() { return Encoding("rope", {{"head_dim", row_head_dim}, {"pairing", std::string("half")}}); }

Case against_writing(const std::function<void(const Rotation&, float*)>& make, const Pairs& pairs) {
  const Encoding encoding = rope();
  Buffer buffer(bytes);
  const auto write = [&] { write_stream(buffer.floats(), buffer.count(), one); };
  return {.group = {},
          .name = {},
          .limit = "write bandwidth",
          .result = compare([&] { make(encoding.rotation(), buffer.floats()); }, at_best_width({write}, pairs), pairs),
          .amount = static_cast<double>(bytes)};
}

Case consecutive(const Pairs& pairs) {
  Case measured =
      against_writing([](const Rotation& rotation, float* out) { rotation_rows(rotation, 1000000, rows, out); }, pairs);
  measured.bar = 0.92;
  return measured;
}

Case scattered(const Pairs& pairs) {
  std::vector<Position> ids(rows);
  for (std::size_t i = 0; i < rows; ++i) ids[i] = static_cast<Position>((i * 2654435761u) % 2147483647u);
  return against_writing([&](const Rotation& rotation, float* out) { rotation_rows(rotation, ids, out); }, pairs);
}

Case against_libm(const Pairs& pairs) {
  constexpr std::size_t count = 1024;
  const Encoding encoding = rope();
  const Rotation& rotation = encoding.rotation();
  Buffer buffer(count * row_head_dim * sizeof(float));
  const auto libm = [&] {
    for (std::size_t p = 0; p < count; ++p) {
      for (std::size_t i = 0; i < row_head_dim / 2; ++i) {
        const float angle = static_cast<float>(p) * static_cast<float>(rotation.inv_freq[i]);
        buffer.floats()[p * row_head_dim + i] = std::cos(angle);
        buffer.floats()[p * row_head_dim + row_head_dim / 2 + i] = std::sin(angle);
      }
    }
  };
  return {.group = {},
          .name = {},
          .limit = "libm cosf and sinf",
          .result = compare([&] { rotation_rows(rotation, 0, count, buffer.floats()); }, libm, pairs),
          .bar = 20,
          .beatable = true,
          .amount = static_cast<double>(buffer.bytes())};
}

Case against_highway(const Pairs& pairs) {
  constexpr std::size_t count = 1024;
  const Encoding encoding = rope();
  const Rotation& rotation = encoding.rotation();
  Buffer buffer(count * row_head_dim * sizeof(float));
  const auto highway = [&] {
    for (std::size_t p = 0; p < count; ++p) {
      highway_row(static_cast<double>(p), rotation.inv_freq.data(), row_head_dim / 2,
                  buffer.floats() + p * row_head_dim);
    }
  };
  return {.group = {},
          .name = {},
          .limit = "Highway's double sine and cosine",
          .result = compare([&] { rotation_rows(rotation, 0, count, buffer.floats()); }, highway, pairs),
          .bar = 8,
          .beatable = true,
          .amount = static_cast<double>(buffer.bytes())};
}

}  // namespace

std::vector<PlannedCase> plan_table_cases() {
  return {{"tables", "consecutive float32 64 MB", consecutive},
          {"tables", "scattered float32 64 MB", scattered},
          {"tables", "consecutive, against scalar float libm", against_libm},
          {"tables", "consecutive, against Highway's double sine and cosine", against_highway}};
}

}  // namespace locus::bench
