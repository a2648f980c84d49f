// SPDX-License-Identifier: Apache-2.0
// `locus apply`: applies a hidden or query_key scheme to an array in a file.
#include <iostream>
#include <memory>

#include "array_files.h"
#include "encoding_options.h"
#include "locus/add.h"
#include "locus/error.h"
#include "locus/io/npy.h"
#include "locus/positions.h"
#include "locus/rotate.h"
#include "locus/text.h"
#include "position_list.h"

namespace locus::tools {
namespace {

struct ApplyRequest {
  EncodingOptions encoding;
  std::string input;
  std::string axes;
  std::string positions;
  std::string output;
  std::string role = "query";
  bool inverse = false;
  bool json = false;
};

void check_ids(const Encoding& encoding, const PositionIds& ids, std::int64_t batch, std::int64_t tokens) {
  require(ids.tokens == tokens, "--positions has ", ids.tokens, " tokens, the input has ", tokens);
  require(ids.batch == 1 || ids.batch == batch, "--positions has ", ids.batch, " batch rows, the input has ", batch);
  encoding.check_positions(ids.ids);
}

// Polar heads are wider, so the array gets another shape.
void make_polar_and_rotate(const Encoding& encoding, const ApplyRequest& request, io::NpyArray& array, ElementType type,
                           const PositionIds& given) {
  require(!request.inverse, "--inverse needs polar heads of ", encoding.rotation().head_dim, ", ", request.input,
          " has heads of ", array.shape.back());
  std::vector<std::int64_t> shape = array.shape;
  shape.back() = encoding.rotation().head_dim;
  std::size_t count = size_of(type);
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  std::vector<std::byte> wide(count);
  const HeadsView input = heads_view(array.bytes.data(), type, request.axes, array.shape);
  const PositionIds ids = fit_axes(encoding.rotation(), given);
  check_ids(encoding, ids, input.batch, input.tokens);
  rotate(encoding, RotateViews{input, heads_view(wide.data(), type, request.axes, shape)}, ids,
         request.role == "key" ? Role::key : Role::query);
  array.shape = std::move(shape);
  array.bytes = std::move(wide);
}

void rotate_array(const Encoding& encoding, const ApplyRequest& request, io::NpyArray& array, ElementType type,
                  const PositionIds& given) {
  const HeadsView view = heads_view(array.bytes.data(), type, request.axes, array.shape);
  const Rotation& rotation = encoding.rotation();
  if (rotation.polar && view.head_dim == rotation.polar->head_dim) {
    return make_polar_and_rotate(encoding, request, array, type, given);
  }
  require(view.head_dim == rotation.head_dim, request.input, ": the last axis is ", view.head_dim,
          ", the encoding has head_dim ", rotation.head_dim);
  const PositionIds ids = fit_axes(rotation, given);
  check_ids(encoding, ids, view.batch, view.tokens);
  rotate(encoding, view, ids, request.role == "key" ? Role::key : Role::query,
         request.inverse ? Direction::inverse : Direction::forward);
}

void add_to_array(const Encoding& encoding, const ApplyRequest& request, io::NpyArray& array, ElementType type,
                  const PositionIds& ids) {
  require(request.axes == "td" || request.axes == "btd",
          "--axes must be td or btd for a scheme of the hidden site, got ", request.axes);
  require(!request.inverse && request.role == "query",
          "--inverse and --role apply to schemes of the query_key site only");
  const std::size_t rank = array.shape.size();
  require(rank == request.axes.size(), "--axes ", request.axes, " needs ", request.axes.size(),
          " extents, the input has ", rank);
  HiddenView view{.data = array.bytes.data(),
                  .type = type,
                  .batch = rank == 3 ? array.shape[0] : 1,
                  .tokens = array.shape[rank - 2],
                  .dim = array.shape[rank - 1]};
  view.token_stride = view.dim;
  view.batch_stride = view.dim * view.tokens;
  require(view.dim == encoding.hidden().dim, request.input, ": the last axis is ", view.dim, ", the encoding has dim ",
          encoding.hidden().dim);
  require(ids.axes == 1, "this encoding needs 1 axis of positions, got ", ids.axes);
  check_ids(encoding, ids, view.batch, view.tokens);
  add(encoding, view, ids);
}

/// The site limits what the axes can be, the positions may decide between them, and the length that the positions
/// imply may change the encoding (but not its site).
Site site_of(const ApplyRequest& request) {
  const Encoding encoding = choose_encoding(request.encoding, 1).encoding;
  const Site site = encoding.site();
  require(site == Site::query_key || site == Site::hidden, "apply takes schemes of the sites query_key and hidden; ",
          encoding.scheme().name, " acts at the site ", name_of(site));
  return site;
}

void apply(ApplyRequest request) {
  require_other_file(request.output, {request.input, request.positions});
  const Site site = site_of(request);
  io::NpyArray array = io::read_npy(request.input);
  const ElementType type = element_type(array.type, request.input);
  Inferences inferences;
  std::optional<PositionIds> positions;
  if (!request.positions.empty()) positions = parse_position_list(request.positions);
  if (request.axes.empty()) {
    const auto tokens = positions ? std::optional(positions->tokens) : std::nullopt;
    request.axes = site == Site::hidden ? hidden_axes("", array.shape, request.input)
                                        : heads_axes("", array.shape, tokens, request.input);
    inferences.add("axes " + request.axes);
  }
  if (!positions) {
    const std::int64_t tokens = tokens_in(request.axes, array.shape);
    require(tokens >= 1, request.input, " must have at least 1 token, got ", tokens);
    positions = positions::prefill(tokens);
    inferences.add(concat("positions 0:", tokens));
  }
  const ChosenEncoding chosen = choose_encoding(request.encoding, length_implied_by(*positions));
  const Encoding& encoding = chosen.encoding;
  site == Site::query_key ? rotate_array(encoding, request, array, type, *positions)
                          : add_to_array(encoding, request, array, type, *positions);
  io::write_npy(request.output, array.type, array.shape, array.bytes);
  print_note(chosen);
  if (request.json) {
    Json json{{"scheme", encoding.scheme().name},
              {"site", name_of(encoding.site())},
              {"input", request.input},
              {"output", request.output},
              {"shape", array.shape},
              {"axes", request.axes},
              {"type", name_of(type)},
              {"simd_target", simd_target()}};
    inferences.add_to(json);
    add_reading(json, chosen);
    print_json(json);
  } else {
    inferences.print();
    std::cerr << "locus: wrote " << request.output << '\n';
  }
}

}  // namespace

void add_apply_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("apply", "Apply a hidden or query_key scheme to an array in a .npy file");
  const auto request = std::make_shared<ApplyRequest>();
  add_encoding_options(*command, request->encoding);
  command
      ->add_option("--input", request->input, "Read this .npy file: float32, float64, float16, or bfloat16 as uint16")
      ->required();
  command->add_option(
      "--axes", request->axes,
      "Name the axes: bhtd, bthd, thd, htd or td (batch, heads, tokens, dim); hidden schemes: td or btd. "
      "Absent: bthd, thd or td (btd or td) by the number of dimensions");
  command->add_option("--positions", request->positions,
                      "Set the position ids: 0,1,17 or 0:100 or a .npy file of shape [t], [b, t] or [axes, b, t]. "
                      "Absent: 0, 1, 2, ...");
  command->add_option("--output", request->output, "Write the result to this .npy file, in the input's type")
      ->required();
  command->add_option("--role", request->role, "Treat the input as queries or keys, which differ in xpos")
      ->check(CLI::IsMember({"query", "key"}));
  command->add_flag("--inverse", request->inverse, "Rotate back; keep the magnitude");
  command->add_flag("--json", request->json, "Print one JSON object about what was done");
  command->footer(
      "Inferred axes and positions are printed on standard error, or under `inferred` in the JSON.\n"
      "Examples:\n"
      "  locus apply --scheme rope:head_dim=128,pairing=half --input q.npy --axes htd --output q_rot.npy\n"
      "  locus apply --config config.json --input q.npy --axes htd --positions 0:16 --output q_rot.npy");
  command->callback([request] { apply(*request); });
}

}  // namespace locus::tools
