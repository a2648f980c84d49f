// SPDX-License-Identifier: Apache-2.0
#include "results/paper_claims.h"

#include <cmath>
#include <sstream>

namespace locus::results {
namespace {

constexpr double flat_below = 0.1;   // of what was learned
constexpr double fails_above = 0.5;  // the same

enum class Answer { yes, no, cannot_tell };

const char* text_of(Answer answer) {
  return answer == Answer::yes ? "yes" : answer == Answer::no ? "no" : "cannot tell";
}

Answer is_below(const std::optional<Estimate>& found, double bar) {
  if (!found || !found->low) return Answer::cannot_tell;
  if (*found->high < bar) return Answer::yes;
  return *found->low > bar ? Answer::no : Answer::cannot_tell;
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
  if (found->low) {
    text << " (" << std::lround(100 * *found->low) << " to " << std::lround(100 * *found->high) << ")";
  } else {
    text << " (one seed)";
  }
  return text.str();
}

/// A paper's sentence about one line and the loss.
struct AboutLoss {
  std::string line, claim, source;
  bool below;  ///< true where the share lost lies below the bar
  double bar;
};

class PaperClaims {
 public:
  explicit PaperClaims(const Results& results) : results_(results) {}

  std::vector<PaperClaim> make() {
    // Most of the papers measured a loss: the first task with one stands for them.
    for (const Task& task : results_.tasks) {
      if (!task.is_loss) continue;
      about_loss(task);
      break;
    }
    about_interpolation();
    return std::move(claims_);
  }

 private:
  std::optional<Estimate> lost(const Task& task, const std::string& line) const {
    if (!results_.learned(task.name, line)) return {};
    return estimate(share_lost(results_, task, line));
  }

  void add(const std::string& claim, const std::string& source, const std::string& seen, Answer agrees) {
    claims_.push_back({claim, source, seen, text_of(agrees)});
  }

  /// "verbs, 64 to 512: "
  static std::string where(const Task& task) {
    return task.name + ", " + std::to_string(task.trained_length) + " to " + std::to_string(task.lengths.back()) + ": ";
  }

  void about_loss(const Task& task) {
    const std::string press = "Press et al. 2021, arXiv 2108.12409";
    const std::string chen = "Chen et al. 2023, arXiv 2306.15595";
    const std::vector<AboutLoss> all = {
        {"alibi", "ALiBi stays flat in loss beyond the trained length", press, true, flat_below},
        {"learned", "A learned table fails beyond its last trained row", press, false, fails_above},
        {"sinusoidal", "Sinusoidal positions degrade beyond the trained length", press, false, flat_below},
        {"rope", "Plain RoPE degrades beyond the trained length", press + "; " + chen, false, flat_below}};
    for (const AboutLoss& one : all) {
      if (!task.has_line(one.line)) continue;
      const std::optional<Estimate> found = lost(task, one.line);
      const Answer answer = is_below(found, one.bar);
      const std::string rule = std::string("; yes if the interval lies ") + (one.below ? "below " : "above ") +
                               std::to_string(std::lround(100 * one.bar)) + " %";
      add(one.claim, one.source, where(task) + describe(task, one.line, found) + rule,
          one.below ? answer : opposite(answer));
    }
    in_between(task, "nope", "NoPE lies between ALiBi and plain RoPE", "Kazemnejad et al. 2023, arXiv 2305.19466");
    in_between(task, "t5", "T5's bias lies between ALiBi and plain RoPE", press);
    needs_tuning(task, chen);
  }

  std::string describe(const Task& task, const std::string& line, const std::optional<Estimate>& found) const {
    if (!results_.learned(task.name, line)) return line + " did not learn the task";
    return line + " loses " + percent(found) + " of what it learned";
  }

  /// Seed by seed, `less` loses less than `more`.
  Answer loses_less(const Task& task, const std::string& less, const std::string& more) const {
    if (!results_.learned(task.name, less) || !results_.learned(task.name, more)) return Answer::cannot_tell;
    return is_below(estimate(difference(share_lost(results_, task, less), share_lost(results_, task, more))), 0);
  }

  void in_between(const Task& task, const std::string& line, const std::string& claim, const std::string& source) {
    if (!task.has_line(line) || !task.has_line("alibi") || !task.has_line("rope")) return;
    std::string seen = where(task);
    for (const std::string& one : {std::string("alibi"), line, std::string("rope")}) {
      seen += describe(task, one, lost(task, one)) + (one == "rope" ? "" : ", ");
    }
    add(claim, source, seen + "; yes if both paired differences have intervals on that side of 0",
        both(loses_less(task, "alibi", line), loses_less(task, line, "rope")));
  }

  void needs_tuning(const Task& task, const std::string& source) {
    const std::string plain = "rope+linear", tuned = "rope+linear+tuned";
    if (!task.has_line(plain) || !task.has_line(tuned)) return;
    add("Position interpolation needs fine-tuning", source,
        where(task) + describe(task, plain, lost(task, plain)) + ", " + describe(task, tuned, lost(task, tuned)) +
            "; yes if the paired difference has an interval on that side of 0",
        loses_less(task, tuned, plain));
  }

  /// `back` needs exact relative positions, `first` exact absolute ones.
  void about_interpolation() {
    const Task *back = results_.find_task("back"), *first = results_.find_task("first");
    const std::string plain = "rope", stretched = "rope+linear";
    if (back == nullptr || first == nullptr || !back->has_line(stretched) || !first->has_line(stretched)) return;
    const Answer on_back = loses_less(*back, stretched, plain), on_first = loses_less(*first, stretched, plain);
    const bool known = on_back != Answer::cannot_tell && on_first != Answer::cannot_tell;
    std::string seen;
    for (const Task* task : {back, first}) {
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

  const Results& results_;
  std::vector<PaperClaim> claims_;
};

}  // namespace

BySeed share_lost(const Results& results, const Task& task, const std::string& line) {
  const Number* near = results.main_number(task, line, task.trained_length);
  const Number* far = results.main_number(task, line, task.lengths.back());
  const std::optional<double> level = task.level();
  if (near == nullptr || far == nullptr || !near->estimate || !far->estimate || !level) return {};
  BySeed shares = difference(near->values, far->values);
  for (std::size_t seed = 0; seed < shares.size(); ++seed) {
    if (shares[seed]) *shares[seed] /= *near->values[seed] - *level;
  }
  return shares;
}

std::vector<PaperClaim> make_paper_claims(const Results& results) { return PaperClaims(results).make(); }

}  // namespace locus::results
