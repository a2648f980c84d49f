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

/// Runs every check of `locus verify`, which takes about ten seconds. `progress` is called before each step.
std::vector<Check> measure_checks(
    int shapes, const std::function<void(double done, std::size_t all, const std::string& what)>& progress = {});

/// Reads the checks that `locus verify --json` printed. Error: any other JSON.
std::vector<Check> checks_from_json(const Json& file);

/// Returns the page. Error: Locus was built without npm.
std::string report_html(const results::Results& results, std::span<const Check> checks,
                        Language language = Language::english);

/// Writes the page atomically.
void write_report(const results::Results& results, std::span<const Check> checks, const std::filesystem::path& path,
                  Language language = Language::english);

}  // namespace locus::figures
