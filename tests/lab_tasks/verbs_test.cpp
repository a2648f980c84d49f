// SPDX-License-Identifier: Apache-2.0
// The language of `verbs`, built independently from the forms, and the batches of the task.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "task.h"
#include "tasks/verb_forms.h"

namespace locus::lab {
namespace {

struct Sentence {
  std::string text;
  int verb, tense, order;
};

const std::array<std::array<int, 3>, 6>& orders() {
  static const std::array<std::array<int, 3>, 6> all = {
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  return all;
}

const std::vector<Sentence>& language() {
  static const std::vector<Sentence> all = [] {
    std::vector<Sentence> made;
    for (int verb = 0; verb < 20; ++verb) {
      for (int tense = 0; tense < 5; ++tense) {
        for (int order = 0; order < 6; ++order) {
          const auto& persons = orders()[static_cast<std::size_t>(order)];
          const auto clause = [&](Language in, int which) {
            const int person = persons[static_cast<std::size_t>(which)];
            return pronoun(in, person) + " " + verb_form(in, verb, tense, person) + ",";
          };
          const auto half = [&](Language in) { return clause(in, 0) + " " + clause(in, 1) + " " + clause(in, 2); };
          made.push_back({half(Language::english) + " / " + half(Language::spanish) + "\n", verb, tense, order});
        }
      }
    }
    return made;
  }();
  return all;
}

bool is_for_testing(const Sentence& sentence) { return sentence.order == (sentence.verb + sentence.tense) % 6; }

/// The characters of UTF-8, each as a string.
std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> all;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xC0U) == 0x80U) {
      all.back() += byte;
    } else {
      all.emplace_back(1, byte);
    }
  }
  return all;
}

/// Tokens number the characters in the order of Unicode, which is that of UTF-8's bytes.
const std::vector<std::string>& alphabet() {
  static const std::vector<std::string> all = [] {
    std::set<std::string> seen;
    for (const Sentence& sentence : language()) {
      for (const std::string& character : characters(sentence.text)) seen.insert(character);
    }
    return std::vector<std::string>(seen.begin(), seen.end());
  }();
  return all;
}

std::string spelt(const std::int32_t* tokens, std::int64_t count) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += alphabet().at(static_cast<std::size_t>(tokens[i]));
  return text;
}

/// The complete sentences of a row.
std::vector<std::string> whole_sentences(const std::string& text) {
  std::vector<std::string> found;
  std::size_t start = text.find('\n');
  while (start != std::string::npos) {
    const std::size_t end = text.find('\n', start + 1);
    if (end == std::string::npos) break;
    found.push_back(text.substr(start + 1, end - start));
    start = end;
  }
  return found;
}

std::map<std::string, Sentence> by_text() {
  std::map<std::string, Sentence> all;
  for (const Sentence& sentence : language()) all.emplace(sentence.text, sentence);
  return all;
}

TEST(Verbs, TheLanguage) {
  EXPECT_EQ(by_text().size(), 600u) << "all sentences differ";
  EXPECT_TRUE(by_text().contains("I work, you work, he works, / yo trabajo, tú trabajas, él trabaja,\n"));
  EXPECT_EQ(make_task("verbs")->description().vocabulary, static_cast<std::int64_t>(alphabet().size()));
}

TEST(Verbs, TrainingAndTestSentencesAreDisjoint) {
  const auto task = make_task("verbs");
  const auto known = by_text();
  Random random(1);
  std::set<std::string> trained;
  std::set<std::string> tested;
  const auto collect = [&](const Batch& batch, std::set<std::string>& into) {
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      const std::string text = spelt(batch.tokens.data() + row * batch.length, batch.length);
      for (const std::string& sentence : whole_sentences(text)) {
        ASSERT_TRUE(known.contains(sentence)) << sentence;
        into.insert(sentence);
      }
    }
  };
  collect(task->training(random, 400, 1024), trained);  // about 5000 sentences
  for (const TestSet& set : task->tests(random, 100, 1024)) collect(set.batch, tested);
  // Each of the 500 is missed by 5000 draws with e^-10.
  EXPECT_NEAR(static_cast<double>(trained.size()), 500, 2);
  EXPECT_EQ(tested.size(), 100u);
  std::set<std::pair<int, int>> trained_kinds;
  for (const std::string& sentence : trained) {
    ASSERT_FALSE(tested.contains(sentence)) << sentence;
    ASSERT_FALSE(is_for_testing(known.at(sentence)));
    trained_kinds.emplace(known.at(sentence).verb, known.at(sentence).tense);
  }
  EXPECT_EQ(trained_kinds.size(), 100u) << "every verb in every tense is trained on";
}

TEST(Verbs, EachTargetIsTheNextCharacter) {
  const auto task = make_task("verbs");
  Random random(2);
  for (const std::int64_t length : {1, 2, 30, 200}) {
    const Batch batch = task->training(random, 50, length);
    for (std::size_t i = 0; i + 1 < batch.tokens.size(); ++i) {
      if ((i + 1) % static_cast<std::size_t>(length) != 0) {
        ASSERT_EQ(batch.targets[i], batch.tokens[i + 1]);
      }
    }
    // The last target must be valid too. Every sentence has more than 30 characters, so a row of 30 has at most one
    // line break, and each side of it is a piece of a sentence.
    if (length > 30) continue;
    std::string all = "\n";
    for (const Sentence& sentence : language()) all += sentence.text;
    for (std::int64_t row = 0; row < 50; ++row) {
      const std::int32_t last = batch.targets[static_cast<std::size_t>((row + 1) * length - 1)];
      const std::string text = spelt(batch.tokens.data() + row * length, length) + spelt(&last, 1);
      const std::size_t cut = std::min(text.find('\n'), text.size() - 1);
      ASSERT_NE(all.find(text.substr(0, cut + 1)), std::string::npos) << text;
      ASSERT_NE(all.find(text.substr(cut)), std::string::npos) << text;
    }
  }
}

TEST(Verbs, BaselinesAreRecomputed) {
  std::map<std::string, double> counts;
  double symbols = 0;
  double sentences = 0;
  for (const Sentence& sentence : language()) {
    if (!is_for_testing(sentence)) continue;
    sentences += 1;
    for (const std::string& character : characters(sentence.text)) {
      counts[character] += 1;
      symbols += 1;
    }
  }
  ASSERT_EQ(sentences, 100);
  double entropy = 0;
  for (const auto& entry : counts) entropy -= entry.second / symbols * std::log(entry.second / symbols);
  const auto task = make_task("verbs");
  EXPECT_NEAR(task->description().majority, entropy, 1e-9);
  EXPECT_NEAR(task->description().chance, std::log(static_cast<double>(alphabet().size())), 1e-12);
  const double perfect = std::log(600.0) / (symbols / sentences);
  EXPECT_NEAR(task->description().learned_at, (entropy + perfect) / 2, 1e-9);
  // Rows begin anywhere with equal probability: their first tokens are distributed like all characters. Five standard
  // deviations of a binomial of 40000; the seed is fixed.
  Random random(3);
  const Batch batch = task->tests(random, 40000, 1).front().batch;
  std::map<std::string, double> firsts;
  for (const std::int32_t token : batch.tokens) firsts[alphabet().at(static_cast<std::size_t>(token))] += 1;
  for (const auto& entry : counts) {
    const double p = entry.second / symbols;
    EXPECT_NEAR(firsts[entry.first], 40000 * p, 5 * std::sqrt(40000 * p * (1 - p))) << entry.first;
  }
}

/// An answer of the agreement: the sentence before it, and the expected form.
struct Question {
  std::string before, answer;
};

std::vector<Question> questions(const Batch& batch) {
  std::vector<Question> all;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    std::int32_t open = -1;
    for (std::int64_t i = 0; i < batch.length; ++i) {
      const auto at = static_cast<std::size_t>(row * batch.length + i);
      if (batch.answers[at] < 0) continue;
      if (batch.answers[at] != open) {
        open = batch.answers[at];
        const std::string before = spelt(batch.tokens.data() + row * batch.length, i + 1);
        const std::size_t line = before.rfind('\n');
        all.push_back({line == std::string::npos ? before : before.substr(line + 1), ""});
      }
      all.back().answer += spelt(&batch.targets[at], 1);
    }
  }
  return all;
}

TEST(Verbs, AgreementCountsWhatTheSentenceDetermines) {
  const auto task = make_task("verbs");
  Random random(4);
  const std::vector<TestSet> sets = task->tests(random, 60, 512);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[1].name, "agreement");
  const std::vector<Question> asked = questions(sets[1].batch);
  EXPECT_GT(asked.size(), 300u);
  bool english = false;
  bool spanish = false;
  for (const Question& question : asked) {
    ASSERT_TRUE(question.before.ends_with(" he ") || question.before.ends_with(" él ")) << question.before;
    (question.before.ends_with(" he ") ? english : spanish) = true;
    ASSERT_EQ(question.answer.back(), ',');
    std::set<std::string> possible;
    for (const Sentence& sentence : language()) {
      if (!sentence.text.starts_with(question.before)) continue;
      const std::size_t from = question.before.size();
      possible.insert(sentence.text.substr(from, sentence.text.find(',', from) + 1 - from));
    }
    ASSERT_EQ(possible, std::set<std::string>{question.answer}) << question.before;
  }
  EXPECT_TRUE(english);
  EXPECT_TRUE(spanish);
}

// A guess that knows verb, tense and language but not the person: the most frequent of the three forms.
TEST(Verbs, AgreementNeedsThePerson) {
  const auto task = make_task("verbs");
  Random random(5);
  std::map<std::string, std::vector<std::array<std::string, 3>>> paradigms;  // of each third person
  for (int verb = 0; verb < 20; ++verb) {
    for (int tense = 0; tense < 5; ++tense) {
      for (const Language in : {Language::english, Language::spanish}) {
        std::array<std::string, 3> forms;
        for (int person = 0; person < 3; ++person) {
          forms[static_cast<std::size_t>(person)] = verb_form(in, verb, tense, person) + ",";
        }
        paradigms[forms[2]].push_back(forms);
      }
    }
  }
  double right = 0;
  const std::vector<Question> asked = questions(task->tests(random, 200, 1024)[1].batch);
  for (const Question& question : asked) {
    const auto& forms = paradigms.at(question.answer).front();
    ASSERT_NE(forms[2], forms[0]);
    ASSERT_NE(forms[2], forms[1]);
    right += forms[0] == forms[1] ? 0 : 1.0 / 3;
  }
  const auto n = static_cast<double>(asked.size());
  const std::string& measures = task->description().measures;
  const std::size_t stated = measures.find('(') + 1;
  // Each answer contributes 0 or 1/3: a standard deviation of at most 1/6 each. The text has two digits.
  EXPECT_NEAR(std::stod(measures.substr(stated)), right / n, 0.005 + 5.0 / 6 / std::sqrt(n)) << measures;
  EXPECT_LT(right / n, 1.0 / 3);
}

TEST(Verbs, AgreementIsAskedOftenEnough) {
  const auto task = make_task("verbs");
  Random random(7);
  for (const std::int64_t length : {64, 512}) {
    // 8192 characters are about 100 sentences; with 100 questions a share is known within 0.05 (one standard
    // deviation).
    EXPECT_GT(questions(task->tests(random, 1, length)[1].batch).size(), 80u) << length;
  }
}

TEST(Verbs, NoQuestionsIfNoneFit) {
  const auto task = make_task("verbs");
  Random random(6);
  for (const std::int64_t length : {1, 4, 8}) {
    const std::vector<TestSet> sets = task->tests(random, 5, length);
    ASSERT_EQ(sets.size(), 1u);
    EXPECT_EQ(sets.front().name, "loss");
  }
}

}  // namespace
}  // namespace locus::lab
