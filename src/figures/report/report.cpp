// SPDX-License-Identifier: Apache-2.0
#include "figures/report/report.h"

#include <array>
#include <cmath>
#include <limits>

#include "figures/report/report_parts.h"
#include "locus/doctor/equivalences.h"
#include "locus/doctor/example_encodings.h"
#include "locus/doctor/properties.h"
#include "locus/error.h"
#include "locus/io/atomic_file.h"
#include "locus/text.h"
#include "messages/check_names.h"
#include "results/fields.h"
#include "results/in_language.h"

namespace locus::figures {
namespace {

Html subtitle(const results::Results& results, const Words& words) {
  const std::string& date = results.run.finished.empty() ? results.run.created : results.run.finished;
  std::string text = words(Message::report_run, {{"preset", results.run.preset}});
  if (date.size() >= 10) text += ", " + date.substr(0, 10);
  const auto count = [&](std::size_t number, Message one, Message many) {
    return words.counted(static_cast<std::int64_t>(number), one, many);
  };
  text += ": " + count(results.tasks.size(), Message::report_one_task, Message::report_tasks) + ", " +
          count(results.lines.size(), Message::report_one_line, Message::report_lines) + ", " +
          count(results.run.seeds.size(), Message::report_one_seed, Message::report_seeds);
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
  const std::vector<NamedEncoding> examples = example_encodings();
  double done = 0;
  for (const NamedEncoding& one : examples) {
    if (progress) progress(done++, examples.size(), one.name);
    add(verify_properties(one.encoding), one.name);
    add(verify_equivalences(one.encoding, {.shapes = shapes}), one.name);
  }
  add(verify_worked_examples(), "");
  return checks;
}

std::vector<Check> checks_from_json(const Json& file) {
  const char* rule = "the verification must be what `locus verify --json` printed";
  try {
    return results::Fields(file, "it").all("checks", [](const results::Fields& one) -> Check {
      return {.name = one.text("name"),
              .scheme = one.text("scheme"),
              .value = number_or_infinity(one.at("value")),
              .bound = number_or_infinity(one.at("bound")),
              .pass = one.flag("pass"),
              .note = one.text("note")};
    });
  } catch (const Error& error) {
    fail(rule, ": ", error.what());
  }
}

std::string with_interval(const results::Estimate& estimate) {
  std::string text = significant(estimate.mean);
  if (estimate.low) text += " [" + significant(*estimate.low) + ", " + significant(*estimate.high) + "]";
  return text;
}

Html stacked(const results::Estimate& estimate) {
  Html cell(significant(estimate.mean));
  if (!estimate.low) return cell;
  const std::string interval = "[" + significant(*estimate.low) + ", " + significant(*estimate.high) + "]";
  return cell + Html::raw("<br>") + element("small", interval);
}

Html library_text(const Words& words, std::string_view english) {
  if (words.has_phrase(english)) return Html(words.phrase(english));
  return element("span", Html(english), "lang=\"en\"");
}

Html check_text(const Words& words, std::string_view english) {
  if (const auto text = check_name(words, english)) return Html(*text);
  return library_text(words, english);
}

std::string report_html(const results::Results& given, std::span<const Check> checks, Language language) {
  const Words words(language);
  const results::Results results = results::in_language(given, words);
  const results::Ranking answer = results::ranking_of(results);
  Page page(words(Message::report_title), subtitle(results, words), words);
  add_opening(page, results);
  add_when(page, results, answer);
  add_results(page, results, answer);
  add_why_positions(page, checks);
  add_schemes(page);
  add_verification(page, checks);
  add_run(page, results, answer);
  return page.html();
}

void write_report(const results::Results& results, std::span<const Check> checks, const std::filesystem::path& path,
                  Language language) {
  const std::string html = report_html(results, checks, language);
  const std::array<io::ByteChunk, 1> chunks = {std::as_bytes(std::span(html))};
  io::write_atomically(path, chunks);
}

}  // namespace locus::figures
