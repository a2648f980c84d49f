// SPDX-License-Identifier: Apache-2.0
#include "run/claims.h"

#include <cmath>
#include <sstream>

#include "run/verdicts.h"

namespace locus::lab {
namespace {

constexpr double flat_below = 0.1;   // of what was learned
constexpr double fails_above = 0.5;  // the same

/// A number with its interval, and which way it decides.
enum class Answer { yes, no, cannot_tell };

const char* text_of(Answer answer) {
  return answer == Answer::yes ? "yes" : answer == Answer::no ? "no" : "cannot tell";
}

Answer is_below(const std::optional<Estimate>& found, double bar) {
  if (!found || !found->interval) return Answer::cannot_tell;
  if (found->interval->high < bar) return Answer::yes;
  return found->interval->low > bar ? Answer::no : Answer::cannot_tell;
}

Answer opposite(Answer answer) {
  return answer == Answer::yes ? Answer::no : answer == Answer::no ? Answer::yes : answer;
}

Answer both(Answer a, Answer b) {
  if (a == Answer::no || b == Answer::no) return Answer::no;
  return a == Answer::yes && b == Answer::yes ? Answer::yes : Answer::cannot_tell;
}

/// "12 % (5 to 19)", of shares.
std::string percent(const std::optional<Estimate>& found) {
  if (!found) return "no number";
  std::ostringstream text;
  text << std::lround(100 * found->mean) << " %";
  if (found->interval) {
    text << " (" << std::lround(100 * found->interval->low) << " to " << std::lround(100 * found->interval->high)
         << ")";
  } else {
    text << " (one seed)";
  }
  return text.str();
}

/// The claims, made of one task's numbers after the other.
class Claims {
 public:
  Claims(const Numbers& numbers, const Json& header) : numbers_(numbers), header_(header) {}

  Json make() {
    // Loss is what most of the papers measured: the first task of that kind stands for them.
    for (const Json& task : header_.at("tasks")) {
      if (task.at("metric") != "loss") continue;
      about_loss(task);
      break;
    }
    about_interpolation();
    return std::move(claims_);
  }

 private:
  bool there(const Json& task, const std::string& line) const {
    for (const Json& one : header_.at("lines_of").at(task.at("name").get<std::string>())) {
      if (one == line) return has_learned(numbers_, task, line);
    }
    return false;
  }

  std::optional<Estimate> lost(const Json& task, const std::string& line) const {
    if (!there(task, line)) return {};
    return summary(share_lost(numbers_, task, line));
  }

  void add(const std::string& claim, const std::string& source, const std::string& seen, Answer agrees) {
    claims_.push_back({{"claim", claim}, {"source", source}, {"seen", seen}, {"agrees", text_of(agrees)}});
  }

  /// "verbs, 64 to 512: "
  static std::string where(const Json& task) {
    return task.at("name").get<std::string>() + ", " + task.at("train_length").dump() + " to " +
           task.at("lengths").back().dump() + ": ";
  }

  void about_loss(const Json& task) {
    const std::string press = "Press et al. 2021, arXiv 2108.12409";
    const std::string chen = "Chen et al. 2023, arXiv 2306.15595";
    const auto one = [&](const std::string& line, const std::string& claim, const std::string& source, bool below,
                         double bar) {
      if (!planned(task, line)) return;
      const std::optional<Estimate> found = lost(task, line);
      const Answer answer = is_below(found, bar);
      const std::string rule = std::string("; yes if the interval lies ") + (below ? "below " : "above ") +
                               std::to_string(std::lround(100 * bar)) + " %";
      add(claim, source, where(task) + describe(task, line, found) + rule, below ? answer : opposite(answer));
    };
    one("alibi", "ALiBi stays flat in loss beyond the training length", press, true, flat_below);
    one("learned", "A learned table fails beyond its last trained row", press, false, fails_above);
    one("sinusoidal", "Sinusoidal positions degrade beyond the training length", press, false, flat_below);
    one("rope", "Plain RoPE degrades beyond the training length", press + "; " + chen, false, flat_below);
    in_between(task, "nope", "NoPE lies between ALiBi and plain RoPE", "Kazemnejad et al. 2023, arXiv 2305.19466");
    in_between(task, "t5", "T5's bias lies between ALiBi and plain RoPE", press);
    needs_tuning(task, chen);
  }

  bool planned(const Json& task, const std::string& line) const {
    for (const Json& one : header_.at("lines_of").at(task.at("name").get<std::string>())) {
      if (one == line) return true;
    }
    return false;
  }

  std::string describe(const Json& task, const std::string& line, const std::optional<Estimate>& found) const {
    if (!there(task, line)) return line + " did not learn the task in range";
    return line + " loses " + percent(found) + " of what it learned";
  }

  /// Seed by seed, `less` loses less than `more`.
  Answer loses_less(const Json& task, const std::string& less, const std::string& more) const {
    if (!there(task, less) || !there(task, more)) return Answer::cannot_tell;
    return is_below(summary(difference(share_lost(numbers_, task, less), share_lost(numbers_, task, more))), 0);
  }

  void in_between(const Json& task, const std::string& line, const std::string& claim, const std::string& source) {
    if (!planned(task, line) || !planned(task, "alibi") || !planned(task, "rope")) return;
    std::string seen = where(task);
    for (const std::string& one : {std::string("alibi"), line, std::string("rope")}) {
      seen += describe(task, one, lost(task, one)) + (one == "rope" ? "" : ", ");
    }
    add(claim, source, seen + "; yes if both differences, paired over seeds, have intervals on that side of 0",
        both(loses_less(task, "alibi", line), loses_less(task, line, "rope")));
  }

  void needs_tuning(const Json& task, const std::string& source) {
    const std::string plain = "rope+linear", tuned = "rope+linear+tuned";
    if (!planned(task, plain) || !planned(task, tuned)) return;
    add("Position interpolation needs fine-tuning", source,
        where(task) + describe(task, plain, lost(task, plain)) + ", " + describe(task, tuned, lost(task, tuned)) +
            "; yes if the difference, paired over seeds, has an interval on that side of 0",
        loses_less(task, tuned, plain));
  }

  /// `back` needs exact relative positions and `first` exact absolute ones.
  void about_interpolation() {
    const Json *back = nullptr, *first = nullptr;
    for (const Json& task : header_.at("tasks")) {
      if (task.at("name") == "back") back = &task;
      if (task.at("name") == "first") first = &task;
    }
    const std::string plain = "rope", stretched = "rope+linear";
    if (back == nullptr || first == nullptr || !planned(*back, stretched) || !planned(*first, stretched)) return;
    const Answer on_back = loses_less(*back, stretched, plain), on_first = loses_less(*first, stretched, plain);
    const bool known = on_back != Answer::cannot_tell && on_first != Answer::cannot_tell;
    std::string seen;
    for (const Json* task : {back, first}) {
      if (task == first) seen += ". ";
      seen += where(*task) + describe(*task, plain, lost(*task, plain)) + ", ";
      seen += describe(*task, stretched, lost(*task, stretched));
    }
    add("Interpolation helps one of `back` and `first` and destroys the other", "a hypothesis of this lab",
        seen + "; yes if the paired differences have intervals on opposite sides of 0",
        !known                ? Answer::cannot_tell
        : on_back != on_first ? Answer::yes
                              : Answer::no);
  }

  const Numbers& numbers_;
  const Json& header_;
  Json claims_ = Json::array();
};

}  // namespace

BySeed share_lost(const Numbers& numbers, const Json& task, const std::string& line) {
  const BySeed& near = numbers.main_at(task, line, task.at("train_length"));
  const BySeed& far = numbers.main_at(task, line, task.at("lengths").back());
  const double majority = task.at("majority");
  BySeed shares = difference(near, far);
  for (std::size_t seed = 0; seed < shares.size(); ++seed) {
    if (shares[seed]) *shares[seed] /= *near[seed] - majority;
  }
  return shares;
}

Json make_claims(const Numbers& numbers, const Json& header) { return Claims(numbers, header).make(); }

}  // namespace locus::lab
