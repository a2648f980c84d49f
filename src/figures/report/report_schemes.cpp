// SPDX-License-Identifier: Apache-2.0
// Every scheme of the registry: its site, claims and figures.
#include <algorithm>

#include "figures/registry.h"
#include "figures/report/report_parts.h"
#include "locus/registry.h"
#include "locus/scaling.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

/// Marks a text as English, whatever the page's language.
Html english(std::string_view text) { return element("span", Html(text), "lang=\"en\""); }

Message where_it_enters(Site site) {
  switch (site) {
    case Site::output:  // no scheme acts there alone
    case Site::none:
      break;
    case Site::hidden:
      return Message::enters_hidden;
    case Site::query_key:
      return Message::enters_query_key;
    case Site::score:
      return Message::enters_score;
    case Site::relative_key:
      return Message::enters_relative_key;
  }
  return Message::enters_nowhere;
}

std::string promises(const Claims& claims, const Words& words) {
  std::vector<std::string> names;
  for (const Claim claim : claims.all()) {
    std::string name(name_of(claim));
    std::replace(name.begin(), name.end(), '_', ' ');
    names.push_back(words.phrase(name));
  }
  return joined(names);
}

Table parameter_table(const std::vector<Parameter>& parameters, const Words& words) {
  Table table;
  table.head = {
      {words(Message::head_parameter), "tight"}, words(Message::head_meaning), {words(Message::head_default), "tight"}};
  for (const Parameter& parameter : parameters) {
    Html meaning = library_text(words, parameter.meaning);
    if (!parameter.choices.empty()) {
      meaning += element("span", " (" + joined(parameter.choices) + ")", "class=\"dim\"");
    }
    const std::string fallback = parameter.fallback   ? to_text(*parameter.fallback)
                                 : parameter.required ? words(Message::parameter_required)
                                                      : words(Message::parameter_own);
    table.rows.push_back({code(parameter.name), meaning, fallback});
  }
  return table;
}

void add_rules(Page& page) {
  const Words& words = page.words();
  Table table;
  table.head = {{words(Message::head_rule), "tight"}, words(Message::head_rule_does), words(Message::head_paper)};
  for (const Rule* rule : rules()) {
    table.rows.push_back({code(rule->name), library_text(words, rule->summary), Cell(english(rule->paper), "dim")});
  }
  page.table(table, words(Message::rules_of_rope));
}

void add_scheme(Page& page, const Scheme& scheme) {
  const Words& words = page.words();
  page.section(3, words.phrase(scheme.title), "scheme-" + std::string(scheme.name));
  const Html summary = words.has_phrase(scheme.summary) ? Html(sentence(words.phrase(scheme.summary)))
                                                        : english(sentence(scheme.summary));
  page.paragraph(summary + Html(" " + words(where_it_enters(scheme.site))));
  Html facts = english(sentence(scheme.paper));
  const std::string claims = promises(scheme.claims, words);
  if (!claims.empty()) facts += Html(" " + words(Message::scheme_claims, {{"claims", claims}}));
  page.paragraph(facts, "note");
  if (!scheme.parameters.empty()) {
    page.begin_details(words(Message::scheme_parameters, {{"scheme", std::string(scheme.name)}}));
    page.table(parameter_table(scheme.parameters, words));
    page.end_details();
  }
  if (scheme.name == "rope") add_rules(page);
  for (const FigureKind* kind : figure_kinds()) {
    if (kind->scheme == scheme.name && kind->name != "equivariance") page.figure(make_figure(*kind, words.language()));
  }
}

}  // namespace

void add_schemes(Page& page) {
  page.section(2, page.words()(Message::schemes_title), "schemes");
  page.paragraph(prose(page.words()(Message::schemes_lead)));
  for (const Scheme* scheme : schemes()) add_scheme(page, *scheme);
}

}  // namespace locus::figures
