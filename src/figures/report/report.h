// SPDX-License-Identifier: Apache-2.0
// The report of a lab run: one HTML file that opens with the answer as a sentence and a picture.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "figures/figure.h"
#include "locus/doctor/check.h"
#include "messages/language.h"
#include "results/results.h"

namespace locus::figures {

/// Every check of `locus verify`, measured now: about ten seconds. `progress` hears what comes next.
std::vector<Check> measure_checks(
    int shapes, const std::function<void(double done, std::size_t all, const std::string& what)>& progress = {});

/// The checks that `locus verify --json` printed; Error for any other JSON.
std::vector<Check> checks_from_json(const Json& file);

/// The page; Error where Locus was built without pages.
std::string report_html(const results::Results& results, std::span<const Check> checks,
                        Language language = Language::english);

/// The same as a file, written aside and then renamed.
void write_report(const results::Results& results, std::span<const Check> checks, const std::filesystem::path& path,
                  Language language = Language::english);

}  // namespace locus::figures
