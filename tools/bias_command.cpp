// SPDX-License-Identifier: Apache-2.0
// `locus bias`: the numbers that a score scheme adds, its buckets, or its slopes.
#include <iostream>
#include <memory>

#include "encoding_options.h"
#include "locus/bias.h"
#include "locus/error.h"
#include "locus/io/npy.h"
#include "position_list.h"

namespace locus::tools {
namespace {

constexpr std::int64_t max_values = std::int64_t{1} << 31;
constexpr std::int64_t max_printed = 4096;
constexpr std::int64_t max_json_values = std::int64_t{1} << 24;

struct BiasRequest {
  EncodingOptions encoding;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t query_start = 0;
  std::string output;
  std::string type = "float64";
  bool buckets = false;
  bool slopes = false;
  bool json = false;
};

std::vector<Position> range(Position first, std::int64_t count) {
  std::vector<Position> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = first + static_cast<Position>(i);
  return ids;
}

// How much there may be, known before any of it is computed.
void check_size(const BiasRequest& request, std::int64_t heads) {
  const std::int64_t most = !request.output.empty() ? max_values : request.json ? max_json_values : max_printed;
  require(request.keys <= most / request.queries / heads, "the bias would have more than ", most, " values (", heads,
          " x ", request.queries, " x ", request.keys, ")",
          request.output.empty() ? ", too many to print; give --output FILE.npy" : "");
}

// The result goes to the file, or is printed row by row where it is small.
template <class T>
void deliver(const BiasRequest& request, const ChosenEncoding& chosen, const std::string& name,
             const std::vector<std::int64_t>& shape, const std::vector<T>& values) {
  if (!request.output.empty()) {
    if (std::is_same_v<T, double> && request.type == "float32") {
      const std::vector<float> single(values.begin(), values.end());
      io::write_npy<float>(request.output, shape, single);
    } else {
      io::write_npy<T>(request.output, shape, values);
    }
  }
  print_note(chosen);
  if (request.json) {
    Json json{{"scheme", chosen.encoding.scheme().name}, {"what", name}, {"shape", shape}};
    if (request.output.empty()) {
      json[name] = values;
    } else {
      json["output"] = request.output;
    }
    add_reading(json, chosen);
    print_json(json);
  } else if (request.output.empty()) {
    const auto width = static_cast<std::size_t>(shape.back());
    for (std::size_t i = 0; i < values.size(); ++i) std::cout << values[i] << ((i + 1) % width == 0 ? '\n' : ' ');
  } else {
    std::cerr << "locus: wrote " << request.output << '\n';
  }
}

void bias(const BiasRequest& request) {
  require(!(request.buckets && request.slopes), "give --buckets or --slopes, not both");
  if (request.slopes) {
    const ChosenEncoding chosen = choose_encoding(request.encoding, std::int64_t{1});
    const std::vector<double>& slopes = chosen.encoding.score().slopes;
    require(!slopes.empty(), chosen.encoding.scheme().name, " has no slopes");
    deliver(request, chosen, "slopes", {static_cast<std::int64_t>(slopes.size())}, slopes);
    return;
  }
  require(request.queries > 0 && request.keys > 0, "--queries and --keys must be at least 1, got ", request.queries,
          " and ", request.keys);
  require(request.queries <= max_position && request.keys <= max_position, "--queries and --keys must be at most ",
          max_position, ", got ", request.queries, " and ", request.keys);
  require(request.query_start <= max_position && request.query_start >= -max_position, "--query-start must be within ",
          "+-", max_position, ", got ", request.query_start);
  const ChosenEncoding chosen = choose_encoding(request.encoding, request.keys);
  const std::int64_t heads = request.buckets ? 1 : chosen.encoding.score().heads;
  check_size(request, heads);
  const std::vector<Position> queries = range(request.query_start, request.queries);
  const std::vector<Position> keys = range(0, request.keys);
  if (request.buckets) {
    deliver(request, chosen, "buckets", {request.queries, request.keys}, bucket_matrix(chosen.encoding, queries, keys));
  } else {
    deliver(request, chosen, "bias", {heads, request.queries, request.keys},
            bias_matrix(chosen.encoding, queries, keys));
  }
}

}  // namespace

void add_bias_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("bias", "Print or save the bias of a score scheme, its buckets, or its slopes");
  const auto request = std::make_shared<BiasRequest>();
  add_encoding_options(*command, request->encoding);
  add_integer(*command, "--queries", request->queries, "Set the number of queries");
  add_integer(*command, "--keys", request->keys, "Set the number of keys, at positions 0, 1, ...");
  add_integer(*command, "--query-start", request->query_start,
              "Set the position of the first query; with a cache: keys - queries [0]");
  command->add_option("--output", request->output, "Write a .npy file [heads, queries, keys]; absent: print");
  command->add_option("--type", request->type, "Write float64 or float32")
      ->check(CLI::IsMember({"float64", "float32"}));
  command->add_flag("--buckets", request->buckets,
                    "Give the bucket indices [queries, keys] of t5 and relative_bias instead");
  command->add_flag("--slopes", request->slopes, "Give ALiBi's slopes instead");
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "Examples:\n"
      "  locus bias --scheme alibi --set heads=8 --queries 5 --keys 5 --output b.npy\n"
      "  locus bias --scheme t5 --set heads=1 --queries 1 --keys 40 --query-start 39 --buckets");
  command->callback([request] { bias(*request); });
}

}  // namespace locus::tools
