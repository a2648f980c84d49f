// SPDX-License-Identifier: Apache-2.0
// Our SentencePiece tokenizer against the library: a model is trained here, and both encode random texts with it.
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <fstream>
#include <iterator>
#include <random>

#include "probe/tokenizers/sentencepiece_tokenizer.h"
#include "support/command.h"
#include "support/paths.h"

namespace locus::probe {
namespace {

using locus::testing::TemporaryFolder;

std::string book() {
  std::ifstream stream((locus::testing::source_dir() / "README.md").string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Trains BPE with byte tokens and without normalization, as Llama's vocabulary was.
void train(const TemporaryFolder& folder, sentencepiece::SentencePieceProcessor& processor) {
  folder.write("text.txt", book());
  const std::string prefix = (folder / "model").string();
  const auto trained = sentencepiece::SentencePieceTrainer::Train(
      "--input=" + (folder / "text.txt").string() + " --model_prefix=" + prefix +
      " --vocab_size=700 --model_type=bpe --byte_fallback=true --normalization_rule_name=identity "
      "--remove_extra_whitespaces=false --character_coverage=0.999 --hard_vocab_limit=false --minloglevel=2 "
      "--num_threads=1");
  ASSERT_TRUE(trained.ok()) << trained.ToString();
  const auto loaded = processor.Load(prefix + ".model");
  ASSERT_TRUE(loaded.ok()) << loaded.ToString();
}

TokenRole role_of(const sentencepiece::SentencePieceProcessor& processor, int id) {
  if (processor.IsUnknown(id)) return TokenRole::unknown;
  if (processor.IsControl(id)) return TokenRole::control;
  return processor.IsByte(id) ? TokenRole::byte : TokenRole::normal;
}

std::unique_ptr<Tokenizer> ours(const sentencepiece::SentencePieceProcessor& processor) {
  SentencePieceParts parts;
  for (int id = 0; id < processor.GetPieceSize(); ++id) {
    parts.vocabulary.spellings.push_back(processor.IdToPiece(id));
    parts.vocabulary.roles.push_back(role_of(processor, id));
    parts.scores.push_back(processor.GetScore(id));
  }
  return make_sentencepiece(std::move(parts), "trained");
}

TEST(SentencePiece, EncodesAndDecodesAsTheLibrary) {
  const TemporaryFolder folder;
  sentencepiece::SentencePieceProcessor processor;
  train(folder, processor);
  const auto tokenizer = ours(processor);
  const std::string text = book();
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string piece = text.substr(random() % text.size(), random() % 60);
    while (!piece.empty() && (static_cast<unsigned char>(piece[0]) & 0xC0U) == 0x80)
      piece.erase(0, 1);  // no half letters
    while (!piece.empty() && static_cast<unsigned char>(piece.back()) >= 0x80) piece.pop_back();
    if (random() % 4 == 0) piece.insert(piece.size() / 2, "\t \xE6\xBC\xA2 \xF0\x9F\x98\x80");  // not in the vocabulary
    if (piece.empty()) continue;
    const std::vector<int> wanted = processor.EncodeAsIds(piece);
    const std::vector<TokenId> got = tokenizer->encode(piece, {.bos = false});
    ASSERT_EQ(std::vector<int>(got.begin(), got.end()), wanted) << piece;
    std::string decoded;
    ASSERT_TRUE(processor.Decode(wanted, &decoded).ok());
    ASSERT_EQ(tokenizer->decode(got), decoded) << piece;
  }
}

}  // namespace
}  // namespace locus::probe
