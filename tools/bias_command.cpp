// SPDX-License-Identifier: Apache-2.0
// `locus bias`: prints or saves the numbers that a score scheme adds, its buckets, or its slopes.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "array_files.h"
#include "encoding_options.h"
#include "locus/bias.h"
#include "locus/error.h"
#include "locus/io/npy.h"
#include "mask_options.h"
#include "position_list.h"

namespace locus::tools {
namespace {

constexpr std::int64_t max_bias_values = std::int64_t{1} << 31;
constexpr std::int64_t max_printed = 4096;
constexpr std::int64_t max_json_values = std::int64_t{1} << 24;

struct BiasRequest {
  EncodingOptions encoding;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t query_start = 0;
  std::string query_positions, key_positions, key_mask;
  std::string output;
  std::string type = "float64";
  bool buckets = false;
  bool slopes = false;
  bool json = false;
};

/// Returns the positions of an option, none if it is absent; sets `count` to their number.
std::vector<Position> ids_of(const std::string& text, const char* option, std::int64_t& count) {
  if (text.empty()) return {};
  const PositionIds given = parse_position_list(text);
  require(given.axes == 1 && given.batch == 1, option, " must be one row of positions, got ", given.axes, " axes and ",
          given.batch, " batch rows");
  require(count == 0 || count == given.tokens, option, " must have as many positions as there are tokens (", count,
          "), got ", given.tokens);
  count = given.tokens;
  return given.ids;
}

std::vector<Position> range(Position first, std::int64_t count) {
  std::vector<Position> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = first + static_cast<Position>(i);
  return ids;
}

/// Sets the bias of padding keys to -infinity.
void hide_padding(std::vector<double>& bias, const std::vector<std::uint8_t>& seen) {
  if (seen.empty()) return;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    if (seen[i % seen.size()] == 0) bias[i] = -HUGE_VAL;
  }
}

// Checks the size before anything is computed.
void check_size(const BiasRequest& request, std::int64_t heads) {
  const std::int64_t most = !request.output.empty() ? max_bias_values : request.json ? max_json_values : max_printed;
  require(request.keys <= most / request.queries / heads, "the bias would have more than ", most, " values (", heads,
          " x ", request.queries, " x ", request.keys, ")",
          request.output.empty() ? ", too many to print; give --output FILE.npy" : "");
}

// Writes the result to the file, or prints it row by row if it is small.
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

void bias(BiasRequest request) {
  require(!(request.buckets && request.slopes), "give --buckets or --slopes, not both");
  if (request.slopes) {
    const ChosenEncoding chosen = choose_encoding(request.encoding, std::int64_t{1});
    const std::vector<double>& slopes = chosen.encoding.score().slopes;
    require(!slopes.empty(), chosen.encoding.scheme().name, " has no slopes");
    deliver(request, chosen, "slopes", {static_cast<std::int64_t>(slopes.size())}, slopes);
    return;
  }
  require_other_file(request.output, {request.query_positions, request.key_positions, request.key_mask});
  require(request.queries > 0 || !request.query_positions.empty(), "--queries must be at least 1, got ",
          request.queries);
  require(request.keys > 0 || !request.key_positions.empty(), "--keys must be at least 1, got ", request.keys);
  require(request.queries <= max_position && request.keys <= max_position, "--queries and --keys must be at most ",
          max_position, ", got ", request.queries, " and ", request.keys);
  require(request.query_start <= max_position && request.query_start >= -max_position, "--query-start must be within ",
          "+-", max_position, ", got ", request.query_start);
  require(request.query_start == 0 || request.query_positions.empty(),
          "give --query-start or --query-positions, not both");
  // Given positions determine the counts; the size is checked before default positions are made.
  std::vector<Position> queries = ids_of(request.query_positions, "--query-positions", request.queries);
  std::vector<Position> keys = ids_of(request.key_positions, "--key-positions", request.keys);
  const Position last = keys.empty() ? 0 : *std::max_element(keys.begin(), keys.end());
  const ChosenEncoding chosen =
      choose_encoding(request.encoding, std::max(request.keys, std::clamp<Position>(last, 0, max_position) + 1));
  const std::int64_t heads = request.buckets ? 1 : chosen.encoding.score().heads;
  check_size(request, heads);
  if (queries.empty()) queries = range(request.query_start, request.queries);
  if (keys.empty()) keys = range(0, request.keys);
  require(request.key_mask.empty() || !request.buckets, "--key-mask does not apply to --buckets");
  const std::vector<std::uint8_t> seen =
      request.key_mask.empty() ? std::vector<std::uint8_t>{} : read_mask(request.key_mask, 1, {request.keys});
  if (request.buckets) {
    deliver(request, chosen, "buckets", {request.queries, request.keys}, bucket_matrix(chosen.encoding, queries, keys));
  } else {
    std::vector<double> values = bias_matrix(chosen.encoding, queries, keys);
    hide_padding(values, seen);
    deliver(request, chosen, "bias", {heads, request.queries, request.keys}, values);
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
  command->add_option("--query-positions", request->query_positions,
                      "Set the positions of the queries, instead of --queries: 0,1,17 or 0:100 or a .npy file");
  command->add_option("--key-positions", request->key_positions, "Set the positions of the keys, instead of --keys");
  command->add_option("--key-mask", request->key_mask,
                      "Read a .npy [keys] of 0 (padding) and 1; padding gets -inf (null in JSON)");
  command->add_option("--output", request->output, "Write a .npy file [heads, queries, keys]; absent: print");
  command->add_option("--type", request->type, "Write float64 or float32")
      ->check(CLI::IsMember({"float64", "float32"}));
  command->add_flag("--buckets", request->buckets,
                    "Return the bucket indices [queries, keys] of t5 and relative_bias instead");
  command->add_flag("--slopes", request->slopes, "Return ALiBi's slopes instead");
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "Examples:\n"
      "  locus bias --scheme alibi --set heads=8 --queries 5 --keys 5 --output bias.npy\n"
      "  locus bias --scheme t5 --set heads=1 --queries 1 --keys 40 --query-start 39 --buckets");
  command->callback([request] { bias(*request); });
}

}  // namespace locus::tools
