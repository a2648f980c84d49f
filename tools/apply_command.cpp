// SPDX-License-Identifier: Apache-2.0
// `locus apply`: any hidden or query_key scheme on a file.
#include <iostream>
#include <memory>

#include "array_files.h"
#include "encoding_options.h"
#include "locus/add.h"
#include "locus/error.h"
#include "locus/io/npy.h"
#include "locus/reference.h"
#include "locus/rotate.h"
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

// float64 runs the reference: head by head, in double.
void rotate_by_reference(const Encoding& encoding, const HeadsView& view, const PositionIds& ids, Role role,
                         Direction direction) {
  auto* data = static_cast<double*>(view.data);
  std::vector<Position> place(static_cast<std::size_t>(ids.axes));
  for (std::int64_t b = 0; b < view.batch; ++b) {
    for (std::int64_t t = 0; t < view.tokens; ++t) {
      for (std::int64_t a = 0; a < ids.axes; ++a) {
        place[static_cast<std::size_t>(a)] =
            ids.axis(a)[static_cast<std::size_t>((ids.batch == 1 ? 0 : b) * ids.tokens + t)];
      }
      for (std::int64_t h = 0; h < view.heads; ++h) {
        double* head = data + b * view.batch_stride + t * view.token_stride + h * view.head_stride;
        const std::vector<double> turned =
            reference::rotate(encoding.rotation(), role, direction, place,
                              std::span<const double>(head, static_cast<std::size_t>(view.head_dim)));
        std::copy(turned.begin(), turned.end(), head);
      }
    }
  }
}

void add_by_reference(const Encoding& encoding, const HiddenView& view, const PositionIds& ids) {
  auto* data = static_cast<double*>(view.data);
  for (std::int64_t b = 0; b < view.batch; ++b) {
    for (std::int64_t t = 0; t < view.tokens; ++t) {
      const auto index = static_cast<std::size_t>((ids.batch == 1 ? 0 : b) * ids.tokens + t);
      const std::vector<double> row = reference::hidden_row(encoding.hidden(), ids.ids[index]);
      double* values = data + b * view.batch_stride + t * view.token_stride;
      for (std::size_t j = 0; j < row.size(); ++j) values[j] += row[j];
    }
  }
}

void check_ids(const Encoding& encoding, const PositionIds& ids, std::int64_t batch, std::int64_t tokens) {
  require(ids.tokens == tokens, "--positions name ", ids.tokens, " tokens, the input has ", tokens);
  require(ids.batch == 1 || ids.batch == batch, "--positions have ", ids.batch, " batch rows, the input has ", batch);
  encoding.check_positions(ids.ids);
}

// Returns what did the work, for --json.
std::string rotate_array(const Encoding& encoding, const ApplyRequest& request, io::NpyArray& array, ElementType type,
                         const PositionIds& given) {
  const HeadsView view = heads_view(array.bytes.data(), type, request.axes, array.shape);
  const Rotation& rotation = encoding.rotation();
  require(view.head_dim == rotation.head_dim, request.input, ": the last axis is ", view.head_dim,
          ", the encoding has head_dim ", rotation.head_dim);
  const PositionIds ids = fit_axes(rotation, given);
  check_ids(encoding, ids, view.batch, view.tokens);
  const Role role = request.role == "key" ? Role::key : Role::query;
  const Direction direction = request.inverse ? Direction::inverse : Direction::forward;
  if (type == ElementType::float64) {
    rotate_by_reference(encoding, view, ids, role, direction);
    return "reference";
  }
  rotate(encoding, view, ids, role, direction);
  return std::string(simd_target());
}

std::string add_to_array(const Encoding& encoding, const ApplyRequest& request, io::NpyArray& array, ElementType type,
                         const PositionIds& ids) {
  require(request.axes == "td" || request.axes == "btd",
          "--axes must be td or btd for a scheme of the hidden site, got ", request.axes);
  require(!request.inverse && request.role == "query", "--inverse and --role belong to schemes of the query_key site");
  require(array.shape.size() == request.axes.size(), "--axes ", request.axes, " name ", request.axes.size(),
          " extents, the input has ", array.shape.size());
  const std::size_t rank = array.shape.size();
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
  if (type == ElementType::float64) {
    add_by_reference(encoding, view, ids);
    return "reference";
  }
  add(encoding, view, ids);
  return std::string(simd_target());
}

void apply(const ApplyRequest& request) {
  const PositionIds positions = parse_position_list(request.positions);
  const ChosenEncoding chosen = choose_encoding(request.encoding, length_implied_by(positions));
  const Encoding& encoding = chosen.encoding;
  require(encoding.site() == Site::query_key || encoding.site() == Site::hidden, "apply takes schemes of the sites ",
          "query_key and hidden; ", encoding.scheme().name, " enters at ", name_of(encoding.site()));
  io::NpyArray array = io::read_npy(request.input);
  const ElementType type = element_type(array.type, request.input);
  const std::string target = encoding.site() == Site::query_key
                                 ? rotate_array(encoding, request, array, type, positions)
                                 : add_to_array(encoding, request, array, type, positions);
  io::write_npy(request.output, array.type, array.shape, array.bytes);
  print_note(chosen);
  if (request.json) {
    Json json{{"scheme", encoding.scheme().name},
              {"site", name_of(encoding.site())},
              {"input", request.input},
              {"output", request.output},
              {"shape", array.shape},
              {"type", name_of(type)},
              {"simd_target", target}};
    add_reading(json, chosen);
    print_json(json);
  } else {
    std::cerr << "locus: wrote " << request.output << '\n';
  }
}

}  // namespace

void add_apply_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("apply", "Apply a hidden or query_key scheme to an array in a .npy file");
  const auto request = std::make_shared<ApplyRequest>();
  add_encoding_options(*command, request->encoding);
  command->add_option("--input", request->input, "float32, float64 or float16 .npy file")->required();
  command
      ->add_option(
          "--axes", request->axes,
          "What the axes are: bhtd, bthd, thd, htd or td (batch, heads, tokens, dim); hidden schemes: td or btd")
      ->required();
  command
      ->add_option("--positions", request->positions,
                   "0,1,17 or 0:100 or a .npy file of shape [t], [b, t] or [axes, b, t]")
      ->required();
  command->add_option("--output", request->output, "The result, of the input's type; written aside, then renamed")
      ->required();
  command->add_option("--role", request->role, "Whether the input holds queries or keys (xpos treats them differently)")
      ->check(CLI::IsMember({"query", "key"}));
  command->add_flag("--inverse", request->inverse, "Turn back (the magnitude stays)");
  command->add_flag("--json", request->json, "One JSON object about what was done");
  command->footer(
      "Example: locus apply --config config.json --input q.npy --axes bhtd --positions 0:128 --output q_rot.npy");
  command->callback([request] { apply(*request); });
}

}  // namespace locus::tools
