// SPDX-License-Identifier: Apache-2.0
// What the report opens with: the sentence in both languages, and the picture with a label at the end of every line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "figures/report/answer_sentence.h"
#include "figures/report/results_figures.h"
#include "results/made_results.h"

namespace locus::figures {
namespace {

std::string sentence_of(const results::Results& results, Language language = Language::english) {
  const results::Task* task = results::opening_task(results);
  const results::LengthAnswer answer =
      task == nullptr ? results::LengthAnswer{} : results::length_answer(results, *task);
  return answer_sentence(results, answer, Words(language));
}

void set_variant(results::Results& results, const std::string& line, const std::string& variant) {
  for (results::Line& one : results.lines) {
    if (one.name == line) one.variant = variant;
  }
}

/// Every group at once.
results::Results all_groups() {
  results::Results results;
  add_task(results, "text", false,
           {{"alibi", {1, 1}, {1, 1}},
            {"shaw", {1, 1}, {1.1, 1.1}},
            {"rope", {1, 1}, {3, 3}},
            {"rope+yarn", {1, 1}, {1.1, 1.1}, true, "rope"},
            {"rope+tuned", {1, 1}, {1.1, 1.1}, true, "rope", true},
            {"t5", {1, 1}, {2, 2}},
            {"xpos", {1, 1}, {1, 1.6}},
            {"learned", {1, 1}, {4, 4}},
            {"sinusoidal", {1, 1}, {4, 4}},
            {"nope", {3.9, 3.9}, {3.9, 3.9}, false}});
  set_variant(results, "rope+yarn", "yarn");
  return results;
}

TEST(AnswerSentence, NamesEveryGroup) {
  EXPECT_EQ(
      sentence_of(all_groups()),
      "Beyond the length they were trained on, the alibi and the shaw hold; the rope needs YaRN or a short fine-tune; "
      "the t5 loses part of what it learned; the learned table and the sinusoidal table fail; for the xpos the seeds "
      "do "
      "not decide. The nope did not learn the task.");
}

TEST(AnswerSentence, SpeaksSpanish) {
  EXPECT_EQ(sentence_of(all_groups(), Language::spanish),
            "Más allá de la longitud con la que se entrenaron, the alibi y the shaw se mantienen; the rope necesita "
            "YaRN o un "
            "ajuste fino breve; the t5 pierde parte de lo que aprendió; la tabla aprendida y la tabla sinusoidal "
            "fallan; sobre "
            "the xpos las semillas no deciden. The nope no aprendió la tarea.");
}

TEST(AnswerSentence, OfOneSchemeIsSingular) {
  results::Results results;
  add_task(results, "text", false, {{"alibi", {1, 1}, {1, 1}}});
  EXPECT_EQ(sentence_of(results), "Beyond the length it was trained on, the alibi holds.");
  EXPECT_EQ(sentence_of(results, Language::spanish),
            "Más allá de la longitud con la que se entrenó, the alibi se mantiene.");
}

TEST(AnswerSentence, NamesTheRulesThatAFineTuneNeeds) {
  results::Results results;
  add_task(results, "text", false,
           {{"rope", {1, 1}, {3, 3}},
            {"rope+tuned", {1, 1}, {3, 3}, true, "rope", true},
            {"rope+ntk+tuned", {1, 1}, {1, 1}, true, "rope", true},
            {"rope+yarn+tuned", {1, 1}, {1, 1}, true, "rope", true}});
  set_variant(results, "rope+ntk+tuned", "ntk");
  set_variant(results, "rope+yarn+tuned", "yarn");
  EXPECT_EQ(sentence_of(results),
            "Beyond the length it was trained on, the rope needs a short fine-tune with NTK or YaRN.");
}

TEST(AnswerSentence, IsCarefulWithOneSeed) {
  results::Results results;
  add_task(results, "text", false, {{"a", {1}, {1}}, {"b", {1}, {4}}});
  EXPECT_EQ(
      sentence_of(results),
      "Beyond the length they were trained on, the a holds; the b fails. This is one seed; another may change it.");
}

TEST(AnswerSentence, SaysWhenThereIsNothingToSay) {
  results::Results results;
  EXPECT_EQ(sentence_of(results), "This run tested nothing beyond the trained length.");
  add_task(results, "text", false, {{"a", {3.9, 3.9}, {3.9, 3.9}, false}});
  EXPECT_EQ(sentence_of(results),
            "No scheme learned the task within its budget, so these numbers say nothing about longer texts.");
}

TEST(AnswerPicture, LabelsEveryLineAtItsEndAndNoTwoInOnePlace) {
  const std::vector<Figure> figures = answer_figures(all_groups(), Words());
  ASSERT_EQ(figures.size(), 1u);
  const Json& spec = figures[0].spec;
  const double height = spec["height"];
  double low = 0, high = 0;
  std::vector<double> places;
  std::set<std::string> labelled;
  for (const Json& layer : spec["layer"]) {
    if (layer["mark"]["type"] != "line") continue;
    low = std::log(layer["encoding"]["y"]["scale"]["domain"][0].get<double>());
    high = std::log(layer["encoding"]["y"]["scale"]["domain"][1].get<double>());
    EXPECT_EQ(layer["encoding"]["y"]["scale"]["type"], "log");  // from 1 to 4
  }
  for (const Json& row : spec["data"]["values"]) {
    if (!row.contains("label_at")) continue;
    EXPECT_EQ(row["x"], 16.0);
    EXPECT_TRUE(labelled.insert(row["line"]).second);
    places.push_back(height * (high - std::log(row["label_at"].get<double>())) / (high - low));
  }
  EXPECT_EQ(labelled.size(), 10u);
  std::sort(places.begin(), places.end());
  EXPECT_GE(places.front(), 0);
  EXPECT_LE(places.back(), height + 1e-9);
  for (std::size_t i = 1; i < places.size(); ++i) EXPECT_GE(places[i] - places[i - 1], 12) << i;
}

TEST(AnswerPicture, MarksTheTrainedLength) {
  const Figure figure = answer_figures(all_groups(), Words()).at(0);
  bool marked = false;
  for (const Json& layer : figure.spec["layer"]) {
    if (layer["mark"]["type"] != "rule" || !layer.contains("data")) continue;
    marked = marked || (layer["encoding"].contains("x") && layer["data"]["values"][0]["at"] == 8.0);
  }
  EXPECT_TRUE(marked);
  EXPECT_TRUE(answer_figures(results::Results{}, Words()).empty());
}

// 2 and 4: mean 3, and with one degree of freedom 12.7 x 1 = 12.7 to both sides. No seed saw more than 2 to 4.
TEST(TrainingCurves, HaveBandsWithinWhatWasSeen) {
  results::Results results;
  add_task(results, "text", false, {{"a", {1, 1}, {1, 1}}});
  results::Number number;
  number.task = "text";
  number.line = "a";
  number.name = "train_loss";
  number.place = 100;
  number.values = {2.0, 4.0};
  number.estimate = results::estimate(number.values);
  results.numbers.push_back(number);
  ASSERT_GT(*number.estimate->high, 15);
  const Figure figure = training_figures(results, results.tasks[0], Words()).at(0);
  const Json& row = figure.spec["data"]["values"][0];
  EXPECT_EQ(row["low"], 2.0);
  EXPECT_EQ(row["high"], 4.0);
}

}  // namespace
}  // namespace locus::figures
