// SPDX-License-Identifier: Apache-2.0
#include "run/kept_results.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <span>

#include "locus/io/atomic_file.h"
#include "run/spec.h"

namespace locus::lab {
namespace {

namespace fs = std::filesystem;

Json json_of(const TrialResult& result, const std::string& store) {
  Json numbers = Json::array();
  for (const Measurement& one : result.measured) {
    const Json value = std::isfinite(one.value) ? Json(one.value) : Json();
    numbers.push_back({one.line, one.name, one.length, one.place, value});
  }
  return {{"store", store},
          {"trial", result.trial.key},
          {"fence", result.trial.fence},
          {"owner", result.trial.owner},
          {"kind", result.trial.kind},
          {"seconds", result.seconds},
          {"measurements", numbers}};
}

TrialResult result_from(const Json& json) {
  TrialResult result;
  json.at("trial").get_to(result.trial.key);
  json.at("fence").get_to(result.trial.fence);
  json.at("owner").get_to(result.trial.owner);
  json.at("kind").get_to(result.trial.kind);
  json.at("seconds").get_to(result.seconds);
  for (const Json& one : json.at("measurements")) {
    const double value = one.at(4).is_null() ? std::numeric_limits<double>::quiet_NaN() : one.at(4).get<double>();
    result.measured.push_back({one.at(0), one.at(1), one.at(2), one.at(3), value});
  }
  return result;
}

}  // namespace

fs::path KeptResults::file_of(const StoredTrial& trial) const {
  std::string name = trial.owner;  // an owner has one result at a time
  for (char& c : name) c = c == '/' ? '-' : c;
  return folder_ / (name + ".json");
}

fs::path KeptResults::keep(const TrialResult& result) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  require(!error, "cannot create ", folder_.string(), ": ", error.message());
  const std::string text = json_of(result, store_).dump();
  const io::ByteChunk chunk = std::as_bytes(std::span(text));
  io::write_atomically(file_of(result.trial), std::span(&chunk, 1));
  return file_of(result.trial);
}

void KeptResults::remove(const TrialResult& result) const {
  std::error_code ignored;
  fs::remove(file_of(result.trial), ignored);
}

void KeptResults::deliver(Store& store, const std::function<void(const std::string&)>& say) const {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    TrialResult result;
    try {
      const Json json = Json::parse(file);
      if (json.at("store") != store_) continue;
      result = result_from(json);
    } catch (const Json::exception& wrong) {
      say("the kept result " + entry.path().string() + " cannot be read: " + wrong.what());
      continue;
    }
    const bool taken = store.finish(result.trial, result.seconds, result.measured);
    say("the kept result of " + result.trial.key + (taken ? " is delivered" : " is no longer needed"));
    fs::remove(entry.path(), error);
  }
}

}  // namespace locus::lab
