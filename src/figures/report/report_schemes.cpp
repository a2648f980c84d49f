// SPDX-License-Identifier: Apache-2.0
// Section 3: every scheme of the registry: where it enters, what it claims, and its figures.
#include <algorithm>

#include "figures/registry.h"
#include "figures/report/report_parts.h"
#include "locus/registry.h"
#include "locus/scaling.h"

namespace locus::figures {
namespace {

std::string where_it_enters(Site site) {
  switch (site) {
    case Site::none:
      return "Nowhere: attention is unchanged.";
    case Site::hidden:
      return "Before the first layer: a row is added to each token's vector.";
    case Site::query_key:
      return "In every attention layer: pairs of coordinates of queries and keys are rotated before their dot product.";
    case Site::score:
      return "In every attention layer: a number that depends on head, query position and key position is added to the "
             "score.";
    case Site::relative_key:
      return "In every attention layer: the offset chooses a vector that is multiplied with the query.";
    case Site::output:
      return "After attention: the output is rotated back by the query's position.";
  }
  return {};
}

std::string promises(const Claims& claims) {
  std::string text;
  for (const Claim claim : claims.all()) {
    std::string name(name_of(claim));
    std::replace(name.begin(), name.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

Table parameter_table(const std::vector<Parameter>& parameters) {
  Table table;
  table.head = {{"parameter", "tight"}, "meaning", {"default", "tight"}};
  for (const Parameter& parameter : parameters) {
    std::string choices;
    for (const std::string_view choice : parameter.choices)
      choices += (choices.empty() ? "" : ", ") + std::string(choice);
    Html meaning(parameter.meaning);
    if (!choices.empty()) meaning += element("span", " (" + choices + ")", "class=\"dim\"");
    const std::string fallback = parameter.fallback   ? to_text(*parameter.fallback)
                                 : parameter.required ? "must be given"
                                                      : "the scheme's own";
    table.rows.push_back({code(parameter.name), meaning, fallback});
  }
  return table;
}

void add_rule_charts(Page& page) {
  Table table;
  table.head = {{"rule", "tight"}, "what it does to the frequencies", "paper"};
  for (const Rule* rule : rules()) {
    table.rows.push_back({code(rule->name), std::string(rule->summary), Cell(Html(rule->paper), "dim")});
  }
  page.table(table, "Frequency rules, which stretch RoPE to more positions than it was trained with.");
}

void add_scheme(Page& page, const Scheme& scheme) {
  page.section(3, std::string(scheme.name), "scheme-" + std::string(scheme.name));
  page.paragraph(Html(sentence(scheme.summary) + " " + where_it_enters(scheme.site)));
  Html facts = Html(sentence(scheme.paper));
  const std::string claims = promises(scheme.claims);
  if (!claims.empty()) facts += Html(" Claims, each verified in section 5: " + claims + ".");
  page.paragraph(facts, "note");
  if (!scheme.parameters.empty()) {
    page.begin_details("Parameters of " + std::string(scheme.name));
    page.table(parameter_table(scheme.parameters));
    page.end_details();
  }
  if (scheme.name == "rope") add_rule_charts(page);
  for (const FigureKind* kind : figure_kinds()) {
    if (kind->scheme == scheme.name && kind->name != "equivariance") page.figure(make_figure(*kind));
  }
}

}  // namespace

void add_schemes(Page& page) {
  page.section(2, "Each scheme", "schemes");
  page.paragraph(
      "Position enters a transformer at one of four sites: the token's vector, queries and keys, the score, or a "
      "separate key that the offset chooses. Each figure below is drawn from the library's own numbers; " +
      Html::raw("<code>locus plot</code>") + Html(" draws any of them with other settings."));
  for (const Scheme* scheme : schemes()) add_scheme(page, *scheme);
}

}  // namespace locus::figures
