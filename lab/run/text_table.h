// SPDX-License-Identifier: Apache-2.0
// Columns of text, each as wide as its widest cell.
#pragma once

#include <string>
#include <vector>

#include "base/text_layout.h"
#include "locus/text.h"

namespace locus::lab {

class TextTable {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// The first `left` columns are left-aligned, the others right-aligned; two spaces before each.
  std::string text(std::size_t left = 1) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Returns the lines of a text, without newlines.
std::vector<std::string> lines_in(const std::string& text);

}  // namespace locus::lab
