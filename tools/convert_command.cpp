// SPDX-License-Identifier: Apache-2.0
// `locus convert pairing` and `locus convert table`: convert weights to another pairing, position tables to another
// length.
#include "convert_command.h"

#include <iostream>
#include <memory>
#include <string>

#include "command.h"
#include "lengths.h"
#include "locus/error.h"
#include "locus/io/convert_pairing.h"
#include "locus/io/convert_table.h"
#include "position_list.h"
#include "printable.h"

namespace locus::tools {
namespace {

struct PairingRequest {
  std::string model, from, to, config;
  Destination destination;
  bool json = false;
};

Pairing pairing_named(const std::string& name) { return name == "half" ? Pairing::half : Pairing::interleaved; }

Json names_of(const std::vector<std::filesystem::path>& files) {
  Json names = Json::array();
  for (const auto& file : files) names.push_back(file.string());
  return names;
}

void run_pairing(const PairingRequest& request) {
  const Pairing to = pairing_named(request.to);
  io::ConvertPairingOptions options{to, request.destination.output, request.destination.in_place, request.config};
  if (!request.from.empty()) options.from = pairing_named(request.from);
  const io::PairingReport report = io::convert_pairing(request.model, options);
  // A file of the lab states its pairing; the output states the new one.
  const bool engine_differs =
      report.engine_pairing && *report.engine_pairing != to && report.architecture != "locus_lab";
  if (request.json) {
    print_json({{"model", request.model},
                {"architecture", report.architecture},
                {"to", request.to},
                {"layers", report.layers},
                {"heads", report.heads},
                {"key_value_heads", report.key_value_heads},
                {"head_dim", report.head.head_dim},
                {"rotary_dim", report.head.rotary_dim},
                {"rotary_offset", report.head.rotary_offset},
                {"tensors", report.tensors},
                {"engine_pairing", report.engine_pairing ? Json(name_of(*report.engine_pairing)) : Json()},
                {"files", names_of(report.files)}});
    return;
  }
  std::cerr << "locus: permuted the rows of " << report.tensors.size() << " tensors in " << report.layers << " layers ("
            << report.heads << " query and " << report.key_value_heads << " key heads of " << report.head.head_dim
            << ", " << report.head.rotary_dim << " rotated) for pairing " << request.to << '\n';
  for (const auto& file : report.files) std::cerr << "locus: wrote " << printable(file.string()) << '\n';
  if (engine_differs) {
    std::cerr << "locus: note: engines pair " << printable(report.architecture) << " as "
              << name_of(*report.engine_pairing) << "; configure them for these weights, which are now " << request.to
              << '\n';
  }
}

struct TableRequest {
  std::string model, from, to, method;
  io::ConvertTableOptions options;
  Destination destination;
  bool json = false;
};

void run_table(TableRequest request) {
  const Lengths to = parse_lengths("--to", request.to);
  io::ConvertTableOptions& options = request.options;
  if (to.size() == 2) {
    require(!request.from.empty(), "--from must give the grid of the table when --to is a grid");
    const Lengths from = parse_lengths("--from", request.from);
    require(from.size() == 2, "--from and --to must both be grids, got ", request.from, " and ", request.to);
    options.from_grid = Grid{from[0], from[1]};
    options.to_grid = Grid{to[0], to[1]};
  } else {
    require(request.from.empty(), "--from applies to grids only; the length of a table is in the file");
    options.to = to[0];
  }
  if (request.method.empty()) request.method = to.size() == 2 ? "bicubic" : "linear";
  require((request.method == "linear") == (to.size() == 1),
          "--method must be linear for a length, bilinear or bicubic for a grid, got ", request.method, " for --to ",
          request.to);
  options.resize.method = request.method == "linear"     ? ResizeMethod::linear
                          : request.method == "bilinear" ? ResizeMethod::bilinear
                                                         : ResizeMethod::bicubic;
  options.output = request.destination.output;
  options.in_place = request.destination.in_place;
  const io::TableReport report = io::convert_table(request.model, options);
  if (request.json) {
    print_json({{"model", request.model},
                {"tensor", options.tensor},
                {"type", report.type},
                {"method", request.method},
                {"shape_before", report.shape_before},
                {"shape", report.shape_after},
                {"adjusted", report.adjusted},
                {"files", names_of(report.files)}});
    return;
  }
  std::cerr << "locus: " << printable(options.tensor) << ": [" << joined(report.shape_before, ",") << "] became ["
            << joined(report.shape_after, ",") << "] " << report.type << ", " << request.method << '\n';
  for (const std::string& key : report.adjusted) std::cerr << "locus: adjusted " << printable(key) << '\n';
  if (report.adjusted.empty()) std::cerr << "locus: note: found no key with the length to adjust\n";
  for (const auto& file : report.files) std::cerr << "locus: wrote " << printable(file.string()) << '\n';
}

void add_pairing(CLI::App& convert) {
  CLI::App* const command =
      convert.add_subcommand("pairing", "Permute Wq and Wk (and their biases and norms) for the other pairing");
  const auto request = std::make_shared<PairingRequest>();
  command
      ->add_option("MODEL", request->model,
                   "A GGUF or safetensors file, model.safetensors.index.json, or a Hugging Face folder")
      ->required();
  command->add_option("--to", request->to, "Permute for this pairing: half or interleaved")
      ->required()
      ->check(CLI::IsMember({"half", "interleaved"}));
  command->add_option("--from", request->from, "Set the pairing of the input weights [that of the architecture]")
      ->check(CLI::IsMember({"half", "interleaved"}));
  command->add_option("--config", request->config,
                      "Read the number of heads from this config.json [the one next to the weights]");
  add_destination(*command, request->destination, "Write this file; for shards and folders, a new folder");
  command->add_flag("--json", request->json, "Print what was done as one JSON object");
  command->footer(
      "Rows are moved whole, so quantised GGUF types are converted without loss; all other bytes are kept.\n"
      "Example: locus convert pairing model.gguf --to half --output half.gguf");
  command->callback([request] { run_pairing(*request); });
}

void add_table(CLI::App& convert) {
  CLI::App* const command = convert.add_subcommand("table", "Resize a learned position table inside a checkpoint");
  const auto request = std::make_shared<TableRequest>();
  command->add_option("MODEL", request->model, "A GGUF or safetensors file, or a Hugging Face folder")->required();
  command->add_option("--tensor", request->options.tensor, "Resize this tensor, such as transformer.wpe.weight")
      ->required();
  command->add_option("--to", request->to, "Resize to this many positions (2048), or to a grid (20x17)")->required();
  command->add_option("--from", request->from, "Set the grid of the table (14x14), if --to is a grid");
  command
      ->add_option("--method", request->method,
                   "Interpolate: linear for a length; bilinear or bicubic (default) for a grid")
      ->check(CLI::IsMember({"linear", "bilinear", "bicubic"}));
  command->add_flag("--antialias", request->options.resize.antialias, "Antialias as torch does (grids only)");
  command
      ->add_option("--scale-offset", request->options.resize.scale_offset,
                   "Add this to the target size when computing the scale; 0.1 in DINOv2 and older ViT code")
      ->capture_default_str();
  add_integer(*command, "--prefix", request->options.resize.prefix_rows,
              "Copy this many leading rows: 2 in OPT, 1 for a class token [0]");
  add_destination(*command, request->destination, "Write this file; for a folder, a new folder");
  command->add_flag("--json", request->json, "Print what was done as one JSON object");
  command->footer("Example: locus convert table gpt2/ --tensor transformer.wpe.weight --to 2048 --output gpt2-2048/");
  command->callback([request] { run_table(*request); });
}

}  // namespace

void add_destination(CLI::App& command, Destination& destination, const std::string& meaning) {
  CLI::Option* const output = command.add_option("--output", destination.output, meaning);
  CLI::Option* const in_place = command.add_flag("--in-place", destination.in_place, "Replace the input instead");
  in_place->excludes(output);
}

void add_convert_command(CLI::App& app) {
  CLI::App* const convert = app.add_subcommand("convert", "Convert a model: pairing, position table, RoPE settings");
  convert->require_subcommand(1);
  add_pairing(*convert);
  add_table(*convert);
  add_convert_rope_commands(*convert);
  convert->footer("Example: locus convert pairing model.gguf --to half --output half.gguf");
}

}  // namespace locus::tools
