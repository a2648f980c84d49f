// SPDX-License-Identifier: Apache-2.0
#include "run/shared_commands.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "base/interruption.h"
#include "results/json.h"
#include "run/clock.h"
#include "run/header.h"
#include "run/machine.h"
#include "run/status.h"
#include "run/store_url.h"
#include "run/supervisor.h"

namespace locus::lab {
namespace {

/// Reports the numbers of waiting and running trials when they change, at most every half minute.
class QueueReport {
 public:
  void operator()(const Queue& queue) {
    if (queue.waiting == last_.waiting && queue.leased == last_.leased) return;
    if (said_ > 0 && now() < said_ + 30) return;
    said_ = now();
    last_ = queue;
    std::cerr << "trials waiting: " << queue.waiting << ", running here and elsewhere: " << queue.leased << std::endl;
  }

 private:
  Queue last_{-1, -1};
  double said_ = 0;
};

}  // namespace

int submit(const Request& request, const Parts& parts) {
  const Plan plan = make_plan(request.plan);
  const results::Results header = make_header(plan, parts, request.baseline);
  Store store = open_store(request);
  const std::int64_t run = store.begin_run(results::header_json(header), plan.trials, request.restart);
  store.end_complete_runs();
  const std::vector<StoredTrial> trials = store.trials(run);
  const auto done = std::count_if(trials.begin(), trials.end(), has_ended);
  if (request.json) {
    std::cout << Json{{"store", store.name()}, {"run", run}, {"trials", trials.size()}, {"done", done}} << '\n';
    return 0;
  }
  std::cout << "run " << run << ": " << trials.size() << " trials, " << done << " of them done\n"
            << "locus lab work --store '" << store.name() << "' works on them, on any machine that reaches the store\n";
  return 0;
}

int work_on_store(const Request& request, const Parts& parts) {
  const Interruption interruption;
  const bool until_empty = request.until == "empty";
  const double end = until_empty ? 0 : end_time(request.until, now());
  Store store = open_store(request, [&] { return interruption.happened(); });
  Supervision how;
  how.workers = workers_of(request);
  how.command = worker_command(request, 0);
  how.kind = machine_kind(parts.versions);
  how.stay = !until_empty;
  how.watch = QueueReport();
  how.stop = [&] { return interruption.happened() || (!until_empty && now() >= end); };
  std::cerr << "working on " << store.name() << " with " << how.workers << (how.workers == 1 ? " worker" : " workers")
            << " (" << how.kind << ")" << std::endl;
  supervise(store, 0, how);
  if (interruption.happened()) {
    std::cerr << "stopped; the store " << store.name() << " has the finished trials, and the others wait there"
              << std::endl;
    interruption.end_program();
  }
  store.end_complete_runs();
  std::cerr << (until_empty ? "no trial is left\n" : "the time is over; unfinished trials wait in the store\n");
  return 0;
}

int show_status(const Request& request) {
  Store store = open_existing_store(request);
  const Json status = status_of(store);
  if (request.json) {
    std::cout << status.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    std::cout << status_text(status);
  }
  return 0;
}

}  // namespace locus::lab
