// SPDX-License-Identifier: Apache-2.0
#include "run/worker.h"

#include <exception>

#include "run/clock.h"
#include "run/owner.h"

namespace locus::lab {
namespace {

/// Another worker has the trial now, so this result is not wanted.
struct LeaseLost {};

/// An error of the store during a heartbeat does not make the trial fail.
struct StoreError {
  std::exception_ptr error;
};

/// Renews the lease at most twice a second.
class Keeper {
 public:
  Keeper(Store& store, const StoredTrial& trial) : store_(store), trial_(trial), last_(trial.heartbeat) {}
  void operator()(double done) {
    if (now() < last_ + 0.5) return;
    last_ = now();
    bool ours = false;
    try {
      ours = store_.keep(trial_.key, trial_.owner, done);
    } catch (const std::exception&) {
      throw StoreError{std::current_exception()};
    }
    if (!ours) throw LeaseLost();
  }

 private:
  Store& store_;
  const StoredTrial& trial_;
  double last_;
};

void run_one(Store& store, const StoredTrial& trial, const Parts& parts, const SaveModels& save) {
  const double begin = now();
  std::vector<Measurement> measured;
  try {
    Keeper keeper(store, trial);
    measured = parts.run_trial(
        trial.spec, [&](double done) { keeper(done); }, model_files(save, trial.spec, parts));
  } catch (const LeaseLost&) {
    return;
  } catch (const StoreError& stored) {
    std::rethrow_exception(stored.error);
  } catch (const std::exception& error) {
    store.fail(trial.key, trial.owner, error.what());
    return;
  }
  store.finish(trial.key, trial.owner, now() - begin, measured);
}

}  // namespace

void work(Store& store, std::int64_t run, const Parts& parts, const SaveModels& save) {
  const std::string owner = this_owner();
  while (const std::optional<StoredTrial> trial = store.lease(run, owner)) run_one(store, *trial, parts, save);
}

}  // namespace locus::lab
