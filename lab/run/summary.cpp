// SPDX-License-Identifier: Apache-2.0
#include "run/summary.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

#include "run/clock.h"
#include "run/statistics.h"
#include "run/text_table.h"

namespace locus::lab {
namespace {

/// "0.512 ±0.010", or without an interval where there is none.
std::string with_interval(const Json& mean, const Json& low, const Json& high) {
  if (mean.is_null()) return "-";
  const std::string text = fixed(mean, 3);
  if (low.is_null() || high.is_null()) return text;
  return text + " ±" + fixed((high.get<double>() - low.get<double>()) / 2, 3);
}

class Summary {
 public:
  explicit Summary(const Json& results) : results_(results) {}

  std::string text() {
    head();
    for (const Json& task : results_.at("tasks")) {
      choose_numbers(task);
      heading(task);
      ranking(task);
      grids(task);
      comparisons(task);
    }
    failures();
    claims();
    budget();
    return out_.str();
  }

 private:
  std::string label(const std::string& line) const {
    for (const Json& one : results_.at("lines")) {
      if (one.at("name") == line) return one.at("label");
    }
    return line;
  }

  const Json* number(const std::string& line, const Json& length, std::int64_t place) const {
    for (const Json* one : main_numbers_) {
      if (one->at("line") == line && one->at("length") == length && one->at("place") == place) return one;
    }
    return nullptr;
  }

  std::string cell(const std::string& line, const Json& length) const {
    const Json* found = number(line, length, -1);
    return found == nullptr ? "-" : with_interval(found->at("mean"), found->at("low"), found->at("high"));
  }

  void head() {
    const Json& run = results_.at("run");
    const Json& trials = run.at("trials");
    out_ << "Preset " << run.at("preset").get<std::string>() << ": " << trials.at("finished") << " of "
         << trials.at("planned") << " trials finished, " << trials.at("failed") << " failed; seeds";
    for (const Json& seed : run.at("seeds")) out_ << ' ' << seed;
    out_ << "; " << duration(run.at("seconds")) << " of work\n";
    if (run.at("seeds").size() == 1) {
      out_ << "One seed: no intervals, so the order of close lines may be luck.\n";
    } else {
      out_ << "Means over seeds, ± half of the 95 % interval (Student's t).\n";
    }
  }

  /// The few of many numbers that the tables of a task are made of.
  void choose_numbers(const Json& task) {
    main_numbers_.clear();
    for (const Json& one : results_.at("numbers")) {
      if (one.at("task") == task.at("name") && one.at("name") == task.at("main")) main_numbers_.push_back(&one);
    }
  }

  void heading(const Json& task) {
    const bool lower = task.at("better") == "lower";
    out_ << "\n" << task.at("name").get<std::string>() << ": " << task.at("title").get<std::string>() << "\n";
    out_ << "  " << task.at("measures").get<std::string>() << " (" << (lower ? "lower" : "higher")
         << " is better; chance " << fixed(task.at("chance"), 3) << ", most frequent answer "
         << fixed(task.at("majority"), 3) << ", learned counts " << (lower ? "up to " : "from ")
         << fixed(task.at("learned_at"), 3) << ")\n\n";
  }

  std::vector<Json> verdicts(const Json& task) const {
    std::vector<Json> own;
    for (const Json& one : results_.at("verdicts")) {
      if (one.at("task") == task.at("name")) own.push_back(one);
    }
    const auto place = [](const Json& one) { return one.at("rank").is_null() ? 1 << 20 : one.at("rank").get<int>(); };
    std::stable_sort(own.begin(), own.end(), [&](const Json& a, const Json& b) { return place(a) < place(b); });
    return own;
  }

  void ranking(const Json& task) {
    TextTable table;
    std::vector<std::string> head = {"rank", "line"};
    for (const Json& length : task.at("lengths")) head.push_back(length.dump());
    head.emplace_back("beyond");
    table.add(head);
    std::string notes;
    for (const Json& verdict : verdicts(task)) {
      const std::string line = verdict.at("line"), reason = verdict.at("reason");
      // What was never run is not said to have failed.
      const std::string mark = verdict.at("learned").get<bool>()  ? ""
                               : verdict.at("in_range").is_null() ? "no numbers"
                                                                  : "not learned";
      std::vector<std::string> row = {verdict.at("rank").is_null() ? "-" : verdict.at("rank").dump(), label(line)};
      for (const Json& length : task.at("lengths")) row.push_back(cell(line, length));
      row.push_back(verdict.at("beyond").is_null() ? "-" : fixed(verdict.at("beyond"), 3));
      row.push_back(mark);
      table.add(row);
      if (!reason.empty() && line.find('+') == std::string::npos) {
        notes += "  " + label(line) + (mark.empty() ? "" : ", " + mark) + ": " + reason + "\n";
      }
    }
    out_ << table.text(2) << notes;
  }

  /// Depths of the main number, where it has any.
  std::set<std::int64_t> places() const {
    std::set<std::int64_t> found;
    for (const Json* one : main_numbers_) {
      if (one->at("place") >= 0) found.insert(one->at("place").get<std::int64_t>());
    }
    return found;
  }

  void grids(const Json& task) {
    const std::set<std::int64_t> depths = places();
    if (depths.empty()) return;
    out_ << "\n  by depth and length, lines that learned:\n";
    TextTable table;
    std::vector<std::string> head = {"line", "depth"};
    for (const Json& length : task.at("lengths")) head.push_back(length.dump());
    table.add(head);
    for (const Json& verdict : verdicts(task)) {
      if (!verdict.at("learned").get<bool>()) continue;
      const std::string line = verdict.at("line");
      for (const std::int64_t depth : depths) {
        std::vector<std::string> row = {depth == *depths.begin() ? label(line) : "", std::to_string(depth) + " %"};
        for (const Json& length : task.at("lengths")) {
          const Json* found = number(line, length, depth);
          row.push_back(found == nullptr || found->at("mean").is_null() ? "-" : fixed(found->at("mean"), 2));
        }
        table.add(row);
      }
    }
    out_ << table.text();
  }

  void comparisons(const Json& task) {
    TextTable table;
    std::string other;
    for (const Json& pair : results_.at("pairs")) {
      if (pair.at("task") != task.at("name") || pair.at("length") != task.at("lengths").back()) continue;
      other = pair.at("other");
      table.add({label(pair.at("line")), verdict_of(task, pair),
                 with_interval(pair.at("difference"), pair.at("low"), pair.at("high"))});
    }
    if (other.empty()) return;
    out_ << "\n  against " << label(other) << " at " << task.at("lengths").back() << ", paired over seeds:\n"
         << table.text(2);
  }

  static std::string verdict_of(const Json& task, const Json& pair) {
    if (pair.at("low").is_null()) return "one seed";
    if (pair.at("low") <= 0 && pair.at("high") >= 0) return "no clear difference";
    return (pair.at("low") > 0) == (task.at("better") == "higher") ? "better" : "worse";
  }

  void failures() {
    if (results_.at("failures").empty()) return;
    out_ << "\nTrials that failed\n";
    for (const Json& one : results_.at("failures")) {
      out_ << "  " << one.at("task").get<std::string>() << ' ' << one.at("scheme").get<std::string>() << ", seed "
           << one.at("seed") << ": " << one.at("error").get<std::string>() << '\n';
    }
  }

  void claims() {
    if (results_.at("claims").empty()) return;
    out_ << "\nWhat papers say, and what was seen\n";
    for (const Json& claim : results_.at("claims")) {
      out_ << "  " << claim.at("claim").get<std::string>() << " (" << claim.at("source").get<std::string>() << ")\n"
           << "    agrees: " << claim.at("agrees").get<std::string>() << ". " << claim.at("seen").get<std::string>()
           << '\n';
    }
  }

  void budget() {
    out_ << "\nThe budget, the same for every scheme\n";
    TextTable table;
    table.add({"task", "layers", "heads", "width", "batch", "length", "steps", "fine-tune", "rate"});
    for (const Json& task : results_.at("tasks")) {
      const Json& model = task.at("model");
      table.add({task.at("name"), model.at("layers").dump(), model.at("heads").dump(), model.at("width").dump(),
                 task.at("batch").dump(), task.at("train_length").dump(), task.at("steps").dump(),
                 task.at("tune_steps").dump(), task.at("learning_rate").dump()});
    }
    out_ << table.text()
         << "  These are small models, trained for minutes. With more steps a line that did not learn may "
         << "learn, and the\n  order may change; a larger model or data with longer dependencies may behave otherwise "
         << "beyond its length.\n  More seeds narrow the intervals: their width goes with t / sqrt(seeds), ";
    const std::size_t seeds = results_.at("run").at("seeds").size();
    if (seeds > 1) {
      out_ << "t = " << fixed(student_t(static_cast<int>(seeds) - 1, 0.95), 2) << " for " << seeds << " seeds, ";
    }
    out_ << "t = " << fixed(student_t(9, 0.95), 2) << " for 10.\n";
    const Json& speed = results_.at("run").at("speed");
    if (speed.is_null()) return;
    out_ << "  Training ran at " << fixed(speed.at("steps_per_second_ratio"), 2)
         << " times the speed of the same model in torch's own operations.\n";
  }

  const Json& results_;
  std::vector<const Json*> main_numbers_;
  std::ostringstream out_;
};

}  // namespace

std::string summary_text(const Json& results) { return Summary(results).text(); }

}  // namespace locus::lab
