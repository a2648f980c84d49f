// SPDX-License-Identifier: Apache-2.0
#include "texts.h"

#include "doctor/faults.h"
#include "figures/report/answer_sentence.h"
#include "figures/report/argument.h"
#include "messages/words.h"
#include "results/file.h"
#include "results/in_language.h"
#include "results/json.h"

namespace locus::wasm {
namespace {

using results::Json;

/// The text in the language; null where the catalogue does not have it.
val translated(std::string_view english, const Words& words) {
  return words.has_phrase(english) ? val(words.phrase(english)) : val::null();
}

Json answers_json(const results::Results& results, const Words& words) {
  Json all = Json::array();
  for (const results::Task& task : results.tasks) {
    if (results::ranked_range(task) != results::Range::beyond) continue;
    const results::LengthAnswer answer = results::length_answer(results, task);
    all.push_back({{"task", task.name}, {"sentence", figures::answer_sentence(results, answer, words)}});
  }
  return all;
}

Json cases_json(const results::Results& results, const results::Ranking& ranking, const Words& words) {
  Json all = Json::array();
  for (const figures::LineCase& line : figures::default_cases(results, ranking, words)) {
    Json tasks = Json::array();
    for (const figures::TaskCase& task : line.tasks) tasks.push_back({{"task", task.task}, {"text", task.text}});
    all.push_back({{"opening", line.opening}, {"tasks", tasks}});
  }
  return all;
}

}  // namespace

val phrase(const std::string& english, const std::string& language) {
  return guarded([&] { return translated(english, Words(find_language(language))); });
}

val fault(const std::string& id, const std::string& language) {
  return guarded([&] {
    const Words words(find_language(language));
    const doctor::Fault& found = doctor::find_fault(id);
    val result = val::object();
    result.set("name", translated(found.name, words));
    result.set("text", translated(found.text, words));
    return result;
  });
}

/// The file with its texts in the language, and what the report says about it: as JSON text.
val lab_results(const std::string& path, const std::string& language) {
  return guarded([&] {
    const Words words(find_language(language));
    const results::Results results = results::in_language(results::read_file(path), words);
    const results::Ranking ranking = results::ranking_of(results);
    Json json = results::to_json(results);
    const results::Task* opening = results::opening_task(results);
    json["opening_task"] = opening == nullptr ? Json(nullptr) : Json(opening->name);
    json["answers"] = answers_json(results, words);
    json["default"] = {{"sentence", figures::default_sentence(results, ranking, words)},
                       {"lines", ranking.defaults},
                       {"cases", cases_json(results, ranking, words)}};
    return val(json.dump());
  });
}

}  // namespace locus::wasm
