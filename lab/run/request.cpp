// SPDX-License-Identifier: Apache-2.0
#include "run/request.h"

#include <filesystem>
#include <iostream>

#include "results/units.h"
#include "run/machine.h"
#include "run/store_url.h"

namespace locus::lab {
namespace {

namespace fs = std::filesystem;

Patience patience_of(const Request& request, std::function<bool()> stop) {
  return {
      .seconds = request.patience,
      .away =
          [limit = request.patience](const std::string& why) {
            std::cerr << why << "; waiting up to " << results::duration(limit) << std::endl;
          },
      .back =
          [](double seconds) { std::cerr << "the store is back after " << results::duration(seconds) << std::endl; },
      .stop = std::move(stop)};
}

}  // namespace

int workers_of(const Request& request) { return request.workers.value_or(usable_cores()); }

std::string store_url(const Request& request) {
  return request.store.empty() ? "sqlite:" + (fs::path(request.out) / "store.sqlite").string() : request.store;
}

SaveModels models_of(const Request& request) {
  const fs::path folder = request.models.empty() ? fs::path(request.out) / "models" : fs::path(request.models);
  const SaveModels save{request.save_models, folder};
  check(save);
  return save;
}

void make_out_folder(const Request& request) {
  std::error_code error;
  fs::create_directories(request.out, error);
  require(fs::is_directory(request.out), "--out ", request.out,
          " cannot be created as a folder: ", error ? error.message() : "there is a file of that name");
}

Store open_store(const Request& request, std::function<bool()> stop) {
  make_out_folder(request);
  Store store(store_url(request));
  store.set_patience(patience_of(request, std::move(stop)));
  return store;
}

Store open_existing_store(const Request& request) {
  const std::string url = store_url(request);
  require(Store::exists(url), "there is no store ",
          request.store.empty() ? "in " + request.out : "at " + without_password(url),
          "; `locus lab` or `locus lab submit` creates one");
  Store store(url);
  store.set_patience(patience_of(request, {}));
  return store;
}

WorkerCommand worker_command(const Request& request, std::int64_t run, const SaveModels& save) {
  WorkerCommand command;
  command.program = "/proc/self/exe";  // this program, even if its file was replaced
  command.arguments = {"worker",
                       "--store",
                       store_url(request),
                       "--run",
                       std::to_string(run),
                       "--lease",
                       std::to_string(request.lease_seconds),
                       "--patience",
                       std::to_string(request.patience),
                       "--kept",
                       (fs::path(request.out) / "kept").string()};
  if (!save.formats.empty()) {
    for (const std::string& word :
         {std::string("--models"), save.folder.string(), std::string("--formats"), save.formats})
      command.arguments.push_back(word);
  }
  command.log = (fs::path(request.out) / "workers.log").string();
  return command;
}

}  // namespace locus::lab
