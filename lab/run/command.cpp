// SPDX-License-Identifier: Apache-2.0
#include "run/command.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <set>

#include "base/interruption.h"
#include "failure.h"
#include "help_format.h"
#include "locus/error.h"
#include "results/file.h"
#include "results/json.h"
#include "results/merge.h"
#include "run/header.h"
#include "run/machine.h"
#include "run/models.h"
#include "run/plan.h"
#include "run/presets.h"
#include "run/preview.h"
#include "run/progress.h"
#include "run/request.h"
#include "run/results.h"
#include "run/shared_commands.h"
#include "run/slurm.h"
#include "run/spec.h"
#include "run/store.h"
#include "run/summary.h"
#include "run/supervisor.h"
#include "run/worker.h"

namespace locus::lab {
namespace {

namespace fs = std::filesystem;

/// Returns the trials that are already finished; a plan must not create a store.
std::vector<StoredTrial> finished_before(const Request& request) {
  if (request.restart || !Store::exists(store_url(request))) return {};
  return Store(store_url(request)).finished_trials();
}

void print_json(const Json& json) { std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n'; }

int show_plan(const Request& request, const Parts& parts) {
  const Plan plan = make_plan(request.plan);
  const SaveModels save = models_of(request);
  std::vector<StoredTrial> finished = finished_before(request);
  if (request.measure && parts.prepare) parts.prepare();
  const Guess guess = request.measure ? measured_times(plan, finished, parts) : known_times(finished);
  for (const TrialSpec& again : unsaved(save, plan.trials, parts)) {
    std::erase_if(finished, [key = key_of(again)](const StoredTrial& trial) { return trial.key == key; });
  }
  const Json json = preview(plan, finished, guess, parts, workers_of(request));
  if (request.json) {
    print_json(json);
  } else {
    std::cout << preview_text(json);
  }
  return 0;
}

/// Writes the files and prints a summary or the JSON object. Returns 1 if a trial failed.
int give_results(const Request& request, const results::Results& found, const std::string& source, const Parts& parts) {
  results::write_files(request.out, found);
  if (request.json) {
    print_json(results::to_json(found));
  } else {
    std::cout << summary_text(found);
  }
  std::cerr << "results.json and results.csv are in " << request.out << "; " << source << '\n';
  if (parts.report && !request.no_report) {
    const fs::path page = fs::path(request.out) / "report.html";
    parts.report(found, page, find_language(request.language));
    std::cerr << "the report is " << page.string() << '\n';
  }
  return found.failures.empty() ? 0 : 1;
}

int merge_results(const Request& request, const Parts& parts) {
  std::vector<results::Results> found;
  for (const std::string& part : request.parts) found.push_back(results::read_file(part));
  results::Results all = results::merged(found);
  if (request.no_curves) results::remove_curves(all);
  make_out_folder(request);
  return give_results(request, all, "merged parts: " + std::to_string(found.size()), parts);
}

int give_stored_results(const Request& request, Store& store, std::int64_t run, const Parts& parts) {
  results::Results found = make_results(store, run);
  if (request.no_curves) results::remove_curves(found);
  return give_results(request, found, "the store is " + store.name(), parts);
}

int show_results(const Request& request, const Parts& parts) {
  if (!request.parts.empty()) return merge_results(request, parts);
  Store store = open_existing_store(request);
  make_out_folder(request);
  const std::optional<StoredRun> run =
      request.run == 0 ? store.latest_run() : std::optional(store.find_run(request.run));
  require(run.has_value(), "the store ", store.name(), " has no run");
  return give_stored_results(request, store, run->id, parts);
}

/// Returns the speed that an earlier run in the same store measured with the same versions.
std::optional<results::Speed> known_speed(Store& store, const results::Results& header) {
  const std::optional<StoredRun> before = store.latest_run();
  if (!before || !before->header.contains("run")) return {};
  const results::Run run = results::read_header(before->header).run;
  return run.versions == header.run.versions ? run.speed : std::nullopt;
}

/// Finished trials whose model is requested but missing run again and give the same numbers.
void forget_unsaved(const SaveModels& save, const Plan& plan, Store& store, const Parts& parts) {
  if (save.formats.empty()) return;
  std::set<std::string> names, mentioned;
  for (const TrialSpec& trial : plan.trials) {
    require(names.insert(model_name(trial)).second, "--save-models: two trials would be saved as ", model_name(trial));
    if (!mentioned.insert(trial.task).second || can_be_probed(parts.describe(trial.task, trial.text_file))) continue;
    std::cerr << "the task " << trial.task
              << " trains encoders with pooling, which cannot be probed; their models are not saved\n";
  }
  std::int64_t again = 0;
  for (const TrialSpec& trial : unsaved(save, plan.trials, parts)) again += store.forget(key_of(trial)) ? 1 : 0;
  if (again > 0) std::cerr << "finished trials without a saved model, which run again: " << again << '\n';
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
  const Interruption interruption;
  const auto stop = [&] { return interruption.happened(); };
  Store store = open_store(request, stop);
  Timing timing;
  for (const StoredTrial& trial : store.finished_trials()) timing.add(trial.spec, trial.seconds);
  results::Results header = make_header(plan, parts, request.baseline);
  header.run.speed = known_speed(store, header);
  forget_unsaved(save, plan, store, parts);
  const std::int64_t run = store.begin_run(results::header_json(header), plan.trials, request.restart);
  ProgressOptions shown = progress_options();
  shown.workers = workers_of(request);
  shown.timing = std::move(timing);
  shown.collect = [&] { return collect(store, run); };
  Progress progress(std::move(shown), std::cerr);
  Supervision how;
  how.workers = workers_of(request);
  how.command = worker_command(request, run, save);
  how.kind = machine_kind(parts.versions);
  how.watch = [&](const Queue&) { progress.show(store.trials(run)); };
  how.stop = stop;
  const bool complete = supervise(store, run, how);
  if (!complete) {
    progress.stop();
    std::cerr << "stopped; finished trials are kept in " << store.name()
              << ": give the same command again to continue\n";
    interruption.end_program();
  }
  progress.clear();
  if (parts.speed && !request.no_speed && !header.run.speed) {  // last: results must not wait for it
    header.run.speed = parts.speed(plan.trials.front(), plan.schemes);
    store.set_header(run, results::header_json(header));
  }
  store.end_run(run);
  report_saved(save, plan, parts);
  return give_stored_results(request, store, run, parts);
}

int run_worker(const Request& request, const Parts& parts) {
  try {
    work({.store = request.store,
          .run = request.run,
          .lease_seconds = request.lease_seconds,
          .patience = request.patience,
          .kept = request.kept,
          .save = models_of(request)},
         parts);
    return 0;
  } catch (const StoreAway& away) {
    std::cerr << away.what() << '\n';
    return exit_of_lost_store;
  }
}

void add_patience(CLI::App& app, Request& request) {
  app.add_option("--lease", request.lease_seconds,
                 "Seconds without a heartbeat after which another worker takes a trial (default 60)")
      ->check(CLI::Range(1.0, 86400.0));
  app.add_option("--patience", request.patience, "Seconds to wait for a store that becomes unreachable (default 600)")
      ->check(CLI::Range(0.0, 604800.0));
}

void add_options(CLI::App& app, Request& request) {
  app.add_option("--preset", request.plan.preset, "Preset: quick, standard (default), full or reference");
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
  app.add_option(
      "--store", request.store,
      "Store: sqlite:FILE (default: OUT/store.sqlite) or postgresql://USER@HOST/DATABASE, which many machines "
      "may share");
  app.add_option("--workers", request.workers, "Worker processes of one thread each (default: all cores)")
      ->check(CLI::Range(1, 1024));
  add_patience(app, request);
  app.add_option("--save-models", request.save_models,
                 "Save each trained model in OUT/models for locus probe: safetensors, gguf or both");
  app.add_flag("--restart", request.restart, "Run finished trials again");
  app.add_flag("--no-report", request.no_report, "Skip report.html, whose verification takes ten seconds");
  app.add_option("--lang", request.language, "Language of report.html: en (default) or es");
  app.add_flag("--no-speed", request.no_speed, "Skip the comparison of training speed with torch's own operations");
  app.add_flag("--json", request.json, "Print one JSON object");
}

/// The subcommands.
struct Subcommands {
  CLI::App *plan, *results, *submit, *work, *status, *slurm, *worker;
};

Subcommands add_subcommands(CLI::App& app, Request& request) {
  const auto add = [&](const char* name, const char* what, const char* footer) {
    CLI::App* const command = app.add_subcommand(name, what)->fallthrough();
    command->footer(footer);
    return command;
  };
  Subcommands all{};
  all.plan = add("plan", "Show what would run and how long it would take; trains nothing",
                 "Takes the options of locus lab. The time is estimated from finished trials in the store.\n"
                 "Examples:\n"
                 "  locus lab plan --preset quick\n"
                 "  locus lab plan --preset standard --measure");
  all.plan->add_flag("--measure", request.measure,
                     "Train a few steps of each task without a finished trial, to estimate the time");
  all.results = add("results", "Write the results of the last run again, or merge those of several",
                    "Takes --out, --store and --json.\n"
                    "Examples:\n"
                    "  locus lab results --out locus-lab\n"
                    "  locus lab results --merge verbs-lab --merge passkey-lab --out both-labs");
  all.results->add_option("--run", request.run, "Number of the run, as submit and status show it (default: the last)");
  all.results
      ->add_option("--merge", request.parts,
                   "results.json of a run, or its folder, to merge with the others given; repeatable")
      ->allow_extra_args(false);
  all.results->add_flag("--no-curves", request.no_curves,
                        "Leave out training curves and losses by position, which are most of the file");
  all.submit = add("submit", "Fill the queue of a store with the trials of a plan",
                   "Takes the options of locus lab.\n"
                   "Example: locus lab submit --preset full --store postgresql://lab@server/lab");
  all.work = add("work", "Run the waiting trials of a store on this machine",
                 "Takes --store, --out (for its log), --workers, --lease and --patience.\n"
                 "Example: locus lab work --store postgresql://lab@server/lab --workers 8 --until 12h");
  all.status = add("status", "Show what runs where, since when and how long it will take",
                   "Takes --store, --out and --json.\nExample: locus lab status --store postgresql://lab@server/lab");
  all.slurm = add("slurm", "Submit an array job to Slurm whose tasks are workers",
                  "Takes the options of locus lab work; what follows -- is passed to sbatch.\n"
                  "Example: locus lab slurm --store postgresql://lab@server/lab --array 32 -- --time=4:00:00");
  for (CLI::App* const command : {all.work, all.slurm}) {
    command->add_option("--until", request.until,
                        "When to stop: empty (default), or a time like 90s, 30m, 12h, 2d or 2025-03-01T12:00:00Z");
  }
  all.slurm->add_option("--array", request.tasks, "Number of tasks")->required()->check(CLI::Range(1, 1000000));
  all.slurm->add_option("sbatch", request.sbatch, "Options for sbatch, after --");
  all.worker = app.add_subcommand("worker", "One worker of a run")->group("");
  all.worker->add_option("--store", request.store)->required();
  all.worker->add_option("--run", request.run)->required();
  all.worker->add_option("--models", request.models);
  all.worker->add_option("--formats", request.save_models);
  all.worker->add_option("--kept", request.kept)->required();
  add_patience(*all.worker, request);
  app.require_subcommand(0, 1);
  return all;
}

/// Reports a failure as text or as JSON, and returns its exit code.
using Refuse = std::function<int(tools::Failure failure)>;

int run(int argc, char** argv, const Parts& parts, const Refuse& refuse) {
  Request request;
  CLI::App app{"Trains every scheme on small tasks and tests it beyond the trained length.", "locus lab"};
  app.footer(
      "Without a subcommand, the lab runs. Give the same command again to continue after a stop.\n"
      "Examples:\n"
      "  locus lab --preset quick\n"
      "  locus lab --tasks verbs --schemes rope,alibi --seeds 5 --out my-lab\n"
      "  locus lab --tasks passkey --schemes rope --seeds 1 --save-models gguf\n"
      "  locus lab plan --preset full");
  app.formatter(tools::wrapping_help());
  add_options(app, request);
  const Subcommands commands = add_subcommands(app, request);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return refuse({.message = error.what(), .help = tools::help_command(app)});
  }
  find_language(request.language);  // refuses an unknown language before hours of training
  if (commands.results->parsed()) return show_results(request, parts);
  if (commands.status->parsed()) return show_status(request);
  if (commands.slurm->parsed()) return submit_to_slurm(request);
  if (commands.plan->parsed()) return show_plan(request, parts);
  if (parts.prepare) parts.prepare();
  if (commands.worker->parsed()) return run_worker(request, parts);
  if (commands.work->parsed()) return work_on_store(request, parts);
  if (commands.submit->parsed()) return submit(request, parts);
  return run_lab(request, parts);
}

}  // namespace

int lab_main(int argc, char** argv, const Parts& parts) {
  const Refuse refuse = [json = tools::asks_for_json(argc, argv)](tools::Failure failure) {
    failure.program = "locus lab";
    return tools::report(failure, json);
  };
  try {
    const int code = run(argc, argv, parts, refuse);
    std::cout.flush();
    require(std::cout.good(), "standard output cannot be written");
    return code;
  } catch (const std::bad_alloc&) {
    return refuse({.message = "not enough memory"});
  } catch (const StoreAway& away) {  // not bad input: the store was reachable before
    return refuse({.message = away.what(), .exit_code = 1});
  } catch (const std::exception& error) {
    return refuse({.message = error.what()});
  }
}

}  // namespace locus::lab
