// SPDX-License-Identifier: Apache-2.0
// The trained models of the site: they agree, their scores explain their attention, and faults break those that they should.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "locus/error.h"
#include "locus/polar.h"
#include "probe/generate.h"
#include "probe/measure/loss.h"
#include "probe/measure/score_map.h"
#include "probe/tokenizers/tokenizer.h"
#include "support/error_of.h"
#include "support/paths.h"

namespace locus::probe {
namespace {

namespace fs = std::filesystem;

const std::string sentences =
    "he eats, I eat, you eat, / él come, yo como, tú comes,\n";  // shorter than the trained length

fs::path models_folder() { return testing::source_dir() / "site/public/models"; }

struct SiteModel {
  Model model;
  std::unique_ptr<Tokenizer> tokenizer;

  explicit SiteModel(const fs::path& path) : model(load(path)), tokenizer(read_model_tokenizer(path)) {}

  double loss(const std::string& encoding, const Placement& placement = {}) const {
    const std::vector<double> losses = sequence_losses(model, encoding_for(model, encoding), LengthForm::whole,
                                                       tokenizer->encode(sentences), {}, placement);
    return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
  }
};

SiteModel model_with(const std::string& scheme) { return SiteModel(models_folder() / (scheme + ".gguf")); }

std::vector<fs::path> all_models() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(models_folder())) {
    if (entry.path().extension() == ".gguf") paths.push_back(entry.path());
  }
  return paths;
}

TEST(SiteModels, ReadAndWriteText) {
  const SiteModel rope = model_with("rope");
  EXPECT_EQ(rope.tokenizer->decode(rope.tokenizer->encode(sentences)), sentences);
  EXPECT_NE(testing::error_of([&] { rope.tokenizer->encode("I wörk"); }).find("no token for \"ö\""), std::string::npos);
  GenerateCall call;
  const std::vector<Token> prompt = rope.tokenizer->encode("I work, you work, he ");
  call.prompt = prompt;
  call.max_tokens = 6;
  EXPECT_EQ(rope.tokenizer->decode(generate(rope.model, rope.model.encoding(), call).tokens), "works,");
}

bool has_parts(const Encoding& encoding) {
  return polar_of(encoding) == nullptr && (encoding.site() != Site::score || encoding.score().token_numbers == 0);
}

// The probabilities come from the fused kernels of the model, the scores from the reference.
TEST(SiteModels, ScoresExplainAttention) {
  ASSERT_GE(all_models().size(), 20u);
  for (const fs::path& path : all_models()) {
    SCOPED_TRACE(path.filename());
    const SiteModel one(path);
    for (const Placement& placement : {Placement{}, Placement{.first = 2, .query_ahead = 1}}) {
      const ScoreMap map = measure_scores(one.model, one.model.encoding(), one.tokenizer->encode(sentences), placement);
      ASSERT_EQ(!map.scores.empty(), has_parts(one.model.encoding()));
      ASSERT_EQ(map.content.size(), map.scores.size());
      if (map.scores.empty()) continue;
      const auto size = static_cast<std::size_t>(map.tokens);
      double worst = 0, positions = 0;
      for (std::size_t row = 0; row < map.scores.size() / size; ++row) {
        const std::size_t seen = row % size + 1;
        double sum = 0;
        for (std::size_t key = 0; key < seen; ++key) sum += std::exp(static_cast<double>(map.scores[row * size + key]));
        for (std::size_t key = 0; key < size; ++key) {
          const std::size_t at = row * size + key;
          const double share = key < seen ? std::exp(static_cast<double>(map.scores[at])) / sum : 0;
          worst = std::max(worst, std::fabs(share - static_cast<double>(map.probabilities[at])));
          positions = std::max(positions, std::fabs(static_cast<double>(map.scores[at] - map.content[at])));
        }
      }
      EXPECT_LT(worst, 1e-4);
      const Site site = one.model.encoding().site();
      EXPECT_EQ(positions > 1e-3, site != Site::hidden && site != Site::none) << positions;
    }
  }
}

TEST(SiteModels, FaultsBreakWhatTheyShould) {
  const SiteModel rope = model_with("rope"), alibi = model_with("alibi"), learned = model_with("learned");
  const double own = rope.loss("own");
  EXPECT_LT(own, 0.7);
  // Only distances count for RoPE and ALiBi; a learned table has a row per position.
  EXPECT_NEAR(rope.loss("own", {.first = 1}), own, 1e-4);
  EXPECT_NEAR(alibi.loss("own", {.first = 1}), alibi.loss("own"), 1e-4);
  EXPECT_GT(learned.loss("own", {.first = 8}), learned.loss("own") + 0.1);
  EXPECT_GT(rope.loss("own", {.query_ahead = 1}), own + 0.1);
  // A penalty linear in distance grows by the same amount for every key, which the softmax does not see.
  EXPECT_NEAR(alibi.loss("own", {.query_ahead = 1}), alibi.loss("own"), 1e-4);
  EXPECT_NEAR(learned.loss("own", {.query_ahead = 1}), learned.loss("own"), 1e-12);
  const std::string other = rope.model.encoding().arguments().text("pairing") == "half" ? "interleaved" : "half";
  EXPECT_GT(rope.loss("rope:pairing=" + other), own + 0.1);
  EXPECT_NE(testing::error_of([&] { rope.loss("own", {.first = -1}); }).find("-1"), std::string::npos);
}

}  // namespace
}  // namespace locus::probe
