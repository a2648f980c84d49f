// SPDX-License-Identifier: Apache-2.0
// Results of a small lab, changed by choices.
#pragma once

#include "made_json.h"

namespace locus::fuzz {

/// Returns results of the tasks and schemes of lab 03, which every reader takes.
inline Json small_results(Choices& choices) {
  static constexpr std::string_view schemes[] = {"learned", "sinusoidal", "rope", "alibi"};
  Json results = {{"format", 1},
                  {"run",
                   {{"preset", "quick"},
                    {"seconds", 60.5},
                    {"seeds", {1, 2}},
                    {"baseline", "rope"},
                    {"trials", {{"planned", 8}, {"finished", 8}, {"failed", 0}}},
                    {"machine", {{"cpu", "x"}, {"cores", 2}}},
                    {"versions", {{"locus", "0.1.0"}}}}},
                  {"tasks", Json::array()},
                  {"lines", Json::array()},
                  {"numbers", Json::array()},
                  {"verdicts", Json::array()},
                  {"claims", Json::array()},
                  {"costs", Json::array()}};
  for (const std::string_view name : {"order", "verbs"}) {
    results["tasks"].push_back({{"name", name},
                                {"title", "t"},
                                {"measures", "m"},
                                {"main", "accuracy"},
                                {"better", "higher"},
                                {"metric", "accuracy"},
                                {"chance", 0.5},
                                {"learned_at", 0.9},
                                {"train_length", 16},
                                {"lengths", {16, 32}},
                                {"model", {{"layers", 2}, {"heads", 2}, {"width", 8}}}});
    for (const std::string_view scheme : schemes) {
      for (const int length : {16, 32}) {
        const double first = choices.real(), second = choices.real();
        results["numbers"].push_back({{"task", name},
                                      {"line", scheme},
                                      {"name", "accuracy"},
                                      {"length", length},
                                      {"place", -1},
                                      {"values", {first, second}},
                                      {"mean", (first + second) / 2},
                                      {"low", first},
                                      {"high", second}});
      }
      results["verdicts"].push_back({{"task", name},
                                     {"line", scheme},
                                     {"learned", choices.flag()},
                                     {"in_range", 0.5},
                                     {"beyond", 0.25},
                                     {"rank", 1 + choices.below(4)}});
      results["costs"].push_back({{"task", name}, {"line", scheme}, {"parameters", 100}, {"seconds_per_step", 0.1}});
    }
  }
  for (const std::string_view scheme : schemes) {
    results["lines"].push_back(
        {{"name", scheme}, {"trained", scheme}, {"label", scheme}, {"site", "score"}, {"tuned", false}});
  }
  results["claims"].push_back({{"claim", "c"}, {"seen", "s"}, {"agrees", "yes"}});
  results["pairs"] = {{{"task", "order"},
                       {"name", "accuracy"},
                       {"length", 32},
                       {"line", "rope"},
                       {"other", "alibi"},
                       {"difference", choices.real()},
                       {"low", -1.0},
                       {"high", 1.0},
                       {"seeds", 2}}};
  results["failures"] = {{{"task", "order"}, {"scheme", "t5"}, {"seed", 1}, {"error", "e"}}};
  results["repeats"] = {
      {{"machines", {"a", "b"}}, {"task", "order"}, {"scheme", "rope"}, {"seed", 1}, {"largest_difference", 0.0}}};
  return results;
}

}  // namespace locus::fuzz
