// SPDX-License-Identifier: Apache-2.0
// Prints the alphabet of the task `verbs`, in the order of its tokens, and a test sequence as text: for
// scripts/make_site_models.py.
#include <cstdio>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "locus/error.h"
#include "task.h"
#include "tasks/verb_forms.h"

namespace {

using namespace locus::lab;

/// The characters of a text; those of the verbs have one or two bytes.
std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = static_cast<unsigned char>(text[at]) < 0x80 ? 1 : 2;
    characters.push_back(text.substr(at, size));
    at += size;
  }
  return characters;
}

/// All characters of the task. Bytes of UTF-8 sort as their characters do, and tokens are numbered in this order.
std::set<std::string> alphabet() {
  std::string text = " ,/\n";
  for (const Language language : {Language::english, Language::spanish}) {
    for (int person = 0; person < person_count; ++person) {
      text += pronoun(language, person);
      for (int verb = 0; verb < verb_count; ++verb) {
        for (int tense = 0; tense < tense_count; ++tense) text += verb_form(language, verb, tense, person);
      }
    }
  }
  const std::vector<std::string> all = characters_of(text);
  return {all.begin(), all.end()};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::int64_t length = argc > 1 ? std::stoll(argv[1]) : 4096;
    const std::unique_ptr<Task> task = make_task("verbs");
    const std::set<std::string> letters = alphabet();
    const std::vector<std::string> characters(letters.begin(), letters.end());
    locus::require(std::ssize(characters) == task->description().vocabulary, "the task has ",
                   task->description().vocabulary, " tokens, not ", characters.size());
    for (const std::string& character : characters) std::cout << (character == "\n" ? "\\n" : character);
    std::cout << '\n';
    locus::Random random(1);
    const std::vector<TestSet> sets = task->tests(random, 1, length);
    for (const std::int32_t token : sets.front().batch.tokens) {
      std::cout << characters[static_cast<std::size_t>(token)];
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "verbs_text: " << error.what() << '\n';
    return 2;
  }
}
