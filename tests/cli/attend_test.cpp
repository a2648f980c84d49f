// SPDX-License-Identifier: Apache-2.0
// `locus attend`: other projects' attention from files, masks, rotation, and the optional outputs.
#include <cmath>

#include "cli/locus_command.h"
#include "support/oracle.h"

namespace locus::testing {
namespace {

using Shape = std::vector<std::int64_t>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Distinct values below 1, the same everywhere.
std::vector<double> ramp(std::int64_t count, double step) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(std::fmod(static_cast<double>(i + 1) * step, 2.0) - 1);
  return values;
}

/// q [2 queries, 2 heads, 2], k and v [3 keys, 1 head, 2], in double.
void write_small(const TemporaryFolder& folder) {
  write_array<double>(folder, "q.npy", {2, 2, 2}, ramp(8, 0.377));
  write_array<double>(folder, "k.npy", {3, 1, 2}, ramp(6, 0.613));
  write_array<double>(folder, "v.npy", {3, 1, 2}, ramp(6, 0.291));
}
const std::string small_files = " --query q.npy --key k.npy --value v.npy";

/// softmax(scale q.k + bias) v by hand for the small files, -inf where masked.
template <class Bias>
std::vector<double> small_output(double scale, const Bias& bias) {
  const std::vector<double> q = ramp(8, 0.377), k = ramp(6, 0.613), v = ramp(6, 0.291);
  std::vector<double> out;
  for (int query = 0; query < 2; ++query) {
    for (int head = 0; head < 2; ++head) {
      double total = 0, sum[2] = {0, 0};
      for (int key = 0; key < 3; ++key) {
        const std::size_t a = at(query * 4 + head * 2), b = at(key * 2);
        const double weight = std::exp(scale * (q[a] * k[b] + q[a + 1] * k[b + 1]) + bias(head, query, key));
        total += weight;
        sum[0] += weight * v[b];
        sum[1] += weight * v[b + 1];
      }
      out.push_back(sum[0] / total);
      out.push_back(sum[1] / total);
    }
  }
  return out;
}

constexpr double tight = 1e-14;  // three terms of size 1 in double

TEST(Attend, WithoutAnEncoding) {
  const TemporaryFolder folder;
  write_small(folder);
  const auto none = [](int, int, int) { return 0.0; };
  const Json json = json_of(folder, "attend -o out.npy" + small_files);
  EXPECT_EQ(json["shape"], Json({2, 2, 2}));
  EXPECT_EQ(json["key_heads"], 1);
  EXPECT_EQ(json["scheme"], "nope");
  expect_near(read_array(folder, "out.npy", io::NpyType::float64, {2, 2, 2}), small_output(1 / std::sqrt(2.0), none),
              tight, "default scale");
  json_of(folder, "attend --scale 0.25 -o out.npy" + small_files);
  expect_near(read_array(folder, "out.npy", io::NpyType::float64, {2, 2, 2}), small_output(0.25, none), tight, "scale");
}

TEST(Attend, AddsABiasAtTheGivenPositions) {
  const TemporaryFolder folder;
  write_small(folder);
  // Two heads: slopes 1/16 and 1/256. Queries at 7 and 9, keys at 0, 5 and 8; without a mask the later key gets 0.
  const int queries[] = {7, 9}, keys[] = {0, 5, 8};
  const auto bias = [&](int head, int query, int key) {
    const double slope = head == 0 ? 1.0 / 16 : 1.0 / 256;
    return -slope * std::max(0, queries[query] - keys[key]);
  };
  json_of(folder,
          "attend --scheme alibi --set heads=2 --query-positions 7,9 --key-positions 0,5,8 -o out.npy" + small_files);
  expect_near(read_array(folder, "out.npy", io::NpyType::float64, {2, 2, 2}), small_output(1 / std::sqrt(2.0), bias),
              tight, "alibi");
}

TEST(Attend, Masks) {
  const TemporaryFolder folder;
  write_small(folder);
  write_array<std::int64_t>(folder, "padding.npy", {3}, {0, 1, 1});
  write_array<std::int64_t>(folder, "pairs.npy", {2, 3}, {1, 0, 1, 0, 1, 1});
  // The last query is at the last key: queries at 1 and 2.
  const auto check = [&](const std::string& options, const std::vector<int>& seen) {
    json_of(folder, "attend -o out.npy " + options + small_files);
    const auto bias = [&](int, int query, int key) { return seen[at(query * 3 + key)] != 0 ? 0.0 : -HUGE_VAL; };
    expect_near(read_array(folder, "out.npy", io::NpyType::float64, {2, 2, 2}), small_output(1 / std::sqrt(2.0), bias),
                tight, options);
  };
  check("--mask full", {1, 1, 1, 1, 1, 1});
  check("--mask causal", {1, 1, 0, 1, 1, 1});
  check("--mask window=2", {1, 1, 1, 0, 1, 1});
  check("--mask causal,window=1", {0, 1, 0, 0, 0, 1});
  check("--mask causal,window=1,sinks=1", {1, 1, 0, 1, 0, 1});
  check("--mask prefix=3", {1, 1, 1, 1, 1, 1});
  check("--mask causal --key-positions 4,4,9 --query-positions 4,9", {1, 1, 0, 1, 1, 1});
  check("--mask causal,by_index --key-positions 9,9,9 --query-positions 0,0", {1, 1, 0, 1, 1, 1});
  check("--key-mask padding.npy", {0, 1, 1, 0, 1, 1});
  check("--mask-pairs pairs.npy", {1, 0, 1, 0, 1, 1});
  check("--mask causal --key-mask padding.npy", {0, 1, 0, 0, 1, 1});
}

TEST(Attend, PackedDocumentsSeeOnlyTheirOwnKeys) {
  const TemporaryFolder folder;
  write_small(folder);
  const auto check = [&](const std::string& options, const std::vector<int>& seen, const std::vector<int>& distance) {
    json_of(folder, "attend --scheme alibi --set heads=2 -o out.npy " + options + small_files);
    const auto bias = [&](int head, int query, int key) {
      const double slope = head == 0 ? 1.0 / 16 : 1.0 / 256;
      return seen[at(query * 3 + key)] != 0 ? -slope * distance[at(query * 3 + key)] : -HUGE_VAL;
    };
    expect_near(read_array(folder, "out.npy", io::NpyType::float64, {2, 2, 2}), small_output(1 / std::sqrt(2.0), bias),
                tight, options);
  };
  // Query 0 with keys 0 and 1, query 1 with key 2: each at the last key of its document.
  check("--documents 1,1 --key-documents 2,1", {1, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 0});
  check("--documents 2,0 --key-documents 1,2", {1, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 0});
  const auto refused = [&](const std::string& options) {
    const CommandResult result = run_locus(folder, "attend -o out.npy " + options + small_files);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_NE(refused("--documents 1,1").find("--key-documents must be lengths that add up to 3"), std::string::npos);
  EXPECT_NE(refused("--key-documents 2,1").find("needs --documents"), std::string::npos);
  EXPECT_NE(refused("--documents 1,1 --key-documents 3").find("the same number of documents"), std::string::npos);
  EXPECT_NE(refused("--documents 1,x --key-documents 2,1").find("--documents"), std::string::npos);
  EXPECT_NE(run_locus(folder, "attend -o q.npy" + small_files).err.find("must not be the input"), std::string::npos);
}

TEST(Attend, SinkLogitsTakeWeightWithoutAKey) {
  const TemporaryFolder folder;
  write_small(folder);
  write_array<float>(folder, "sinks.npy", {2}, {0.5f, -1.0f});
  json_of(folder, "attend -o none.npy" + small_files + " --log-sum-exp lse.npy");
  const std::vector<double> plain = read_array(folder, "none.npy", io::NpyType::float64, {2, 2, 2});
  const std::vector<double> lse = read_array(folder, "lse.npy", io::NpyType::float64, {1, 2, 2});
  for (const std::string option : {"--sink-logits 0.5,-1", "--sink-logits sinks.npy"}) {
    json_of(folder, "attend -o out.npy " + option + small_files);
    const std::vector<double> out = read_array(folder, "out.npy", io::NpyType::float64, {2, 2, 2});
    for (std::size_t query = 0; query < 2; ++query) {
      for (std::size_t head = 0; head < 2; ++head) {
        const double total = std::exp(lse[head * 2 + query]), sink = std::exp(head == 0 ? 0.5 : -1.0);
        for (std::size_t j = 0; j < 2; ++j) {
          const std::size_t i = query * 4 + head * 2 + j;
          EXPECT_NEAR(out[i], plain[i] * total / (total + sink), 1e-12);
        }
      }
    }
  }
  EXPECT_NE(run_locus(folder, "attend -o out.npy --sink-logits 1" + small_files).err.find("2 numbers"),
            std::string::npos);
}

// The last query is at the last key, so with two keys the first of three queries is at -1.
TEST(Attend, MoreQueriesThanKeysBeginBelowZero) {
  const TemporaryFolder folder;
  write_array<double>(folder, "q.npy", {3, 1, 1}, {0, 0, 0});
  write_array<double>(folder, "k.npy", {2, 1, 1}, {0, 0});
  write_array<double>(folder, "v.npy", {2, 1, 1}, {1, 3});
  json_of(folder, "attend --mask causal -o out.npy" + small_files);
  EXPECT_EQ(read_array(folder, "out.npy", io::NpyType::float64, {3, 1, 1}), (std::vector<double>{0, 1, 2}));
  json_of(folder, "attend --mask causal --query-positions 0,1,2 -o out.npy" + small_files);
  EXPECT_EQ(read_array(folder, "out.npy", io::NpyType::float64, {3, 1, 1}), (std::vector<double>{1, 2, 2}));
}

TEST(Attend, SavesScoresProbabilitiesAndLogSumExp) {
  const TemporaryFolder folder;
  write_small(folder);
  json_of(folder,
          "attend --mask causal --soft-cap 2 -o out.npy --save-scores s.npy --save-probabilities p.npy "
          "--log-sum-exp l.npy" +
              small_files);
  const std::vector<double> s = read_array(folder, "s.npy", io::NpyType::float64, {1, 2, 2, 3});
  const std::vector<double> p = read_array(folder, "p.npy", io::NpyType::float64, {1, 2, 2, 3});
  const std::vector<double> l = read_array(folder, "l.npy", io::NpyType::float64, {1, 2, 2});
  const std::vector<double> q = ramp(8, 0.377), k = ramp(6, 0.613);
  for (int head = 0; head < 2; ++head) {
    for (int query = 0; query < 2; ++query) {
      double total = 0;
      for (int key = 0; key < 3; ++key) {
        const std::size_t a = at(query * 4 + head * 2), b = at(key * 2), entry = at((head * 2 + query) * 3 + key);
        const double score = 2 * std::tanh((q[a] * k[b] + q[a + 1] * k[b + 1]) / std::sqrt(2.0) / 2);
        if (key > query + 1) {
          EXPECT_EQ(s[entry], -HUGE_VAL);
          EXPECT_EQ(p[entry], 0.0);
          continue;
        }
        EXPECT_NEAR(s[entry], score, tight);
        EXPECT_NEAR(p[entry], std::exp(score - l[at(head * 2 + query)]), tight);
        total += std::exp(score);
      }
      EXPECT_NEAR(l[at(head * 2 + query)], std::log(total), tight);
    }
  }
}

TEST(Attend, RotatesUnlessAlreadyRotated) {
  const TemporaryFolder folder;
  write_array<double>(folder, "q.npy", {1, 2, 3, 4}, ramp(24, 0.377));
  write_array<double>(folder, "k.npy", {1, 1, 5, 4}, ramp(20, 0.613));
  write_array<double>(folder, "v.npy", {1, 1, 5, 4}, ramp(20, 0.291));
  const std::string rope = " --scheme rope --set head_dim=4 --set pairing=half";
  const std::string common = "attend --axes bhtd --value v.npy --mask causal" + rope;
  json_of(folder, common + " --query q.npy --key k.npy -o one.npy");
  json_of(folder, "apply --axes bhtd --positions 2:5 --input q.npy --output qr.npy" + rope);
  json_of(folder, "apply --axes bhtd --positions 0:5 --input k.npy --output kr.npy" + rope);
  json_of(folder, common + " --query qr.npy --key kr.npy --rotated -o two.npy");
  json_of(folder, common + " --query q.npy --key k.npy --rotated -o unrotated.npy");
  const std::vector<double> one = read_array(folder, "one.npy", io::NpyType::float64, {1, 2, 3, 4});
  expect_near(read_array(folder, "two.npy", io::NpyType::float64, {1, 2, 3, 4}), one, 1e-13, "rotated before");
  EXPECT_NE(read_array(folder, "unrotated.npy", io::NpyType::float64, {1, 2, 3, 4}), one);
}

TEST(Attend, Float32FilesGiveFloat32) {
  const TemporaryFolder folder;
  const auto single = [&](const std::string& name, const Shape& shape, const std::vector<double>& values) {
    write_array<float>(folder, name, shape, std::vector<float>(values.begin(), values.end()));
  };
  single("q.npy", {2, 2, 2}, ramp(8, 0.377));
  single("k.npy", {3, 1, 2}, ramp(6, 0.613));
  single("v.npy", {3, 1, 2}, ramp(6, 0.291));
  json_of(folder, "attend -o out.npy --save-scores s.npy --save-probabilities p.npy --log-sum-exp l.npy" + small_files);
  // attention.h with head_dim 2, 3 keys, scores and values up to 1.5, and the rounding of the inputs (2^-24 each).
  const double bound = (2 * (2 + 16) * 1.5 + 4 * 3 + 16 + 8) * 0x1p-24 * 1.5;
  expect_near(read_array(folder, "out.npy", io::NpyType::float32, {2, 2, 2}),
              small_output(1 / std::sqrt(2.0), [](int, int, int) { return 0.0; }), bound, "float32");
  read_array(folder, "s.npy", io::NpyType::float32, {1, 2, 2, 3});
  read_array(folder, "p.npy", io::NpyType::float32, {1, 2, 2, 3});
  read_array(folder, "l.npy", io::NpyType::float32, {1, 2, 2});
}

TEST(Attend, TakesWeightsWithAConfig) {
  const TemporaryFolder folder;
  write_small(folder);
  folder.write("t5.json", R"({"model_type": "t5", "num_heads": 2, "d_kv": 2, "relative_attention_num_buckets": 4,
      "relative_attention_max_distance": 8})");
  write_array<float>(folder, "bias.npy", {4, 2}, {0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f});
  // 4 buckets, bidirectional: key <= query: 0 at distance 0, 1 beyond; key > query: 2 + the same (1 is "beyond").
  const auto bias = [](int head, int query, int key) {
    const int offset = key - (query + 1);
    return (offset == 0 ? 0.0 : offset < 0 ? 1.0 : 3.0) + 0.5 * head;
  };
  json_of(folder, "attend --config t5.json --layer-type encoder --weights table=bias.npy -o out.npy" + small_files);
  expect_near(read_array(folder, "out.npy", io::NpyType::float64, {2, 2, 2}), small_output(1, bias), tight, "t5");
}

// ---- other projects' numbers

/// 1e-12, as everywhere in double; masked scores (a large negative number there, -inf here) are skipped.
void expect_scores(const std::vector<double>& got, const std::vector<double>& wanted, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i] == -HUGE_VAL, wanted[i] < -1e8) << what << " at " << i;
    if (wanted[i] < -1e8) continue;
    ++seen;
    ASSERT_NEAR(got[i], wanted[i], 1e-12 * std::max(1.0, std::fabs(wanted[i]))) << what << " at " << i;
  }
  EXPECT_GT(seen, 0u) << what;
}

TEST(AttendOracle, Shaw) {
  for (const std::string& name : oracle_cases("shaw")) {
    const TemporaryFolder folder;
    const OracleCase peer("shaw", name);
    const Json& json = peer.json();
    const bool bert = json.contains("hf");
    const Shape logits = peer.shape("logits_f64");
    const std::int64_t batch = logits[0], heads = logits[1], length = logits[2];
    const std::int64_t dim = bert ? json.at("head_dim").get<std::int64_t>() : peer.shape("q").at(3);
    const Shape shape = bert ? Shape{batch, length, heads, dim} : Shape{batch, heads, length, dim};
    for (const std::string array : {"q", "k", "v"}) {
      write_array<double>(folder, array + ".npy", shape, peer.doubles(array));
    }
    std::string line = "attend --scheme shaw --set heads=" + std::to_string(heads) +
                       " --set head_dim=" + std::to_string(dim) +
                       " -o out.npy --save-scores s.npy --save-probabilities p.npy" + small_files;
    if (bert) {
      write_array<float>(folder, "t.npy", peer.shape("table"), peer.floats("table"));
      line += " --set key_table=t.npy --set index=query_minus_key --set clip=";
      line += json.at("clip").get<bool>() ? "true" : "false";
      line += " --set clip_left=" + std::to_string(json.at("max_position_embeddings").get<std::int64_t>() - 1);
      line += " --set meets_key=";
      line += std::string(json.at("hf")).ends_with("relative_key_query") ? "true" : "false";
    } else {
      write_array<float>(folder, "t.npy", peer.shape("key_table"), peer.floats("key_table"));
      write_array<float>(folder, "tv.npy", peer.shape("value_table"), peer.floats("value_table"));
      line += " --set key_table=t.npy --weights value_table=tv.npy --set scaled=false --scale 1 --axes bhtd";
      line += " --set clip_left=" + json.at("max_relative_position").dump();
      if (json.at("causal").get<bool>()) line += " --mask causal";
    }
    json_of(folder, line);
    expect_near(read_array(folder, "out.npy", io::NpyType::float64, shape),
                peer.doubles(bert ? "context_f64" : "out_f64"), 1e-12, name);
    expect_scores(read_array(folder, "s.npy", io::NpyType::float64, logits), peer.doubles("logits_f64"), name);
    if (peer.has("probs_f64")) {
      expect_near(read_array(folder, "p.npy", io::NpyType::float64, logits), peer.doubles("probs_f64"), 1e-12, name);
    }
  }
}

/// [tokens, batch, rest] as [batch, tokens, rest].
std::vector<double> batch_first(const std::vector<double>& values, std::int64_t tokens, std::int64_t batch) {
  const std::int64_t rest = static_cast<std::int64_t>(values.size()) / tokens / batch;
  std::vector<double> result;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t i = 0; i < rest; ++i) result.push_back(values[at((t * batch + b) * rest + i)]);
    }
  }
  return result;
}

/// [queries, keys, batch, heads] as [batch, heads, queries, keys].
std::vector<double> heads_first(const std::vector<double>& values, std::int64_t pairs, std::int64_t batch_heads) {
  std::vector<double> result;
  for (std::int64_t h = 0; h < batch_heads; ++h) {
    for (std::int64_t p = 0; p < pairs; ++p) result.push_back(values[at(p * batch_heads + h)]);
  }
  return result;
}

TEST(AttendOracle, TransformerXl) {
  for (const std::string& name : oracle_cases("transformer_xl")) {
    const TemporaryFolder folder;
    const OracleCase peer("transformer_xl", name);
    const auto integer = [&](const char* key) { return peer.json().at(key).get<std::int64_t>(); };
    const std::int64_t queries = integer("q_len"), keys = queries + integer("mem_len");
    const std::int64_t heads = integer("heads"), dim = integer("head_dim"), batch = peer.shape("q").at(1);
    write_array<double>(folder, "q.npy", {batch, queries, heads, dim}, batch_first(peer.doubles("q"), queries, batch));
    write_array<double>(folder, "k.npy", {batch, keys, heads, dim}, batch_first(peer.doubles("k"), keys, batch));
    write_array<double>(folder, "v.npy", {batch, keys, heads, dim}, batch_first(peer.doubles("v"), keys, batch));
    for (const std::string array : {"u", "vbias", "Wr"}) {
      write_array<float>(folder, array + ".npy", peer.shape(array), peer.floats(array));
    }
    json_of(folder, "attend --scheme transformer_xl --set heads=" + std::to_string(heads) +
                        " --set head_dim=" + std::to_string(dim) + " --set model_dim=" + peer.json()["d_model"].dump() +
                        " --weights u=u.npy --weights v=vbias.npy --weights w_r=Wr.npy --mask causal -o out.npy"
                        " --save-scores s.npy --save-probabilities p.npy" +
                        small_files);
    expect_near(read_array(folder, "out.npy", io::NpyType::float64, {batch, queries, heads, dim}),
                batch_first(peer.doubles("attn_vec_f64"), queries, batch), 1e-12, name);
    const Shape shape = {batch, heads, queries, keys};
    expect_scores(read_array(folder, "s.npy", io::NpyType::float64, shape),
                  heads_first(peer.doubles("logits_masked_f64"), queries * keys, batch * heads), name);
    expect_near(read_array(folder, "p.npy", io::NpyType::float64, shape),
                heads_first(peer.doubles("probs_f64"), queries * keys, batch * heads), 1e-12, name);
  }
}

}  // namespace
}  // namespace locus::testing
