// SPDX-License-Identifier: Apache-2.0
// A sample of every folder of reference vectors that a command can reproduce, through the command line. Other tests
// check all cases through the library; this one tests files, options and configs. Double results must agree to 1e-12
// relative plus position * 1e-16, float32 ones within the bounds that the headers state.
#include <algorithm>
#include <cmath>

#include "cli/locus_command.h"
#include "support/oracle.h"

namespace locus::testing {
namespace {

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::fabs(value));
  return most;
}

std::string listed(const std::vector<std::int64_t>& ids) {
  std::string text;
  for (const std::int64_t id : ids) {
    if (!text.empty()) text += ',';
    text += std::to_string(id);
  }
  return text;
}

/// The arrays of a case as float64 files, which the command computes in double.
void write_doubles(const TemporaryFolder& folder, const std::string& name, const OracleCase& one,
                   const std::string& array) {
  write_array<double>(folder, name, one.shape(array), one.doubles(array));
}

// ---- rope: show

TEST(OracleSample, RopeConfigs) {
  const TemporaryFolder folder;
  for (const std::string name :
       {"llama2_7b", "llama3_1_8b", "qwen2_5_7b_yarn4", "deepseek_v2_lite", "gpt_oss", "phi3_5_mini_seq4096",
        "phi3_5_mini_seq131072", "gemma3_4b_full", "gemma3_4b_sliding", "gemma4_e_full_proportional", "pythia_1_4b",
        "internlm2_5_7b_dynamic2_seq65536", "vicuna_7b_v1_5_16k_linear4", "yarn_factor_null"}) {
    const OracleCase one("rope", name);
    const Json& wanted = one.json();
    folder.write("config.json", wanted["config"].dump());
    const auto ids = wanted["positions"].get<std::vector<std::int64_t>>();
    const auto length = wanted["seq_len"].is_null() ? std::int64_t{1} : wanted["seq_len"].get<std::int64_t>();
    std::string line =
        "show --config config.json --json --seq-len " + std::to_string(length) + " --positions " + listed(ids);
    if (wanted["config"].contains("layer_types")) line += " --layer-type " + wanted["layer_type"].get<std::string>();
    const CommandResult result = run_locus(folder, line);  // --seq-len is often shorter than a position: a note
    ASSERT_EQ(result.exit_code, 0) << name << "\n" << result.err;
    const Json got = Json::parse(result.out);

    EXPECT_EQ(got["rotary_dim"], wanted["rotary_dim"]) << name;
    const double factor = wanted["attention_factor"].get<double>();
    EXPECT_NEAR(got["attention_factor"].get<double>(), factor, 1e-12 * factor) << name;
    const auto inv_freq = wanted["inv_freq_f64"].get<std::vector<double>>();
    ASSERT_EQ(got["inv_freq"].size(), inv_freq.size()) << name;
    for (std::size_t i = 0; i < inv_freq.size(); ++i) {
      EXPECT_NEAR(got["inv_freq"][i].get<double>(), inv_freq[i], 1e-12 * inv_freq[i]) << name << " pair " << i;
    }
    const std::vector<double> cos = one.doubles("cos_f64"), sin = one.doubles("sin_f64");
    const auto width = static_cast<std::size_t>(one.shape("cos_f64")[1]);  // halves are duplicated in most
    for (std::size_t row = 0; row < ids.size(); ++row) {
      for (std::size_t i = 0; i < inv_freq.size(); ++i) {
        // In addition to the rounding of the angle, the peer's double frequency is off by up to two last bits.
        const double allowed = factor * (1e-12 + static_cast<double>(ids[row]) * (1e-16 + inv_freq[i] * 0x1p-52));
        ASSERT_NEAR(got["cos"][row][i].get<double>(), cos[row * width + i], allowed) << name << ' ' << ids[row];
        ASSERT_NEAR(got["sin"][row][i].get<double>(), sin[row * width + i], allowed) << name << ' ' << ids[row];
      }
    }
  }
}

TEST(OracleSample, CrosspeerRules) {
  const TemporaryFolder folder;
  const std::string rope = "show --scheme rope --set head_dim=128 --set pairing=half --set base=10000";
  for (const auto& [name, settings] : std::vector<std::pair<std::string, std::string>>{
           {"yarn_repo_llama2_64k", " --set rule=yarn --set factor=16 --set original_length=4096"},
           {"ntk_static_alpha4", " --set rule=ntk --set factor=4"}}) {
    const Json wanted = OracleCase("crosspeer", name).json();
    const Json got = json_of(folder, rope + settings);
    const auto inv_freq = wanted["inv_freq_f64"].get<std::vector<double>>();
    ASSERT_EQ(got["inv_freq"].size(), inv_freq.size());
    for (std::size_t i = 0; i < inv_freq.size(); ++i) {
      EXPECT_NEAR(got["inv_freq"][i].get<double>(), inv_freq[i], 1e-12 * inv_freq[i]) << name << ' ' << i;
    }
    EXPECT_NEAR(got["attention_factor"].get<double>(), wanted["mscale"].get<double>(), 1e-12) << name;
  }
}

// ---- apply

struct ApplySample {
  std::string folder, name;
  std::string axes;
  std::string options;  ///< in place of the case's config where they name a scheme
  std::string positions = "position_ids.npy";
};

const std::vector<ApplySample>& apply_samples() {
  static const std::vector<ApplySample> samples = {
      {"apply", "llama3_1_halfsplit_d128", "bhtd", "--config config.json"},
      {"apply", "gpt_oss_yarn_halfsplit_d64", "bhtd", "--config config.json"},
      {"apply", "phi4_mini_longrope_partial75_d128_short", "bhtd", "--config config.json"},
      {"apply", "cohere_interleaved_d64", "bhtd", "--config config.json --pairing interleaved"},
      {"apply", "glm4_interleaved_partial50_d128", "bhtd", "--config config.json --pairing interleaved"},
      {"apply", "qwen2_vl_mrope_16_24_24_d128", "bhtd", "--config config.json"},
      {"apply", "qwen3_vl_imrope_24_20_20_d128", "bhtd", "--config config.json"},
      {"apply", "gptj_rot16_of_40", "bthd",
       "--scheme rope --set head_dim=40 --set rotary_dim=16 --set pairing=interleaved"},
      {"apply", "deepseek_v3_interleave_small", "bhtd",
       "--scheme rope --set head_dim=16 --set pairing=interleaved --set output_order=deinterleaved"},
      {"apply", "pixtral_2d_d64", "bhtd",
       "--scheme rope --set head_dim=64 --set pairing=half --set axes=pixtral --set grid_width=64"},
      {"apply", "dinov3_2d_d64", "bhtd",
       "--scheme rope --set head_dim=64 --set pairing=half --set axes=dinov3 --set base=100 --set grid_height=4 "
       "--set grid_width=5 --set prefix=5",
       "0:25"},
      {"crosspeer", "meta_llama3_1_interleaved", "bthd",
       "--scheme rope --set head_dim=128 --set pairing=interleaved --set base=500000 --set rule=llama3 "
       "--set factor=8 --set original_length=8192",
       ""},
  };
  return samples;
}

TEST(OracleSample, ApplyInDoubleAndInFloat32) {
  for (const ApplySample& sample : apply_samples()) {
    const TemporaryFolder folder;
    const OracleCase one(sample.folder, sample.name);
    std::string positions = sample.positions;
    double farthest = 25;
    if (sample.options.starts_with("--config")) {
      Json config = one.json()["config"];
      // The real configs of the models state it; the configs of these cases do not.
      if (sample.name.find("imrope") != std::string::npos) config["rope_parameters"]["mrope_interleaved"] = true;
      folder.write("config.json", config.dump());
    }
    if (positions == "position_ids.npy") {
      write_array<std::int64_t>(folder, positions, one.shape("position_ids"), one.integers("position_ids"));
      farthest = largest(one.doubles("position_ids"));
    } else if (positions.empty()) {
      const auto start = one.json()["start"].get<std::int64_t>();
      farthest = static_cast<double>(start + one.shape("q")[1]);
      positions = std::to_string(start) + ":" + std::to_string(start + one.shape("q")[1]);
    }
    for (const std::string which : {"q", "k"}) {
      const std::string line = "apply " + sample.options + " --input x.npy --output y.npy --axes " + sample.axes +
                               " --positions " + positions;
      const std::vector<double> wanted = one.doubles(which + "_out_f64");
      // A pair is no longer than sqrt(2) times its larger coordinate; what the magnitude adds is in `wanted`.
      const double pair = 1.5 * std::max(largest(one.doubles(which)), largest(wanted));
      write_doubles(folder, "x.npy", one, which);
      json_of(folder, line);
      expect_near(read_array(folder, "y.npy", io::NpyType::float64, one.shape(which)), wanted,
                  pair * (1e-12 + farthest * 1e-16), sample.name + " " + which);
      // float32: cos and sin off by 3.1e-8 each (2e-9 and half an ulp of a magnitude below 2: 6.2e-8), two roundings.
      write_array<float>(folder, "x.npy", one.shape(which), one.floats(which));
      json_of(folder, line);
      expect_near(read_array(folder, "y.npy", io::NpyType::float32, one.shape(which)), wanted,
                  pair * (2 * 6.2e-8 + 2 * 0x1p-24), sample.name + " " + which + " float32");
    }
  }
}

TEST(OracleSample, ApplyWithTheHfProfile) {
  const TemporaryFolder folder;
  const OracleCase one("apply", "llama_halfsplit_d64");
  folder.write("config.json", one.json()["config"].dump());
  write_array<float>(folder, "x.npy", one.shape("q"), one.floats("q"));
  write_array<std::int64_t>(folder, "ids.npy", one.shape("position_ids"), one.integers("position_ids"));
  const Json json = json_of(folder,
                            "apply --config config.json --profile hf --input x.npy --axes bhtd"
                            " --positions ids.npy --output y.npy");
  EXPECT_EQ(json["scheme"], "rope");
  const double farthest = largest(one.doubles("position_ids"));
  const double pair = 1.5 * largest(one.doubles("q"));
  // cos and sin within p w 2^-22 + 2e-7 (w <= 1), then the roundings of both float32 products.
  expect_near(read_array(folder, "y.npy", io::NpyType::float32, one.shape("q")), one.doubles("q_out_f32"),
              pair * (2 * (farthest * 0x1p-22 + 2e-7) + 4 * 0x1p-24), "hf");
}

// ---- ggml

TEST(OracleSample, GgmlProfile) {
  const std::string head = "--scheme rope --set head_dim=128 ";
  for (const auto& [name, options] : std::vector<std::pair<std::string, std::string>>{
           {"neox_d128_base1e6", head + "--set pairing=half --set base=1e6"},
           {"normal_d64", "--scheme rope --set head_dim=64 --set pairing=interleaved"},
           {"neox_partial32_of_128", head + "--set pairing=half --set rotary_dim=32"},
           {"neox_linear4", head + "--set pairing=half --set rule=linear --set factor=4"},
           {"imrope_24_20_20_d128",
            head + "--set pairing=half --set base=5e6 --set axes=mrope_interleaved --set sections=24,20,20,0"}}) {
    const TemporaryFolder folder;
    const OracleCase one("ggml", name);
    const std::string line =
        "apply " + options + " --profile ggml --input x.npy --axes thd --positions ids.npy --output y.npy";
    write_array<float>(folder, "x.npy", one.shape("x"), one.floats("x"));
    std::vector<std::int64_t> shape = one.shape("positions");
    if (shape.size() == 2) shape.insert(shape.begin() + 1, 1);  // [4, tokens] -> [axes, batch, tokens]
    write_array<std::int64_t>(folder, "ids.npy", shape, one.integers("positions"));
    json_of(folder, line);
    const std::vector<double> wanted = one.doubles("out_f32");
    const double pair = 1.5 * std::max(largest(one.doubles("x")), largest(wanted));
    // The angles are the same float32 numbers; cosf and sinf may differ by an ulp of 1 in either library, and each
    // side rounds its products and their sum.
    expect_near(read_array(folder, "y.npy", io::NpyType::float32, one.shape("x")), wanted,
                pair * (2 * 0x1p-23 + 2 * 2 * 0x1p-24), name);
  }
}

// ---- the hidden site

TEST(OracleSample, SinusoidalRowsOnZeros) {
  const std::string fairseq = " --set rate=fairseq --set arrangement=concatenated";
  for (const auto& [name, options] : std::vector<std::pair<std::string, std::string>>{
           {"fairseq_64x32", fairseq},
           {"fairseq_20x33_pad1", fairseq + " --set zero_position=1"},
           {"t2t_50x16_start3", fairseq + " --set first_position=3"},
           {"xlm_interleaved_64x32", ""},
           {"marian_odd_9x5", " --set arrangement=concatenated"},
           {"mae2d_4x6_d32",
            " --set arrangement=concatenated --set axes=grid --set grid_height=4 --set grid_width=6"
            " --set prefix=1"}}) {
    const TemporaryFolder folder;
    const OracleCase one("sinusoidal", name);
    const std::vector<std::int64_t> shape = one.shape("table_f64");
    write_array<double>(folder, "x.npy", shape, std::vector<double>(static_cast<std::size_t>(shape[0] * shape[1]), 0));
    json_of(folder, "apply --scheme sinusoidal --set dim=" + std::to_string(shape[1]) + options +
                        " --input x.npy --axes td --output y.npy --positions 0:" + std::to_string(shape[0]));
    expect_near(read_array(folder, "y.npy", io::NpyType::float64, shape), one.doubles("table_f64"),
                1e-12 + static_cast<double>(shape[0]) * 1e-16, name);
  }
}

// ---- xpos

TEST(OracleSample, XposWithTheMovingCentre) {
  for (const std::string name : {"xpos_d64_L16", "xpos_d32_L7_off5"}) {
    const TemporaryFolder folder;
    const OracleCase one("xpos", name);
    const std::vector<std::int64_t> shape = one.shape("x");  // [batch, tokens, dim]
    const auto start = one.json().value("offset", std::int64_t{0});
    write_array<double>(folder, "x.npy", shape, one.doubles("x"));
    for (const std::string role : {"query", "key"}) {
      // The length, largest position + 1, is the one that torchscale centres on.
      json_of(folder, "apply --scheme xpos --set pairing=interleaved --set moving_centre=true --set head_dim=" +
                          std::to_string(shape[2]) + " --input x.npy --axes htd --output y.npy --role " + role +
                          " --positions " + std::to_string(start) + ":" + std::to_string(start + shape[1]));
      const std::vector<double> wanted = one.doubles(role == "query" ? "q_out_f64" : "k_out_f64");
      expect_near(read_array(folder, "y.npy", io::NpyType::float64, shape), wanted,
                  1.5 * largest(wanted) * (1e-12 + 64e-16), name + " " + role);
    }
  }
}

// ---- scores

TEST(OracleSample, AlibiSlopesAndBias) {
  const TemporaryFolder folder;
  const Json slopes = oracle_json("alibi/slopes.json")["heads"];
  for (const std::string heads : {"1", "8", "12", "20"}) {
    if (!slopes.contains(heads)) continue;
    const auto wanted = slopes[heads]["ofirpress_f64"].get<std::vector<double>>();
    const auto got =
        json_of(folder, "bias --scheme alibi --slopes --set heads=" + heads)["slopes"].get<std::vector<double>>();
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t h = 0; h < got.size(); ++h) EXPECT_NEAR(got[h], wanted[h], 1e-12 * wanted[h]) << heads;
  }
  const OracleCase one("alibi", "bias_h12");
  const auto mask = one.integers("attention_mask");
  ASSERT_TRUE(std::all_of(mask.begin(), mask.end(), [](std::int64_t entry) { return entry == 1; }));
  for (const auto& [array, settings] :
       std::vector<std::pair<std::string, std::string>>{{"bloom", "--set form=bloom"},
                                                        {"mpt", "--set form=mpt"},
                                                        {"mpt_bias_max16", "--set form=mpt --set bias_max=16"},
                                                        {"falcon_bf16", "--set form=falcon"}}) {
    output_of(folder, "bias --scheme alibi --set heads=12 --queries 1 --keys 6 --output b.npy " + settings);
    const std::vector<double> got = read_array(folder, "b.npy", io::NpyType::float64, {12, 1, 6});
    const std::vector<double> wanted = one.doubles(array);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      // The slopes of these projects are float32 powers, which agree to 7e-7; Falcon's end as bfloat16, so exactly.
      EXPECT_NEAR(got[i], wanted[i], array == "falcon_bf16" ? 0 : 7e-7 * std::fabs(wanted[i])) << array << ' ' << i;
    }
  }
}

TEST(OracleSample, T5BucketsAndBias) {
  const TemporaryFolder folder;
  const Json buckets = oracle_json("t5/buckets.json");
  for (std::size_t k = 0; k <= 600; ++k) ASSERT_EQ(buckets["offsets"][k], static_cast<int>(k) - 300);
  for (const Json& one : buckets["cases"]) {
    const std::string line =
        "bias --scheme t5 --set heads=1 --queries 1 --keys 601 --query-start 300 --buckets"
        " --set num_buckets=" +
        one["num_buckets"].dump() + " --set max_distance=" + one["max_distance"].dump() +
        " --set bidirectional=" + one["bidirectional"].dump();
    const Json hf = json_of(folder, line + " --profile hf");
    ASSERT_EQ(hf["buckets"].size(), 601u);
    for (std::size_t k = 0; k <= 600; ++k) EXPECT_EQ(hf["buckets"][k], one["buckets_f32"][k]) << line << " at " << k;
    if (!one["offsets_where_f32_and_f64_differ"].empty()) continue;  // an integer threshold: either may be wrong
    const Json exact = json_of(folder, line);
    for (std::size_t k = 0; k <= 600; ++k) EXPECT_EQ(exact["buckets"][k], one["buckets_f64"][k]) << line << " at " << k;
  }
  for (const std::string name : {"bias_dec_step", "bias_enc_7x7"}) {
    const OracleCase one("t5", name);
    const Json& json = one.json();
    write_array<float>(folder, "table.npy", one.shape("table"), one.floats("table"));
    output_of(folder, "bias --scheme t5 --set heads=4 --set table=table.npy --output b.npy --set bidirectional=" +
                          json["bidirectional"].dump() + " --queries " + json["query_length"].dump() + " --keys " +
                          json["key_length"].dump() + " --query-start " + json["past_seen_tokens"].dump());
    const std::vector<std::int64_t> shape = {4, json["query_length"], json["key_length"]};
    EXPECT_EQ(read_array(folder, "b.npy", io::NpyType::float64, shape), one.doubles("bias_f64")) << name;
  }
}

TEST(OracleSample, DebertaBuckets) {
  const TemporaryFolder folder;
  const Json buckets = oracle_json("deberta/log_buckets.json");
  for (const Json& one : buckets["cases"]) {
    const auto size = one["bucket_size"].get<std::int64_t>();
    const Json got = json_of(folder,
                             "bias --scheme relative_bias --set heads=1 --set index=deberta --profile hf"
                             " --queries 1 --keys 1201 --query-start 600 --buckets --set bucket_size=" +
                                 one["bucket_size"].dump() + " --set max_position=" + one["max_position"].dump());
    ASSERT_EQ(got["buckets"].size(), 1201u);
    for (std::size_t k = 0; k <= 1200; ++k) {
      // Key k is at offset query - key = 600 - k. The lookup adds bucket_size and clamps.
      ASSERT_EQ(buckets["offsets"][1200 - k], 600 - static_cast<int>(k));
      const auto bucket = one["buckets"][1200 - k].get<std::int64_t>();
      EXPECT_EQ(got["buckets"][k], std::clamp(bucket + size, std::int64_t{0}, 2 * size - 1)) << k;
    }
  }
}

TEST(OracleSample, SwinWindows) {
  const TemporaryFolder folder;
  const Json index = oracle_json("swin/relative_position_index.json");
  for (const Json& one : index["cases"]) {
    const std::string places = std::to_string(one["index"].size());
    const Json got =
        json_of(folder, "bias --scheme relative_bias --set heads=1 --set index=swin --buckets --queries " + places +
                            " --keys " + places + " --set window_height=" + one["window"][0].dump() +
                            " --set window_width=" + one["window"][1].dump());
    std::vector<std::int64_t> wanted;
    for (const Json& row : one["index"]) {
      for (const Json& entry : row) wanted.push_back(entry);
    }
    EXPECT_EQ(got["buckets"], Json(wanted)) << one["window"];
  }
}

// ---- resize

TEST(OracleSample, InterpolatedTables) {
  for (const auto& [name, options] : std::vector<std::pair<std::string, std::string>>{
           {"vit_head_14to20x17", "--from 14x14 --to 20x17 --method bicubic --prefix 1"},
           {"vit_4_30_14to24x24", "--from 14x14 --to 24x24 --method bicubic --prefix 1 --scale-offset 0.1"},
           {"dinov2_offset_16to9x21", "--from 16x16 --to 9x21 --method bicubic --prefix 1 --scale-offset 0.1"},
           {"dinov2_reg_antialias_20to7x9", "--from 20x20 --to 7x9 --method bicubic --prefix 1 --antialias"}}) {
    const TemporaryFolder folder;
    const OracleCase one("interpolate", name);
    write_array<double>(folder, "t.npy", one.shape("table"), one.doubles("table"));
    json_of(folder, "resize --table t.npy --output r.npy " + options);
    expect_near(read_array(folder, "r.npy", io::NpyType::float64, one.shape("out_f64")), one.doubles("out_f64"),
                1e-12 * largest(one.doubles("table")), name);
  }
  // SigLIP 2: the grid's rows, then padding.
  const TemporaryFolder folder;
  const OracleCase one("interpolate", "siglip2_16");
  write_array<double>(folder, "t.npy", one.shape("table"), one.doubles("table"));
  json_of(folder, "resize --table t.npy --output r.npy --from 16x16 --to 20x12 --method bilinear --antialias");
  const std::vector<double> out = one.doubles("out_f64");
  const auto start = out.begin() + 256 * 4;  // the second shape
  expect_near(read_array(folder, "r.npy", io::NpyType::float64, {20, 12, 4}), {start, start + 20 * 12 * 4},
              1e-12 * largest(one.doubles("table")), "siglip2");
}

}  // namespace
}  // namespace locus::testing
