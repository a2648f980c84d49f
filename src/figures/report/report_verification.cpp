// SPDX-License-Identifier: Apache-2.0
// Every check of `locus verify` with its value and bound.
#include <algorithm>

#include "figures/report/report_parts.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

Table table_of(std::span<const Check* const> checks, const Words& words) {
  Table table;
  table.head = {{"", "tight"},
                words(Message::head_check),
                {words(Message::head_measured), "number"},
                {words(Message::head_bound), "number"},
                words(Message::head_note)};
  for (const Check* check : checks) {
    table.rows.push_back(
        {Cell(Html(words(check->pass ? Message::check_holds : Message::check_fails)), check->pass ? "good" : "bad"),
         Cell(check_text(words, check->name), "wide"), significant(check->value, 4), significant(check->bound, 4),
         Cell(check_text(words, check->note), "dim")});
  }
  return table;
}

std::vector<std::string> schemes_in_order(std::span<const Check> checks) {
  std::vector<std::string> names;
  for (const Check& check : checks) {
    if (std::find(names.begin(), names.end(), check.scheme) == names.end()) names.push_back(check.scheme);
  }
  return names;
}

template <class Wanted>
std::vector<const Check*> checks_where(std::span<const Check> checks, const Wanted& wanted) {
  std::vector<const Check*> found;
  for (const Check& check : checks) {
    if (wanted(check)) found.push_back(&check);
  }
  return found;
}

}  // namespace

void add_verification(Page& page, std::span<const Check> checks) {
  const Words& words = page.words();
  page.section(2, words(Message::verification_title), "verification");
  if (checks.empty()) {
    page.paragraph(prose(words(Message::verification_none)), "warning");
    return;
  }
  const std::vector<const Check*> failures = checks_where(checks, [](const Check& check) { return !check.pass; });
  page.paragraph(prose(words(Message::verification_lead,
                             {{"held", words.grouped(static_cast<std::int64_t>(checks.size() - failures.size()))},
                              {"all", words.grouped(static_cast<std::int64_t>(checks.size()))}})));
  if (words.language() != Language::english) page.paragraph(prose(words(Message::verification_names)), "note");
  if (!failures.empty()) page.table(table_of(failures, words), words(Message::verification_failing));
  for (const std::string& scheme : schemes_in_order(checks)) {
    const auto own = checks_where(checks, [&](const Check& check) { return check.scheme == scheme; });
    const auto held = std::count_if(own.begin(), own.end(), [](const Check* check) { return check->pass; });
    page.begin_details(
        prose(words(Message::verification_scheme,
                    {{"scheme", scheme}, {"held", std::to_string(held)}, {"all", std::to_string(own.size())}})),
        true);
    page.table(table_of(own, words));
    page.end_details();
  }
}

}  // namespace locus::figures
