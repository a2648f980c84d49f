// SPDX-License-Identifier: Apache-2.0
#include "tasks/verb_forms.h"

#include <array>

namespace locus::lab {
namespace {

using Persons = std::array<const char*, person_count>;

struct Verb {
  const char* base;
  const char* third;  // he ...
  const char* past;
  const char* participle;
  const char* gerund;
  Persons presente;
  Persons preterito;
  const char* future_stem;  // + é, ás, á: these endings have no exception
  const char* participio;
  const char* gerundio;
};

// Only two verbs are regular in both languages: most forms must be memorised, as with the most frequent verbs.
constexpr std::array<Verb, verb_count> verbs = {{
    {"work",
     "works",
     "worked",
     "worked",
     "working",  //
     {"trabajo", "trabajas", "trabaja"},
     {"trabajé", "trabajaste", "trabajó"},
     "trabajar",
     "trabajado",
     "trabajando"},
    {"speak",
     "speaks",
     "spoke",
     "spoken",
     "speaking",  //
     {"hablo", "hablas", "habla"},
     {"hablé", "hablaste", "habló"},
     "hablar",
     "hablado",
     "hablando"},
    {"eat",
     "eats",
     "ate",
     "eaten",
     "eating",  //
     {"como", "comes", "come"},
     {"comí", "comiste", "comió"},
     "comer",
     "comido",
     "comiendo"},
    {"live",
     "lives",
     "lived",
     "lived",
     "living",  //
     {"vivo", "vives", "vive"},
     {"viví", "viviste", "vivió"},
     "vivir",
     "vivido",
     "viviendo"},
    {"go",
     "goes",
     "went",
     "gone",
     "going",  //
     {"voy", "vas", "va"},
     {"fui", "fuiste", "fue"},
     "ir",
     "ido",
     "yendo"},
    {"have",
     "has",
     "had",
     "had",
     "having",  //
     {"tengo", "tienes", "tiene"},
     {"tuve", "tuviste", "tuvo"},
     "tendr",
     "tenido",
     "teniendo"},
    {"do",
     "does",
     "did",
     "done",
     "doing",  //
     {"hago", "haces", "hace"},
     {"hice", "hiciste", "hizo"},
     "har",
     "hecho",
     "haciendo"},
    {"say",
     "says",
     "said",
     "said",
     "saying",  //
     {"digo", "dices", "dice"},
     {"dije", "dijiste", "dijo"},
     "dir",
     "dicho",
     "diciendo"},
    {"see",
     "sees",
     "saw",
     "seen",
     "seeing",  //
     {"veo", "ves", "ve"},
     {"vi", "viste", "vio"},
     "ver",
     "visto",
     "viendo"},
    {"come",
     "comes",
     "came",
     "come",
     "coming",  //
     {"vengo", "vienes", "viene"},
     {"vine", "viniste", "vino"},
     "vendr",
     "venido",
     "viniendo"},
    {"write",
     "writes",
     "wrote",
     "written",
     "writing",  //
     {"escribo", "escribes", "escribe"},
     {"escribí", "escribiste", "escribió"},
     "escribir",
     "escrito",
     "escribiendo"},
    {"read",
     "reads",
     "read",
     "read",
     "reading",  //
     {"leo", "lees", "lee"},
     {"leí", "leíste", "leyó"},
     "leer",
     "leído",
     "leyendo"},
    {"sleep",
     "sleeps",
     "slept",
     "slept",
     "sleeping",  //
     {"duermo", "duermes", "duerme"},
     {"dormí", "dormiste", "durmió"},
     "dormir",
     "dormido",
     "durmiendo"},
    {"drink",
     "drinks",
     "drank",
     "drunk",
     "drinking",  //
     {"bebo", "bebes", "bebe"},
     {"bebí", "bebiste", "bebió"},
     "beber",
     "bebido",
     "bebiendo"},
    {"sing",
     "sings",
     "sang",
     "sung",
     "singing",  //
     {"canto", "cantas", "canta"},
     {"canté", "cantaste", "cantó"},
     "cantar",
     "cantado",
     "cantando"},
    {"open",
     "opens",
     "opened",
     "opened",
     "opening",  //
     {"abro", "abres", "abre"},
     {"abrí", "abriste", "abrió"},
     "abrir",
     "abierto",
     "abriendo"},
    {"close",
     "closes",
     "closed",
     "closed",
     "closing",  //
     {"cierro", "cierras", "cierra"},
     {"cerré", "cerraste", "cerró"},
     "cerrar",
     "cerrado",
     "cerrando"},
    {"give",
     "gives",
     "gave",
     "given",
     "giving",  //
     {"doy", "das", "da"},
     {"di", "diste", "dio"},
     "dar",
     "dado",
     "dando"},
    {"put",
     "puts",
     "put",
     "put",
     "putting",  //
     {"pongo", "pones", "pone"},
     {"puse", "pusiste", "puso"},
     "pondr",
     "puesto",
     "poniendo"},
    {"run",
     "runs",
     "ran",
     "run",
     "running",  //
     {"corro", "corres", "corre"},
     {"corrí", "corriste", "corrió"},
     "correr",
     "corrido",
     "corriendo"},
}};

constexpr Persons have = {"have", "have", "has"};
constexpr Persons be = {"am", "are", "is"};
constexpr Persons haber = {"he", "has", "ha"};
constexpr Persons estar = {"estoy", "estás", "está"};
constexpr Persons future_endings = {"é", "ás", "á"};

std::string english_form(const Verb& verb, int tense, std::size_t person) {
  switch (tense) {
    case 0:
      return person == 2 ? verb.third : verb.base;
    case 1:
      return verb.past;
    case 2:
      return std::string("will ") + verb.base;
    case 3:
      return std::string(have[person]) + " " + verb.participle;
    default:
      return std::string(be[person]) + " " + verb.gerund;
  }
}

std::string spanish_form(const Verb& verb, int tense, std::size_t person) {
  switch (tense) {
    case 0:
      return verb.presente[person];
    case 1:
      return verb.preterito[person];
    case 2:
      return std::string(verb.future_stem) + future_endings[person];
    case 3:
      return std::string(haber[person]) + " " + verb.participio;
    default:
      return std::string(estar[person]) + " " + verb.gerundio;
  }
}

}  // namespace

std::string pronoun(Language language, int person) {
  constexpr Persons english = {"I", "you", "he"};
  constexpr Persons spanish = {"yo", "tú", "él"};
  return (language == Language::english ? english : spanish)[static_cast<std::size_t>(person)];
}

std::string verb_form(Language language, int verb, int tense, int person) {
  const Verb& entry = verbs[static_cast<std::size_t>(verb)];
  const auto who = static_cast<std::size_t>(person);
  return language == Language::english ? english_form(entry, tense, who) : spanish_form(entry, tense, who);
}

}  // namespace locus::lab
