// SPDX-License-Identifier: Apache-2.0
// Forms from grammars, written by hand, mainly the irregular ones.
#include "tasks/verb_forms.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace locus::lab {
namespace {

enum Tense { present, past, future, perfect, progressive };
using Forms = std::vector<std::string>;

int verb_called(const std::string& base) {
  for (int verb = 0; verb < verb_count; ++verb) {
    if (verb_form(Language::english, verb, present, 0) == base) return verb;
  }
  ADD_FAILURE() << "no verb " << base;
  return 0;
}

Forms forms(Language language, const std::string& base, int tense) {
  Forms all;
  for (int person = 0; person < person_count; ++person) {
    all.push_back(verb_form(language, verb_called(base), tense, person));
  }
  return all;
}

Forms english(const std::string& base, int tense) { return forms(Language::english, base, tense); }
Forms spanish(const std::string& base, int tense) { return forms(Language::spanish, base, tense); }

TEST(VerbForms, Pronouns) {
  EXPECT_EQ(pronoun(Language::english, 0) + pronoun(Language::english, 1) + pronoun(Language::english, 2), "Iyouhe");
  EXPECT_EQ(pronoun(Language::spanish, 0) + pronoun(Language::spanish, 1) + pronoun(Language::spanish, 2), "yotúél");
}

TEST(VerbForms, EnglishTenses) {
  EXPECT_EQ(english("work", present), (Forms{"work", "work", "works"}));
  EXPECT_EQ(english("work", past), (Forms{"worked", "worked", "worked"}));
  EXPECT_EQ(english("work", future), (Forms{"will work", "will work", "will work"}));
  EXPECT_EQ(english("work", perfect), (Forms{"have worked", "have worked", "has worked"}));
  EXPECT_EQ(english("work", progressive), (Forms{"am working", "are working", "is working"}));
}

// he ..., I ... (past), he has ..., he is ...
TEST(VerbForms, EnglishPrincipalParts) {
  const std::map<std::string, Forms> parts = {
      {"speak", {"speaks", "spoke", "spoken", "speaking"}},
      {"eat", {"eats", "ate", "eaten", "eating"}},
      {"live", {"lives", "lived", "lived", "living"}},
      {"go", {"goes", "went", "gone", "going"}},
      {"have", {"has", "had", "had", "having"}},
      {"do", {"does", "did", "done", "doing"}},
      {"say", {"says", "said", "said", "saying"}},
      {"see", {"sees", "saw", "seen", "seeing"}},
      {"come", {"comes", "came", "come", "coming"}},
      {"write", {"writes", "wrote", "written", "writing"}},
      {"read", {"reads", "read", "read", "reading"}},
      {"sleep", {"sleeps", "slept", "slept", "sleeping"}},
      {"drink", {"drinks", "drank", "drunk", "drinking"}},
      {"sing", {"sings", "sang", "sung", "singing"}},
      {"open", {"opens", "opened", "opened", "opening"}},
      {"close", {"closes", "closed", "closed", "closing"}},
      {"give", {"gives", "gave", "given", "giving"}},
      {"put", {"puts", "put", "put", "putting"}},
      {"run", {"runs", "ran", "run", "running"}},
      {"work", {"works", "worked", "worked", "working"}},
  };
  ASSERT_EQ(parts.size(), static_cast<std::size_t>(verb_count));
  for (const auto& [base, part] : parts) {
    EXPECT_EQ(english(base, present)[2], part[0]);
    EXPECT_EQ(english(base, past)[0], part[1]);
    EXPECT_EQ(english(base, perfect)[2], "has " + part[2]);
    EXPECT_EQ(english(base, progressive)[2], "is " + part[3]);
  }
}

TEST(VerbForms, SpanishTenses) {
  EXPECT_EQ(spanish("work", present), (Forms{"trabajo", "trabajas", "trabaja"}));
  EXPECT_EQ(spanish("work", past), (Forms{"trabajé", "trabajaste", "trabajó"}));
  EXPECT_EQ(spanish("work", future), (Forms{"trabajaré", "trabajarás", "trabajará"}));
  EXPECT_EQ(spanish("work", perfect), (Forms{"he trabajado", "has trabajado", "ha trabajado"}));
  EXPECT_EQ(spanish("work", progressive), (Forms{"estoy trabajando", "estás trabajando", "está trabajando"}));
}

// The regular verbs follow from their infinitive by the three paradigms.
TEST(VerbForms, RegularSpanish) {
  const std::map<std::string, std::string> regular = {{"work", "trabajar"}, {"speak", "hablar"}, {"sing", "cantar"},
                                                      {"eat", "comer"},     {"drink", "beber"},  {"run", "correr"},
                                                      {"live", "vivir"}};
  for (const auto& [base, infinitive] : regular) {
    const std::string stem = infinitive.substr(0, infinitive.size() - 2);
    const std::string kind = infinitive.substr(infinitive.size() - 2);
    const std::string vowel = kind == "ar" ? "a" : "e";
    EXPECT_EQ(spanish(base, present), (Forms{stem + "o", stem + vowel + "s", stem + vowel}));
    EXPECT_EQ(spanish(base, past), kind == "ar" ? (Forms{stem + "é", stem + "aste", stem + "ó"})
                                                : (Forms{stem + "í", stem + "iste", stem + "ió"}));
    EXPECT_EQ(spanish(base, future), (Forms{infinitive + "é", infinitive + "ás", infinitive + "á"}));
    EXPECT_EQ(spanish(base, perfect)[0], "he " + stem + (kind == "ar" ? "ado" : "ido"));
    EXPECT_EQ(spanish(base, progressive)[0], "estoy " + stem + (kind == "ar" ? "ando" : "iendo"));
  }
}

TEST(VerbForms, IrregularSpanish) {
  struct Irregular {
    std::string base;
    Forms presente, preterito;
    std::string futuro, participio, gerundio;
  };
  const std::vector<Irregular> irregular = {
      {"go", {"voy", "vas", "va"}, {"fui", "fuiste", "fue"}, "irá", "ido", "yendo"},
      {"have", {"tengo", "tienes", "tiene"}, {"tuve", "tuviste", "tuvo"}, "tendrá", "tenido", "teniendo"},
      {"do", {"hago", "haces", "hace"}, {"hice", "hiciste", "hizo"}, "hará", "hecho", "haciendo"},
      {"say", {"digo", "dices", "dice"}, {"dije", "dijiste", "dijo"}, "dirá", "dicho", "diciendo"},
      {"see", {"veo", "ves", "ve"}, {"vi", "viste", "vio"}, "verá", "visto", "viendo"},
      {"come", {"vengo", "vienes", "viene"}, {"vine", "viniste", "vino"}, "vendrá", "venido", "viniendo"},
      {"write",
       {"escribo", "escribes", "escribe"},
       {"escribí", "escribiste", "escribió"},
       "escribirá",
       "escrito",
       "escribiendo"},
      {"read", {"leo", "lees", "lee"}, {"leí", "leíste", "leyó"}, "leerá", "leído", "leyendo"},
      {"sleep", {"duermo", "duermes", "duerme"}, {"dormí", "dormiste", "durmió"}, "dormirá", "dormido", "durmiendo"},
      {"open", {"abro", "abres", "abre"}, {"abrí", "abriste", "abrió"}, "abrirá", "abierto", "abriendo"},
      {"close", {"cierro", "cierras", "cierra"}, {"cerré", "cerraste", "cerró"}, "cerrará", "cerrado", "cerrando"},
      {"give", {"doy", "das", "da"}, {"di", "diste", "dio"}, "dará", "dado", "dando"},
      {"put", {"pongo", "pones", "pone"}, {"puse", "pusiste", "puso"}, "pondrá", "puesto", "poniendo"},
  };
  for (const Irregular& verb : irregular) {
    EXPECT_EQ(spanish(verb.base, present), verb.presente);
    EXPECT_EQ(spanish(verb.base, past), verb.preterito);
    EXPECT_EQ(spanish(verb.base, future)[2], verb.futuro);
    EXPECT_EQ(spanish(verb.base, perfect)[2], "ha " + verb.participio);
    EXPECT_EQ(spanish(verb.base, progressive)[2], "está " + verb.gerundio);
  }
}

}  // namespace
}  // namespace locus::lab
