// SPDX-License-Identifier: Apache-2.0
// The sections of the report, one file each, in the order of the page. Texts are in the language of the page, and so
// are those of the results (results/in_language.h).
#pragma once

#include <span>

#include "figures/report/page.h"
#include "locus/doctor/check.h"
#include "results/ranking.h"

namespace locus::figures {

void add_opening(Page& page, const results::Results& results);
void add_when(Page& page, const results::Results& results, const results::Ranking& answer);
void add_why_positions(Page& page, std::span<const Check> checks);
void add_schemes(Page& page);
void add_results(Page& page, const results::Results& results, const results::Ranking& answer);
void add_verification(Page& page, std::span<const Check> checks);
void add_run(Page& page, const results::Results& results, const results::Ranking& answer);

/// Formats "0.912 [0.887, 0.937]", without the interval if there is none.
std::string with_interval(const results::Estimate& estimate);
/// Formats the same on two lines, for a table cell.
Html stacked(const results::Estimate& estimate);
/// Returns a text of the library in the page's language, or marked as English.
Html library_text(const Words& words, std::string_view english);
/// The same for the name or the note of a check.
Html check_text(const Words& words, std::string_view english);
/// Returns the sentence to append to a caption if results::is_cut holds; empty otherwise.
std::string cut_note(bool cut, const Words& words);
/// Returns " Tasks tested at the trained length only are ranked there: first."; empty if there is none.
std::string in_range_note(const results::Results& results, const Words& words);
/// Joins the labels of the lines that lead.
std::string leaders_text(const results::Results& results, const std::vector<results::Standing>& standings,
                         const Words& words);

}  // namespace locus::figures
