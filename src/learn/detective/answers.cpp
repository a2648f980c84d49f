// SPDX-License-Identifier: Apache-2.0
// Compares a learner's answer with the fault of a case, and says what kind of wrong answer it is.
#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

#include "doctor/faults.h"
#include "learn/detective/cases.h"
#include "locus/doctor/lint.h"
#include "locus/names.h"

namespace locus::learn::detective {
namespace {

/// In small letters, without a detail, spaces as underscores: "Wrong pairing" is wrong_pairing; "positions wrapped (at
/// 4096)", "base_wrong: base is ..." and "[list-length]" are what tools print.
std::string as_word(std::string_view text) {
  std::string word;
  for (const char c : text.substr(0, text.find_first_of("(:"))) {
    if (std::string_view("\r`.\"[]").find(c) != std::string_view::npos) continue;
    const auto letter = static_cast<unsigned char>(c);
    word += std::isspace(letter) ? '_' : static_cast<char>(std::tolower(letter));
  }
  while (word.ends_with('_')) word.pop_back();
  while (word.starts_with('_')) word.erase(0, 1);
  return word;
}

/// The first line with something on it, and the word in it.
struct Answer {
  std::string written, word;
};

Answer answer_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (std::string word = as_word(line); !word.empty()) return {line.substr(0, line.find('\r')), std::move(word)};
  }
  return {};
}

std::vector<std::string_view> known_words() {
  std::vector<std::string_view> words = names_of(doctor::all_faults(), [](const doctor::Fault& one) { return one.id; });
  for (const std::string_view id : lint_ids()) words.push_back(id);
  return words;
}

bool contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// verify calls faults by their names for people; a name is as good as the id.
std::string id_of(const std::string& answer) {
  for (const doctor::Fault& fault : doctor::all_faults()) {
    if (as_word(fault.name) == answer) return std::string(fault.id);
  }
  return answer;
}

/// How many known words an answer strings together by commas and the like.
int words_in(std::string_view answer, const std::vector<std::string_view>& known) {
  int count = 0;
  for (std::size_t begin = 0; begin < answer.size();) {
    const std::size_t end = std::min(answer.find_first_of(",;/+", begin), answer.size());
    count += contains(known, as_word(answer.substr(begin, end - begin))) ? 1 : 0;
    begin = end + 1;
  }
  return count;
}

/// Why an answer is no word of any tool.
BrokenLaw unknown_answer(const Answer& given, const std::vector<std::string_view>& known) {
  constexpr std::array tools = {"diagnose", "lint", "verify", "locus_diagnose", "locus_lint", "locus_verify"};
  Parameters parameters = {{"answer", given.written}};
  const std::string& word = given.word;
  if (words_in(given.written, known) > 1) return {"case.unknown", "case.several", parameters};
  if (std::find(tools.begin(), tools.end(), word) != tools.end()) return {"case.unknown", "case.tool", parameters};
  if (const auto nearest = nearest_name(word, known)) {
    parameters["nearest"] = std::string(*nearest);
    return {"case.unknown", "case.nearest", parameters};
  }
  const bool is_sentence = std::count(word.begin(), word.end(), '_') > 3;
  return {"case.unknown", is_sentence ? "case.sentence" : "", parameters};
}

}  // namespace

void grade_case(const std::filesystem::path& folder, std::uint64_t seed, int number) {
  const Answer given = answer_in(folder / "answer.txt");
  const std::string answer = id_of(given.word);
  if (answer.empty()) throw BrokenLaw{"case.no_answer"};
  const Case one = make_case(seed, number);
  if (answer == one.fault) return;
  const std::vector<std::string_view> known = known_words();
  if (!contains(known, answer)) throw unknown_answer(given, known);
  const Parameters parameters = {{"answer", given.written}};
  if (answer == "as_expected") throw BrokenLaw{"case.not_this", "case.something_is", parameters};
  const bool finding = contains(lint_ids(), answer);
  if (finding != (one.tool == Tool::lint)) throw BrokenLaw{"case.not_this", "case.other_tool", parameters};
  throw BrokenLaw{"case.not_this", one.tool == Tool::verify ? "case.other_cause" : "case.other_verdict", parameters};
}

}  // namespace locus::learn::detective
