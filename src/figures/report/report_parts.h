// SPDX-License-Identifier: Apache-2.0
// The sections of the report, one file each, in the order of the page.
#pragma once

#include <span>

#include "figures/report/answer.h"
#include "figures/report/page.h"
#include "locus/doctor/check.h"

namespace locus::figures {

void add_answer(Page& page, const Results& results, const Answer& answer);
void add_why_positions(Page& page, std::span<const Check> checks);
void add_schemes(Page& page);
void add_results(Page& page, const Results& results, const Answer& answer);
void add_verification(Page& page, std::span<const Check> checks);
void add_run(Page& page, const Results& results);

/// "0.912 [0.887, 0.937]", without the interval where there is none.
std::string with_interval(const Mean& mean);
/// The same in two lines, for a cell.
Html stacked(const Mean& mean);
/// The labels of the lines, joined; those that lead of `standings`.
std::string leaders_text(const Results& results, const std::vector<Standing>& standings);

}  // namespace locus::figures
