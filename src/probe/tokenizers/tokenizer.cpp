// SPDX-License-Identifier: Apache-2.0
#include "probe/tokenizers/tokenizer.h"

#include <algorithm>

#include "locus/error.h"
#include "probe/tokenizers/unicode.h"

namespace locus::probe {

Tokenizer::Tokenizer(TokenizerFacts facts, std::vector<std::string> bytes, std::vector<AddedToken> added,
                     bool leading_space)
    : facts_(std::move(facts)),
      bytes_(std::move(bytes)),
      control_(bytes_.size(), false),
      added_(256),
      leading_space_(leading_space) {
  for (const auto& id : {facts_.bos, facts_.eos, facts_.unknown}) {
    if (id) check(*id);
  }
  for (const auto& id : {facts_.bos, facts_.eos}) {
    if (id) control_[static_cast<std::size_t>(*id)] = true;
  }
  for (AddedToken& token : added) {
    check(token.id);
    if (token.control) control_[static_cast<std::size_t>(token.id)] = true;
    if (!token.text.empty()) added_[static_cast<unsigned char>(token.text[0])].push_back(std::move(token));
  }
  for (auto& same_start : added_) {
    std::stable_sort(same_start.begin(), same_start.end(),
                     [](const AddedToken& a, const AddedToken& b) { return a.text.size() > b.text.size(); });
  }
}

void Tokenizer::check(TokenId token) const {
  require(token >= 0 && token < vocab_size(), facts_.kind, ": a token id must be from 0 to ", vocab_size() - 1,
          ", got ", token);
}

const AddedToken* Tokenizer::added_at(std::string_view text, std::size_t at, bool special) const {
  for (const AddedToken& token : added_[static_cast<unsigned char>(text[at])]) {
    if ((special || !token.control) && text.substr(at).starts_with(token.text)) return &token;
  }
  return nullptr;
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<TokenId> ids;
  if (options.bos.value_or(facts_.adds_bos) && facts_.bos) ids.push_back(*facts_.bos);
  std::size_t begin = 0;  // start of the text that is not yet encoded
  const auto finish = [&](std::size_t end) {
    if (end > begin) encode_stretch(text.substr(begin, end - begin), begin == 0, ids);
  };
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* token = added_at(text, at, options.special);
    if (token == nullptr) {
      ++at;
      continue;
    }
    finish(token->strips_left ? std::max(begin, without_trailing_space(text, at)) : at);
    ids.push_back(token->id);
    at += token->text.size();
    if (token->strips_right) at = after_space(text, at);
    begin = at;
  }
  finish(text.size());
  return ids;
}

bool Tokenizer::starts_text(std::optional<TokenId> previous) const { return !previous || previous == facts_.bos; }

std::string Tokenizer::piece(TokenId token, std::optional<TokenId> previous) const {
  check(token);
  if (control_[static_cast<std::size_t>(token)]) return {};
  const std::string& bytes = bytes_[static_cast<std::size_t>(token)];
  const bool strip = leading_space_ && starts_text(previous) && bytes.starts_with(' ');
  return strip ? bytes.substr(1) : bytes;
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  std::optional<TokenId> previous;
  for (const TokenId id : ids) {
    text += piece(id, previous);
    previous = id;
  }
  return text;
}

}  // namespace locus::probe
