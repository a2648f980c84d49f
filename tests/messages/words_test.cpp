// SPDX-License-Identifier: Apache-2.0
// The catalogue says the same in every language: no text is missing, blanks agree, and no phrase is stale.
#include "messages/check_names.h"
#include "messages/sentences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "support/error_of.h"
#include "support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

std::multiset<std::string> blanks_in(std::string_view text) {
  std::multiset<std::string> names;
  const std::string whole(text);
  const std::regex blank("\\{([a-z_]*)\\}");
  for (std::sregex_iterator at(whole.begin(), whole.end(), blank), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

/// Messages and sentences; the keys of the two are told apart by a point.
std::vector<CatalogueEntry> all_entries() {
  std::vector<CatalogueEntry> all(catalogue().begin(), catalogue().end());
  all.insert(all.end(), all_sentences().begin(), all_sentences().end());
  return all;
}

TEST(Catalogue, HasBothTextsWithTheSameBlanks) {
  EXPECT_GT(catalogue().size(), 200u);
  EXPECT_GT(all_sentences().size(), 200u);
  std::set<std::string_view> keys;
  for (const CatalogueEntry& entry : all_entries()) {
    EXPECT_TRUE(keys.insert(entry.key).second) << entry.key;
    EXPECT_FALSE(entry.english.empty()) << entry.key;
    EXPECT_FALSE(entry.spanish.empty()) << entry.key;
    EXPECT_EQ(blanks_in(entry.english), blanks_in(entry.spanish)) << entry.key;
  }
}

// A forgotten translation is a copy of the English text. Single words may be the same in both.
TEST(Catalogue, TranslatesEverySentence) {
  for (const CatalogueEntry& entry : all_entries()) {
    if (entry.english.find(' ') == entry.english.npos) continue;
    EXPECT_NE(entry.english, entry.spanish) << entry.key;
  }
}

TEST(Catalogue, PairsItsMarks) {
  for (const CatalogueEntry& entry : all_entries()) {
    for (const std::string_view text : {entry.english, entry.spanish}) {
      EXPECT_EQ(std::count(text.begin(), text.end(), '`') % 2, 0) << entry.key;
      EXPECT_EQ(std::count(text.begin(), text.end(), '{'), std::count(text.begin(), text.end(), '}')) << entry.key;
      const std::size_t gap = text.find("  ");  // only a command on a line of its own is indented
      EXPECT_TRUE(gap == text.npos || text[gap - 1] == '\n') << entry.key;
    }
  }
}

/// The sources that say what phrases translate, with the pieces of broken literals joined.
std::string said_texts() {
  std::string all;
  for (const char* folder :
       {"src/schemes", "src/scaling", "src/results", "src/doctor", "src/base", "include/locus", "lab", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(testing::source_dir() / folder)) {
      if (entry.is_regular_file()) all += testing::text_of(entry.path());
    }
  }
  return std::regex_replace(all, std::regex("\"\\s*\n\\s*\""), "");
}

std::vector<std::string> without_numbers(std::string_view phrase) {
  std::vector<std::string> pieces(1);
  for (const char c : phrase) {
    if (c == '#') {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

TEST(Phrases, TranslateWhatIsSaid) {
  const std::string said = said_texts();
  std::set<std::string_view> known;
  for (const CatalogueEntry& phrase : phrases()) {
    EXPECT_TRUE(known.insert(phrase.english).second) << phrase.english;
    EXPECT_EQ(std::count(phrase.english.begin(), phrase.english.end(), '#'),
              std::count(phrase.spanish.begin(), phrase.spanish.end(), '#'))
        << phrase.english;
    for (std::string piece : without_numbers(phrase.english)) {
      const bool found = said.find(piece) != said.npos;
      std::replace(piece.begin(), piece.end(), ' ', '_');  // the names of claims
      EXPECT_TRUE(found || said.find(piece) != said.npos) << "nothing says \"" << phrase.english << "\"";
    }
  }
}

TEST(Words, FillBlanksByName) {
  const Words english, spanish(Language::spanish);
  EXPECT_EQ(english(Message::of_count, {{"count", "2"}, {"all", "3"}}), "2 of 3");
  EXPECT_EQ(spanish(Message::of_count, {{"all", "3"}, {"count", "2"}}), "2 de 3");
  EXPECT_EQ(english.counted(1, Message::report_one_seed, Message::report_seeds), "1 seed");
  EXPECT_EQ(spanish.counted(1234, Message::report_one_seed, Message::report_seeds), "1\u202f234 semillas");
  EXPECT_EQ(testing::error_of([&] {
              english(Message::of_count, {{"count", "2"}});
            }),
            "the message of_count needs {all}");
  EXPECT_EQ(testing::error_of([&] {
              english(Message::page_contents, {{"x", "2"}});
            }),
            "the message page_contents has no {x}");
}

TEST(Words, KnowPhrasesWithNumbersAndLabelsOfParts) {
  const Words english, spanish(Language::spanish);
  EXPECT_EQ(english.phrase("loss"), "loss");
  EXPECT_EQ(spanish.phrase("loss"), "pérdida");
  EXPECT_EQ(spanish.phrase("position whose scale is 12.5"), "posición cuya escala es 12.5");
  EXPECT_EQ(spanish.phrase("nobody says this"), "nobody says this");
  EXPECT_FALSE(spanish.has_phrase("nobody says this"));
  EXPECT_TRUE(english.has_phrase("nobody says this"));
  EXPECT_EQ(check_name(english, "shifted = whole (float32)"), "shifted = whole (float32)");
  EXPECT_EQ(check_name(spanish, "shifted = whole (float32)"), "trasladado = de una vez (float32)");
  EXPECT_EQ(check_name(spanish, "norm_preserving: vectors keep their length, near 100"),
            "conserva la norma: los vectores conservan su longitud, cerca de 100");
  EXPECT_EQ(check_name(spanish, "not relative: shifting all ids changes the outputs"),
            "no relativa: trasladar todos los ids cambia las salidas");
  EXPECT_EQ(check_name(spanish, "shifted = what nobody says"), std::nullopt);
  EXPECT_EQ(spanish.label("RoPE + interpolation + fine-tuned"), "RoPE + interpolación + ajuste fino");
  EXPECT_EQ(spanish.label("RoPE, dynamic NTK"), "RoPE, NTK dinámico");
}

TEST(Words, JoinListsAsEachLanguageDoes) {
  const Words english, spanish(Language::spanish);
  EXPECT_EQ(english.all_of({"a", "b", "i"}), "a, b and i");
  EXPECT_EQ(english.one_of({"a", "o"}), "a or o");
  EXPECT_EQ(spanish.all_of({"a", "b", "c"}), "a, b y c");
  EXPECT_EQ(spanish.all_of({"YaRN", "interpolación"}), "YaRN e interpolación");
  EXPECT_EQ(spanish.all_of({"agua", "hielo"}), "agua y hielo");
  EXPECT_EQ(spanish.one_of({"siete", "ocho"}), "siete u ocho");
  EXPECT_EQ(spanish.one_of({"uno"}), "uno");
  EXPECT_EQ(spanish.all_of({}), "");
}

TEST(Sentences, FillBlanksByName) {
  const Sentences english, spanish(Language::spanish);
  EXPECT_EQ(english.text("run.missing", {{"function", "rotate"}, {"line", "3"}}),
            "Your file has no function `rotate`.");
  EXPECT_EQ(spanish.text("run.missing", {{"function", "rotate"}}), "Tu fichero no tiene ninguna función `rotate`.");
  EXPECT_TRUE(Sentences::has("run.missing"));
  EXPECT_FALSE(Sentences::has("run.away"));
  EXPECT_EQ(testing::error_of([&] { english.text("run.missing"); }), "the message run.missing needs {function}");
  EXPECT_EQ(testing::error_of([&] { english.text("run.away"); }), "there is no sentence run.away");
}

TEST(Language, IsFoundByItsCode) {
  EXPECT_EQ(find_language("es"), Language::spanish);
  EXPECT_EQ(code_of(Language::english), "en");
  EXPECT_NE(testing::error_of([] { find_language("fr"); }).find("fr"), std::string::npos);
}

}  // namespace
}  // namespace locus
