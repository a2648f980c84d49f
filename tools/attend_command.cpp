// SPDX-License-Identifier: Apache-2.0
// `locus attend`: computes attention with any encoding on arrays in files.
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include "array_files.h"
#include "encoding_options.h"
#include "locus/attention.h"
#include "locus/error.h"
#include "locus/positions.h"
#include "locus/reference_attention.h"
#include "locus/text.h"
#include "mask_options.h"
#include "model_reading.h"
#include "position_list.h"

namespace locus::tools {
namespace {

/// The limit of results that the reference computes one by one.
constexpr std::int64_t max_pairs = std::int64_t{1} << 26;

struct AttendRequest {
  EncodingOptions encoding;
  std::vector<std::string> weights;
  std::string query, key, value;
  std::string axes;
  std::string query_positions, key_positions;
  std::string query_documents, key_documents;
  std::string sink_logits;
  std::string query_numbers, key_numbers;
  bool rotated = false;
  MaskOptions mask;
  std::optional<double> scale;
  double soft_cap = 0;
  std::string output, scores, probabilities, log_sum_exp;
  bool json = false;
};

/// An array with its view.
struct Heads {
  io::NpyArray array;
  HeadsView view;
};

io::NpyArray read_array(const std::string& path) {
  io::NpyArray array = io::read_npy(path);
  require(array.size() > 0, path, " must not be empty");
  return array;
}

Heads heads_in(io::NpyArray array, const std::string& path, const std::string& axes) {
  Heads heads{.array = std::move(array), .view = {}};
  const std::size_t rank = heads.array.shape.size();
  require(rank == axes.size(), path, ": --axes ", axes, " needs ", axes.size(), " extents, the array has ", rank);
  heads.view = heads_view(heads.array.bytes.data(), element_type(heads.array.type, path), axes, heads.array.shape);
  return heads;
}

/// All three arrays have the same axes; positions of queries or keys may distinguish htd from thd.
std::string axes_of(const AttendRequest& request, const io::NpyArray& query, const io::NpyArray& key) {
  if (!request.axes.empty()) return request.axes;
  const auto tokens = [](const std::string& positions) {
    return positions.empty() ? std::nullopt : std::optional(parse_position_list(positions).tokens);
  };
  const auto query_tokens = tokens(request.query_positions), key_tokens = tokens(request.key_positions);
  return query_tokens || !key_tokens ? heads_axes("", query.shape, query_tokens, request.query)
                                     : heads_axes("", key.shape, key_tokens, request.key);
}

/// Sets the tensors of a learned scheme from --weights.
Encoding with_weights(const Encoding& encoding, const std::vector<std::string>& weights) {
  if (weights.empty()) return encoding;
  Arguments arguments = encoding.arguments();
  const std::vector<Parameter> parameters = parameters_of(encoding.scheme(), arguments);
  for (const auto& [name, path] : parse_setting_list("--weights", weights)) {
    require(find_parameter(encoding.scheme().name, parameters, name).kind == ValueKind::tensor, "--weights ", name,
            ": ", encoding.scheme().name, ".", name, " is no tensor; set it with --set");
    const io::NpyArray array = io::read_npy(path);
    arguments.set(name, Tensor{.shape = array.shape, .data = io::to_floats(array, path)});
  }
  return Encoding(encoding.scheme().name, arguments);
}

/// Where documents begin and end: 0, l0, l0 + l1, ..., tokens.
using Boundaries = std::vector<std::int64_t>;

Boundaries boundaries_of(const std::string& text, const char* option, std::int64_t tokens) {
  if (text.empty()) return {0, tokens};
  Boundaries boundaries{0};
  for (const std::int64_t length : parse_integers(option, text)) {
    require(length >= 0 && length <= tokens - boundaries.back(), option, " must be lengths that add up to ", tokens,
            " tokens, got ", text);
    boundaries.push_back(boundaries.back() + length);
  }
  require(boundaries.back() == tokens, option, " must be lengths that add up to ", tokens, " tokens, got ", text);
  return boundaries;
}

/// Keys count 0, 1, ... in each document; the last query has the position of the last key.
PositionIds default_positions(const Boundaries& own, const Boundaries& keys) {
  PositionIds ids{.tokens = own.back(), .ids = {}};
  for (std::size_t i = 1; i < own.size(); ++i) {
    const std::int64_t tokens = own[i] - own[i - 1], last = keys[i] - keys[i - 1];
    for (std::int64_t t = 0; t < tokens; ++t) ids.ids.push_back(last - tokens + t);
  }
  return ids;
}

/// The given positions, or the default ones.
PositionIds positions_of(const std::string& text, const char* option, const HeadsView& view,
                         const PositionIds& defaults, Inferences& inferences) {
  const Position first = defaults.ids.front(), last = defaults.ids.back();
  const bool whole = last - first + 1 == defaults.tokens;  // else they restart in each document
  if (text.empty()) {
    inferences.add(option + 2 + (whole ? concat(" ", first, ":", last + 1) : std::string(" by document")));
  }
  const PositionIds ids = text.empty() ? defaults : parse_position_list(text);
  require(ids.tokens == view.tokens, option, " has ", ids.tokens, " tokens, the array has ", view.tokens);
  require(ids.batch == 1 || ids.batch == view.batch, option, " has ", ids.batch, " batch rows, the array has ",
          view.batch);
  return ids;
}

/// One number per query head, as a list or from a file.
std::vector<float> sink_logits_of(const std::string& text, std::int64_t heads) {
  std::vector<float> logits;
  if (text.empty()) return logits;
  if (text.ends_with(".npy")) {
    logits = io::to_floats(io::read_npy(text), text);
  } else {
    for (const std::string_view item : split(text, ',')) {
      logits.push_back(static_cast<float>(parse_real("--sink-logits", item)));
    }
  }
  require(std::ssize(logits) == heads, "--sink-logits must be ", heads, " numbers, one per query head, got ",
          logits.size());
  return logits;
}

/// What was computed in addition to the output.
struct Inspection {
  std::vector<float> log_sum_exp, probabilities;
  reference::Attention exact;
};

std::int64_t pairs_of(const AttentionCall& call) {
  const std::int64_t rows = call.query.batch * call.query.heads * std::max<std::int64_t>(call.query.tokens, 1);
  require(call.key.tokens <= max_pairs / rows, "--save-scores and --save-probabilities hold at most ", max_pairs,
          " values, got ", call.query.batch, " x ", call.query.heads, " x ", call.query.tokens, " x ", call.key.tokens);
  return rows * call.key.tokens;
}

/// The kernel returns float32. Results for float64 arrays, and all scores, come from the reference in double.
Inspection run(const AttendRequest& request, AttentionCall& call) {
  Inspection found;
  std::vector<std::int64_t> rows;
  const bool scores = !request.scores.empty(), probabilities = !request.probabilities.empty();
  const std::int64_t pairs = scores || probabilities ? pairs_of(call) : 0;
  found.log_sum_exp.resize(static_cast<std::size_t>(call.query.batch * call.query.heads * call.query.tokens));
  call.log_sum_exp = found.log_sum_exp.data();
  if (probabilities) {
    for (std::int64_t i = 0; i < call.query.tokens; ++i) rows.push_back(i);
    found.probabilities.resize(static_cast<std::size_t>(pairs));
    call.rows_wanted = rows;
    call.probabilities = found.probabilities.data();
  }
  attend(call);
  const bool in_double = call.query.type == ElementType::float64;
  if (scores || (in_double && (probabilities || !request.log_sum_exp.empty()))) {
    if (!scores && !probabilities) pairs_of(call);
    found.exact = reference::attend(call);
  }
  return found;
}

void write_inspected(const std::string& path, const AttentionCall& call, bool all_keys,
                     const std::vector<float>& single, const std::vector<double>& exact) {
  if (path.empty()) return;
  std::vector<std::int64_t> shape = {call.query.batch, call.query.heads, call.query.tokens};
  if (all_keys) shape.push_back(call.key.tokens);
  if (call.query.type == ElementType::float64) {
    io::write_npy<double>(path, shape, exact);
  } else if (single.empty()) {
    io::write_npy<float>(path, shape, std::vector<float>(exact.begin(), exact.end()));
  } else {
    io::write_npy<float>(path, shape, single);
  }
}

void check_outputs(const AttendRequest& request) {
  std::set<std::string> paths;
  for (const std::string& path : {request.output, request.scores, request.probabilities, request.log_sum_exp}) {
    require(path.empty() || paths.insert(path).second, "two results must not be written to the same file, got ", path);
    require_other_file(path, {request.query, request.key, request.value, request.query_positions, request.key_positions,
                              request.mask.keys, request.mask.pairs, request.sink_logits});
  }
}

void report(const AttendRequest& request, const std::optional<ChosenEncoding>& chosen, const Heads& query,
            const AttentionCall& call, const Inferences& inferences) {
  if (chosen) print_note(*chosen);
  if (!request.json) {
    inferences.print();
    std::cerr << "locus: wrote " << request.output << '\n';
    return;
  }
  Json json{{"scheme", chosen ? chosen->encoding.scheme().name : "nope"},
            {"output", request.output},
            {"shape", query.array.shape},
            {"type", name_of(call.query.type)},
            {"queries", call.query.tokens},
            {"keys", call.key.tokens},
            {"heads", call.query.heads},
            {"key_heads", call.key.heads},
            {"mask", request.mask.rule}};
  if (call.scale) json["scale"] = *call.scale;
  inferences.add_to(json);
  if (!request.scores.empty()) json["scores"] = request.scores;
  if (!request.probabilities.empty()) json["probabilities"] = request.probabilities;
  if (!request.log_sum_exp.empty()) json["log_sum_exp"] = request.log_sum_exp;
  if (chosen) add_reading(json, *chosen);
  print_json(json);
}

void attend_files(const AttendRequest& request) {
  check_outputs(request);
  io::NpyArray query_array = read_array(request.query), key_array = read_array(request.key);
  Inferences inferences;
  const std::string axes = axes_of(request, query_array, key_array);
  if (request.axes.empty()) inferences.add("axes " + axes);
  Heads query = heads_in(std::move(query_array), request.query, axes);
  Heads key = heads_in(std::move(key_array), request.key, axes);
  Heads value = heads_in(read_array(request.value), request.value, axes);
  const std::string& key_documents = request.key_documents.empty() ? request.query_documents : request.key_documents;
  require(request.query_documents.empty() == key_documents.empty(), "--key-documents needs --documents");
  const Boundaries query_ends = boundaries_of(request.query_documents, "--documents", query.view.tokens);
  const Boundaries key_ends = boundaries_of(key_documents, "--key-documents", key.view.tokens);
  require(query_ends.size() == key_ends.size(),
          "--documents and --key-documents must have the same number of documents, got ", query_ends.size() - 1,
          " and ", key_ends.size() - 1);
  const std::vector<float> sinks = sink_logits_of(request.sink_logits, query.view.heads);
  std::optional<Heads> query_numbers, key_numbers;
  const auto read_numbers = [&](const std::string& path, std::optional<Heads>& into) {
    if (!path.empty()) into = heads_in(read_array(path), path, axes);
  };
  read_numbers(request.query_numbers, query_numbers);
  read_numbers(
      request.key_numbers.empty() && query.view.tokens == key.view.tokens ? request.query_numbers : request.key_numbers,
      key_numbers);
  const PositionIds query_ids = positions_of(request.query_positions, "--query-positions", query.view,
                                             default_positions(query_ends, key_ends), inferences);
  const PositionIds key_ids = positions_of(request.key_positions, "--key-positions", key.view,
                                           default_positions(key_ends, key_ends), inferences);
  std::optional<ChosenEncoding> chosen;
  if (!request.encoding.schemes.empty() || !request.encoding.config.empty()) {
    chosen = choose_encoding(request.encoding, std::max(length_implied_by(query_ids), length_implied_by(key_ids)));
    chosen->encoding = with_weights(chosen->encoding, request.weights);
  }
  require(chosen || request.weights.empty(), "--weights needs --scheme or --config");
  const bool rotates = chosen && chosen->encoding.site() == Site::query_key;
  require(!chosen || chosen->encoding.site() != Site::hidden,
          "attend does not take schemes of the site hidden: add the rows ",
          "to the hidden state with `locus apply`, before queries and keys are computed");
  require(rotates || !request.rotated, "--rotated applies to schemes of the query_key site only");

  const ChosenMask mask = choose_mask(request.mask, query.view.batch, query.view.tokens, key.view.tokens);
  std::vector<std::byte> result(query.array.bytes.size());
  AttentionCall call;
  call.query = query.view;
  call.key = key.view;
  call.value = value.view;
  call.output = query.view;
  call.output.data = result.data();
  call.encoding = chosen ? &chosen->encoding : nullptr;
  call.mask = mask.view();
  call.scale = request.scale;
  if (!call.scale && chosen && chosen->read.softmax_scale) {
    call.scale = chosen->read.softmax_scale;
    if (!request.json) chosen->note = softmax_scale_note(*chosen);
  }
  call.soft_cap = request.soft_cap;
  call.sink_logits = sinks;
  if (query_numbers) call.query_numbers = query_numbers->view;
  if (key_numbers) call.key_numbers = key_numbers->view;
  if (!request.query_documents.empty()) {
    call.query_boundaries = query_ends;
    call.key_boundaries = key_ends;
  }
  if (query_ids.axes == 1 && key_ids.axes == 1) {
    call.query_ids = query_ids.ids;
    call.key_ids = key_ids.ids;
  } else {  // ids in an image are no order: the mask compares indices
    call.mask.by_index = true;
  }
  if (rotates && !request.rotated) {
    const Rotation& rotation = chosen->encoding.rotation();
    rotate(chosen->encoding, query.view, fit_axes(rotation, query_ids), Role::query);
    rotate(chosen->encoding, key.view, fit_axes(rotation, key_ids), Role::key);
  }
  const Inspection found = run(request, call);
  write_inspected(request.scores, call, true, {}, found.exact.scores);
  write_inspected(request.probabilities, call, true, found.probabilities, found.exact.probabilities);
  write_inspected(request.log_sum_exp, call, false, found.log_sum_exp, found.exact.log_sum_exp);
  io::write_npy(request.output, query.array.type, query.array.shape, result);
  report(request, chosen, query, call, inferences);
}

}  // namespace

void add_attend_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("attend", "Compute attention with any encoding on queries, keys and values in files");
  const auto request = std::make_shared<AttendRequest>();
  command
      ->add_option("--query", request->query,
                   "Read queries from this .npy file: float32, float64, float16, or bfloat16 as uint16")
      ->required();
  command->add_option("--key", request->key, "Read keys: as many heads as the queries, or a divisor of that")
      ->required();
  command->add_option("--value", request->value, "Read values, shaped like the keys")->required();
  command
      ->add_option("--axes", request->axes,
                   "Name the axes: td, thd, bthd, htd or bhtd. Absent: td, thd or bthd by the number of dimensions, "
                   "htd or bhtd if only those fit the positions")
      ->check(CLI::IsMember({"td", "thd", "bthd", "htd", "bhtd"}));
  add_encoding_options(*command, request->encoding);
  command->add_option("--weights", request->weights, "Read a tensor of the scheme from a .npy file; repeatable")
      ->type_name("NAME=FILE")
      ->take_all()
      ->expected(1, 1000)
      ->allow_extra_args(false);
  command->add_flag("--rotated", request->rotated,
                    "Do not rotate queries and keys: they are already rotated (query_key schemes)");
  command->add_option(
      "--query-positions", request->query_positions,
      "Set the ids of queries: 0,1,17 or 0:100 or a .npy file [t], [b, t] or [axes, b, t]; absent: the last query "
      "has the id of the last key (of its document), so more queries than keys begin below 0");
  command->add_option("--key-positions", request->key_positions,
                      "Set the ids of keys; absent: 0, 1, ... (in each document)");
  command->add_option("--documents", request->query_documents,
                      "Set the lengths of packed documents: 5,3,8; a query sees only the keys of its document");
  command->add_option("--key-documents", request->key_documents,
                      "Set the document lengths of the keys, if they differ from those of the queries");
  command->add_option("--sink-logits", request->sink_logits,
                      "Add one number per query head (0.5,-1 or a .npy file) to the softmax, without a key");
  command->add_option("--query-numbers", request->query_numbers,
                      "Read what the queries' tokens bring (forget_gate: running sums of log gates) from a .npy file, "
                      "with the axes of the queries and as many numbers as the scheme takes in place of dim");
  command->add_option("--key-numbers", request->key_numbers,
                      "Read what the keys' tokens bring; absent: the queries' file, if there are as many keys");
  add_mask_options(*command, request->mask);
  command->add_option("--scale", request->scale,
                      "Multiply q.k by this; absent: the scheme's scale, else 1 / sqrt(dim)");
  command->add_option("--soft-cap", request->soft_cap, "Replace scores s by cap tanh(s / cap); 0: leave them");
  command->add_option("-o,--output", request->output, "Write the result, in the queries' shape and type")->required();
  command->add_option("--save-scores", request->scores,
                      "Write the scores before the softmax, .npy [batch, heads, queries, keys], -inf where masked");
  command->add_option("--save-probabilities", request->probabilities,
                      "Write the probabilities, .npy [batch, heads, queries, keys]");
  command->add_option("--log-sum-exp", request->log_sum_exp,
                      "Write the log-sum-exp of the scores, .npy [batch, heads, queries]");
  command->add_flag("--json", request->json, "Print one JSON object about what was done");
  command->footer(
      "Examples:\n"
      "  locus attend --scheme alibi:heads=8 --query q.npy --key k.npy --value v.npy --axes htd --mask causal -o "
      "out.npy\n"
      "  locus attend --config config.json --query q.npy --key k.npy --value v.npy --axes htd \\\n"
      "      --mask causal,window=512 -o out.npy");
  command->callback([request] { attend_files(*request); });
}

}  // namespace locus::tools
