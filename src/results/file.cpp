// SPDX-License-Identifier: Apache-2.0
#include "results/file.h"

#include <fstream>

#include "locus/error.h"
#include "locus/io/atomic_file.h"
#include "results/json.h"

namespace locus::results {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& file, const std::string& text) {
  const io::ByteChunk chunk = std::as_bytes(std::span(text));
  io::write_atomically(file, std::span(&chunk, 1));
}

/// Names may contain a comma: "rope:a=1,b=2".
std::string quoted(const std::string& text) {
  return text.find_first_of(",\"") == std::string::npos ? text : Json(text).dump();
}

std::string cell(const std::optional<double>& value) { return value ? Json(*value).dump() : std::string(); }

}  // namespace

fs::path results_path(const fs::path& given) {
  require(!given.empty(), "the results must be a results.json or its folder, got an empty path");
  const fs::path file = fs::is_directory(given) ? given / "results.json" : given;
  require(fs::exists(file), file.string(), " does not exist; `locus lab` writes it");
  return file;
}

Json read_json(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  require(stream.good(), file.string(), " cannot be read");
  Json json = Json::parse(stream, nullptr, false);
  require(!json.is_discarded(), file.string(), " is not JSON");
  return json;
}

Results read_file(const fs::path& path) {
  const fs::path file = results_path(path);
  const Json json = read_json(file);
  try {
    return read_results(json);
  } catch (const Error& error) {
    fail(file.string(), ": ", error.what());
  }
}

std::string to_csv(const Results& results) {
  std::string csv = "task,line,name,length,place,mean,low,high";
  for (const std::int64_t seed : results.run.seeds) csv += ",seed_" + std::to_string(seed);
  csv += '\n';
  for (const Number& number : results.numbers) {
    const Estimate found = number.estimate.value_or(Estimate{});
    csv += quoted(number.task) + ',' + quoted(number.line) + ',' + quoted(number.name) + ',' +
           std::to_string(number.length) + ',' + std::to_string(number.place) + ',';
    csv += (number.estimate ? cell(found.mean) : "") + ',' + cell(found.low) + ',' + cell(found.high);
    for (const std::optional<double>& value : number.values) csv += ',' + cell(value);
    csv += '\n';
  }
  return csv;
}

void write_files(const fs::path& folder, const Results& results) {
  write_text(folder / "results.json", to_json(results).dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
  write_text(folder / "results.csv", to_csv(results));
}

}  // namespace locus::results
