// SPDX-License-Identifier: Apache-2.0
#include "run/worker.h"

#include <exception>
#include <iostream>
#include <optional>

#include "run/clock.h"
#include "run/heart.h"
#include "run/kept_results.h"
#include "run/machine.h"
#include "run/owner.h"
#include "run/spec.h"

namespace locus::lab {
namespace {

/// Another worker has the trial now, so this result is not needed.
struct LeaseLost {};

void say(const std::string& line) { std::cerr << line << std::endl; }

class Worker {
 public:
  Worker(const WorkerSettings& settings, const Parts& parts)
      : settings_(settings),
        parts_(parts),
        holder_{this_owner(), machine_kind(parts.versions), settings.lease_seconds},
        store_(settings.store, patience()),
        kept_(settings.kept, store_.id()) {}

  void work_until_none_is_left() {
    kept_.deliver(store_, say);
    while (const std::optional<StoredTrial> trial = next()) run(*trial);
  }

 private:
  Patience patience() {
    return {.seconds = settings_.patience,
            .away =
                [this](const std::string& why) {
                  say(why + "; waiting for it");
                  keep_pending();
                },
            .back = [](double seconds) { say("the store is back after " + std::to_string(seconds) + " s"); }};
  }

  std::optional<StoredTrial> next() {
    const std::vector<std::int64_t> runs =
        settings_.run == 0 ? store_.unfinished_runs() : std::vector<std::int64_t>{settings_.run};
    for (const std::int64_t run : runs) store_.plan_repeat(run, holder_.kind);
    return store_.lease(settings_.run, holder_);
  }

  /// Numbers must not be stored under a key of other conditions.
  void require_same_conditions(const StoredTrial& trial) {
    std::string own;
    try {
      own = key_of(trial.spec);
    } catch (const Error& error) {
      store_.release(holder_.owner);
      throw;
    }
    if (own == (trial.repeats.empty() ? trial.key : trial.repeats)) return;
    store_.release(holder_.owner);
    fail("the trial ", trial.key, " was submitted with another version of Locus or another text file: here it is ",
         own);
  }

  void run(const StoredTrial& trial) {
    require_same_conditions(trial);
    const double begin = now();
    TrialResult result{trial, 0, {}};
    try {
      Heart heart(settings_.store, trial);
      const auto report = [&](double done) {
        heart.report(done);
        if (heart.lease_is_lost()) throw LeaseLost();
      };
      result.measured = parts_.run_trial(trial.spec, report, model_files(settings_.save, trial.spec, parts_));
    } catch (const LeaseLost&) {
      say("another worker has " + trial.key + " now");
      return;
    } catch (const std::exception& error) {
      store_.fail(trial, error.what());
      return;
    }
    result.seconds = now() - begin;
    pending_ = std::move(result);
    deliver_pending();
  }

  void deliver_pending() {
    try {
      const bool taken = store_.finish(pending_->trial, pending_->seconds, pending_->measured);
      if (!taken) say("the result of " + pending_->trial.key + " comes too late and is not needed");
    } catch (const std::exception&) {
      keep_pending();
      throw;
    }
    kept_.remove(*pending_);
    pending_.reset();
  }

  void keep_pending() {
    if (!pending_) return;
    try {
      say("the result of " + pending_->trial.key + " is kept in " + kept_.keep(*pending_).string());
    } catch (const std::exception& error) {
      say("the result of " + pending_->trial.key + " cannot be kept on disk: " + error.what());
    }
  }

  const WorkerSettings& settings_;
  const Parts& parts_;
  LeaseHolder holder_;
  std::optional<TrialResult> pending_;  ///< not in the store yet
  Store store_;
  KeptResults kept_;
};

}  // namespace

void work(const WorkerSettings& settings, const Parts& parts) { Worker(settings, parts).work_until_none_is_left(); }

}  // namespace locus::lab
