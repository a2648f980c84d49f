// SPDX-License-Identifier: Apache-2.0
// The report of a lab run: one HTML file with the answer first and everything it rests on after it.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "figures/figure.h"
#include "locus/doctor/check.h"

namespace locus::figures {

/// Every line of `locus verify`, measured now: about ten seconds. `progress` is told what comes next.
std::vector<Check> measure_checks(
    int shapes, const std::function<void(double done, std::size_t all, const std::string& what)>& progress = {});

/// The lines of what `locus verify --json` printed; Error where it is something else.
std::vector<Check> checks_from_json(const Json& file);

/// Error where they are not as docs/results-format.md says.
void check_results(const Json& results);

/// The page; Error where the results are not as docs/results-format.md says, or Locus was built without pages.
std::string report_html(const Json& results, std::span<const Check> checks);

/// The same as a file, which is never there by half.
void write_report(const Json& results, std::span<const Check> checks, const std::filesystem::path& path);

}  // namespace locus::figures
