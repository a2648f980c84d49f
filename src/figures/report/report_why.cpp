// SPDX-License-Identifier: Apache-2.0
// Why positions are needed: without them, attention treats a sentence as a bag of words. Three tokens show it.
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
  if (found.empty()) collect(verify_worked_examples());  // the verification of a single config has no worked examples
  return found;
}

}  // namespace

void add_why_positions(Page& page, std::span<const Check> checks) {
  const Words& words = page.words();
  page.section(2, words(Message::why_title), "why");
  page.paragraph(words(Message::why_bag));
  page.paragraph(words(Message::why_example));
  for (const FigureKind* kind : figure_kinds()) {
    if (kind->name == "equivariance") page.figure(make_figure(*kind, words.language()));
  }
  Table table;
  table.head = {{words(Message::head_scheme), "tight"},
                words(Message::head_three_tokens),
                {words(Message::head_measured), "number"},
                {words(Message::head_bound), "number"},
                words(Message::head_in_numbers)};
  for (const Check& check : three_token_checks(checks)) {
    table.rows.push_back({check.scheme, check_text(words, check.name.substr(three_tokens.size())),
                          significant(check.value), significant(check.bound),
                          Cell(check_text(words, check.note), "wide dim")});
  }
  page.table(table);
}

}  // namespace locus::figures
