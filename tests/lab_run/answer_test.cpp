// SPDX-License-Identifier: Apache-2.0
// What a run prints before it ends, and that it prints it once.
#include "run/answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "lab_run/fake_parts.h"
#include "run/header.h"
#include "run/plan.h"
#include "run/progress.h"
#include "run/text_table.h"

namespace locus::lab {
namespace {

/// A run of `back` and `first`, two seeds, four schemes, tested at 32 and 64, of which the first `ended` trials in the
/// order of the queue have ended.
struct HalfRun {
  Plan plan;
  results::Results collected;
  std::vector<StoredTrial> trials;

  explicit HalfRun(std::size_t ended) {
    PlanRequest request{.preset = "quick", .tasks = {"back", "first"}, .schemes = {"nope", "rope", "alibi", "t5"}};
    request.seeds = "2";
    request.lengths = "1x,2x";
    plan = make_plan(request);
    collected = make_header(plan, testing::fake_parts(), "rope");
    for (const TrialSpec& spec : plan.trials) {
      StoredTrial trial;
      trial.key = spec.task + spec.scheme + std::to_string(spec.seed);
      trial.spec = spec;
      trials.push_back(trial);
    }
    for (std::size_t i = 0; i < ended; ++i) end(i);
  }

  /// The best beyond is t5 in `first` and rope in `back`; nope learns neither.
  static double score(const TrialSpec& spec, std::int64_t length) {
    if (spec.scheme == "nope") return 0.3;
    if (length == spec.trained_length) return 0.95;
    const bool best = spec.scheme == (spec.task == "first" ? "t5" : "rope");
    return best ? 0.9 : spec.scheme == "alibi" ? 0.55 : 0.4;
  }

  void end(std::size_t i, TrialState state = TrialState::finished) {
    trials[i].state = state;
    trials[i].seconds = 1;
    if (state != TrialState::finished) return;
    const TrialSpec& spec = trials[i].spec;
    for (const std::int64_t length : spec.lengths) {
      const auto found =
          std::find_if(collected.numbers.begin(), collected.numbers.end(), [&](const results::Number& one) {
            return one.task == spec.task && one.line == spec.scheme && one.length == length && one.name == "accuracy";
          });
      if (found == collected.numbers.end()) {
        collected.numbers.push_back({.task = spec.task,
                                     .line = spec.scheme,
                                     .name = "accuracy",
                                     .length = length,
                                     .values = results::BySeed(2)});
        collected.numbers.back().values[static_cast<std::size_t>(spec.seed - 1)] = score(spec, length);
      } else {
        found->values[static_cast<std::size_t>(spec.seed - 1)] = score(spec, length);
      }
    }
  }

  results::Results part() const { return finished_part(collected, trials); }
  std::string table(const Screen& screen = {}) const {
    return answer_table(part(), latest_task(part(), trials), screen);
  }
};

TEST(Answer, IsEmptyBeforeTheFirstTrialEnds) {
  EXPECT_EQ(HalfRun(0).table(), "");
  EXPECT_TRUE(HalfRun(0).part().tasks.empty());
}

TEST(Answer, StartsWithTheFirstTrials) {
  const HalfRun run(2);  // nope and rope of `first`, seed 1
  const results::Results part = run.part();
  ASSERT_EQ(part.tasks.size(), 1u);
  EXPECT_EQ(part.tasks[0].name, "first");
  EXPECT_EQ(part.tasks[0].lines, (std::vector<std::string>{"nope", "rope"}));
  // The level is 0.2; rope is the best so far.
  EXPECT_EQ(run.table(),
            "ranking after first; first: accuracy by length, higher is better\n"
            "  rank  line  gain     32     64\n"
            "  1     RoPE  1.00  0.950  0.400\n"
            "  2     NoPE  0.00  0.300  0.300\n");
}

TEST(Answer, ComparesOnlyTasksAndSeedsThatAreComplete) {
  const HalfRun run(6);  // `first` of seed 1, and half of `back`
  EXPECT_EQ(milestones(run.trials), 1u);
  ASSERT_EQ(run.part().tasks.size(), 1u);
  EXPECT_EQ(run.part().run.seeds, std::vector<std::int64_t>{1});
  EXPECT_NE(run.table().find("ranking after first; first:"), std::string::npos) << run.table();
  EXPECT_NE(run.table().find("  1     T5     1.00  0.950  0.900\n"), std::string::npos) << run.table();
  const HalfRun more(8);  // both tasks of seed 1: rope has (0.4 - 0.2) / 0.7 and 1, t5 the reverse, alibi twice a half
  EXPECT_EQ(milestones(more.trials), 2u);
  EXPECT_EQ(more.table(),
            "ranking after back, first; back: accuracy by length, higher is better\n"
            "  rank  line   gain     32     64\n"
            "  1     RoPE   0.64  0.950  0.900\n"
            "  1     T5     0.64  0.950  0.400\n"
            "  3     ALiBi  0.50  0.950  0.550\n"
            "  4     NoPE   0.00  0.300  0.300\n");
}

TEST(Answer, AFailedTrialCompletesItsTask) {
  HalfRun run(3);
  run.end(3, TrialState::failed);  // t5
  EXPECT_EQ(milestones(run.trials), 1u);
  EXPECT_NE(run.table().find("  1     ALiBi  1.00"), std::string::npos) << run.table();
  EXPECT_NE(run.table().find("T5     0.00      -      -"), std::string::npos) << run.table();
}

TEST(Answer, FitsAnyScreen) {
  const HalfRun run(8);
  const results::Results part = run.part();
  const std::string task = latest_task(part, run.trials);
  for (std::size_t width = 0; width <= 90; width += width < 30 ? 1 : 7) {
    for (std::size_t height = 0; height <= 9; ++height) {
      for (const bool colour : {false, true}) {
        const std::vector<std::string> lines = lines_in(answer_table(part, task, {width, height, colour}));
        EXPECT_LE(lines.size(), height) << width;
        for (std::string line : lines) {
          for (const char* style : {"\033[1m", "\033[32m", "\033[2m", "\033[0m"}) {
            while (line.find(style) != std::string::npos) line.erase(line.find(style), std::string(style).size());
          }
          EXPECT_EQ(line.find('\033'), std::string::npos);
          EXPECT_LE(columns_of(line), width) << line;
        }
      }
    }
  }
  // A narrow screen keeps the longest length; a short one says how many rows it omits.
  EXPECT_NE(run.table({26, 24}).find("  rank  line   gain     64\n"), std::string::npos) << run.table({26, 24});
  EXPECT_NE(run.table({80, 5}).find("  and 2 more\n"), std::string::npos) << run.table({80, 5});
}

TEST(Answer, UsesColoursOnlyOnRequest) {
  const HalfRun run(8);
  EXPECT_EQ(run.table({80, 24, false}).find('\033'), std::string::npos);
  EXPECT_NE(run.table({80, 24, true}).find("\033[32m  1     RoPE"), std::string::npos);
  EXPECT_NE(run.table({80, 24, true}).find("\033[2m  4     NoPE"), std::string::npos);
}

// ---- Progress

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

ProgressOptions options_for(const HalfRun& run, bool terminal) {
  ProgressOptions options;
  options.terminal = terminal;
  options.collect = [&run] { return run.collected; };
  return options;
}

TEST(Progress, RepeatsNothingInAFile) {
  HalfRun run(0);
  std::ostringstream out;
  Progress progress(options_for(run, false), out);
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    for (int again = 0; again < 3; ++again) progress.show(run.trials);
    run.end(i);
  }
  for (int again = 0; again < 3; ++again) progress.show(run.trials);
  const std::string text = out.str();
  EXPECT_EQ(text.find('\033'), std::string::npos);
  for (std::size_t i = 1; i <= 16; ++i) EXPECT_EQ(times(text, "[" + std::to_string(i) + "/16] "), 1u) << text;
  EXPECT_EQ(times(text, "ranking after first (1 of 2 seeds): 1 T5 1.00, 2 ALiBi 0.50, 3 RoPE 0.29, 4 NoPE 0.00\n"), 1u)
      << text;
  EXPECT_EQ(times(text, "ranking after back, first (1 of 2 seeds): "), 1u) << text;
  EXPECT_EQ(times(text, "ranking after"), 3u) << text;  // the fourth is the summary's
  EXPECT_EQ(times(text, "\n"), 16u + 3u) << text;
}

TEST(Progress, RedrawsInPlaceOnATerminal) {
  HalfRun run(0);
  std::ostringstream out;
  Progress progress(options_for(run, true), out);
  progress.show(run.trials);
  std::size_t drawn = times(out.str(), "\n");
  for (std::size_t i = 0; i < 8; ++i) {
    out.str("");
    run.end(i);
    progress.show(run.trials);
    const std::string text = out.str();
    // It moves up by as many lines as it drew before, and each line erases the rest of the old one.
    EXPECT_TRUE(text.starts_with("\033[" + std::to_string(drawn) + "A\r")) << text;
    EXPECT_TRUE(text.ends_with("\033[K\n\033[J")) << text;
    EXPECT_EQ(times(text, "\033[K\n"), times(text, "\n")) << text;
    drawn = times(text, "\n");
    EXPECT_LT(drawn, 24u);
    EXPECT_EQ(times(text, "ranking after"), 1u);
    out.str("");
    progress.show(run.trials);
    EXPECT_EQ(out.str(), "") << "nothing is new";
  }
  out.str("");
  progress.stop();
  EXPECT_TRUE(out.str().starts_with("\033[" + std::to_string(drawn) + "A\r\033[Jranking after")) << out.str();
  EXPECT_EQ(times(out.str(), "trials done"), 0u);
  out.str("");
  progress.clear();
  EXPECT_EQ(out.str(), "");
}

TEST(Progress, FitsATinyTerminal) {
  HalfRun run(0);
  std::ostringstream out;
  ProgressOptions options = options_for(run, true);
  Screen screen{20, 5, false};
  options.screen = [&] { return screen; };
  Progress progress(std::move(options), out);
  progress.show(run.trials);
  for (std::size_t i = 0; i < 8; ++i) {
    out.str("");
    run.end(i);
    run.trials[std::min<std::size_t>(i + 1, 15)].state = TrialState::leased;
    progress.show(run.trials);
    std::string text = out.str();
    if (text.starts_with("\033")) text.erase(0, text.find('\r') + 1);
    for (const char* code : {"\033[K", "\033[J"}) {
      while (text.find(code) != std::string::npos) text.erase(text.find(code), 3);
    }
    EXPECT_LT(times(text, "\n"), screen.height);
    for (const std::string& line : lines_in(text)) EXPECT_LT(columns_of(line), screen.width) << line;
  }
}

TEST(Progress, ShowsEarlierTrialsAndTheirAnswer) {
  const HalfRun run(8);
  std::ostringstream file, terminal;
  Progress quiet(options_for(run, false), file), live(options_for(run, true), terminal);
  quiet.show(run.trials);
  live.show(run.trials);
  EXPECT_EQ(file.str(), "8 of 16 trials are done already\n");
  EXPECT_NE(terminal.str().find("ranking after back, first;"), std::string::npos) << terminal.str();
}

}  // namespace
}  // namespace locus::lab
