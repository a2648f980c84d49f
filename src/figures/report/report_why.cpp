// SPDX-License-Identifier: Apache-2.0
// Section 2: attention without positions sees a bag of words; three tokens show it in numbers.
#include <algorithm>

#include "figures/registry.h"
#include "figures/report/report_parts.h"
#include "locus/doctor/properties.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

const std::string three_tokens = "three tokens: ";

std::vector<Check> three_token_checks(std::span<const Check> checks) {
  std::vector<Check> found;
  const auto collect = [&](std::span<const Check> from) {
    for (const Check& check : from) {
      if (check.name.starts_with(three_tokens)) found.push_back(check);
    }
  };
  collect(checks);
  if (found.empty()) collect(verify_worked_examples());  // a verification of one config has none
  return found;
}

}  // namespace

void add_why_positions(Page& page, std::span<const Check> checks) {
  page.section(2, "Why positions", "why");
  page.paragraph(
      "Attention compares every token with every other and adds up what it finds. None of that depends on the order: "
      "permute the tokens, and the outputs are permuted the same way. Without positions a sentence is a bag of words; "
      "\"I work he\" and \"he work I\" are the same. This is permutation equivariance, and a positional encoding is "
      "there to break it.");
  page.paragraph(
      "The smallest example has three tokens, I = (1, 0), work = (0, 1), he = (1, 1), identity weights and an unscaled "
      "softmax. The first rows are attention without positions: reversed tokens give reversed outputs, to the last "
      "bits. The rows below add each scheme and count the permutations that it makes visible.");
  Table table;
  table.head = {{"scheme", "tight"}, "three tokens", {"measured", "number"}, {"bound", "number"}, "in numbers"};
  for (const Check& check : three_token_checks(checks)) {
    table.rows.push_back({check.scheme, check.name.substr(three_tokens.size()), significant(check.value),
                          significant(check.bound), Cell(Html(check.note), "wide dim")});
  }
  page.table(table);
  for (const FigureKind* kind : figure_kinds()) {
    if (kind->name == "equivariance") page.figure(make_figure(*kind));
  }
}

}  // namespace locus::figures
