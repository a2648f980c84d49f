// SPDX-License-Identifier: Apache-2.0
#include "results/paper_claims.h"

#include <cmath>

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

/// Formats shares as "12 % (5 to 19)".
std::string percent(const std::optional<Estimate>& found, const Words& words) {
  if (!found) return words(Message::seen_no_number);
  const auto hundredths = [](double share) { return std::to_string(std::lround(100 * share)); };
  if (!found->low) return words(Message::seen_share_of_one_seed, {{"share", hundredths(found->mean)}});
  return words(
      Message::seen_share,
      {{"share", hundredths(found->mean)}, {"low", hundredths(*found->low)}, {"high", hundredths(*found->high)}});
}

/// A paper claim about the loss of one line.
struct AboutLoss {
  std::string line;
  Message claim;
  std::string source;
  bool below;  ///< the claim holds if the share lost is below the bar; otherwise above it
  double bar;
};

/// A paper claim that one line loses less than another.
struct Comparison {
  std::string line, other, source;
};

const std::vector<Comparison>& comparisons() {
  static const std::vector<Comparison> all = {
      {"xpos", "rope", "Sun et al. 2022, arXiv 2212.10554"},
      {"kerple", "alibi", "Chi et al. 2022, arXiv 2205.09921"},
      {"fire", "alibi", "Li et al. 2023, arXiv 2310.04418"},
      {"cope", "shaw", "Golovneva et al. 2024, arXiv 2405.18719"},
      {"fope", "rope", "Hua et al. 2024, arXiv 2412.17739"},
      {"forget_gate", "rope", "Lin et al. 2025, arXiv 2503.02130"},
      {"pope", "rope", "Gopalakrishnan et al. 2025, arXiv 2509.10534"},
  };
  return all;
}

class PaperClaims {
 public:
  PaperClaims(const Results& results, const Words& words) : results_(results), words_(words) {}

  std::vector<PaperClaim> make() {
    // Most of the papers measured a loss: their claims are compared with the first task that has one.
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

  void add(Message claim, const std::string& source, const std::string& seen, Answer agrees) {
    claims_.push_back({words_(claim), source, seen, text_of(agrees)});
  }

  /// Formats "verbs, 64 to 512: ".
  std::string where(const Task& task) const {
    return words_(Message::seen_where, {{"task", task.name},
                                        {"from", std::to_string(task.trained_length)},
                                        {"to", std::to_string(task.lengths.back())}});
  }

  void about_loss(const Task& task) {
    const std::string press = "Press et al. 2021, arXiv 2108.12409";
    const std::string chen = "Chen et al. 2023, arXiv 2306.15595";
    const std::vector<AboutLoss> all = {{"alibi", Message::claim_alibi, press, true, flat_below},
                                        {"learned", Message::claim_learned, press, false, fails_above},
                                        {"sinusoidal", Message::claim_sinusoidal, press, false, flat_below},
                                        {"rope", Message::claim_rope, press + "; " + chen, false, flat_below}};
    for (const AboutLoss& one : all) {
      if (!task.has_line(one.line)) continue;
      const std::optional<Estimate> found = lost(task, one.line);
      const Answer answer = is_below(found, one.bar);
      const std::string rule = words_(one.below ? Message::rule_below : Message::rule_above,
                                      {{"bar", std::to_string(std::lround(100 * one.bar))}});
      add(one.claim, one.source, where(task) + describe(task, one.line, found) + rule,
          one.below ? answer : opposite(answer));
    }
    in_between(task, "nope", Message::claim_nope, "Kazemnejad et al. 2023, arXiv 2305.19466");
    in_between(task, "t5", Message::claim_t5, press);
    needs_tuning(task, chen);
    for (const Comparison& one : comparisons()) compare(task, one);
  }

  std::string describe(const Task& task, const std::string& line, const std::optional<Estimate>& found) const {
    if (!results_.learned(task.name, line)) return words_(Message::seen_not_learned, {{"line", line}});
    return words_(Message::seen_loses, {{"line", line}, {"share", percent(found, words_)}});
  }

  /// Tests, paired over seeds, whether `less` loses less than `more`.
  Answer loses_less(const Task& task, const std::string& less, const std::string& more) const {
    if (!results_.learned(task.name, less) || !results_.learned(task.name, more)) return Answer::cannot_tell;
    return is_below(estimate(difference(share_lost(results_, task, less), share_lost(results_, task, more))), 0);
  }

  void in_between(const Task& task, const std::string& line, Message claim, const std::string& source) {
    if (!task.has_line(line) || !task.has_line("alibi") || !task.has_line("rope")) return;
    std::string seen = where(task);
    for (const std::string& one : {std::string("alibi"), line, std::string("rope")}) {
      seen += describe(task, one, lost(task, one)) + (one == "rope" ? "" : ", ");
    }
    add(claim, source, seen + words_(Message::rule_between),
        both(loses_less(task, "alibi", line), loses_less(task, line, "rope")));
  }

  void needs_tuning(const Task& task, const std::string& source) {
    const std::string plain = "rope+linear", tuned = "rope+linear+tuned";
    if (!task.has_line(plain) || !task.has_line(tuned)) return;
    add(Message::claim_needs_tuning, source, difference_seen(task, plain, tuned), loses_less(task, tuned, plain));
  }

  void compare(const Task& task, const Comparison& one) {
    if (!task.has_line(one.line) || !task.has_line(one.other)) return;
    const std::string claim =
        words_(Message::claim_loses_less, {{"line", results_.label(one.line)}, {"other", results_.label(one.other)}});
    claims_.push_back({claim, one.source, difference_seen(task, one.line, one.other),
                       text_of(loses_less(task, one.line, one.other))});
  }

  std::string difference_seen(const Task& task, const std::string& line, const std::string& other) const {
    return where(task) + describe(task, line, lost(task, line)) + ", " + describe(task, other, lost(task, other)) +
           words_(Message::rule_difference);
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
    add(Message::claim_interpolation, words_(Message::claim_own), seen + words_(Message::rule_opposite),
        !known                ? Answer::cannot_tell
        : on_back != on_first ? Answer::yes
                              : Answer::no);
  }

  const Results& results_;
  const Words& words_;
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

std::vector<PaperClaim> make_paper_claims(const Results& results, const Words& words) {
  return PaperClaims(results, words).make();
}

}  // namespace locus::results
