// SPDX-License-Identifier: Apache-2.0
// `locus diagnose`: infers what a dump of queries, keys or score biases shows.
#include <iomanip>
#include <iostream>
#include <memory>

#include "array_files.h"
#include "encoding_options.h"
#include "locus/doctor/diagnosis_fields.h"
#include "locus/error.h"
#include "locus/io/npy.h"
#include "locus/rotate.h"
#include "position_list.h"

namespace locus::tools {
namespace {

struct DiagnoseRequest {
  EncodingOptions encoding;
  std::string before;
  std::string after;
  std::string bias;
  std::string gates;
  std::string queries, keys;
  std::string axes;
  std::string positions;
  std::string role = "query";
  bool both_rotated = false;
  bool json = false;
};

// In the order [batch, tokens, heads, head_dim].
std::vector<double> in_order(const HeadsView& view, const std::vector<double>& values) {
  std::vector<double> ordered;
  ordered.reserve(values.size());
  for (std::int64_t b = 0; b < view.batch; ++b) {
    for (std::int64_t t = 0; t < view.tokens; ++t) {
      for (std::int64_t h = 0; h < view.heads; ++h) {
        const auto from = values.begin() + (b * view.batch_stride + t * view.token_stride + h * view.head_stride);
        ordered.insert(ordered.end(), from, from + view.head_dim);
      }
    }
  }
  return ordered;
}

RotationDump read_dump(const DiagnoseRequest& request, const std::string& axes, const io::NpyArray& before,
                       const io::NpyArray& after) {
  require(before.shape == after.shape, request.after, " must have the shape of ", request.before);
  std::vector<double> first = numbers_of(before, request.before);
  const std::vector<double> second = numbers_of(after, request.after);
  const HeadsView view = heads_view(first.data(), ElementType::float64, axes, before.shape);
  RotationDump dump{view.batch, view.tokens, view.heads, view.head_dim, in_order(view, first), in_order(view, second)};
  return dump;
}

void print_verdicts(const std::vector<Verdict>& verdicts) {
  for (const Verdict& verdict : verdicts) {
    std::cout << "  " << std::fixed << std::setprecision(2) << verdict.confidence << std::defaultfloat
              << std::setprecision(4) << "  " << verdict.name << ": " << verdict.text << '\n';
    if (!verdict.evidence.empty()) std::cout << "        " << verdict.evidence << '\n';
  }
}

void print_slice(const TurnedSlice& slice) {
  std::cout << name_of(slice.pairing) << " pairs, " << slice.rotary_dim << " coordinates from " << slice.rotary_offset
            << (slice.deinterleaved_output ? ", output [evens | odds]" : "") << '\n';
}

void print_spectrum(const Diagnosis& diagnosis) {
  constexpr std::size_t shown = 16;
  std::cout << "spectrum (|z|, then the angle of the first tokens, pair by pair):\n";
  const std::size_t pairs = std::min(shown, diagnosis.pair_magnitudes.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    std::cout << "  " << i << ": " << diagnosis.pair_magnitudes[i];
    for (const std::vector<double>& angles : diagnosis.pair_angles) std::cout << ' ' << angles[i];
    std::cout << '\n';
  }
}

void print_diagnosis(const Diagnosis& diagnosis) {
  std::cout << std::setprecision(6) << name_of(diagnosis.kind) << ", stored as " << name_of(diagnosis.storage)
            << "; residual " << diagnosis.residual << " (noise " << diagnosis.noise << ")\n";
  if (diagnosis.slice) {
    std::cout << "slice: ";
    print_slice(*diagnosis.slice);
    if (!diagnosis.also_fitting.empty()) {
      std::cout << "  " << diagnosis.also_fitting.size() << " more would fit, such as ";
      print_slice(diagnosis.also_fitting.front());
    }
    std::cout << "magnitude: " << diagnosis.magnitude << (diagnosis.magnitude_varies ? " on average, varying" : "")
              << '\n';
  }
  std::cout << "verdicts:\n";
  print_verdicts(diagnosis.verdicts);
  if (!diagnosis.explanations.empty()) std::cout << "explanations that fit, simplest first:\n";
  for (const Explanation& explanation : diagnosis.explanations) {
    std::cout << "  misfit " << std::setprecision(3) << explanation.misfit << std::setprecision(6) << ": "
              << explanation.text << '\n';
  }
  for (const std::string& text : diagnosis.decide) std::cout << "to decide: " << text << '\n';
  for (const std::string& text : diagnosis.not_judged) std::cout << "not judged: " << text << '\n';
  const bool open = diagnosis.explanations.empty() || diagnosis.explanations.front().free_frequencies;
  if (open) print_spectrum(diagnosis);
}

bool has_encoding(const DiagnoseRequest& request) {
  return !request.encoding.schemes.empty() || !request.encoding.config.empty();
}

// Hidden states [batch, tokens, dim] are vectors of one head.
std::string one_head(const DiagnoseRequest& request, io::NpyArray& before, io::NpyArray& after) {
  const std::string axes = hidden_axes(request.axes, before.shape, request.before);
  if (axes != "btd") return axes;
  for (io::NpyArray* array : {&before, &after}) {
    if (array->shape.size() == 3) array->shape.insert(array->shape.begin() + 2, 1);
  }
  return "bthd";
}

void diagnose_rotation(const DiagnoseRequest& request) {
  require(request.gates.empty(), "--gates goes with --bias");
  require(request.queries.empty() && request.keys.empty(), "--queries and --keys go with --bias");
  require(!request.before.empty() && !request.after.empty(), "give --before and --after, or --bias");
  io::NpyArray before = io::read_npy(request.before);
  io::NpyArray after = io::read_npy(request.after);
  Expectation expected;
  expected.role = request.role == "key" ? Role::key : Role::query;
  expected.values = request.role == "value";
  expected.output = request.role == "output";
  expected.both_rotated = request.both_rotated;
  std::optional<std::int64_t> given_tokens;
  if (!request.positions.empty()) {
    expected.positions = parse_position_list(request.positions);
    given_tokens = expected.positions->tokens;
  }
  std::string axes = heads_axes(request.axes, before.shape, given_tokens, request.before);
  std::optional<ChosenEncoding> chosen;
  if (has_encoding(request)) {
    const std::int64_t tokens = tokens_in(axes, before.shape);
    chosen = choose_encoding(request.encoding, expected.positions ? length_implied_by(*expected.positions) : tokens);
    expected.encoding = chosen->encoding;
    const bool hidden = chosen->encoding.site() == Site::hidden;
    if (hidden) axes = one_head(request, before, after);
    if (expected.positions && !hidden) {
      expected.positions = fit_axes(chosen->encoding.rotation(), *expected.positions);
    }
  }
  const RotationDump dump = read_dump(request, axes, before, after);
  const Diagnosis diagnosis = diagnose(dump, expected);
  if (chosen) print_note(*chosen);
  if (request.json) {
    Json json = JsonFields<Json>::of(diagnosis);
    json["axes"] = axes;
    json["positions_assumed"] = !expected.positions.has_value();
    if (chosen) add_reading(json, *chosen);
    print_json(json);
  } else {
    print_diagnosis(diagnosis);
  }
  if ((chosen || expected.values) && !diagnosis.as_expected()) {
    std::cout.flush();
    throw CheckFailed{};
  }
}

struct Vectors {
  std::int64_t heads = 0;
  std::vector<double> numbers;
};

// Reads [heads, tokens, head_dim] with as many tokens as the bias has. 0 heads: any number of them.
Vectors vectors_of(const std::string& path, std::int64_t heads, std::int64_t tokens) {
  const io::NpyArray array = io::read_npy(path);
  const auto& shape = array.shape;
  require(shape.size() == 3, path, " must have shape [heads, tokens, head_dim], got ", shape.size(), " axes");
  require((heads == 0 || shape[0] == heads) && shape[1] == tokens, path, " must have the heads and tokens of --bias (",
          heads == 0 ? "any" : std::to_string(heads), " x ", tokens, "), got ", shape[0], " x ", shape[1]);
  return {shape[0], numbers_of(array, path)};
}

void diagnose_scores(const DiagnoseRequest& request) {
  require(request.before.empty() && request.after.empty(), "give --bias, or --before and --after, not both");
  const io::NpyArray array = io::read_npy(request.bias);
  const std::size_t rank = array.shape.size();
  require(rank == 2 || rank == 3, request.bias, " must have shape [heads, queries, keys] or [queries, keys], got ",
          rank, " axes");
  BiasDump dump{rank == 3 ? array.shape[0] : 1, array.shape[rank - 2], array.shape[rank - 1],
                numbers_of(array, request.bias)};
  if (!request.gates.empty()) dump.gates = numbers_of(io::read_npy(request.gates), request.gates);
  require(request.queries.empty() == request.keys.empty(), "give --queries and --keys, or neither");
  if (!request.queries.empty()) {
    dump.query_vectors = vectors_of(request.queries, dump.heads, dump.queries).numbers;
    const Vectors keys = vectors_of(request.keys, 0, dump.keys);
    dump.key_heads = keys.heads;
    dump.key_vectors = keys.numbers;
  }
  std::optional<ChosenEncoding> chosen;
  std::optional<Encoding> expected;
  if (has_encoding(request)) {
    chosen = choose_encoding(request.encoding, dump.keys);
    expected = chosen->encoding;
  }
  const BiasDiagnosis diagnosis = diagnose_bias(dump, expected);
  if (chosen) print_note(*chosen);
  if (request.json) {
    Json json = JsonFields<Json>::of(diagnosis);
    if (chosen) add_reading(json, *chosen);
    print_json(json);
  } else {
    std::cout << "stored as " << name_of(diagnosis.storage) << "; "
              << (diagnosis.toeplitz   ? "depends on key - query only"
                  : diagnosis.key_only ? "depends on the key only"
                                       : "does not depend on key - query alone")
              << "; masked entries: " << diagnosis.masked << (diagnosis.causal_mask ? " (causal)" : "") << '\n';
    print_verdicts(diagnosis.verdicts);
  }
  if (chosen && !diagnosis.as_expected()) {
    std::cout.flush();
    throw CheckFailed{};
  }
}

}  // namespace

void add_diagnose_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("diagnose", "Find the fault in a dump of queries, keys or score biases");
  const auto request = std::make_shared<DiagnoseRequest>();
  command->add_option("--before", request->before,
                      "Read queries or keys before rotation, or hidden states before rows are added, from a .npy file "
                      "(bfloat16 as uint16)");
  command->add_option("--after", request->after, "Read the same after rotation or addition");
  command->add_option(
      "--axes", request->axes,
      "Name the axes: td, thd, htd, bthd or bhtd. Absent: td, thd or bthd by the number of dimensions, htd "
      "or bhtd if only those fit --positions");
  command->add_option("--positions", request->positions,
                      "Set the position ids: 0:100 or a .npy file. Absent: assume 0, 1, 2, ...");
  command
      ->add_option(
          "--role", request->role,
          "Treat the arrays as queries, keys (which differ in xpos and with a query temperature), values (which "
          "must not change, unless the output is turned), or outputs of attention before and after they are "
          "turned back")
      ->check(CLI::IsMember({"query", "key", "value", "output"}));
  command->add_flag("--both-rotated", request->both_rotated,
                    "Treat --before as rotated by the expected encoding, --after by the suspect one");
  command->add_option("--bias", request->bias,
                      "Read score biases [heads, queries, keys], instead of --before and --after");
  command->add_option("--gates", request->gates,
                      "With --bias: read the logarithms of the tokens' gates [heads, keys] (forget_gate)");
  command->add_option("--queries", request->queries,
                      "With --bias and cope: read the queries [heads, queries, head_dim], before the softmax scale");
  command->add_option("--keys", request->keys, "With --queries: read the keys [key heads, keys, head_dim]");
  add_encoding_options(*command, request->encoding);
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "Exit code 1: with --config or --scheme, the dump is not as expected.\n"
      "Examples:\n"
      "  locus diagnose --before q.npy --after mine.npy --axes htd\n"
      "  locus diagnose --before q.npy --after mine.npy --axes htd --config config.json --positions 0:16\n"
      "  locus diagnose --bias bias.npy --scheme alibi:heads=8\n"
      "  locus diagnose --bias gate_bias.npy --gates log_f.npy --scheme forget_gate:heads=8");
  command->callback([request] {
    if (request->bias.empty()) {
      diagnose_rotation(*request);
    } else {
      diagnose_scores(*request);
    }
  });
}

}  // namespace locus::tools
