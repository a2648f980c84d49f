// SPDX-License-Identifier: Apache-2.0
// `locus learn`: the exercises of the course, graded by law.
#include "learn_command.h"

#include <chrono>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "learn/grade.h"
#include "learn/spoken_error.h"
#include "learn/tools_needed.h"
#include "learn_output.h"
#include "locus/error.h"

namespace locus::tools {
namespace {

namespace fs = std::filesystem;

struct LearnRequest {
  std::string lang, folder, exercises;
  std::string exercise;
  std::string language;  ///< of the solutions; empty: the folder's, else python
  std::optional<std::uint64_t> seed;
  double seconds = 10;
  bool json = false;
};

/// Everything that a subcommand works with.
struct Classroom {
  learn::Course course;
  learn::Workspace workspace;
  Sentences sentences;
  bool told_not_kept = false;

  learn::Texts texts(const learn::Exercise& exercise) const { return course.texts(exercise, sentences.language()); }
  /// Progress that cannot be kept, in a folder that is read-only, is no reason to withhold a grade or a hint.
  void keep_progress() {
    try {
      workspace.save();
    } catch (const learn::SpokenError& error) {
      if (std::exchange(told_not_kept, true)) return;
      std::cerr << "locus: " << sentences.text("ui.not_kept", {{"reason", error.in(sentences)}}) << '\n';
    }
  }
  /// The named exercise, else the next one; the last if all are passed.
  const learn::Exercise& choose(const std::string& name) {
    if (!name.empty()) return learn::find_exercise(name);
    const learn::Exercise* const next = workspace.next();
    return next != nullptr ? *next : learn::exercises().back();
  }
};

Sentences sentences_for(const LearnRequest& request, std::optional<Language> chosen) {
  if (!request.lang.empty()) return Sentences(find_language(request.lang));
  return Sentences(chosen ? *chosen : language_of_locale());
}

/// The exercises of the folder that was named, else of this one, one above it, or locus-learn.
std::optional<learn::Workspace> find_workspace(const LearnRequest& request) {
  if (!request.folder.empty()) return learn::Workspace::find(request.folder);
  std::optional<learn::Workspace> found = learn::Workspace::find(fs::current_path());
  return found ? found : learn::Workspace::find("locus-learn");
}

Classroom enter(const LearnRequest& request) {
  learn::Course course(request.exercises);
  std::optional<learn::Workspace> workspace = find_workspace(request);
  if (!workspace) {
    const fs::path folder = request.folder.empty() ? fs::current_path() : fs::path(request.folder);
    fail(sentences_for(request, {}).text("ui.no_workspace", {{"folder", folder.string()}}));
  }
  const Sentences sentences = sentences_for(request, workspace->spoken);
  return {std::move(course), std::move(*workspace), sentences};
}

/// The path and where the learner is; before the first `start`, how to begin.
void show_path(const LearnRequest& request) {
  if (request.folder.empty() && !find_workspace(request)) {
    const learn::Course course(request.exercises);
    const Sentences sentences = sentences_for(request, {});
    learn::Workspace nothing_yet("locus-learn", "python", 0);
    print_path(nothing_yet, course, sentences.language());
    print_wrapped(sentences.text("ui.welcome"));
    return;
  }
  Classroom room = enter(request);
  print_path(room.workspace, room.course, room.sentences.language());
  print_place(room.workspace, room.sentences);
}

/// What `start` continues. Without a folder that is any that the other subcommands would find: a second `start` must
/// not lay exercises out within exercises.
std::optional<learn::Workspace> started_before(const LearnRequest& request) {
  if (request.folder.empty()) return find_workspace(request);
  std::error_code none;
  return fs::exists(fs::path(request.folder) / learn::Workspace::file_name, none)
             ? learn::Workspace::find(request.folder)
             : std::nullopt;
}

/// Error: what was asked for now differs from what the folder was started with.
void require_same(const LearnRequest& request, const learn::Workspace& before, const Sentences& sentences) {
  const std::string folder = before.folder().string();
  require(request.language.empty() || request.language == before.program_language(),
          sentences.text("ui.other_language", {{"folder", folder}, {"language", before.program_language()}}));
  require(!request.seed || *request.seed == before.seed(),
          sentences.text("ui.other_seed", {{"folder", folder}, {"seed", std::to_string(before.seed())}}));
}

void start(const LearnRequest& request) {
  const learn::Course course(request.exercises);
  const std::optional<learn::Workspace> before = started_before(request);
  const Sentences sentences = sentences_for(request, before ? before->spoken : std::nullopt);
  if (before) require_same(request, *before, sentences);
  const fs::path folder = before                   ? before->folder()
                          : request.folder.empty() ? fs::path("locus-learn")
                                                   : fs::path(request.folder);
  std::error_code failed;
  require(!fs::exists(folder, failed) || fs::is_directory(folder, failed),
          sentences.text("ui.not_a_folder", {{"folder", folder.string()}}));
  fs::create_directories(folder, failed);
  if (failed) throw learn::SpokenError("ui.cannot_create", {{"folder", folder.string()}});
  learn::Workspace workspace =
      before ? *before
             : learn::Workspace(fs::absolute(folder), request.language.empty() ? "python" : request.language,
                                request.seed ? *request.seed : std::random_device()() % 1000000000u);
  if (!request.lang.empty()) workspace.spoken = sentences.language();
  for (const learn::Exercise& exercise : learn::exercises()) {
    learn::lay_out(course, workspace, exercise, sentences.language());
  }
  workspace.save();
  for (const std::string& problem : learn::tools_missing(workspace.program_language(), course)) {
    print_wrapped(sentences.text(problem, {{"compiler", "c++"}, {"error", "python3"}}));
  }
  const fs::path first = workspace.path_of(*learn::exercises().data());
  print_wrapped(sentences.text(before ? "ui.continued" : "ui.started",
                               {{"folder", folder.string()}, {"file", first.filename().string()}}));
}

Json json_of(const learn::Grade& grade, const learn::Exercise& exercise, int hints) {
  return {{"exercise", exercise.id},  {"passed", grade.passed}, {"law", grade.law}, {"cause", grade.cause},
          {"message", grade.message}, {"notes", grade.notes},   {"hints", hints}};
}

void check_all(const LearnRequest& request, Classroom& room, const learn::Grader& grader) {
  bool all_passed = true, explained = false;
  for (const learn::Exercise& exercise : learn::exercises()) {
    const learn::Grade grade = grader.grade(room.workspace, exercise);
    room.keep_progress();
    all_passed = all_passed && grade.passed;
    if (request.json) {
      print_json(json_of(grade, exercise, room.workspace.progress(exercise).hints));
    } else if (grade.passed || explained) {
      print_mark(grade.passed, exercise, room.texts(exercise));
    } else {
      print_grade(grade, exercise, room.texts(exercise));
      explained = true;  // one thing at a time: the first that fails
    }
    std::cout.flush();
  }
  if (!all_passed) throw CheckFailed{};
}

void check(const LearnRequest& request) {
  Classroom room = enter(request);
  const learn::Grader grader{room.course, room.sentences, request.seconds};
  if (request.exercise.empty()) {
    check_all(request, room, grader);
    return;
  }
  const learn::Exercise& exercise = learn::find_exercise(request.exercise);
  const learn::Grade grade = grader.grade(room.workspace, exercise);
  room.keep_progress();
  if (request.json) {
    print_json(json_of(grade, exercise, room.workspace.progress(exercise).hints));
  } else {
    print_grade(grade, exercise, room.texts(exercise));
    const std::string id(exercise.id);
    print_wrapped(room.sentences.text(grade.passed ? "ui.passed" : "ui.try_hint", {{"exercise", id}}));
  }
  if (!grade.passed) {
    std::cout.flush();
    throw CheckFailed{};
  }
}

/// When a file, or the newest file of a folder, was last written.
fs::file_time_type last_change(const fs::path& path) {
  std::error_code none;
  fs::file_time_type latest = fs::last_write_time(path, none);
  if (none) return fs::file_time_type::min();  // an editor may replace the file at this moment
  if (!fs::is_directory(path, none)) return latest;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path, none)) {
    latest = std::max(latest, entry.last_write_time(none));
  }
  return latest;
}

void wait_for_change(const fs::path& path, fs::file_time_type since) {
  while (last_change(path) == since) std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

void watch(const LearnRequest& request) {
  Classroom room = enter(request);
  const learn::Grader grader{room.course, room.sentences, request.seconds};
  for (;;) {
    if (request.exercise.empty() && room.workspace.next() == nullptr) break;
    const learn::Exercise& exercise = room.choose(request.exercise);
    const fs::path path = room.workspace.path_of(exercise);
    const fs::file_time_type seen = last_change(path);
    const learn::Grade grade = grader.grade(room.workspace, exercise);
    room.keep_progress();
    print_grade(grade, exercise, room.texts(exercise));
    if (grade.passed) {
      std::cout << '\n';
      print_wrapped(room.texts(exercise).explanation);
      std::cout << '\n';
      if (!request.exercise.empty()) return;
      continue;
    }
    print_wrapped(room.sentences.text("ui.watching", {{"file", path.string()}}));
    std::cout << std::endl;
    wait_for_change(path, seen);
  }
  print_wrapped(room.sentences.text("ui.all_passed"));
}

void hint(const LearnRequest& request) {
  Classroom room = enter(request);
  const learn::Exercise& exercise = room.choose(request.exercise);
  const std::vector<std::string> hints = room.texts(exercise).hints;
  int& shown = room.workspace.progress(exercise).hints;
  const bool more = shown < static_cast<int>(hints.size());
  if (more) ++shown;
  const Parameters parameters = {
      {"exercise", std::string(exercise.id)}, {"number", std::to_string(shown)}, {"all", std::to_string(hints.size())}};
  print_wrapped(room.sentences.text(more ? "ui.hint" : "ui.last_hint", parameters));
  print_wrapped(hints[static_cast<std::size_t>(shown - 1)]);
  room.keep_progress();
}

void explain(const LearnRequest& request) {
  Classroom room = enter(request);
  const learn::Exercise* chosen = nullptr;
  if (!request.exercise.empty()) {
    chosen = &learn::find_exercise(request.exercise);
  } else {
    for (const learn::Exercise& exercise : learn::exercises()) {  // the last one that was passed
      if (room.workspace.progress(exercise).passed) chosen = &exercise;
    }
  }
  if (chosen == nullptr || !room.workspace.progress(*chosen).passed) {
    print_wrapped(room.sentences.text(
        "ui.explain_later",
        {{"exercise", chosen == nullptr ? std::string(learn::exercises()[0].id) : std::string(chosen->id)}}));
    std::cout.flush();
    throw CheckFailed{};
  }
  const learn::Texts texts = room.texts(*chosen);
  print_wrapped(texts.title + "\n\n" + texts.explanation);
}

void start_again(const LearnRequest& request) {
  Classroom room = enter(request);
  const learn::Exercise& exercise = learn::find_exercise(request.exercise);
  const std::optional<fs::path> old = learn::reset(room.course, room.workspace, exercise, room.sentences.language());
  Parameters parameters = {{"file", room.workspace.path_of(exercise).string()}};
  if (old) parameters["old"] = old->filename().string();
  print_wrapped(room.sentences.text(old ? "ui.reset" : "ui.laid_out", parameters));
}

/// The learner's language, as far as it is known when something went wrong.
Sentences sentences_of_learner(const LearnRequest& request) {
  std::optional<Language> spoken;
  try {
    const std::optional<learn::Workspace> workspace = find_workspace(request);
    if (workspace) spoken = workspace->spoken;
  } catch (const Error&) {  // the progress file itself is what is wrong
  }
  return sentences_for(request, spoken);
}

void run_spoken(void (*run)(const LearnRequest&), const LearnRequest& request) {
  try {
    run(request);
  } catch (const learn::SpokenError& error) {
    fail(error.in(sentences_of_learner(request)));
  }
}

using Shared = std::shared_ptr<LearnRequest>;

CLI::App* add_part(CLI::App& learn, const char* name, const char* meaning, const char* example,
                   void (*run)(const LearnRequest&), const Shared& request) {
  CLI::App* part = learn.add_subcommand(name, meaning)->fallthrough();
  part->footer(std::string("Example: ") + example);
  part->callback([run, request] { run_spoken(run, *request); });
  return part;
}

void add_exercise(CLI::App* part, const Shared& request, const char* meaning) {
  part->add_option("EXERCISE", request->exercise, meaning);
}

void add_parts(CLI::App& learn, const Shared& request) {
  CLI::App* one = add_part(learn, "start", "Lay out the exercises in a folder",
                           "locus learn start --language cpp --lang es", start, request);
  one->add_option("DIR", request->folder, "Folder of the exercises (default locus-learn)");
  one->add_option("--language", request->language, "Write solutions in this language (default python)")
      ->check(CLI::IsMember({"python", "cpp"}));
  one->add_option("--seed", request->seed, "Seed of the detective cases (default: a new one)");

  one = add_part(learn, "check", "Grade one exercise, or all of them", "locus learn check attention", check, request);
  add_exercise(one, request, "Name, number or file; absent: all");
  one->add_flag("--json", request->json, "Print one JSON object per exercise and line");
  one->footer(
      "Exit code 1: an exercise is not passed.\nExamples:\n  locus learn check attention\n  locus learn check --json");

  one = add_part(learn, "watch", "Grade the next exercise whenever its file changes", "locus learn watch rope-half",
                 watch, request);
  add_exercise(one, request, "Watch this one until it is passed");
  one = add_part(learn, "hint", "Show one more hint", "locus learn hint rope-half", hint, request);
  add_exercise(one, request, "Name, number or file; absent: the next one");
  one = add_part(learn, "explain", "Explain an exercise that you passed", "locus learn explain attention", explain,
                 request);
  add_exercise(one, request, "Name, number or file; absent: the last one passed");
  one = add_part(learn, "reset", "Lay out an exercise anew; the old file is kept with the ending .old",
                 "locus learn reset attention", start_again, request);
  one->add_option("EXERCISE", request->exercise, "Name, number or file")->required();
}

}  // namespace

void add_learn_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("learn", "Work through exercises on positions, graded by law, in English or Spanish");
  const auto request = std::make_shared<LearnRequest>();
  command->add_option("--lang", request->lang, "Human language (default: the folder's, else the locale's)")
      ->check(CLI::IsMember({"en", "es"}));
  command->add_option("--dir", request->folder,
                      "Folder of the exercises (default: this one, one above, or locus-learn)");
  command->add_option("--time-limit", request->seconds, "Seconds that a solution may run")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command->add_option("--exercises", request->exercises,
                      "Read the course from this folder (learn/exercises of the sources)");
  command->require_subcommand(0, 1);
  command->footer(
      "Without a subcommand: show the path and where you are.\n"
      "Examples:\n"
      "  locus learn start\n"
      "  locus learn watch --lang es");
  add_parts(*command, request);
  command->callback([command, request] {
    if (command->get_subcommands().empty()) run_spoken(show_path, *request);
  });
}

}  // namespace locus::tools
