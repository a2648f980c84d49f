// SPDX-License-Identifier: Apache-2.0
#include "figures/report/report.h"

#include <array>
#include <cmath>
#include <limits>

#include "figures/numbers.h"
#include "figures/report/report_parts.h"
#include "locus/doctor/equivalences.h"
#include "locus/doctor/panel.h"
#include "locus/doctor/properties.h"
#include "locus/error.h"
#include "locus/io/atomic_file.h"

namespace locus::figures {
namespace {

std::string text_or(const Json& object, const char* key, const std::string& otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

Html subtitle(const Results& results) {
  const std::string date = text_or(results.run, "finished", text_or(results.run, "created", ""));
  std::string text = "Lab run \"" + text_or(results.run, "preset", "of your own") + "\"";
  if (date.size() >= 10) text += ", " + date.substr(0, 10);
  text += ": " + std::to_string(results.tasks.size()) + (results.tasks.size() == 1 ? " task, " : " tasks, ");
  text += std::to_string(results.lines.size()) + " lines, " + std::to_string(results.seeds.size()) +
          (results.seeds.size() == 1 ? " seed" : " seeds");
  return Html(text + ".");
}

double number_or_infinity(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<Check> measure_checks(int shapes,
                                  const std::function<void(double, std::size_t, const std::string&)>& progress) {
  std::vector<Check> checks;
  const auto add = [&](std::vector<Check> more, const std::string& name) {
    for (Check& check : more) {
      if (!name.empty()) check.scheme = name;
      checks.push_back(std::move(check));
    }
  };
  const std::vector<NamedEncoding> panel = verification_panel();
  double done = 0;
  for (const NamedEncoding& one : panel) {
    if (progress) progress(done++, panel.size(), one.name);
    add(verify_properties(one.encoding), one.name);
    add(verify_equivalences(one.encoding, {.shapes = shapes}), one.name);
  }
  add(verify_worked_examples(), "");
  return checks;
}

std::vector<Check> checks_from_json(const Json& file) {
  const char* rule = "the verification must be what `locus verify --json` printed";
  require(file.is_object() && file.contains("checks") && file["checks"].is_array(), rule, ": it has no list of checks");
  std::vector<Check> checks;
  for (const Json& one : file["checks"]) {
    require(one.is_object(), rule, ": a check is not an object");
    for (const char* key : {"name", "scheme", "note"}) {
      require(one.contains(key) && one[key].is_string(), rule, ": a check has no text \"", key, "\"");
    }
    require(one.contains("pass") && one["pass"].is_boolean(), rule, ": a check has no \"pass\"");
    require(one.contains("value") && one.contains("bound"), rule, ": a check has no value or no bound");
    checks.push_back({.name = one["name"],
                      .scheme = one["scheme"],
                      .value = number_or_infinity(one["value"]),
                      .bound = number_or_infinity(one["bound"]),
                      .pass = one["pass"],
                      .note = one["note"]});
  }
  return checks;
}

std::string with_interval(const Mean& mean) {
  std::string text = significant(mean.value);
  if (mean.low) text += " [" + significant(*mean.low) + ", " + significant(*mean.high) + "]";
  return text;
}

Html stacked(const Mean& mean) {
  Html cell(significant(mean.value));
  if (!mean.low) return cell;
  const std::string interval = "[" + significant(*mean.low) + ", " + significant(*mean.high) + "]";
  return cell + Html::raw("<br>") + element("small", interval);
}

void check_results(const Json& results) { read_results(results); }

std::string report_html(const Json& file, std::span<const Check> checks) {
  const Results results = read_results(file);
  const Answer answer = answer_of(results);
  Page page("Positional encodings, measured", subtitle(results));
  add_answer(page, results, answer);
  add_why_positions(page, checks);
  add_schemes(page);
  add_results(page, results, answer);
  add_verification(page, checks);
  add_run(page, results);
  return page.html();
}

void write_report(const Json& results, std::span<const Check> checks, const std::filesystem::path& path) {
  const std::string html = report_html(results, checks);
  const std::array<io::ByteChunk, 1> chunks = {std::as_bytes(std::span(html))};
  io::write_atomically(path, chunks);
}

}  // namespace locus::figures
