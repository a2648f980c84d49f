// SPDX-License-Identifier: Apache-2.0
// Every finding: a config that has it, the same config corrected, and well-known configs that must have none.
#include "locus/doctor/lint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "locus/error.h"
#include "locus/io/safetensors.h"
#include "support/command.h"
#include "support/error_of.h"
#include "support/gguf_model.h"
#include "support/oracle.h"

namespace locus {
namespace {

using testing::GgufModel;
using testing::TemporaryFolder;

LintModel config_model(const std::string& config, std::optional<std::int64_t> served = {}) {
  const TemporaryFolder folder;
  folder.write("config.json", config);
  return read_lint_model(folder / "config.json", served);
}

LintModel gguf_model(const GgufModel& model, std::optional<std::int64_t> served = {}) {
  const TemporaryFolder folder;
  model.write(folder / "m.gguf");
  return read_lint_model(folder / "m.gguf", served);
}

const Finding* find(const std::vector<Finding>& findings, const std::string& id) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.id == id; });
  return found == findings.end() ? nullptr : &*found;
}

double number(const Finding& finding, const std::string& name) {
  for (const auto& [key, value] : finding.numbers) {
    if (key == name) return value;
  }
  ADD_FAILURE() << finding.id << " has no number " << name;
  return std::nan("");
}

/// A Llama with heads of width 8, trained on 4096 positions.
std::string llama(const std::string& more) {
  return R"({"model_type": "llama", "head_dim": 8, "max_position_embeddings": 4096, "rope_theta": 10000)" +
         (more.empty() ? "" : ", " + more) + "}";
}
std::string yarn(const std::string& more, int longest = 16384) {
  return R"({"model_type": "llama", "head_dim": 8, "rope_theta": 10000, "max_position_embeddings": )" +
         std::to_string(longest) + R"(, "rope_scaling": {"rope_type": "yarn", "truncate": true, "beta_fast": 32,
         "beta_slow": 1, )" +
         more + "}}";
}
/// The same with latent attention, whose softmax scale uses mscale_all_dim.
std::string latent_yarn(const std::string& more) {
  return R"({"model_type": "deepseek_v3", "qk_rope_head_dim": 8, "rope_theta": 10000, "max_position_embeddings": 16384,
         "rope_scaling": {"rope_type": "yarn", "truncate": true, "beta_fast": 32, "beta_slow": 1, )" +
         more + "}}";
}
std::string phi3(const std::string& short_list, int longest = 16384) {
  return R"({"model_type": "phi3", "hidden_size": 8, "num_attention_heads": 2, "rope_theta": 10000,
         "original_max_position_embeddings": 64, "max_position_embeddings": )" +
         std::to_string(longest) + R"(, "rope_scaling": {"rope_type": "longrope", "long_factor": [2, 4],
         "short_factor": )" +
         short_list + "}}";
}
const std::string original = R"("original_max_position_embeddings": 4096)";

struct LintCase {
  std::string id;
  Severity severity;
  std::string faulty, sound;
  std::int64_t served = 0;  ///< 0: not given
};

std::vector<LintCase> cases() {
  using enum Severity;
  return {
      {"settings-refused", error, llama(R"("rope_scaling": {"rope_type": "spiral"})"),
       llama(R"("rope_scaling": {"rope_type": "default"})")},
      {"settings-refused", error, R"({"model_type": "llama", "head_dim": 9})", llama("")},
      {"keys-disagree", error,
       llama(
           R"("rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_type": "linear", "factor": 4})"),
       llama(
           R"("rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_type": "linear", "factor": 2})")},
      {"keys-disagree", error, llama(R"("rope_parameters": {"rope_type": "default", "rope_theta": 500000})"),
       llama(R"("rope_parameters": {"rope_type": "default", "rope_theta": 10000})")},
      {"keys-disagree", error, llama(R"("rope_scaling": {"type": "linear", "rope_type": "ntk", "factor": 2})"),
       llama(R"("rope_scaling": {"type": "linear", "rope_type": "linear", "factor": 2})")},
      {"list-length", error, phi3("[1, 1, 1]"), phi3("[1, 1]")},
      {"sections-do-not-fill", error, llama(R"("rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 1]})"),
       llama(R"("rope_scaling": {"type": "mrope", "mrope_section": [2, 1, 1]})")},
      {"served-beyond-trained", error, llama(""), llama(R"("rope_scaling": {"rope_type": "linear", "factor": 2})"),
       8192},
      {"served-beyond-trained", error, R"({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_positions": 1024})",
       R"({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_positions": 2048})", 2048},
      {"served-beyond-extension", warning, llama(R"("rope_scaling": {"rope_type": "linear", "factor": 2})"),
       llama(R"("rope_scaling": {"rope_type": "linear", "factor": 4})"), 16384},
      {"max-position-two-meanings", warning, yarn(R"("factor": 4)"), yarn(R"("factor": 4, )" + original)},
      {"max-position-two-meanings", note, yarn(R"("factor": 4, )" + original, 4096),
       yarn(R"("factor": 4, )" + original)},
      {"yarn-factor-mismatch", warning, yarn(R"("factor": 8, )" + original), yarn(R"("factor": 4, )" + original)},
      {"yarn-factor-mismatch", warning, yarn(R"("factor": 2, )" + original), yarn(R"("factor": null, )" + original)},
      {"mscale-without-partner", warning, yarn(R"("factor": 4, "mscale": 0.5, )" + original),
       yarn(R"("factor": 4, "mscale": 1, )" + original)},
      {"mscale-cancels", note, latent_yarn(R"("factor": 4, "mscale": 0.5, "mscale_all_dim": 0.5, )" + original),
       latent_yarn(R"("factor": 4, "mscale": 1, "mscale_all_dim": 0.5, )" + original)},
      // Without latent attention, the softmax scale does not change.
      {"mscale-cancels", note, latent_yarn(R"("factor": 4, "mscale": 1, "mscale_all_dim": 1, )" + original),
       yarn(R"("factor": 4, "mscale": 1, "mscale_all_dim": 1, )" + original)},
      {"dual-chunk-sizes", error, llama(R"("dual_chunk_attention_config": {"chunk_size": 1000, "local_size": 100})"),
       llama(R"("dual_chunk_attention_config": {"chunk_size": 1024, "local_size": 128})")},
      {"dual-chunk-sizes", warning, llama(R"("dual_chunk_attention_config": {"chunk_size": 8192, "local_size": 1024,
                "original_max_position_embeddings": 4096})"),
       llama(R"("dual_chunk_attention_config": {"chunk_size": 4096, "local_size": 1024,
                "original_max_position_embeddings": 4096})")},
      {"temperature-never-acts", note, yarn(R"("factor": 4, "llama_4_scaling_beta": 0.1, )" + original),
       yarn(R"("factor": 4, "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 2048)"), 4096},
      {"base-already-stretched", warning,
       R"({"model_type": "llama", "head_dim": 8, "rope_theta": 40000, "max_position_embeddings": 4096,
           "rope_scaling": {"rope_type": "ntk", "factor": 4}})",
       R"({"model_type": "llama", "head_dim": 8, "rope_theta": 10000, "max_position_embeddings": 4096,
           "rope_scaling": {"rope_type": "ntk", "factor": 4}})"},
      {"not-expressed", warning, R"({"model_type": "sew-d"})", llama("")},
      {"not-expressed", note, R"({"model_type": "mamba"})", llama("")},
      {"not-applied", warning, R"({"model_type": "nanochat"})",
       yarn(R"("factor": 4, "llama_4_scaling_beta": 0.1, )" + original)},
      {"versions-differ", warning, R"({"model_type": "cohere", "head_dim": 8})",
       R"({"model_type": "cohere", "head_dim": 8, "rope_theta": 10000})"},
      {"flat-readers-take-10000", warning,
       R"({"model_type": "llama", "head_dim": 8, "rope_parameters": {"rope_type": "default", "rope_theta": 500000}})",
       R"({"model_type": "llama", "head_dim": 8, "rope_parameters": {"rope_type": "default", "rope_theta": 10000}})"},
      {"flat-readers-take-10000", warning,
       R"({"model_type": "llama", "head_dim": 8, "rope_parameters": {"rope_type": "default", "rope_theta": 500000}})",
       R"({"model_type": "llama", "head_dim": 8, "rope_theta": 500000})"},
      {"cache-unsafe", warning, phi3("[1, 1]"), phi3("[2, 4]")},
      {"cache-unsafe", note, phi3("[1, 1]", 64), llama("")},
      {"cache-unsafe", warning, llama(R"("rope_scaling": {"rope_type": "dynamic", "factor": 2})"),
       llama(R"("rope_scaling": {"rope_type": "linear", "factor": 2})"), 8192},
      {"engines-differ", warning, llama(R"("rope_scaling": {"rope_type": "dynamic", "factor": 2})"),
       llama(R"("rope_scaling": {"rope_type": "linear", "factor": 2})")},
      {"rule-unknown-to-gguf", warning, llama(R"("rope_scaling": {"rope_type": "dynamic", "factor": 2})"),
       llama(R"("rope_scaling": {"rope_type": "linear", "factor": 2})"), 8192},
      {"float32-angles", warning, llama(""), llama(R"("alibi": true, "position_embedding_type": "alibi",
        "num_attention_heads": 8)"),
       100'000'000},
      {"float32-angles", note, llama(""), R"({"model_type": "bloom", "n_head": 8})"},
      {"key-unknown", warning, llama(R"("rope_magic": 3)"), llama(R"("magic": 3)")},
      {"key-unknown", warning, llama(R"("rope_scaling": {"rope_type": "linear", "factor": 2, "beta_fast": 32})"),
       llama(R"("rope_scaling": {"rope_type": "linear", "factor": 2})")},
      {"key-ignored", warning, llama(R"("rope_parameters": {"rope_type": "default", "rope_theta": 500000})"),
       llama(R"("rope_parameters": {"rope_type": "default", "rope_theta": 10000})")},
      {"key-ignored", note, R"({"rope_theta": 5, "text_config": )" + llama("") + "}",
       R"({"text_config": )" + llama("") + "}"},
      {"key-guessed", warning, R"({"model_type": "of_the_future", "head_dim": 8, "rope_theta": 10000})", llama("")},
      {"key-guessed", warning, R"({"model_type": "of_the_future", "head_dim": 8, "rope_scaling": null})",
       R"({"model_type": "llama", "head_dim": 8})"},
      {"key-defaulted", note, R"({"model_type": "llama", "head_dim": 8})", llama("")},
  };
}

TEST(Lint, FindsEachFaultAndNotItsAbsence) {
  std::set<std::string> seen;
  for (const LintCase& one : cases()) {
    const auto served = one.served > 0 ? std::optional(one.served) : std::nullopt;
    const std::vector<Finding> faulty = lint(config_model(one.faulty, served));
    const Finding* finding = find(faulty, one.id);
    ASSERT_NE(finding, nullptr) << one.id << "\n" << one.faulty;
    EXPECT_EQ(finding->severity, one.severity) << one.id << "\n" << one.faulty;
    EXPECT_FALSE(finding->what.empty() || finding->consequence.empty()) << one.id;
    const Finding* alarm = find(lint(config_model(one.sound, served)), one.id);
    EXPECT_EQ(alarm, nullptr) << one.id << "\n" << one.sound;
    seen.insert(one.id);
  }
  for (const std::string_view id : lint_ids()) {
    if (id == "partial-width-refused" || id == "settings-elsewhere") continue;  // of other formats, below
    EXPECT_TRUE(seen.contains(std::string(id))) << id << " has no case";
  }
}

// What has no settings is refused with what to give instead; weights are examined below.
TEST(Lint, RefusesFilesWithoutSettings) {
  const TemporaryFolder folder;
  folder.write("index.json", R"({"weight_map": {"w": "model.safetensors"}})");
  const std::string refusal = testing::error_of([&] { read_lint_model(folder / "index.json", {}); });
  EXPECT_NE(refusal.find("must be a config.json, a model folder or a GGUF file, got an index of safetensors files"),
            std::string::npos)
      << refusal;
}

TEST(Lint, ErrorsComeFirst) {
  const std::vector<Finding> findings = lint(config_model(llama(R"("rope_magic": 3)"), 8192));
  EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end(),
                             [](const Finding& a, const Finding& b) { return a.severity > b.severity; }));
  EXPECT_EQ(findings.front().id, "served-beyond-trained");
}

TEST(Lint, OneFindingForAllKindsOfLayers) {
  const LintModel t5 = config_model(R"({"model_type": "t5", "num_heads": 8})");
  ASSERT_EQ(t5.layers.size(), 2u);
  const std::vector<Finding> findings = lint(t5);
  EXPECT_EQ(std::count_if(findings.begin(), findings.end(), [](const Finding& f) { return f.id == "key-defaulted"; }),
            1);
  EXPECT_EQ(find(findings, "key-defaulted")->layer_type, "");
}

// ---- numbers, computed by hand

TEST(LintNumbers, YarnFactor) {
  const std::vector<Finding> findings = lint(config_model(yarn(R"("factor": 8, )" + original)));
  EXPECT_EQ(number(*find(findings, "yarn-factor-mismatch"), "ratio"), 4);
}

TEST(LintNumbers, Mscales) {
  const LintModel both = config_model(latent_yarn(R"("factor": 4, "mscale": 0.5, "mscale_all_dim": 0.5, )" + original));
  const double m = 0.05 * std::log(4.0) + 1;
  EXPECT_NEAR(number(*find(lint(both), "mscale-cancels"), "softmax_scale_factor"), m * m, 1e-15);
  EXPECT_NEAR(both.layers.at(0).encoding->rotation().magnitude, 1, 1e-15);
  const std::vector<Finding> one = lint(config_model(yarn(R"("factor": 4, "mscale": 0.5, )" + original)));
  EXPECT_NEAR(number(*find(one, "mscale-without-partner"), "attention_factor"), 0.1 * std::log(4.0) + 1, 1e-15);
  EXPECT_NEAR(number(*find(one, "mscale-without-partner"), "by_itself"), m, 1e-15);
}

// Pairs turn by 1 and 0.01; the lists divide by 1, 1 and by 2, 4. At 63 the first is off by 63 / 2 = 31.5, which is
// five turns and 0.084, the second by 63 (0.01 - 0.0025) = 0.4725.
TEST(LintNumbers, CachedKeysOfLongRope) {
  const std::vector<Finding> findings = lint(config_model(phi3("[1, 1]")));
  EXPECT_NEAR(number(*find(findings, "cache-unsafe"), "angle"), 0.4725, 1e-12);
  EXPECT_EQ(number(*find(findings, "cache-unsafe"), "switch_length"), 64);
}

TEST(LintNumbers, Float32Angles) {
  // Heads of width 4: pairs turn by 1 and 0.01. The first is exact in float32; the second is not, nor is its product.
  const LintModel model = config_model(R"({"model_type": "llama", "head_dim": 4, "rope_theta": 10000})", 1'000'000);
  long double worst = 0;
  for (std::int64_t p = 1'000'000 - 32; p < 1'000'000; ++p) {
    const float angle = static_cast<float>(p) * 0.01f;
    worst = std::max(worst, std::fabs(static_cast<long double>(angle) - 0.01L * static_cast<long double>(p)));
  }
  EXPECT_NEAR(number(*find(lint(model), "float32-angles"), "angle_error"), static_cast<double>(worst), 1e-11);
}

// vLLM fixes dynamic NTK at length f max: the base grows by (f^2 - (f - 1))^(d/(d-2)), which for f = 2 divides the
// slowest of d/2 pairs by exactly 3.
TEST(LintNumbers, DynamicNtkOfVllm) {
  const LintModel model = config_model(llama(R"("rope_scaling": {"rope_type": "dynamic", "factor": 2})"));
  std::vector<Finding> findings = lint(model);
  std::erase_if(findings, [](const Finding& f) { return f.id != "engines-differ"; });
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].what.find("vLLM"), std::string::npos);
  EXPECT_NEAR(number(findings[0], "worst_share"), 2.0 / 3, 1e-6);  // tables are float32
  EXPECT_EQ(number(findings[0], "first_pair"), 1);
}

// ggml rounds YaRN's ramp to whole pairs, which changes gpt-oss's frequencies by up to 43 %.
TEST(LintNumbers, GptOssInLlamaCpp) {
  const LintModel model = config_model(R"({"model_type": "gpt_oss", "max_position_embeddings": 131072})");
  const std::vector<Finding> findings = lint(model);
  const Finding* finding = find(findings, "engines-differ");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->what.find("llama.cpp"), std::string::npos);
  EXPECT_NEAR(number(*finding, "worst_share"), 0.43, 0.005);
}

// In ggml, pairs beyond 3 x section belong to a fourth axis, which text does not have: 61 and 62 of [24, 20, 20].
TEST(LintNumbers, InterleavedSectionsInLlamaCpp) {
  const LintModel model = config_model(R"({"model_type": "qwen3_vl_text", "head_dim": 128, "rope_theta": 5e6,
      "max_position_embeddings": 4096, "rope_scaling": {"rope_type": "default", "mrope_section": [24, 20, 20]}})");
  const std::vector<Finding> findings = lint(model);
  const Finding* finding = find(findings, "engines-differ");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(number(*finding, "first_pair"), 61);
  EXPECT_EQ(number(*finding, "worst_share"), 1);
}

// ---- well-known configs

std::vector<std::string> loud_ids(const LintModel& model) {
  std::set<std::string> ids;
  for (const Finding& finding : lint(model)) {
    if (finding.severity != Severity::note) ids.insert(finding.id);
  }
  return {ids.begin(), ids.end()};
}

TEST(Lint, WellKnownConfigsAreQuiet) {
  const std::map<std::string, std::string> good = {
      {"llama 2", R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
          "max_position_embeddings": 4096, "rope_scaling": null})"},
      {"llama 3.1", R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 500000.0,
          "max_position_embeddings": 131072, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0,
          "high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}})"},
      {"qwen2.5 with yarn", R"({"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28,
          "max_position_embeddings": 32768, "max_window_layers": 28, "sliding_window": 131072, "rope_theta": 1000000.0,
          "rope_scaling": {"factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn"}})"},
      {"deepseek v3", R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_attention_heads": 128,
          "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "max_position_embeddings": 163840, "rope_theta": 10000,
          "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
          "original_max_position_embeddings": 4096, "type": "yarn"}})"},
      {"gemma 2", R"({"model_type": "gemma2", "head_dim": 256, "hidden_size": 2304, "num_attention_heads": 8,
          "max_position_embeddings": 8192, "rope_theta": 10000.0, "sliding_window": 4096})"},
      {"gemma 3", R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
          "head_dim": 256, "num_attention_heads": 8, "sliding_window": 1024, "rope_theta": 1000000.0,
          "rope_local_base_freq": 10000.0, "max_position_embeddings": 131072,
          "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}, "vision_config": {"hidden_size": 1152}})"},
      {"gpt-neox", R"({"model_type": "gpt_neox", "hidden_size": 2048, "num_attention_heads": 16, "rotary_pct": 0.25,
          "rotary_emb_base": 10000, "max_position_embeddings": 2048})"},
      {"mpt", R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "max_seq_len": 2048,
          "attn_config": {"alibi": true, "alibi_bias_max": 8}})"},
      {"bloom", R"({"model_type": "bloom", "hidden_size": 1024, "n_head": 16, "seq_length": 2048})"},
      {"t5", R"({"model_type": "t5", "d_model": 512, "d_kv": 64, "num_heads": 8, "n_positions": 512,
          "relative_attention_num_buckets": 32})"},
      {"gpt-2", R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_positions": 1024, "n_ctx": 1024})"},
      {"mistral", R"({"model_type": "mistral", "hidden_size": 4096, "num_attention_heads": 32, "head_dim": 128,
          "max_position_embeddings": 32768, "rope_theta": 1000000.0, "sliding_window": null})"},
      {"qwen2-vl", R"({"model_type": "qwen2_vl", "hidden_size": 3584, "num_attention_heads": 28,
          "max_position_embeddings": 32768, "rope_theta": 1000000.0,
          "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}})"},
  };
  for (const auto& [name, config] : good) EXPECT_EQ(loud_ids(config_model(config)), std::vector<std::string>{}) << name;
}

// The rules of these two have findings by nature; there must be no others.
TEST(Lint, PhiAndGptOssAreLoudAboutTheirRulesOnly) {
  EXPECT_EQ(loud_ids(config_model(phi3("[1, 1]"))), (std::vector<std::string>{"cache-unsafe", "engines-differ"}));
  EXPECT_EQ(loud_ids(config_model(R"({"model_type": "gpt_oss", "max_position_embeddings": 131072})")),
            std::vector<std::string>{"engines-differ"});
}

TEST(Lint, ThePeersConfigsHaveNoErrors) {
  for (const std::string& name : testing::oracle_cases("rope")) {
    const testing::OracleCase one("rope", name);
    for (const Finding& finding : lint(config_model(one.json()["config"].dump()))) {
      EXPECT_NE(finding.severity, Severity::error) << name << ": " << finding.what;
    }
  }
}

// ---- GGUF

GgufModel gguf_llama() {
  GgufModel model("llama");
  model.integer("embedding_length", 4096).integer("attention.head_count", 32).integer("context_length", 4096);
  model.integer("rope.dimension_count", 128).real("rope.freq_base", 10000);
  return model;
}

TEST(LintGguf, FindsFaults) {
  EXPECT_EQ(loud_ids(gguf_model(gguf_llama())), std::vector<std::string>{});
  GgufModel narrow("llama");
  narrow.integer("attention.key_length", 128).integer("rope.dimension_count", 64);
  EXPECT_EQ(loud_ids(gguf_model(narrow)), std::vector<std::string>{"partial-width-refused"});
  EXPECT_EQ(loud_ids(gguf_model(gguf_llama().real("rope.magic", 1))), std::vector<std::string>{"key-unknown"});
  EXPECT_EQ(loud_ids(gguf_model(gguf_llama().tensor("rope_freqs.weight", {3}, {1, 1, 1}))),
            std::vector<std::string>{"list-length"});
  EXPECT_EQ(loud_ids(gguf_model(GgufModel("of_the_future"))), std::vector<std::string>{"settings-refused"});
  EXPECT_EQ(loud_ids(gguf_model(gguf_llama(), 8192)), std::vector<std::string>{"served-beyond-trained"});
}

LintModel weights_model(const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& tensors) {
  const TemporaryFolder folder;
  const std::vector<std::byte> zeros(1 << 16);
  std::vector<io::SafetensorsTensor> all;
  for (const auto& [name, shape] : tensors) {
    std::size_t bytes = 4;
    for (const std::int64_t axis : shape) bytes *= static_cast<std::size_t>(axis);
    all.push_back(
        {.name = name, .type = io::SafetensorsType::f32, .shape = shape, .bytes = std::span(zeros).first(bytes)});
  }
  io::write_safetensors(folder / "model.safetensors", all);
  return read_lint_model(folder / "model.safetensors");
}

TEST(LintWeights, NamesTheTablesOfPositions) {
  const LintModel gpt2 = weights_model({{"h.0.attn.c_attn.weight", {8, 24}}, {"wpe.weight", {64, 8}}});
  EXPECT_EQ(gpt2.format, "safetensors");
  ASSERT_EQ(gpt2.layers.size(), 1u);
  EXPECT_EQ(gpt2.layers[0].scheme, "learned");
  EXPECT_EQ(gpt2.layers[0].trained_length, 64);
  const std::vector<Finding> findings = lint(gpt2);
  const Finding* finding = find(findings, "settings-elsewhere");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->what, "Of 2 tensors, 1 holds positions: wpe.weight [64, 8].");

  const LintModel t5 =
      weights_model({{"decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", {32, 4}},
                     {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", {32, 4}}});
  ASSERT_EQ(t5.layers.size(), 1u);
  EXPECT_EQ(t5.layers[0].scheme, "t5");
  EXPECT_EQ(t5.layers[0].encoding->score().heads, 4);

  const LintModel rotated = weights_model({{"model.layers.0.self_attn.q_proj.weight", {8, 8}}});
  EXPECT_TRUE(rotated.layers.empty());
  EXPECT_EQ(lint(rotated).size(), 1u);
  EXPECT_EQ(lint(rotated)[0].what, "None of its 1 tensors holds positions.");
}

TEST(LintWeights, AreComparedWithTheConfig) {
  const LintModel config = config_model(R"({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_positions": 128})");
  const LintModel shorter = weights_model({{"wpe.weight", {64, 8}}}), same = weights_model({{"wpe.weight", {128, 8}}});
  EXPECT_FALSE(compare(config, shorter).empty());
  EXPECT_TRUE(compare(config, same).empty());
}

TEST(Lint, ReadsByContent) {
  const TemporaryFolder folder;
  gguf_llama().write(folder / "model.bin");
  EXPECT_EQ(read_lint_model(folder / "model.bin").format, "GGUF");
  folder.write("config.json", llama(""));
  EXPECT_EQ(read_lint_model(folder.path()).format, "config.json");
  EXPECT_THROW(read_lint_model(folder / "absent.json"), Error);
  folder.write("bad.gguf", "GGUF");
  EXPECT_THROW(read_lint_model(folder / "bad.gguf"), Error);
  EXPECT_THROW(read_lint_model(folder / "config.json", 0), Error);
}

// ---- comparison with another model

TEST(LintAgainst, TheSameModelInTwoFormats) {
  const std::string config = R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
      "max_position_embeddings": 4096, "rope_theta": 10000})";
  EXPECT_TRUE(compare(config_model(config), config_model(config)).empty());
  // llama.cpp's converter permutes the rows for the other pairing.
  const std::vector<Finding> converted = compare(config_model(config), gguf_model(gguf_llama()));
  ASSERT_EQ(converted.size(), 1u);
  EXPECT_EQ(converted[0].id, "against-pairing");
  EXPECT_EQ(converted[0].severity, Severity::note);
}

// Heads of width 4: the second pair turns by 0.01 and by 0.001; at 999 the difference is 8.991, one turn and 2.708.
TEST(LintAgainst, Frequencies) {
  const auto with_base = [](const std::string& base) {
    return config_model(R"({"model_type": "llama", "head_dim": 4, "rope_theta": )" + base + "}", 1000);
  };
  const std::vector<Finding> findings = compare(with_base("1e4"), with_base("1e6"));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "against-frequency");
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_EQ(number(findings[0], "first_pair"), 1);
  EXPECT_NEAR(number(findings[0], "first_frequency"), 0.01, 1e-15);
  EXPECT_NEAR(number(findings[0], "first_frequency_of_other"), 0.001, 1e-15);
  EXPECT_NEAR(number(findings[0], "largest_angle"), 999 * 0.009 - 2 * std::numbers::pi, 1e-12);
}

TEST(LintAgainst, FactorsWidthPairingScheme) {
  const auto ids = [](const std::string& a, const std::string& b) {
    std::set<std::string> found;
    for (const Finding& finding : compare(config_model(a), config_model(b))) found.insert(finding.id);
    return found;
  };
  const std::string plain = yarn(R"("factor": 4, )" + original);
  const std::string doubled = yarn(R"("factor": 4, "attention_factor": 2, )" + original);
  const std::vector<Finding> factor = compare(config_model(plain), config_model(doubled));
  ASSERT_EQ(factor.size(), 1u);
  EXPECT_EQ(factor[0].id, "against-attention-factor");
  const double own = 0.1 * std::log(4.0) + 1;
  EXPECT_NEAR(number(factor[0], "score_ratio"), 4 / (own * own), 1e-12);
  EXPECT_EQ(ids(latent_yarn(R"("factor": 4, "mscale": 1, "mscale_all_dim": 1, )" + original),
                latent_yarn(R"("factor": 4, "attention_factor": 1, )" + original)),
            std::set<std::string>{"against-softmax-scale"});
  EXPECT_TRUE(ids(llama(""), llama(R"("partial_rotary_factor": 0.5)")).contains("against-width"));
  EXPECT_EQ(ids(llama(""), R"({"model_type": "cohere", "head_dim": 8, "rope_theta": 10000})"),
            std::set<std::string>{"against-pairing"});
  EXPECT_EQ(ids(llama(""), R"({"model_type": "bloom", "n_head": 8})"), std::set<std::string>{"against-scheme"});
  EXPECT_EQ(ids(R"({"model_type": "bloom", "n_head": 8})", R"({"model_type": "bloom", "n_head": 16})"),
            std::set<std::string>{"against-settings"});
  EXPECT_TRUE(ids(llama(""), R"({"model_type": "gemma3_text", "head_dim": 8})").contains("against-layers"));
}

}  // namespace
}  // namespace locus
