// SPDX-License-Identifier: Apache-2.0
// Right implementations: none may be refused.
#include <numbers>

#include "doctor/mutants/lists.h"

namespace mutants {
namespace {

constexpr Arithmetic types[] = {Arithmetic::float64, Arithmetic::float32,     Arithmetic::bfloat16,
                                Arithmetic::float16, Arithmetic::to_bfloat16, Arithmetic::to_float16};
constexpr const char* type_names[] = {"float64",           "float32", "bfloat16", "float16", "float32 to bfloat16",
                                      "float32 to float16"};

std::vector<Pair> rotations() {
  return {half(), interleaved(), deinterleaved(), partial(), wide(), linear(), magnified(), xpos()};
}

void in_every_type(List& list) {
  for (std::size_t i = 0; i < std::size(types); ++i) {
    const std::string name = type_names[i];
    std::vector<Pair> turned = rotations();
    turned.push_back(sections());
    for (const Pair& pair : turned) {
      if (pair.name == "xpos" && (types[i] == Arithmetic::float16 || types[i] == Arithmetic::to_float16))
        continue;  // its scale overflows in float16 beyond 4,500 positions
      Rope rope = pair.plain.rope;
      rope.arithmetic = types[i];
      list.rotate("right", name, pair, rope, {});
    }
    std::vector<Pair> all = rotations();
    for (const Pair& pair :
         {none(), alibi(8), alibi(12), t5(false), t5(true), clipped(), kerple(), shaw(), transformer_xl()})
      all.push_back(pair);
    for (const Pair& pair : all) {
      if (pair.name == "xpos" && (types[i] == Arithmetic::float16 || types[i] == Arithmetic::to_float16)) continue;
      for (const std::int64_t part : {0, 64}) {
        Attention plain = pair.plain;
        plain.arithmetic = plain.rope.arithmetic = types[i];
        plain.part = part;
        plain.fills_lse = part > 0;
        list.attend("right", name + (part > 0 ? ", in parts" : ""), pair, plain, {});
      }
    }
    for (const std::int64_t page : {16, 64}) {
      PagedEngine engine;
      engine.attention = half().plain;
      engine.attention.arithmetic = engine.attention.rope.arithmetic = types[i];
      engine.page = page;
      list.attend("right", name + ", paged", half(), engine, {});
    }
  }
}

void with_options(List& list) {
  for (const std::int64_t window : {16, 100, 4096}) {
    list.attend("right", "window of " + std::to_string(window), half(), half().plain, {}, {.window = window});
  }
  for (const Pair& pair : {t5(true), clipped(), half()})
    list.attend("right", "not causal", pair, pair.plain, {}, {.causal = false});
  for (const std::int64_t rows : {64, 2048, 4096, 40960}) {
    Pair pair = half();
    pair.plain.rope.table_rows = rows;
    const locus::VerifyOptions told{.max_length = rows};
    list.attend("right", "table that ends, told", pair, pair.plain, {}, told);
    list.attend("right", "table that ends", pair, pair.plain, {});
    list.rotate("right", "table that ends", pair, pair.plain.rope, {});
    list.add("right", "rotate: table that ends, told", pair, {},
             [encoding = pair.encoding, rope = pair.plain.rope, told] {
               return locus::verify_rotate(encoding, rope, told);
             });
    Rope narrow = pair.plain.rope;
    narrow.arithmetic = Arithmetic::bfloat16;
    list.rotate("right", "table that ends, bfloat16", pair, narrow, {});
  }
  for (const std::uint64_t seed : {2u, 3u, 4u, 5u}) {
    for (const Arithmetic type : {Arithmetic::float32, Arithmetic::bfloat16, Arithmetic::float16}) {
      for (const Pair& pair : {half(), alibi(8), t5(false), shaw()}) {
        Attention plain = pair.plain;
        plain.arithmetic = plain.rope.arithmetic = type;
        list.attend("right", "seed " + std::to_string(seed), pair, plain, {}, {.seed = seed});
      }
    }
  }
}

// The float32 arithmetic of engines, each with its own order of operations.
void profiles(List& list) {
  for (const std::string profile : {"hf", "vllm", "ggml"}) {
    for (const bool bf16 : {false, true}) {
      if (bf16 && profile != "hf") continue;
      locus::Arguments arguments{{"head_dim", 64}, {"pairing", "half"}, {"profile", profile}};
      if (bf16) arguments.set("table_type", std::string("bfloat16"));
      Rope rope;
      rope.head_dim = rope.width = 64;
      rope.angle = [profile](double p, double w) {
        if (profile != "ggml") return static_cast<double>(static_cast<float>(p) * static_cast<float>(w));
        const float step = std::pow(10000.0f, -2.0f / 64.0f);
        float theta = static_cast<float>(p);
        const auto i = static_cast<int>(std::lround(-std::log(w) / std::log(10000.0) * 32));
        for (int k = 0; k < i; ++k) theta *= step;
        return static_cast<double>(theta);
      };
      if (bf16)
        rope.table = [](const Where&, std::int64_t, double& c, double& s) {
          c = static_cast<double>(round_bits(static_cast<float>(c), 16));
          s = static_cast<double>(round_bits(static_cast<float>(s), 16));
        };
      const Pair pair = rope_pair("profile " + profile + (bf16 ? ", bfloat16 tables" : ""), arguments, rope);
      for (const Arithmetic type : {Arithmetic::float32, Arithmetic::bfloat16, Arithmetic::to_float16}) {
        Rope typed = rope;
        typed.arithmetic = type;
        list.rotate("right", "typed", pair, typed, {});
        Attention plain = pair.plain;
        plain.rope = typed;
        plain.arithmetic = type;
        list.attend("right", "typed", pair, plain, {});
      }
    }
  }
}

}  // namespace

std::vector<Subject> right_ones() {
  List list;
  in_every_type(list);
  with_options(list);
  profiles(list);
  odd_right_ones(list);
  return list.all;
}

}  // namespace mutants
