// SPDX-License-Identifier: Apache-2.0
// Right implementations in unusual styles: fused, transposed, tiled, with growing tables, with narrow storage.
#include "doctor/mutants/engines.h"
#include "doctor/mutants/lists.h"

namespace mutants {
namespace {

using locus::AttendRequest;
using std::int64_t;

void tiled(List& list) {
  const auto add = [&](const std::string& name, const std::function<void(TiledAttention&)>& change) {
    TiledAttention engine;
    change(engine);
    list.attend("right", name, half(), engine, {});
  };
  add("tiled", [](TiledAttention&) {});
  add("tiles of 17", [](TiledAttention& e) { e.tile = 17; });
  add("tiles from the end", [](TiledAttention& e) { e.last_key_first = true; });
  add("exp2", [](TiledAttention& e) { e.in_base_two = true; });
  add("no largest score taken off", [](TiledAttention& e) { e.no_largest = true; });
  add("turned by the distance, once", [](TiledAttention& e) { e.fused_turn = true; });
  add("keys transposed", [](TiledAttention& e) { e.transposed_keys = true; });
  add("masked by -1e9", [](TiledAttention& e) { e.hidden_score = -1e9f; });
}

// cos and sin over the whole width, x cos + rotate_half(x) sin, from a table that doubles when it is too short.
struct GrowingTable {
  std::int64_t width = 64;
  double base = 5e5;
  std::shared_ptr<std::vector<float>> cos = std::make_shared<std::vector<float>>(),
                                      sin = std::make_shared<std::vector<float>>();

  void grow(int64_t rows) const {
    for (int64_t p = static_cast<int64_t>(cos->size()) / width; p < rows; ++p) {
      for (int64_t j = 0; j < width; ++j) {
        const std::complex<double> z = unit_turn(p, j % (width / 2), width, base);
        cos->push_back(static_cast<float>(z.real()));
        sin->push_back(static_cast<float>(z.imag()));
      }
    }
  }

  void operator()(const locus::RotateRequest& r) const {
    for (const int64_t id : r.ids) {
      if (id < 0 || id >= 5000) throw std::out_of_range("no such row");
      const int64_t rows = static_cast<int64_t>(cos->size()) / width;
      if (id >= rows) grow(std::max(id + 1, 2 * rows));
    }
    for (int64_t t = 0; t < r.tokens; ++t) {
      const float* c = cos->data() + r.ids[index(t)] * width;
      const float* s = sin->data() + r.ids[index(t)] * width;
      for (int64_t h = 0; h < r.heads; ++h) {
        float* x = r.data.data() + (t * r.heads + h) * width;
        const std::vector<float> in(x, x + width);
        for (int64_t j = 0; j < width; ++j) {
          const float half_turned = j < width / 2 ? -in[index(j + width / 2)] : in[index(j - width / 2)];
          x[j] = in[index(j)] * c[j] + half_turned * s[j];
        }
      }
    }
  }
};

void growing_tables(List& list) {
  const Pair pair = wide();
  list.add("right", "rotate: table that grows", pair, {},
           [encoding = pair.encoding] { return locus::verify_rotate(encoding, GrowingTable()); });
  list.add("right", "rotate: complex numbers", pair, {}, [encoding = pair.encoding] {
    return locus::verify_rotate(encoding, [](const locus::RotateRequest& r) {
      for (int64_t v = 0; v < r.tokens * r.heads; ++v) {
        float* x = r.data.data() + v * 64;
        for (int64_t i = 0; i < 32; ++i) {
          const std::complex<float> z(unit_turn(r.ids[index(v / r.heads)], i, 64, 5e5));
          const std::complex<float> y = std::complex<float>(x[i], x[i + 32]) * z;
          x[i] = y.real();
          x[i + 32] = y.imag();
        }
      }
    });
  });
}

// Narrow storage with float32 arithmetic. The result is float32, so the type must be given.
void narrow_storage(List& list) {
  for (const bool half_type : {false, true}) {
    const auto round = [half_type](float x) { return half_type ? to_half(x) : bf16(x); };
    for (const bool values_too : {false, true}) {
      const auto engine = [round, values_too](const AttendRequest& r) {
        Attention plain = half().plain;
        std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end()),
            v(r.value.begin(), r.value.end());
        plain.rope.rotate(q.data(), r.heads, r.query_ids, Attention::place(r, false));
        plain.rope.rotate(k.data(), r.key_heads, r.key_ids, Attention::place(r, true));
        for (float& x : k) x = round(x);
        if (values_too)
          for (float& x : v) x = round(x);
        plain.attend(r, q, k, v);
      };
      list.attend("right",
                  std::string("keys ") + (values_too ? "and values " : "") + "kept in " +
                      (half_type ? "float16" : "bfloat16") + ", told",
                  half(), engine, {},
                  {.arithmetic = half_type ? locus::ElementType::float16 : locus::ElementType::bfloat16});
    }
  }
}

// Sums in bfloat16 after every term, over coordinates and keys, as in code without wide accumulators.
void narrow_sums(List& list) {
  const auto engine = [](const AttendRequest& r) {
    const Rope rope = [] {
      Rope one;
      one.arithmetic = Arithmetic::bfloat16;
      return one;
    }();
    std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end());
    rope.rotate(q.data(), r.heads, r.query_ids, Attention::place(r, false));
    rope.rotate(k.data(), r.key_heads, r.key_ids, Attention::place(r, true));
    const int64_t group = r.heads / r.key_heads;
    for (int64_t i = 0; i < r.queries; ++i) {
      for (int64_t h = 0; h < r.heads; ++h) {
        std::vector<float> scores(index(r.keys), -INFINITY);
        float top = -INFINITY, sum = 0;
        for (int64_t j = 0; j < r.keys; ++j) {
          if (!Attention::sees(r, i, j)) continue;
          float score = 0;
          for (int64_t c = 0; c < 16; ++c)
            score = bf16(score +
                         bf16(q[index((i * r.heads + h) * 16 + c)] * k[index((j * r.key_heads + h / group) * 16 + c)]));
          scores[index(j)] = bf16(score * 0.25f);
          top = std::max(top, scores[index(j)]);
        }
        for (float& s : scores) s = std::exp(s - top), sum += s;  // a softmax in float32, rounded at the end
        for (int64_t c = 0; c < 16; ++c) {
          float out = 0;
          for (int64_t j = 0; j < r.keys; ++j) {
            if (scores[index(j)] > 0)
              out += bf16(scores[index(j)] / sum) * r.value[index((j * r.key_heads + h / group) * 16 + c)];
          }
          r.output[index((i * r.heads + h) * 16 + c)] = bf16(out);
        }
      }
    }
  };
  list.attend("right", "scores summed in bfloat16", half(), engine, {});
}

void other_scores(List& list) {
  // Slope times the key's distance from the last key: a row is off by a constant, which softmax ignores.
  Pair pair = alibi(12);
  const Attention plain = pair.plain;
  list.attend("right", "bias counted from the last key", pair,
              [plain](const AttendRequest& r) {
                Attention own = plain;
                const int64_t last = *std::max_element(r.key_ids.begin(), r.key_ids.end());
                own.bias = [s = slopes(12), last](int64_t h, int64_t, int64_t k) {
                  return static_cast<double>(static_cast<float>(s[index(h)]) * static_cast<float>(k - last));
                };
                own(r);
              },
              {});
  // T5's logarithm in float32.
  const Pair buckets = t5(false);
  Attention single = buckets.plain;
  single.bias = [table = tensor({32, 8}, 7).data](int64_t h, int64_t q, int64_t k) {
    const auto n = static_cast<float>(std::max<int64_t>(q - k, 0));
    float row = n;
    if (n >= 16) row = std::min(16.0f + std::floor(std::log(n / 16.0f) / std::log(128.0f / 16.0f) * 16.0f), 31.0f);
    return static_cast<double>(table[index(static_cast<int64_t>(row) * 8 + h)]);
  };
  list.attend("right", "buckets by a float32 logarithm", buckets, single, {});
  // Repeats key heads before anything else.
  const Attention rope = half().plain;
  list.attend("right", "key heads repeated first", half(),
              [rope](const AttendRequest& r) {
                OwnedCall call(r);
                const int64_t group = r.heads / r.key_heads;
                call.key.clear();
                call.value.clear();
                for (int64_t j = 0; j < r.keys; ++j) {
                  for (int64_t h = 0; h < r.heads; ++h) {
                    const auto from = (j * r.key_heads + h / group) * r.head_dim;
                    call.key.insert(call.key.end(), r.key.begin() + from, r.key.begin() + from + r.head_dim);
                    call.value.insert(call.value.end(), r.value.begin() + from, r.value.begin() + from + r.head_dim);
                  }
                }
                call.request.key_heads = r.heads;
                rope(call.pointed());
              },
              {});
  // Refuses ids below 0 and accepts all others.
  Attention no_negatives = half().plain;
  no_negatives.rope.id = [](const Where&, int64_t p) {
    if (p < 0) throw std::invalid_argument("ids must not be negative");
    return p;
  };
  list.attend("right", "ids below 0 refused", half(), no_negatives, {});
  list.rotate("right", "ids below 0 refused", half(), no_negatives.rope, {});
  for (const int64_t page : {32, 128, 256}) {
    PagedEngine engine;
    engine.attention = half().plain;
    engine.page = page;
    list.attend("right", "paged by " + std::to_string(page) + ", windowed", half(), engine, {}, {.window = 200});
  }
}

}  // namespace

void odd_right_ones(List& list) {
  tiled(list);
  growing_tables(list);
  narrow_storage(list);
  narrow_sums(list);
  other_scores(list);
}

}  // namespace mutants
