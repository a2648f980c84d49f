// SPDX-License-Identifier: Apache-2.0
// Parses the text of a split pattern into nodes.
#include <limits>
#include <optional>

#include "locus/error.h"
#include "probe/tokenizers/split_pattern.h"
#include "probe/tokenizers/unicode.h"

namespace locus::probe {

// Nodes are created from the end of the pattern backwards, so that each knows its successor: the parser first
// collects the items of a sequence, then links them.
class PatternParser {
 public:
  PatternParser(std::string_view pattern, const std::string& name, SplitPattern& into) : name_(name), into_(into) {
    for (std::size_t at = 0; at < pattern.size();) {
      const Character c = character_at(pattern, at);
      code_.push_back(c.code);
      at += c.size;
    }
  }

  void parse() {
    into_.nodes_.emplace_back();
    into_.start_ = link(alternatives(0), 0);
    require(at_ == code_.size(), where(), "unmatched )");
  }

 private:
  struct Item;
  using Sequence = std::vector<Item>;
  struct Item {
    SplitPattern::Node node;
    std::vector<Sequence> inner = {};  ///< of a choice
  };

  std::string where() const { return name_ + ": split pattern, character " + std::to_string(at_) + ": "; }
  bool more() const { return at_ < code_.size(); }
  char32_t peek() const { return more() ? code_[at_] : not_a_character; }
  bool take(std::u32string_view text) {
    if (std::u32string_view(code_).substr(std::min(at_, code_.size()), text.size()) != text) return false;
    at_ += text.size();
    return true;
  }
  char32_t next(const char* what) {
    require(more(), where(), what, " is truncated");
    return code_[at_++];
  }

  std::vector<Sequence> alternatives(int depth) {
    require(depth < 16, where(), "groups are nested more than 16 deep");
    std::vector<Sequence> all(1);
    while (more() && peek() != U')') {
      if (take(U"|")) {
        all.emplace_back();
      } else {
        all.back().push_back(item(depth));
      }
    }
    return all;
  }

  Item item(int depth) {
    Item one;
    if (take(U"(?!") || take(U"(?=")) {
      one.node.kind = SplitPattern::Kind::look_ahead;
      one.node.wanted = code_[at_ - 1] == U'=';
      one.node.set = atom();
      require(take(U")"), where(), "a look-ahead of more than one character is not supported");
      return one;
    }
    if (peek() == U'(') return group(depth);
    one.node.kind = SplitPattern::Kind::repeat;
    one.node.set = atom();
    quantify(one.node);
    return one;
  }

  Item group(int depth) {
    const bool outer = ignores_case_;
    if (take(U"(?i:")) {
      ignores_case_ = true;
    } else if (!take(U"(?:")) {
      at_ += 1;
      require(peek() != U'?', where(), "this kind of group is not supported");
    }
    Item one;
    one.node.kind = SplitPattern::Kind::choice;
    one.inner = alternatives(depth + 1);
    ignores_case_ = outer;
    require(take(U")"), where(), "unmatched (");
    if (take(U"?")) one.inner.emplace_back();  // the empty alternative, tried last
    require(peek() != U'*' && peek() != U'+' && peek() != U'{' && peek() != U'?', where(),
            "a repeated group is not supported");
    return one;
  }

  void quantify(SplitPattern::Node& node) {
    constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
    bool braces = false;
    if (take(U"?")) {
      node.least = 0;
    } else if (take(U"*")) {
      node.least = 0;
      node.most = any;
    } else if (take(U"+")) {
      node.most = any;
    } else if (take(U"{")) {
      braces = true;
      node.least = node.most = number();
      if (take(U",")) node.most = peek() == U'}' ? any : number();
      require(take(U"}") && node.least <= node.most, where(), "a count must be {n}, {n,} or {n,m}");
    } else {
      return;
    }
    require(peek() != U'?', where(), "a lazy count is not supported");
    if (peek() == U'+') {
      require(!braces, where(), "engines disagree about {n,m}+, which is not supported");
      node.possessive = take(U"+");
    }
  }

  std::size_t number() {
    std::size_t value = 0;
    require(peek() >= U'0' && peek() <= U'9', where(), "a count must be a number");
    while (peek() >= U'0' && peek() <= U'9') {
      value = value * 10 + (code_[at_++] - U'0');
      require(value <= 10000, where(), "a count must be at most 10000");
    }
    return value;
  }

  CharacterSet atom() {
    CharacterSet set;
    const char32_t code = next("the pattern");
    require(code != U'^' && code != U'$' && code != U'.' && code != U'*' && code != U'+' && code != U'?' &&
                code != U'{' && code != U')' && code != U'|',
            where(), "'", static_cast<char>(code), "' is not supported here");
    if (code == U'[') {
      set = brackets(0);
    } else if (code == U'\\') {
      if (const auto single = escape(set)) set.add(*single, *single);
    } else {
      set.add(code, code);
    }
    if (ignores_case_) set.ignore_case();
    set.finish();
    return set;
  }

  /// Parses an escape: returns a character, or nothing after adding a class.
  std::optional<char32_t> escape(CharacterSet& set) {
    const char32_t code = next("an escape");
    switch (code) {
      case U'n':
        return U'\n';
      case U'r':
        return U'\r';
      case U't':
        return U'\t';
      case U'f':
        return U'\f';
      case U'v':
        return U'\v';
      case U's':
      case U'S':
        set.add_class("s", code == U'S');
        return std::nullopt;
      case U'p':
      case U'P': {
        std::string category;
        require(take(U"{"), where(), "\\p must have a category in braces");
        while (peek() != U'}') category.push_back(static_cast<char>(next("a category")));
        at_ += 1;
        require(set.add_class(category == "s" ? "?" : category, code == U'P'), where(),
                "the category must be L, M, N, P or S, got '", category, "'");
        return std::nullopt;
      }
      default:
        require(code < 128 && !is_letter(code) && !is_number(code), where(), "this escape is not supported");
        return code;
    }
  }

  CharacterSet brackets(int depth) {
    require(depth < 16, where(), "sets are nested more than 16 deep");
    CharacterSet set;
    const bool negated = take(U"^");
    bool first = true;
    while (first || peek() != U']') {
      first = false;
      const char32_t code = next("a set");
      require(code != U'&' || peek() != U'&', where(), "&& is not supported");
      if (code == U'[') {
        require(peek() != U':', where(), "named POSIX classes are not supported");
        set.add(brackets(depth + 1));
        continue;
      }
      const auto begin = code == U'\\' ? escape(set) : code;
      if (!begin) continue;
      char32_t end = *begin;
      if (peek() == U'-' && at_ + 1 < code_.size() && code_[at_ + 1] != U']') {
        at_ += 1;
        end = next("a range");
        if (end == U'\\') end = escape(set).value_or(0);
        require(end >= *begin, where(), "a range must not decrease");
      }
      set.add(*begin, end);
    }
    at_ += 1;
    if (negated) set.negate();
    return set;
  }

  /// Returns the first node of these alternatives, followed by `next`.
  std::size_t link(std::vector<Sequence> all, std::size_t next) {
    std::vector<std::size_t> starts;
    for (Sequence& sequence : all) {
      std::size_t following = next;
      for (auto item = sequence.rbegin(); item != sequence.rend(); ++item) {
        if (item->node.kind == SplitPattern::Kind::choice) {
          following = link(std::move(item->inner), following);
        } else {
          item->node.next = following;
          following = add(std::move(item->node));
        }
      }
      starts.push_back(following);
    }
    if (starts.size() == 1) return starts[0];
    SplitPattern::Node choice;
    choice.kind = SplitPattern::Kind::choice;
    choice.branches = std::move(starts);
    return add(std::move(choice));
  }

  std::size_t add(SplitPattern::Node node) {
    into_.nodes_.push_back(std::move(node));
    return into_.nodes_.size() - 1;
  }

  const std::string& name_;
  SplitPattern& into_;
  std::u32string code_;
  std::size_t at_ = 0;
  bool ignores_case_ = false;
};

SplitPattern::SplitPattern(std::string_view pattern, const std::string& name) {
  PatternParser(pattern, name, *this).parse();
}

}  // namespace locus::probe
