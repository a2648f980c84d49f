// SPDX-License-Identifier: Apache-2.0
#include "figures/report/answer_sentence.h"

#include <algorithm>

#include "figures/report/html.h"
#include "locus/scaling.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

using Names = std::vector<std::string>;

/// Returns what was done to a line: the title of a rule, or "resizing".
std::string remedy_name(const results::Line& line, const Words& words) {
  if (line.variant == "resized") return words(Message::answer_resizing);
  for (const Rule* rule : rules()) {
    if (rule->name == line.variant) return words.phrase(rule->title);
  }
  return line.variant;
}

Names remedy_names(const results::Results& results, const Names& lines, const Words& words) {
  Names names;
  for (const std::string& line : lines) names.push_back(remedy_name(results.line(line), words));
  return names;
}

/// Returns "YaRN or a short fine-tune"; names the rules of the fine-tune only if it needs one.
std::string means_of(const results::Results& results, const results::Remedy& remedy, const Words& words) {
  Names means = remedy_names(results, remedy.stretched, words);
  const bool any_rule = std::any_of(remedy.tuned.begin(), remedy.tuned.end(),
                                    [&](const std::string& line) { return results.line(line).variant.empty(); });
  if (!remedy.tuned.empty()) {
    const std::string with = words.one_of(remedy_names(results, remedy.tuned, words));
    means.push_back(any_rule ? words(Message::answer_fine_tune)
                             : words(Message::answer_fine_tune_with, {{"rules", with}}));
  }
  return words.one_of(means);
}

class Clauses {
 public:
  Clauses(const results::Results& results, const Words& words) : results_(results), words_(words) {}

  void add(const Names& schemes, Message one, Message many) {
    if (!schemes.empty()) all_.push_back(about(schemes, one, many));
  }
  void add(const results::Remedy& remedy) {
    all_.push_back(words_(
        remedy.is_open ? Message::answer_holds_with : Message::answer_needs,
        {{"scheme", spoken_scheme(results_, remedy.scheme, words_)}, {"means", means_of(results_, remedy, words_)}}));
  }
  std::string about(const Names& schemes, Message one, Message many) const {
    Names spoken;
    for (const std::string& scheme : schemes) spoken.push_back(spoken_scheme(results_, scheme, words_));
    return words_(schemes.size() == 1 ? one : many, {{"schemes", words_.all_of(spoken)}});
  }
  std::string text() const { return joined(all_, "; "); }

 private:
  const results::Results& results_;
  const Words& words_;
  Names all_;
};

}  // namespace

std::string spoken_scheme(const results::Results& results, const std::string& scheme, const Words& words) {
  if (scheme == "learned") return words(Message::answer_learned_table);
  if (scheme == "sinusoidal") return words(Message::answer_sinusoidal_table);
  return results.label(scheme);
}

std::string answer_sentence(const results::Results& results, const results::LengthAnswer& answer, const Words& words) {
  if (answer.task == nullptr) return words(Message::answer_nothing_longer);
  Clauses clauses(results, words);
  if (answer.judged() == 0) return words(Message::answer_nothing_learned);
  clauses.add(answer.hold, Message::answer_holds_one, Message::answer_holds_many);
  for (const results::Remedy& remedy : answer.remedied) clauses.add(remedy);
  clauses.add(answer.lose_part, Message::answer_loses_part_one, Message::answer_loses_part_many);
  clauses.add(answer.fail, Message::answer_fails_one, Message::answer_fails_many);
  clauses.add(answer.open, Message::answer_open, Message::answer_open);
  std::string text =
      words(answer.judged() == 1 ? Message::answer_of_one : Message::answer_of_many, {{"clauses", clauses.text()}});
  if (!answer.not_learned.empty()) {
    text += " " + sentence(clauses.about(answer.not_learned, Message::answer_not_learned_one,
                                         Message::answer_not_learned_many));
  }
  if (answer.seeds < 2) text += " " + words(Message::answer_one_seed);
  return text;
}

}  // namespace locus::figures
