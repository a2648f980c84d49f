// SPDX-License-Identifier: Apache-2.0
#include "locus/io/convert_pairing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "io/bytes.h"
#include "locus/attention.h"
#include "locus/io/hf_config.h"
#include "locus/io/safetensors.h"
#include "locus/positions.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;
using Weights = std::map<std::string, std::vector<float>>;

std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

template <class T>
std::span<const std::byte> stored_bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

/// Grouped queries, biases, norms of queries and keys, and a part of the head that is not rotated.
struct TinyShape {
  std::int64_t heads = 4, kv_heads = 2, head_dim = 10, rotary_dim = 6, hidden = 7, tokens = 9;
};

/// Rows of x W^T + b, then each head divided by its root mean square and scaled by `norm`.
std::vector<float> projected(const std::vector<float>& x, const std::vector<float>& w, const std::vector<float>& b,
                             const std::vector<float>& norm, const TinyShape& shape) {
  const auto hidden = static_cast<std::size_t>(shape.hidden), rows = w.size() / hidden, tokens = x.size() / hidden;
  const auto dim = static_cast<std::size_t>(shape.head_dim);
  std::vector<float> result(tokens * rows);
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = b.empty() ? 0 : b[r];
      for (std::size_t i = 0; i < hidden; ++i) sum += double{x[t * hidden + i]} * double{w[r * hidden + i]};
      result[t * rows + r] = static_cast<float>(sum);
    }
    for (std::size_t h = 0; h < rows / dim && !norm.empty(); ++h) {
      float* const head = &result[t * rows + h * dim];
      // Exact in double: the order of the coordinates must not matter before the rotation.
      long double squares = 0;
      for (std::size_t j = 0; j < dim; ++j) squares += static_cast<long double>(head[j]) * head[j];
      const double scale = static_cast<double>(static_cast<float>(1 / std::sqrt(squares / static_cast<double>(dim))));
      for (std::size_t j = 0; j < dim; ++j) head[j] = static_cast<float>(head[j] * scale * norm[j]);
    }
  }
  return result;
}

struct Attended {
  std::vector<float> output;
  double bound = 0;  ///< of its error, by what rotate.h and attention.h promise
};

/// q and k as projected, rotated with this pairing and attended to.
Attended attended(std::vector<float> q, std::vector<float> k, std::vector<float> v, const TinyShape& shape,
                  const char* pairing) {
  const Encoding rope("rope", {{"head_dim", shape.head_dim}, {"rotary_dim", shape.rotary_dim}, {"pairing", pairing}});
  const auto view = [&](std::vector<float>& data, std::int64_t heads) {
    return heads_view(data.data(), ElementType::float32, "thd", {{shape.tokens, heads, shape.head_dim}});
  };
  const PositionIds ids = positions::prefill(shape.tokens, 1000);
  rotate_query_key(rope, view(q, shape.heads), view(k, shape.kv_heads), ids);
  Attended result;
  result.output.resize(q.size());
  AttentionCall call{view(q, shape.heads), view(k, shape.kv_heads), view(v, shape.kv_heads),
                     view(result.output, shape.heads)};
  call.mask.causal = true;
  attend(call);

  const auto largest = [](const std::vector<float>& values) {
    double most = 0;
    for (const float value : values) most = std::max(most, std::abs(double{value}));
    return most;
  };
  const auto d = static_cast<double>(shape.head_dim);
  const double s = largest(q) * largest(k) * d / std::sqrt(d);  // at least any sum of absolute values under a score
  // attention.h's bound; and a rotated coordinate is off by two roundings in q and in k, 4 u s in the score and twice
  // that in a weight.
  result.bound =
      ((2 * (d + 16) + 8) * s + 4 * static_cast<double>(shape.tokens) + 16) * std::ldexp(1, -24) * largest(v);
  return result;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
  return most;
}

class ConvertPairing : public InTemporaryFolder {
 protected:
  void save(const fs::path& path, const Weights& weights,
            const std::map<std::string, std::vector<std::int64_t>>& shapes) {
    std::vector<SafetensorsTensor> tensors;
    for (const auto& [name, values] : weights) {
      tensors.push_back({name, SafetensorsType::f32, shapes.at(name), stored_bytes(values)});
    }
    write_safetensors(path, tensors, {{"format", "pt"}});
  }
  Weights load(const fs::path& path) {
    const SafetensorsModel model = read_safetensors_model(path);
    Weights weights;
    for (const std::string& name : model.tensor_names()) weights[name] = model.floats(*model.find_tensor(name));
    return weights;
  }

  /// One layer of Qwen3's form and an unrelated tensor, with their shapes.
  Weights tiny_model(const TinyShape& shape) {
    Weights weights;
    unsigned seed = 1;
    const auto add = [&](const std::string& name, std::vector<std::int64_t> lengths) {
      std::int64_t count = 1;
      for (const std::int64_t length : lengths) count *= length;
      weights[name] = random_floats(static_cast<std::size_t>(count), seed++);
      shapes_[name] = std::move(lengths);
    };
    const std::string layer = "model.layers.0.self_attn.";
    add(layer + "q_proj.weight", {shape.heads * shape.head_dim, shape.hidden});
    add(layer + "q_proj.bias", {shape.heads * shape.head_dim});
    add(layer + "k_proj.weight", {shape.kv_heads * shape.head_dim, shape.hidden});
    add(layer + "k_proj.bias", {shape.kv_heads * shape.head_dim});
    add(layer + "v_proj.weight", {shape.kv_heads * shape.head_dim, shape.hidden});
    add(layer + "q_norm.weight", {shape.head_dim});
    add(layer + "k_norm.weight", {shape.head_dim});
    add("model.embed_tokens.weight", {3, shape.hidden});
    add("vision_tower.encoder.layers.0.self_attn.q_proj.weight", {4, 4});
    return weights;
  }
  static std::string config_of(const TinyShape& shape) {
    return R"({"model_type": "qwen3", "hidden_size": 7, "max_position_embeddings": 4096, "num_attention_heads": )" +
           std::to_string(shape.heads) + R"(, "num_key_value_heads": )" + std::to_string(shape.kv_heads) +
           R"(, "head_dim": )" + std::to_string(shape.head_dim) + R"(, "partial_rotary_factor": )" +
           std::to_string(static_cast<double>(shape.rotary_dim) / static_cast<double>(shape.head_dim)) + "}";
  }
  static Attended attend_tiny(const Weights& weights, const TinyShape& shape, const char* pairing) {
    const std::string layer = "model.layers.0.self_attn.";
    const auto x = random_floats(static_cast<std::size_t>(shape.tokens * shape.hidden), 99);
    const auto at = [&](const char* name) { return weights.at(layer + name); };
    return attended(projected(x, at("q_proj.weight"), at("q_proj.bias"), at("q_norm.weight"), shape),
                    projected(x, at("k_proj.weight"), at("k_proj.bias"), at("k_norm.weight"), shape),
                    projected(x, at("v_proj.weight"), {}, {}, shape), shape, pairing);
  }

  std::map<std::string, std::vector<std::int64_t>> shapes_;
};

TEST(PairingOrder, IsTheTransposeOfThePairs) {
  // Per head: view (d/2, 2), transpose to (2, d/2).
  EXPECT_EQ(pairing_order({6, 6}, Pairing::half), (std::vector<std::int64_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(pairing_order({6, 6}, Pairing::interleaved), (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(pairing_order({8, 4}, Pairing::half), (std::vector<std::int64_t>{0, 2, 1, 3, 4, 5, 6, 7}));
  EXPECT_EQ(pairing_order({7, 4, 3}, Pairing::half), (std::vector<std::int64_t>{0, 1, 2, 3, 5, 4, 6}));
  EXPECT_EQ(pairing_order({3, 0}, Pairing::half), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_NE(error_of([] {
              pairing_order({8, 5}, Pairing::half);
            }).find("must be even to have pairs, got 5"),
            std::string::npos);
  EXPECT_NE(error_of([] { pairing_order({8, 6, 3}, Pairing::half); }).find("inside the head (8)"), std::string::npos);
}

TEST_F(ConvertPairing, AttentionIsEqualToRounding) {
  const TinyShape shape;
  const Weights before = tiny_model(shape);
  save(folder_ / "model.safetensors", before, shapes_);
  put("config.json", config_of(shape));
  for (const Pairing to : {Pairing::half, Pairing::interleaved}) {
    const Pairing from = to == Pairing::half ? Pairing::interleaved : Pairing::half;
    const PairingReport report =
        convert_pairing(folder_ / "model.safetensors", {.to = to, .output = folder_ / "new.safetensors", .from = from});
    const Weights after = load(folder_ / "new.safetensors");
    const char* const target = to == Pairing::half ? "half" : "interleaved";
    const char* const source = to == Pairing::half ? "interleaved" : "half";
    const Attended wanted = attend_tiny(before, shape, source);
    const Attended got = attend_tiny(after, shape, target);
    EXPECT_LE(largest_difference(got.output, wanted.output), got.bound + wanted.bound) << target;
    // The test can fail: the old weights with the new pairing are far off.
    EXPECT_GT(largest_difference(attend_tiny(before, shape, target).output, wanted.output),
              100 * (got.bound + wanted.bound));

    EXPECT_EQ(report.layers, 1);
    EXPECT_EQ(report.heads, 4);
    EXPECT_EQ(report.key_value_heads, 2);
    EXPECT_EQ(report.head, (HeadShape{10, 6, 0}));
    EXPECT_EQ(report.engine_pairing, Pairing::half);
    EXPECT_EQ(report.tensors.size(), 6u);
    for (const auto& [name, values] : before) {
      const bool moves = std::find(report.tensors.begin(), report.tensors.end(), name) != report.tensors.end();
      EXPECT_EQ(values != after.at(name), moves) << name;
    }
  }
}

TEST_F(ConvertPairing, FusedPerHeadAsInGptNeox) {
  const TinyShape shape{.heads = 3, .kv_heads = 3, .head_dim = 8, .rotary_dim = 2 * 2, .hidden = 24};
  Weights weights;
  const std::string name = "gpt_neox.layers.0.attention.query_key_value.";
  weights[name + "weight"] = random_floats(3 * 3 * 8 * 24, 5);
  weights[name + "bias"] = random_floats(3 * 3 * 8, 6);
  save(folder_ / "model.safetensors", weights, {{name + "weight", {72, 24}}, {name + "bias", {72}}});
  put("config.json", R"({"model_type": "gpt_neox", "hidden_size": 24, "num_attention_heads": 3, "rotary_pct": 0.5,
                         "max_position_embeddings": 2048})");
  const auto part = [&](const Weights& from, const std::string& tensor, std::size_t which, std::size_t width) {
    std::vector<float> rows;  // [heads, 3, head_dim]
    for (std::size_t head = 0; head < 3; ++head) {
      const auto begin = from.at(name + tensor).begin() + static_cast<std::ptrdiff_t>((head * 3 + which) * 8 * width);
      rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(8 * width));
    }
    return rows;
  };
  const auto run = [&](const Weights& from, const char* pairing) {
    const auto x = random_floats(9 * 24, 7);
    std::vector<float> qkv[3];
    for (std::size_t i = 0; i < 3; ++i) {
      qkv[i] = projected(x, part(from, "weight", i, 24), part(from, "bias", i, 1), {}, shape);
    }
    return attended(qkv[0], qkv[1], qkv[2], shape, pairing);
  };
  convert_pairing(folder_ / "model.safetensors", {Pairing::interleaved, folder_ / "new.safetensors"});
  const Attended wanted = run(weights, "half");
  const Attended got = run(load(folder_ / "new.safetensors"), "interleaved");
  EXPECT_LE(largest_difference(got.output, wanted.output), got.bound + wanted.bound);
  EXPECT_GT(largest_difference(run(weights, "interleaved").output, wanted.output), 100 * (got.bound + wanted.bound));
}

TEST_F(ConvertPairing, ThereAndBackGivesTheSameBytes) {
  const TinyShape shape;
  save(folder_ / "model.safetensors", tiny_model(shape), shapes_);
  put("config.json", config_of(shape));
  const std::string original = contents(folder_ / "model.safetensors");
  convert_pairing(folder_ / "model.safetensors", {Pairing::interleaved, folder_ / "there.safetensors"});
  EXPECT_NE(contents(folder_ / "there.safetensors"), original);
  const auto from = Pairing::interleaved;
  convert_pairing(folder_ / "there.safetensors",
                  {.to = Pairing::half, .output = folder_ / "back.safetensors", .from = from});
  EXPECT_EQ(contents(folder_ / "back.safetensors"), original);
  convert_pairing(folder_ / "there.safetensors",
                  {.to = Pairing::half, .output = {}, .in_place = true, .from = Pairing::interleaved});
  EXPECT_EQ(contents(folder_ / "there.safetensors"), original);
  EXPECT_EQ(files(), 4u);  // no temporary files
}

TEST_F(ConvertPairing, ShardedModelsAndFolders) {
  const TinyShape shape;
  const Weights weights = tiny_model(shape);
  Weights first, second;  // queries and keys in different files
  for (const auto& [name, values] : weights) (name.find("q_") != std::string::npos ? first : second)[name] = values;
  save(folder_ / "a.safetensors", first, shapes_);
  save(folder_ / "b.safetensors", second, shapes_);
  std::string map;
  for (const auto& [name, values] : weights) {
    map += (map.empty() ? "\"" : ", \"") + name + "\": \"" + (first.contains(name) ? "a" : "b") + ".safetensors\"";
  }
  put("model.safetensors.index.json", R"({"metadata": {"total_size": 1}, "weight_map": {)" + map + "}}");
  put("config.json", config_of(shape));
  put("tokenizer.json", "{}");
  put("stale.bin", "other weights");

  const fs::path out = folder_ / "out";
  const PairingReport report = convert_pairing(folder_, {Pairing::interleaved, out});
  EXPECT_EQ(report.files, (std::vector<fs::path>{out / "a.safetensors", out / "b.safetensors"}));
  for (const char* name : {"config.json", "tokenizer.json", "model.safetensors.index.json"}) {
    EXPECT_EQ(contents(out / name), contents(folder_ / name)) << name;
  }
  EXPECT_FALSE(fs::exists(out / "stale.bin"));
  const Attended wanted = attend_tiny(weights, shape, "half");
  const Attended got = attend_tiny(load(out / "model.safetensors.index.json"), shape, "interleaved");
  EXPECT_LE(largest_difference(got.output, wanted.output), got.bound + wanted.bound);

  convert_pairing(out / "model.safetensors.index.json",
                  {.to = Pairing::half, .output = {}, .in_place = true, .from = Pairing::interleaved});
  EXPECT_EQ(contents(out / "a.safetensors"), contents(folder_ / "a.safetensors"));
  EXPECT_EQ(contents(out / "b.safetensors"), contents(folder_ / "b.safetensors"));
  EXPECT_EQ(std::distance(fs::directory_iterator(out), fs::directory_iterator{}), 5);
  EXPECT_NE(error_of([&] {
              convert_pairing(folder_, {Pairing::interleaved, out});
            }).find("must be a new folder"),
            std::string::npos);
}

TEST_F(ConvertPairing, NeverOntoItsOwnInput) {
  const TinyShape shape;
  save(folder_ / "model.safetensors", tiny_model(shape), shapes_);
  put("config.json", config_of(shape));
  fs::create_symlink("model.safetensors", folder_ / "link.safetensors");
  const std::string original = contents(folder_ / "model.safetensors");
  for (const fs::path& path : {folder_ / "model.safetensors", folder_ / "link.safetensors",
                               folder_ / ".." / folder_.filename() / "model.safetensors"}) {
    const std::string text = error_of([&] {
      convert_pairing(folder_ / "model.safetensors", {Pairing::interleaved, path});
    });
    EXPECT_NE(text.find("the output must not be the input"), std::string::npos) << text;
  }
  EXPECT_EQ(contents(folder_ / "model.safetensors"), original);
  EXPECT_NE(error_of([&] {
              convert_pairing(folder_ / "model.safetensors", {.to = Pairing::half});
            }).find("give either the output (--output)"),
            std::string::npos);
}

TEST_F(ConvertPairing, RefusesWeightsThatHaveThePairingAlready) {
  const TinyShape shape;
  save(folder_ / "model.safetensors", tiny_model(shape), shapes_);
  put("config.json", config_of(shape));
  const auto message = [&](const ConvertPairingOptions& options) {
    return error_of([&] { convert_pairing(folder_ / "model.safetensors", options); });
  };
  const fs::path out = folder_ / "o";
  const std::string already = message({Pairing::half, out});
  EXPECT_NE(already.find("are half already; if these weights are not, give their pairing (--from interleaved)"),
            std::string::npos)
      << already;
  const std::string twice = message({.to = Pairing::half, .output = out, .from = Pairing::half});
  EXPECT_NE(twice.find("--from and --to must differ, got half twice"), std::string::npos) << twice;
  EXPECT_FALSE(fs::exists(out));
  // The same weights with --from interleaved, although the architecture is half.
  convert_pairing(folder_ / "model.safetensors", {.to = Pairing::half, .output = out, .from = Pairing::interleaved});
  EXPECT_TRUE(fs::exists(out));
}

// The lab's config.json states the pairing, which must be the new one afterwards.
TEST_F(ConvertPairing, AFolderOfTheLabStatesItsNewPairing) {
  const std::string name = "layers.0.attention.qkv.weight";
  Weights weights{{name, random_floats(3 * 8 * 8, 5)}};
  save(folder_ / "model.safetensors", weights, {{name, {24, 8}}});
  put("config.json", R"({"model_type": "locus_lab", "num_attention_heads": 2, "hidden_size": 8,
                         "max_position_embeddings": 32, "locus_encoding": {"scheme": "rope", "arguments":
                         {"head_dim": 4, "rotary_dim": 4, "pairing": "half", "base": 10000.0}}})");
  const fs::path out = folder_ / "out";
  convert_pairing(folder_, {Pairing::interleaved, out});
  EXPECT_EQ(read_hf_config(out / "config.json").layers.front().arguments.text("pairing"), "interleaved");
  const std::vector<float> after = load(out / "model.safetensors").at(name);
  for (std::size_t row = 0; row < 24; ++row) {  // heads of 4: x0 x1 y0 y1 becomes x0 y0 x1 y1; values stay
    const std::size_t order[] = {0, 2, 1, 3};
    const std::size_t from = row < 16 ? row / 4 * 4 + order[row % 4] : row;
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(after[row * 8 + i], weights.at(name)[from * 8 + i]) << row;
  }
  EXPECT_NE(error_of([&] {
              convert_pairing(out, {Pairing::interleaved, folder_ / "again"});
            }).find("already"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              convert_pairing(folder_ / "model.safetensors", {Pairing::interleaved, folder_ / "one"});
            }).find("give the folder"),
            std::string::npos);
}

TEST_F(ConvertPairing, RefusesSafetensorsItDoesNotUnderstand) {
  const TinyShape shape;
  const auto message = [&](Weights weights, const std::string& config) {
    save(folder_ / "model.safetensors", weights, shapes_);
    put("config.json", config);
    return error_of([&] { convert_pairing(folder_ / "model.safetensors", {Pairing::half, folder_ / "o"}); });
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  Weights packed = tiny_model(shape);  // as GPTQ packs it, eight columns to a word
  packed["model.layers.0.self_attn.q_proj.qweight"] = {1, 2};
  shapes_["model.layers.0.self_attn.q_proj.qweight"] = {2};
  has(message(packed, config_of(shape)), "q_proj.qweight' belongs to queries or keys, but its rows");
  TinyShape other = shape;
  other.heads = 5;
  has(message(tiny_model(shape), config_of(other)), "must have 5 heads x 10 = 50 rows, got 40");
  other = shape;
  other.rotary_dim = 5;
  has(message(tiny_model(shape), config_of(other)), "the rotary width must be even");
  has(message(tiny_model(shape), R"({"model_type": "gpt2", "n_positions": 8, "n_embd": 8, "n_head": 2})"),
      "pairing applies to RoPE only; this model has learned");
  shapes_["x"] = {1};
  has(message({{"x", {1}}}, config_of(shape)), "no tensor of queries or keys was found");
  fs::remove(folder_ / "config.json");
  has(error_of([&] {
        convert_pairing(folder_ / "model.safetensors", {Pairing::half, folder_ / "o"});
      }),
      "config.json: not found");
}

}  // namespace
}  // namespace locus::io
