// SPDX-License-Identifier: Apache-2.0
// Language modelling, by character, of a generated bilingual grammar. A sentence is a verb, a tense and an order of the
// three persons, the same in both languages:
//
//     I work, you work, he works, / yo trabajo, tú trabajas, él trabaja,
//
// and ends with a line break. A comma follows every form, so that `trabaja,` and `trabajas,` always differ in one
// symbol. Of the six orders of each verb and tense, number (verb + tense) mod 6 is reserved for testing: training has
// every verb, tense, form and order, but no test sentence.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "tasks/tasks.h"
#include "tasks/verb_forms.h"

namespace locus::lab {
namespace {

constexpr int order_count = 6;
constexpr std::array<std::array<int, person_count>, order_count> orders = {
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
constexpr int he = 2;

/// Symbols first .. last - 1 of a sentence: the words after `he ` or `él `, with the comma.
struct Slot {
  std::size_t first = 0;
  std::size_t last = 0;
  double blind = 0;  ///< how often the most frequent form of the three persons is correct here
};

struct Sentence {
  std::u32string text;
  std::vector<std::int32_t> symbols;  ///< the same, as tokens
  std::vector<Slot> slots;            ///< those that agreement scores
  bool for_testing = false;
};

// The table of forms holds one- and two-byte characters only.
std::u32string decoded(const std::string& utf8) {
  std::u32string text;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    if (byte < 0x80) {
      text += static_cast<char32_t>(byte);
    } else {
      text += static_cast<char32_t>((byte & 0x1FU) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3FU));
    }
  }
  return text;
}

// The third person must differ from the others: otherwise a model that ignores the person is correct.
bool third_stands_out(Language language, int verb, int tense) {
  const std::string third = verb_form(language, verb, tense, he);
  return third != verb_form(language, verb, tense, 0) && third != verb_form(language, verb, tense, 1);
}

// If the other two persons have the same form, it is the most frequent one; otherwise all three are equally frequent.
double blind_guess(Language language, int verb, int tense) {
  return verb_form(language, verb, tense, 0) == verb_form(language, verb, tense, 1) ? 0.0 : 1.0 / person_count;
}

Sentence make_sentence(int verb, int tense, int order) {
  Sentence sentence;
  sentence.for_testing = order == (verb + tense) % order_count;
  for (const Language language : {Language::english, Language::spanish}) {
    if (language == Language::spanish) sentence.text += U"/ ";
    for (const int person : orders[static_cast<std::size_t>(order)]) {
      sentence.text += decoded(pronoun(language, person) + " ");
      const std::size_t first = sentence.text.size();
      sentence.text += decoded(verb_form(language, verb, tense, person) + ",");
      if (person == he && third_stands_out(language, verb, tense)) {
        sentence.slots.push_back({first, sentence.text.size(), blind_guess(language, verb, tense)});
      }
      sentence.text += U' ';
    }
  }
  sentence.text.back() = U'\n';
  return sentence;
}

/// An endless stream of sentences, each equally likely.
class Stream {
 public:
  void add(const Sentence& sentence) {
    sentences_.push_back(sentence);
    for (std::size_t i = 0; i < sentence.symbols.size(); ++i) places_.push_back({sentences_.size() - 1, i});
  }
  const std::vector<Sentence>& sentences() const { return sentences_; }
  const Sentence& any(Random& random) const { return sentences_[index(random.below(size(sentences_)))]; }

  // Starts at a random symbol of a random sentence: every position has the same distribution.
  std::vector<std::int32_t> cut(Random& random, std::int64_t length) const {
    const auto [which, offset] = places_[index(random.below(size(places_)))];
    const std::vector<std::int32_t>& start = sentences_[which].symbols;
    std::vector<std::int32_t> symbols(start.begin() + static_cast<std::ptrdiff_t>(offset), start.end());
    while (size(symbols) < length) {
      const Sentence& next = any(random);
      symbols.insert(symbols.end(), next.symbols.begin(), next.symbols.end());
    }
    return symbols;
  }

 private:
  template <class Items>
  static std::int64_t size(const Items& items) {
    return static_cast<std::int64_t>(items.size());
  }
  static std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

  struct Place {
    std::size_t sentence = 0;
    std::size_t offset = 0;
  };
  std::vector<Sentence> sentences_;
  std::vector<Place> places_;
};

std::vector<Sentence> all_sentences() {
  std::vector<Sentence> all;
  for (int verb = 0; verb < verb_count; ++verb) {
    for (int tense = 0; tense < tense_count; ++tense) {
      for (int order = 0; order < order_count; ++order) all.push_back(make_sentence(verb, tense, order));
    }
  }
  return all;
}

// Only forms that the previous words determine are scored: not the verb itself (if `he` comes first), and not `I read,
// you read, he ...`, which may be present or past.
void drop_undetermined_slots(std::vector<Sentence>& all) {
  std::map<std::u32string, std::set<std::u32string>> continuations;
  for (const Sentence& sentence : all) {
    for (std::size_t end = 0; end < sentence.text.size(); ++end) {
      if (sentence.text[end] != U' ') continue;
      const std::size_t comma = sentence.text.find(U',', end);
      continuations[sentence.text.substr(0, end + 1)].insert(sentence.text.substr(end + 1, comma - end));
    }
  }
  for (Sentence& sentence : all) {
    std::erase_if(sentence.slots,
                  [&](const Slot& slot) { return continuations.at(sentence.text.substr(0, slot.first)).size() > 1; });
  }
}

class Verbs : public Task {
 public:
  Verbs() {
    std::vector<Sentence> all = all_sentences();
    drop_undetermined_slots(all);
    std::map<char32_t, std::int32_t> alphabet;
    for (const Sentence& sentence : all) {
      for (const char32_t letter : sentence.text) alphabet.emplace(letter, 0);
    }
    std::int32_t symbol = 0;
    for (auto& entry : alphabet) entry.second = symbol++;
    for (Sentence& sentence : all) {
      for (const char32_t letter : sentence.text) sentence.symbols.push_back(alphabet.at(letter));
      (sentence.for_testing ? testing_ : training_).add(sentence);
    }
    describe(symbol, static_cast<double>(all.size()));
  }

  const TaskDescription& description() const override { return description_; }

  Batch training(Random& random, std::int64_t rows, std::int64_t length) const override {
    return next_symbols(training_, random, rows, length);
  }

  /// Returns "loss", and "agreement" if the length is enough for a question.
  std::vector<TestSet> tests(Random& random, std::int64_t rows, std::int64_t length) const override {
    std::vector<TestSet> sets;
    sets.push_back({"loss", Metric::loss, -1, true, next_symbols(testing_, random, rows, length)});
    Batch questions = agreement(random, rows, length);
    if (!questions.answers.empty()) {
      sets.push_back({"agreement", Metric::accuracy, -1, false, std::move(questions)});
    }
    return sets;
  }

 private:
  void describe(std::int64_t vocabulary, double sentences) {
    std::vector<double> counts(static_cast<std::size_t>(vocabulary), 0.0);
    double symbols = 0;
    double slots = 0;
    double blind = 0;
    for (const Sentence& sentence : testing_.sentences()) {
      for (const std::int32_t symbol : sentence.symbols) counts[static_cast<std::size_t>(symbol)] += 1;
      symbols += static_cast<double>(sentence.symbols.size());
      for (const Slot& slot : sentence.slots) {
        slots += 1;
        blind += slot.blind;
      }
    }
    std::ostringstream measures;
    measures.precision(2);
    measures << "Nats per character of sentences that are not in the training data; also agreement: share of correct "
                "forms after `he` "
                "or `él` ("
             << blind / slots << " for the most frequent form of the verb and tense, whatever the person)";
    description_.name = "verbs";
    description_.title = "Verbs in English and Spanish, by character";
    description_.measures = measures.str();
    description_.main = "loss";
    description_.metric = Metric::loss;
    description_.vocabulary = vocabulary;
    description_.chance = std::log(static_cast<double>(vocabulary));
    for (const double count : counts) {
      if (count > 0) description_.majority -= count / symbols * std::log(count / symbols);
    }
    // A model that knows the grammar pays only for the choice of the sentence.
    const double mean_length = symbols / static_cast<double>(testing_.sentences().size());
    description_.learned_at = halfway(description_.majority, std::log(sentences) / mean_length);
  }

  Batch next_symbols(const Stream& stream, Random& random, std::int64_t rows, std::int64_t length) const {
    Batch batch = blank_batch(description_, rows, length, 1);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::vector<std::int32_t> symbols = stream.cut(random, length + 1);
      for (std::int64_t i = 0; i < length; ++i) {
        const auto at = static_cast<std::size_t>(row * length + i);
        batch.tokens[at] = symbols[static_cast<std::size_t>(i)];
        batch.targets[at] = symbols[static_cast<std::size_t>(i + 1)];
      }
    }
    return batch;
  }

  // Rows begin with a sentence, which contains what determines the answer. A sentence has one or two questions, so short
  // rows need many sentences. Empty if there is no question.
  Batch agreement(Random& random, std::int64_t rows, std::int64_t length) const {
    constexpr std::int64_t least_characters = 8192;
    rows = std::max(rows, least_characters / length);
    Batch batch = blank_batch(description_, rows, length, 1);
    batch.answers.assign(batch.targets.size(), -1);
    std::int32_t asked = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto start = static_cast<std::size_t>(row * length);
      const auto room = static_cast<std::size_t>(length);
      for (std::size_t at = 0; at < room;) {
        const Sentence& sentence = testing_.any(random);
        for (std::size_t i = 0; i < sentence.symbols.size() && at + i < room; ++i) {
          batch.tokens[start + at + i] = sentence.symbols[i];
        }
        for (const Slot& slot : sentence.slots) {
          if (at + slot.last > room + 1) continue;
          for (std::size_t i = slot.first; i < slot.last; ++i) {
            batch.targets[start + at + i - 1] = sentence.symbols[i];
            batch.answers[start + at + i - 1] = asked;
          }
          ++asked;
        }
        at += sentence.symbols.size();
      }
    }
    if (asked == 0) batch.answers.clear();
    return batch;
  }

  TaskDescription description_;
  Stream training_;
  Stream testing_;
};

}  // namespace

std::unique_ptr<Task> make_verbs() { return std::make_unique<Verbs>(); }

}  // namespace locus::lab
