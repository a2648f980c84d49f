// SPDX-License-Identifier: Apache-2.0
// Section 5: every check of `locus verify` with its value and bound.
#include <algorithm>

#include "figures/report/report_parts.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

Table table_of(std::span<const Check* const> checks) {
  Table table;
  table.head = {{"", "tight"}, "check", {"measured", "number"}, {"bound", "number"}, "note"};
  for (const Check* check : checks) {
    table.rows.push_back({Cell(Html(check->pass ? "holds" : "FAILS"), check->pass ? "good" : "bad"),
                          Cell(Html(check->name), "wide"), significant(check->value, 4), significant(check->bound, 4),
                          Cell(Html(check->note), "dim")});
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
  page.section(2, "Verification", "verification");
  if (checks.empty()) {
    page.paragraph(prose("This report was made without a verification; `locus verify` runs one."), "warning");
    return;
  }
  const std::vector<const Check*> failures = checks_where(checks, [](const Check& check) { return !check.pass; });
  const auto count = static_cast<std::int64_t>(checks.size());
  page.paragraph(Html("The results are only as good as the library beneath them. ") + code("locus verify") +
                 Html(" measures every claim of every scheme, and that tokens give the same attention however they are "
                      "chunked, cached, padded, packed, forked or shifted. Of ") +
                 strong(grouped(count)) + Html(" checks ") +
                 strong(grouped(count - static_cast<std::int64_t>(failures.size()))) + Html(" hold") +
                 Html(failures.empty() ? "." : ":"));
  if (!failures.empty()) page.table(table_of(failures), "Lines that fail");
  for (const std::string& scheme : schemes_in_order(checks)) {
    const auto own = checks_where(checks, [&](const Check& check) { return check.scheme == scheme; });
    const auto held =
        static_cast<std::size_t>(std::count_if(own.begin(), own.end(), [](const Check* c) { return c->pass; }));
    page.begin_details(code(scheme) + Html(": " + std::to_string(held) + " of " + std::to_string(own.size()) + " hold"),
                       true);
    page.table(table_of(own));
    page.end_details();
  }
}

}  // namespace locus::figures
