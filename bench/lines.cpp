// SPDX-License-Identifier: Apache-2.0
#include "lines.h"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>

#include "locus/locus.h"
#include "machine_limits.h"

namespace locus::bench {
namespace {

constexpr std::int64_t heads = 32;
constexpr std::int64_t head_dim = 128;

struct FreeAligned {
  void operator()(void* data) const { std::free(data); }
};
// Page-aligned, written once, so that no page is missing when the clock runs.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : data_(std::aligned_alloc(4096, bytes)), bytes_(bytes) {
    if (data_ == nullptr) throw std::bad_alloc();
    for (std::size_t i = 0; i < bytes / 4; ++i) floats()[i] = 1.0f + static_cast<float>(i % 7) * 0.125f;
  }
  float* floats() { return static_cast<float*>(data_.get()); }
  void* data() { return data_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<void, FreeAligned> data_;
  std::size_t bytes_;
};

// A scale that the compiler cannot know to be 1.
volatile float one = 1.0f;

struct Size {
  const char* name;
  std::size_t bytes;
};
constexpr Size sizes[] = {
    {"256 KB", std::size_t{256} << 10}, {"8 MB", std::size_t{8} << 20}, {"256 MB", std::size_t{256} << 20}};

struct RotateCase {
  const char* name;
  const char* pairing;
  ElementType type;
  double bars[3];
};
constexpr RotateCase rotate_cases[] = {
    {"half float32", "half", ElementType::float32, {0.92, 0.92, 0.97}},
    {"interleaved float32", "interleaved", ElementType::float32, {0.78, 0.78, 0.95}},
    {"half bfloat16", "half", ElementType::bfloat16, {0.28, 0.35, 0.92}},
    {"half float16", "half", ElementType::float16, {0.42, 0.42, 0.90}},
};

// The better of the two in-place scalings of the same bytes: inside L3 the linear one alone would be a false limit.
std::function<void()> scaling_limit(Buffer& buffer, const Plan& plan) {
  const std::size_t count = buffer.bytes() / sizeof(float);
  const auto linear = [&buffer, count] { scale_linear(buffer.floats(), count, one); };
  const auto two = [&buffer, count] { scale_two_streams(buffer.floats(), count, head_dim, one); };
  return compare(two, linear, 7, plan.round_seconds).share.median > 1 ? std::function<void()>(two) : linear;
}

void rotate_lines(const Plan& plan, const std::function<void(Line)>& done) {
  for (const RotateCase& kind : rotate_cases) {
    const Encoding encoding("rope", {{"head_dim", head_dim}, {"pairing", std::string(kind.pairing)}},
                            std::size_t{64} << 20);
    for (std::size_t s = 0; s < 3; ++s) {
      Buffer buffer(sizes[s].bytes);
      const auto size = static_cast<std::int64_t>(size_of(kind.type));
      const std::int64_t tokens = static_cast<std::int64_t>(sizes[s].bytes) / (heads * head_dim * size);
      HeadsView view = heads_view(buffer.data(), kind.type, "thd", {{tokens, heads, head_dim}});
      if (kind.type != ElementType::float32) {  // small finite values in any 16-bit format
        auto* bits = static_cast<std::uint16_t*>(buffer.data());
        for (std::size_t i = 0; i < buffer.bytes() / 2; ++i) bits[i] = 0x3c00;
      }
      const PositionIds ids = positions::prefill(tokens);
      const auto thing = [&] { rotate(encoding, view, ids); };
      const std::function<void()> limit = scaling_limit(buffer, plan);
      done({.group = "rotate",
            .name = std::string(kind.name) + " " + sizes[s].name,
            .limit = "in-place scaling",
            .result = compare(thing, limit, plan.rounds, plan.round_seconds),
            .bar = kind.bars[s],
            .bytes = 2.0 * static_cast<double>(sizes[s].bytes)});
    }
  }
}

void add_lines(const Plan& plan, const std::function<void(Line)>& done) {
  constexpr std::int64_t dim = 4096;
  const Encoding sinusoidal("sinusoidal", {{"dim", dim}});
  const Encoding concatenated("sinusoidal", {{"dim", dim}, {"arrangement", std::string("concatenated")}});
  const Encoding learned("learned", {{"dim", dim}, {"max_positions", std::int64_t{16384}}});
  struct Case {
    const char* name;
    const Encoding& encoding;
  };
  for (const Case& one_case : {Case{"sinusoidal interleaved", sinusoidal},
                               Case{"sinusoidal concatenated", concatenated}, Case{"learned", learned}}) {
    const Encoding& encoding = one_case.encoding;
    for (const Size& size : sizes) {
      Buffer buffer(size.bytes);
      const std::int64_t tokens = static_cast<std::int64_t>(size.bytes) / (dim * 4);
      const HiddenView view{.data = buffer.data(), .tokens = tokens, .dim = dim, .token_stride = dim};
      const PositionIds ids = positions::prefill(tokens);
      const std::vector<float> row(static_cast<std::size_t>(dim), 0.5f);
      done({.group = "add",
            .name = std::string(one_case.name) + " float32 " + size.name,
            .limit = "adding one row to all",
            .result = compare([&] { add(encoding, view, ids); },
                              [&] { add_repeated_row(buffer.floats(), buffer.bytes() / 4, row.data(), row.size()); },
                              plan.rounds, plan.round_seconds),
            .bar = {},
            .bytes = 2.0 * static_cast<double>(size.bytes)});
    }
  }
}

void table_lines(const Plan& plan, const std::function<void(Line)>& done) {
  const Encoding encoding("rope", {{"head_dim", head_dim}, {"pairing", std::string("half")}});
  const Rotation& rotation = encoding.rotation();
  constexpr std::size_t rows = 131072;
  Buffer buffer(rows * head_dim * 4);
  const auto write = [&] { write_stream(buffer.floats(), rows * head_dim, one); };
  done({.group = "tables",
        .name = "consecutive float32 64 MB",
        .limit = "write bandwidth",
        .result = compare([&] { rotation_rows(rotation, 1000000, rows, buffer.floats()); }, write, plan.rounds,
                          plan.round_seconds),
        .bar = 0.85,
        .bytes = static_cast<double>(buffer.bytes())});
  std::vector<Position> scattered(rows);
  for (std::size_t i = 0; i < rows; ++i) scattered[i] = static_cast<Position>((i * 2654435761u) % 2147483647u);
  done({.group = "tables",
        .name = "scattered float32 64 MB",
        .limit = "write bandwidth",
        .result = compare([&] { rotation_rows(rotation, scattered, buffer.floats()); }, write, plan.rounds,
                          plan.round_seconds),
        .bar = {},
        .bytes = static_cast<double>(buffer.bytes())});
  const auto libm = [&] {
    for (std::size_t p = 0; p < 1024; ++p) {
      for (std::size_t i = 0; i < head_dim / 2; ++i) {
        const float angle = static_cast<float>(p) * static_cast<float>(rotation.inv_freq[i]);
        buffer.floats()[p * head_dim + i] = std::cos(angle);
        buffer.floats()[p * head_dim + head_dim / 2 + i] = std::sin(angle);
      }
    }
  };
  done({.group = "tables",
        .name = "consecutive, against scalar float libm",
        .limit = "libm cosf and sinf",
        .result =
            compare([&] { rotation_rows(rotation, 0, 1024, buffer.floats()); }, libm, plan.rounds, plan.round_seconds),
        .bar = 20,
        .bytes = 1024.0 * head_dim * 4});
}

}  // namespace

std::string Line::verdict() const {
  if (!bar) return "";
  const bool is_share = *bar <= 1;
  if (is_share && result.share.low > 1.05) return "limit wrong";
  if (result.share.low >= *bar) return "ok";
  if (result.share.noisy()) return "noisy";
  return result.share.median >= *bar ? "ok" : "missed";
}

std::vector<Line> run(const Plan& plan,
                      const std::function<void(const Line&, std::size_t done, std::size_t all)>& report) {
  const std::size_t all = (plan.rotate ? 12u : 0u) + (plan.add ? 9u : 0u) + (plan.tables ? 3u : 0u);
  std::vector<Line> lines;
  const auto done = [&](Line line) {
    lines.push_back(std::move(line));
    report(lines.back(), lines.size(), all);
  };
  if (plan.rotate) rotate_lines(plan, done);
  if (plan.add) add_lines(plan, done);
  if (plan.tables) table_lines(plan, done);
  return lines;
}

}  // namespace locus::bench
