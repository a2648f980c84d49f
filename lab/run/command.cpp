// SPDX-License-Identifier: Apache-2.0
#include "run/command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>

#include "base/interruption.h"
#include "locus/error.h"
#include "results/file.h"
#include "results/json.h"
#include "run/header.h"
#include "run/machine.h"
#include "run/models.h"
#include "run/plan.h"
#include "run/presets.h"
#include "run/preview.h"
#include "run/progress.h"
#include "run/results.h"
#include "run/spec.h"
#include "run/store.h"
#include "run/summary.h"
#include "run/supervisor.h"
#include "run/worker.h"

namespace locus::lab {
namespace {

namespace fs = std::filesystem;

struct Request {
  PlanRequest plan;
  std::string baseline = "rope";
  std::string out = "locus-lab";
  int workers = usable_cores();
  bool restart = false;
  bool no_speed = false;
  bool no_report = false;
  bool json = false;
  std::string save_models;
  // Of a worker:
  std::string models;
  std::string store;
  std::int64_t run = 0;
};

std::string store_file(const Request& request) { return (fs::path(request.out) / "store.sqlite").string(); }

SaveModels models_of(const Request& request) {
  const fs::path folder = request.models.empty() ? fs::path(request.out) / "models" : fs::path(request.models);
  const SaveModels save{request.save_models, folder};
  check(save);
  return save;
}

Store open_store(const Request& request) {
  std::error_code error;
  fs::create_directories(request.out, error);
  require(fs::is_directory(request.out), "--out ", request.out,
          " cannot be created as a folder: ", error ? error.message() : "there is a file of that name");
  return Store("sqlite:" + store_file(request));
}

/// Trials finished before; a plan must not create a store.
std::vector<StoredTrial> finished_before(const Request& request) {
  if (request.restart || !fs::exists(store_file(request))) return {};
  return Store("sqlite:" + store_file(request)).finished_trials();
}

void print_json(const Json& json) { std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n'; }

int show_plan(const Request& request, const Parts& parts) {
  const Plan plan = make_plan(request.plan);
  const SaveModels save = models_of(request);
  std::vector<StoredTrial> finished = finished_before(request);
  const Guess guess = guess_times(plan, finished, parts);
  for (const TrialSpec& again : unsaved(save, plan.trials, parts)) {
    std::erase_if(finished, [key = key_of(again)](const StoredTrial& trial) { return trial.key == key; });
  }
  const Json json = preview(plan, finished, guess, parts, request.workers);
  if (request.json) {
    print_json(json);
  } else {
    std::cout << preview_text(json);
  }
  return 0;
}

/// Writes the files and prints a summary or the whole object. 1 where a trial failed.
int give_results(const Request& request, Store& store, std::int64_t run, const Parts& parts) {
  const results::Results found = make_results(store, run);
  results::write_files(request.out, found);
  if (request.json) {
    print_json(results::to_json(found));
  } else {
    std::cout << summary_text(found);
  }
  std::cerr << "results.json, results.csv and store.sqlite are in " << request.out << '\n';
  if (parts.report && !request.no_report) {
    const fs::path page = fs::path(request.out) / "report.html";
    parts.report(found, page);
    std::cerr << "the report is " << page.string() << '\n';
  }
  return found.failures.empty() ? 0 : 1;
}

int show_results(const Request& request, const Parts& parts) {
  require(fs::exists(store_file(request)), "there is no store in ", request.out, "; `locus lab` creates one");
  Store store = open_store(request);
  const std::optional<StoredRun> run = store.latest_run();
  require(run.has_value(), "the store in ", request.out, " has no run");
  return give_results(request, store, run->id, parts);
}

/// As an earlier run on the same store measured it with the same versions.
std::optional<results::Speed> known_speed(Store& store, const results::Results& header) {
  const std::optional<StoredRun> before = store.latest_run();
  if (!before || !before->header.contains("run")) return {};
  const results::Run run = results::read_header(before->header).run;
  return run.versions == header.run.versions ? run.speed : std::nullopt;
}

/// Finished trials whose model is wanted but missing run again and give the same numbers.
void forget_unsaved(const SaveModels& save, const Plan& plan, Store& store, const Parts& parts) {
  if (save.formats.empty()) return;
  std::set<std::string> names, mentioned;
  for (const TrialSpec& trial : plan.trials) {
    require(names.insert(model_name(trial)).second, "--save-models: two trials would be saved as ", model_name(trial));
    if (!mentioned.insert(trial.task).second || can_be_probed(parts.describe(trial.task, trial.text_file))) continue;
    std::cerr << "the task " << trial.task << " trains encoders with pooling, which cannot be probed: none is saved\n";
  }
  std::int64_t again = 0;
  for (const TrialSpec& trial : unsaved(save, plan.trials, parts)) again += store.forget(key_of(trial)) ? 1 : 0;
  if (again > 0) std::cerr << "finished trials that have no saved model and are done again: " << again << '\n';
}

/// A trial that failed, or that another run on the same store finished, has no model.
void report_saved(const SaveModels& save, const Plan& plan, const Parts& parts) {
  if (save.formats.empty()) return;
  std::cerr << "the trained models are in " << save.folder.string() << '\n';
  const std::vector<TrialSpec> missing = unsaved(save, plan.trials, parts);
  if (missing.empty()) return;
  std::cerr << "models not saved: " << missing.size() << ", the first of them " << model_name(missing.front())
            << "; their trials failed or another run finished them: give the same command again\n";
}

int run_lab(const Request& request, const Parts& parts) {
  const Plan plan = make_plan(request.plan);
  const SaveModels save = models_of(request);
  Store store = open_store(request);
  Timing timing;
  for (const StoredTrial& trial : store.finished_trials()) timing.add(trial.spec, trial.seconds);
  results::Results header = make_header(plan, parts, request.baseline);
  header.run.speed = known_speed(store, header);
  forget_unsaved(save, plan, store, parts);
  const std::int64_t run = store.begin_run(results::header_json(header), plan.trials, request.restart);
  const Interruption interruption;
  ProgressOptions shown = progress_options();
  shown.workers = request.workers;
  shown.timing = std::move(timing);
  shown.collect = [&] { return collect(store, run); };
  Progress progress(std::move(shown), std::cerr);
  Supervision how;
  how.workers = request.workers;
  how.command = {"/proc/self/exe",  // this program, even if its file is replaced meanwhile
                 {"worker", "--store", "sqlite:" + store_file(request), "--run", std::to_string(run)},
                 (fs::path(request.out) / "workers.log").string()};
  if (!save.formats.empty()) {
    for (const std::string& word :
         {std::string("--models"), save.folder.string(), std::string("--formats"), save.formats})
      how.command.arguments.push_back(word);
  }
  how.watch = [&](const std::vector<StoredTrial>& trials) { progress.show(trials); };
  how.stop = [&] { return interruption.happened(); };
  const bool complete = supervise(store, run, how);
  if (!complete) {
    progress.stop();
    std::cerr << "stopped; finished trials are kept in " << store_file(request)
              << ": give the same command again to continue\n";
    interruption.end_program();
  }
  progress.clear();
  if (parts.speed && !request.no_speed && !header.run.speed) {  // last, so that results do not wait for it
    header.run.speed = parts.speed(plan.trials.front(), plan.schemes);
    store.set_header(run, results::header_json(header));
  }
  store.end_run(run);
  report_saved(save, plan, parts);
  return give_results(request, store, run, parts);
}

int run_worker(const Request& request, const Parts& parts) {
  Store store(request.store);
  work(store, request.run, parts, models_of(request));
  return 0;
}

void add_options(CLI::App& app, Request& request) {
  app.add_option("--preset", request.plan.preset, "Preset: quick, standard (default) or full");
  app.add_option("--tasks", request.plan.tasks, "Tasks to train, e.g. verbs,passkey,back,first,order,text")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
         "--schemes", request.plan.schemes,
         "Schemes to train: none,rope,alibi (see locus list), rope:rule=yarn,factor=8, @config.json; repeatable, or "
         "separated by ;")
      ->allow_extra_args(false);
  app.add_option("--seeds", request.plan.seeds, "Number of seeds, e.g. 3, or a list, e.g. 1,5,9");
  app.add_option("--train-length", request.plan.trained_length, "Tokens per sequence in training");
  app.add_option("--lengths", request.plan.lengths,
                 "Lengths to test, in trained lengths (1x,2x,8x) or in tokens (64,512)");
  app.add_option("--steps", request.plan.steps, "Training steps");
  app.add_option("--text", request.plan.text_file, "Text file; adds the task text");
  app.add_option("--baseline", request.baseline, "Line that others are compared with (default rope)");
  app.add_option("--out", request.out, "Folder for the store and the results (default locus-lab)");
  app.add_option("--workers", request.workers, "Worker processes of one thread each (default: all cores)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--save-models", request.save_models,
                 "Save each trained model in OUT/models for locus probe: safetensors, gguf or both");
  app.add_flag("--restart", request.restart, "Run finished trials again");
  app.add_flag("--no-report", request.no_report, "Skip report.html, whose verification takes ten seconds");
  app.add_flag("--no-speed", request.no_speed, "Skip the comparison of training speed with torch's own operations");
  app.add_flag("--json", request.json, "Print one JSON object");
}

int run(int argc, char** argv, const Parts& parts) {
  Request request;
  CLI::App app{"Trains every scheme on small tasks and tests it beyond the trained length.", "locus lab"};
  app.footer(
      "Without a subcommand, the lab runs. Give the same command again to continue after a stop.\n"
      "Examples:\n"
      "  locus lab --preset quick\n"
      "  locus lab --tasks verbs --schemes rope,alibi --seeds 5 --out my-lab\n"
      "  locus lab --tasks passkey --schemes rope --seeds 1 --save-models gguf\n"
      "  locus lab plan --preset full");
  add_options(app, request);
  CLI::App* const plan = app.add_subcommand("plan", "Show what would run and how long it would take")->fallthrough();
  plan->footer("Takes the options of locus lab.\nExample: locus lab plan --preset quick");
  CLI::App* const results = app.add_subcommand("results", "Write the results of the last run again")->fallthrough();
  results->footer("Takes --out and --json.\nExample: locus lab results --out locus-lab");
  CLI::App* const worker = app.add_subcommand("worker", "One worker of a run")->group("");
  worker->add_option("--store", request.store)->required();
  worker->add_option("--run", request.run)->required();
  worker->add_option("--models", request.models);
  worker->add_option("--formats", request.save_models);
  app.require_subcommand(0, 1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    fail(error.what(), " (see locus lab --help)");
  }
  if (results->parsed()) return show_results(request, parts);
  if (parts.prepare) parts.prepare();
  if (worker->parsed()) return run_worker(request, parts);
  return plan->parsed() ? show_plan(request, parts) : run_lab(request, parts);
}

/// One line, whatever control characters a value holds.
int refuse(std::string message) {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  std::cerr << "locus lab: " << message << '\n';
  return 2;
}

}  // namespace

int lab_main(int argc, char** argv, const Parts& parts) {
  try {
    const int code = run(argc, argv, parts);
    std::cout.flush();
    require(std::cout.good(), "standard output cannot be written");
    return code;
  } catch (const std::bad_alloc&) {
    return refuse("not enough memory");
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}

}  // namespace locus::lab
