// SPDX-License-Identifier: Apache-2.0
#include "probe/tokenizers/split_pattern.h"

#include "probe/tokenizers/unicode.h"

namespace locus::probe {

SplitPattern SplitPattern::literal(std::string_view text) {
  SplitPattern pattern;
  pattern.nodes_.emplace_back();
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    at += c.size;
    Node node;
    node.kind = Kind::repeat;
    node.set.add(c.code, c.code);
    node.set.finish();
    node.next = at < text.size() ? pattern.nodes_.size() + 1 : 0;
    pattern.nodes_.push_back(std::move(node));
  }
  pattern.start_ = text.empty() ? 0 : 1;
  return pattern;
}

std::size_t SplitPattern::run(std::size_t node_index, const std::vector<char32_t>& text, std::size_t at) const {
  const Node& node = nodes_[node_index];
  switch (node.kind) {
    case Kind::finish:
      return at;
    case Kind::look_ahead: {
      const bool there = at < text.size() && node.set.matches(text[at]);
      return there == node.wanted ? run(node.next, text, at) : failed;
    }
    case Kind::choice:
      for (const std::size_t branch : node.branches) {
        if (const std::size_t end = run(branch, text, at); end != failed) return end;
      }
      return failed;
    case Kind::repeat:
      break;
  }
  std::size_t count = 0;
  while (count < node.most && at + count < text.size() && node.set.matches(text[at + count])) ++count;
  if (count < node.least) return failed;
  if (node.possessive) return run(node.next, text, at + count);
  for (std::size_t tried = count + 1; tried-- > node.least;) {
    if (const std::size_t end = run(node.next, text, at + tried); end != failed) return end;
  }
  return failed;
}

std::size_t SplitPattern::match(const std::vector<char32_t>& text, std::size_t at) const {
  const std::size_t end = run(start_, text, at);
  return end == failed ? at : end;
}

namespace {

void cut(std::string_view piece, const SplitStep& step, std::vector<std::string_view>& into) {
  std::vector<char32_t> codes;
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at < piece.size();) {
    const Character c = character_at(piece, at);
    codes.push_back(c.code);
    offsets.push_back(at);
    at += c.size;
  }
  offsets.push_back(piece.size());
  const auto put = [&](std::size_t begin, std::size_t end, bool wanted) {
    if (wanted && end > begin) into.push_back(piece.substr(offsets[begin], offsets[end] - offsets[begin]));
  };
  std::size_t gap = 0;
  for (std::size_t at = 0; at < codes.size();) {
    const std::size_t end = step.pattern.match(codes, at);
    if (end == at) {
      ++at;
      continue;
    }
    put(gap, at, step.keeps_gaps);
    put(at, end, step.keeps_matches);
    gap = at = end;
  }
  put(gap, codes.size(), step.keeps_gaps);
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, const std::vector<SplitStep>& steps) {
  std::vector<std::string_view> pieces = {text};
  for (const SplitStep& step : steps) {
    std::vector<std::string_view> finer;
    for (const std::string_view piece : pieces) cut(piece, step, finer);
    pieces = std::move(finer);
  }
  return pieces;
}

}  // namespace locus::probe
