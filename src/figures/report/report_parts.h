// SPDX-License-Identifier: Apache-2.0
// The sections of the report, one file each, in the order of the page.
#pragma once

#include <span>

#include "figures/report/page.h"
#include "locus/doctor/check.h"
#include "results/ranking.h"

namespace locus::figures {

void add_answer(Page& page, const results::Results& results, const results::Ranking& answer);
void add_why_positions(Page& page, std::span<const Check> checks);
void add_schemes(Page& page);
void add_results(Page& page, const results::Results& results, const results::Ranking& answer);
void add_verification(Page& page, std::span<const Check> checks);
void add_run(Page& page, const results::Results& results, const results::Ranking& answer);

/// "0.912 [0.887, 0.937]", without the interval where there is none.
std::string with_interval(const results::Estimate& estimate);
/// The same on two lines, for a cell.
Html stacked(const results::Estimate& estimate);
/// Appended to a caption where results::is_cut holds.
inline const std::string cut_note =
    " Intervals are cut where the number can go no further; the charts' data has them whole.";
/// " Tasks tested at the trained length only are ranked there: first." Empty where there is none.
std::string in_range_note(const results::Results& results);
/// The labels of the lines that lead, joined.
std::string leaders_text(const results::Results& results, const std::vector<results::Standing>& standings);

}  // namespace locus::figures
