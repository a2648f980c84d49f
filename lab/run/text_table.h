// SPDX-License-Identifier: Apache-2.0
// Columns of text, as wide as what is in them.
#pragma once

#include <string>
#include <vector>

#include "locus/text.h"

namespace locus::lab {

class TextTable {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// The first `left` columns are set to the left, the others to the right; two blanks between, two before.
  std::string text(std::size_t left = 1) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// How many columns of a terminal a text takes: its characters, not its bytes.
std::size_t width_of(const std::string& text);

/// Adds an item to a list in words.
void append(std::string& list, const std::string& item, const std::string& between);

}  // namespace locus::lab
