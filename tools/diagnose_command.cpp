// SPDX-License-Identifier: Apache-2.0
// `locus diagnose`: what a dump of queries, keys or score biases really did.
#include <iomanip>
#include <iostream>
#include <memory>

#include "encoding_options.h"
#include "locus/doctor/diagnose.h"
#include "locus/doctor/diagnose_bias.h"
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
  std::string axes;
  std::string positions;
  std::string role = "query";
  bool both_rotated = false;
  bool json = false;
};

// 16-bit integers are bfloat16, which NumPy has no name for.
std::vector<double> numbers_of(const io::NpyArray& array, const std::string& path) {
  if (array.type != io::NpyType::uint16) {
    require(
        array.type == io::NpyType::float32 || array.type == io::NpyType::float64 || array.type == io::NpyType::float16,
        path, " must be float32, float64, float16 or (for bfloat16) uint16, got ", io::name_of(array.type));
    return io::to_doubles(array, path);
  }
  std::vector<double> values;
  for (const std::uint16_t bits : array.as<std::uint16_t>()) {
    values.push_back(static_cast<double>(to_float(BFloat16{bits})));
  }
  return values;
}

std::string axes_of(const DiagnoseRequest& request, std::size_t rank) {
  if (!request.axes.empty()) return request.axes;
  require(rank >= 2 && rank <= 4, request.before, " must have 2 to 4 axes, got ", rank);
  return rank == 2 ? "td" : rank == 3 ? "thd" : "bthd";
}

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

Json verdicts_json(const std::vector<Verdict>& verdicts) {
  constexpr const char* about[] = {"dump", "slice", "heads", "magnitude", "angles", "coverage", "precision"};
  Json json = Json::array();
  for (const Verdict& verdict : verdicts) {
    json.push_back({{"name", verdict.name},
                    {"about", about[static_cast<std::size_t>(verdict.about)]},
                    {"confidence", verdict.confidence},
                    {"text", verdict.text},
                    {"evidence", verdict.evidence}});
  }
  return json;
}

void print_verdicts(const std::vector<Verdict>& verdicts) {
  for (const Verdict& verdict : verdicts) {
    std::cout << "  " << std::fixed << std::setprecision(2) << verdict.confidence << std::defaultfloat
              << std::setprecision(4) << "  " << verdict.name << ": " << verdict.text << '\n';
    if (!verdict.evidence.empty()) std::cout << "        " << verdict.evidence << '\n';
  }
}

const char* name_of(Diagnosis::Kind kind) {
  constexpr const char* names[] = {"rotation", "unchanged", "scaled", "no_rotation"};
  return names[static_cast<std::size_t>(kind)];
}

Json slice_json(const TurnedSlice& slice) {
  return {{"pairing", locus::name_of(slice.pairing)},
          {"output_order", slice.deinterleaved_output ? "deinterleaved" : "same"},
          {"rotary_dim", slice.rotary_dim},
          {"rotary_offset", slice.rotary_offset}};
}

Json explanation_json(const Explanation& explanation) {
  Json json{{"text", explanation.text},          {"scheme", explanation.scheme},
            {"misfit", explanation.misfit},      {"inverse", explanation.inverse},
            {"times", explanation.times},        {"position_divisor", explanation.position_divisor},
            {"positions", explanation.positions}};
  Json& arguments = json["arguments"] = Json::object();
  for (const auto& [name, value] : explanation.arguments.all()) arguments[name] = to_text(value);
  return json;
}

Json diagnosis_json(const Diagnosis& diagnosis, const std::string& axes) {
  Json json{{"kind", name_of(diagnosis.kind)},
            {"axes", axes},
            {"storage", locus::name_of(diagnosis.storage)},
            {"residual", diagnosis.residual},
            {"noise", diagnosis.noise},
            {"verdicts", verdicts_json(diagnosis.verdicts)}};
  if (diagnosis.slice) json["slice"] = slice_json(*diagnosis.slice);
  Json& also = json["also_fitting"] = Json::array();
  for (const TurnedSlice& slice : diagnosis.also_fitting) also.push_back(slice_json(slice));
  json["head_map"] = diagnosis.head_map;
  json["magnitude"] = diagnosis.magnitude;
  json["magnitude_varies"] = diagnosis.magnitude_varies;
  json["frequencies"] = diagnosis.frequencies;
  Json& explanations = json["explanations"] = Json::array();
  for (const Explanation& explanation : diagnosis.explanations) explanations.push_back(explanation_json(explanation));
  json["decide"] = diagnosis.decide;
  json["spectrum"] = {{"magnitudes", diagnosis.pair_magnitudes}, {"angles", diagnosis.pair_angles}};
  return json;
}

void print_slice(const TurnedSlice& slice) {
  std::cout << locus::name_of(slice.pairing) << " pairs, " << slice.rotary_dim << " coordinates from "
            << slice.rotary_offset << (slice.deinterleaved_output ? ", output [evens | odds]" : "") << '\n';
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
  std::cout << std::setprecision(6) << name_of(diagnosis.kind) << ", stored as " << locus::name_of(diagnosis.storage)
            << "; residual " << diagnosis.residual << " (noise " << diagnosis.noise << ")\n";
  if (diagnosis.slice) {
    std::cout << "slice: ";
    print_slice(*diagnosis.slice);
    if (!diagnosis.also_fitting.empty()) {
      std::cout << "  or one of " << diagnosis.also_fitting.size() << " others, e.g. ";
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
  const bool open = diagnosis.explanations.empty() || diagnosis.explanations.front().free_frequencies;
  if (open) print_spectrum(diagnosis);
}

bool has_encoding(const DiagnoseRequest& request) {
  return !request.encoding.scheme.empty() || !request.encoding.config.empty();
}

void diagnose_rotation(const DiagnoseRequest& request) {
  require(!request.before.empty() && !request.after.empty(), "give --before and --after, or --bias");
  const io::NpyArray before = io::read_npy(request.before);
  const io::NpyArray after = io::read_npy(request.after);
  const std::string axes = axes_of(request, before.shape.size());
  const RotationDump dump = read_dump(request, axes, before, after);
  Expectation expected;
  expected.role = request.role == "key" ? Role::key : Role::query;
  expected.values = request.role == "value";
  expected.both_rotated = request.both_rotated;
  if (!request.positions.empty()) expected.positions = parse_position_list(request.positions);
  std::optional<ChosenEncoding> chosen;
  if (has_encoding(request)) {
    const std::int64_t length = expected.positions ? length_implied_by(*expected.positions) : dump.tokens;
    chosen = choose_encoding(request.encoding, length);
    expected.encoding = chosen->encoding;
    if (expected.positions) expected.positions = fit_axes(chosen->encoding.rotation(), *expected.positions);
  }
  const Diagnosis diagnosis = diagnose(dump, expected);
  if (chosen) print_note(*chosen);
  if (request.json) {
    Json json = diagnosis_json(diagnosis, axes);
    json["positions_assumed"] = !expected.positions.has_value();
    if (chosen) add_reading(json, *chosen);
    print_json(json);
  } else {
    print_diagnosis(diagnosis);
    if (chosen && !expected.positions)
      std::cout << "note: positions 0, 1, 2, ... were assumed; --positions says otherwise\n";
  }
  if ((chosen || expected.values) && !diagnosis.as_expected()) {
    std::cout.flush();
    throw CheckFailed{};
  }
}

void diagnose_scores(const DiagnoseRequest& request) {
  require(request.before.empty() && request.after.empty(), "give --bias, or --before and --after, not both");
  const io::NpyArray array = io::read_npy(request.bias);
  const std::size_t rank = array.shape.size();
  require(rank == 2 || rank == 3, request.bias, " must have shape [heads, queries, keys] or [queries, keys], got ",
          rank, " axes");
  const BiasDump dump{rank == 3 ? array.shape[0] : 1, array.shape[rank - 2], array.shape[rank - 1],
                      numbers_of(array, request.bias)};
  std::optional<ChosenEncoding> chosen;
  std::optional<Encoding> expected;
  if (has_encoding(request)) {
    chosen = choose_encoding(request.encoding, dump.keys);
    expected = chosen->encoding;
  }
  const BiasDiagnosis diagnosis = diagnose_bias(dump, expected);
  if (chosen) print_note(*chosen);
  if (request.json) {
    Json json{{"storage", locus::name_of(diagnosis.storage)},
              {"masked", diagnosis.masked},
              {"causal_mask", diagnosis.causal_mask},
              {"toeplitz", diagnosis.toeplitz},
              {"key_only", diagnosis.key_only},
              {"slopes", diagnosis.slopes},
              {"bucket_starts", diagnosis.bucket_starts},
              {"verdicts", verdicts_json(diagnosis.verdicts)}};
    if (chosen) add_reading(json, *chosen);
    print_json(json);
  } else {
    std::cout << "stored as " << locus::name_of(diagnosis.storage) << "; "
              << (diagnosis.toeplitz   ? "depends on key - query only"
                  : diagnosis.key_only ? "depends on the key only"
                                       : "does not depend on key - query alone")
              << "; masked entries: " << diagnosis.masked << (diagnosis.causal_mask ? " (causal)" : "") << '\n';
    print_verdicts(diagnosis.verdicts);
  }
  const bool wrong = diagnosis.verdicts.empty() || diagnosis.verdicts.front().name != "as_expected";
  if (chosen && wrong) {
    std::cout.flush();
    throw CheckFailed{};
  }
}

}  // namespace

void add_diagnose_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("diagnose", "Find out what a dump of queries, keys or biases really did");
  const auto request = std::make_shared<DiagnoseRequest>();
  command->add_option("--before", request->before, "Queries or keys before: a .npy file (bfloat16 as uint16)");
  command->add_option("--after", request->after, "The same after");
  command->add_option("--axes", request->axes, "What the axes are: td, thd, htd, bthd or bhtd [td, thd, bthd by rank]");
  command->add_option("--positions", request->positions, "Where the tokens are: 0:100 or a .npy file; absent: unknown");
  command->add_option("--role", request->role, "Whether these are queries, keys or values; xpos treats queries and keys differently, values stay as they are")
      ->check(CLI::IsMember({"query", "key", "value"}));
  command->add_flag("--both-rotated", request->both_rotated,
                    "Both were rotated: --before by the expected encoding, --after by the suspect");
  command->add_option("--bias", request->bias, "In place of both: score biases [heads, queries, keys]");
  add_encoding_options(*command, request->encoding);
  command->add_flag("--json", request->json, "One JSON object");
  command->footer(
      "Exit code 1: with --config or --scheme, what was found is not what was expected.\n"
      "Examples:\n"
      "  locus diagnose --before q.npy --after q_rot.npy --axes htd\n"
      "  locus diagnose --before q.npy --after q_rot.npy --config config.json --positions 0:128\n"
      "  locus diagnose --bias bias.npy --scheme alibi --set heads=8");
  command->callback([request] {
    if (request->bias.empty()) {
      diagnose_rotation(*request);
    } else {
      diagnose_scores(*request);
    }
  });
}

}  // namespace locus::tools
