// SPDX-License-Identifier: Apache-2.0
// `locus convert to-gguf`, `to-config` and `config`: convert RoPE settings between config.json and GGUF metadata.
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "convert_command.h"
#include "locus/error.h"
#include "locus/io/convert_layout.h"
#include "locus/io/convert_rope.h"
#include "printable.h"

namespace locus::tools {
namespace {

struct RopeRequest {
  std::string input, other, architecture;
  Destination destination;
  bool json = false;
};

/// Returns the file to write; --in-place means `replaced`.
std::string output_of(const RopeRequest& request, const std::string& replaced, const char* option) {
  const Destination& destination = request.destination;
  require(destination.in_place == destination.output.empty(), "give either --output or --in-place");
  require(!destination.in_place || !replaced.empty(), "--in-place needs ", option);
  if (destination.in_place) return replaced;
  std::error_code error;
  for (const std::string& input : {request.input, request.other}) {
    require(input.empty() || !std::filesystem::equivalent(input, destination.output, error), destination.output,
            ": the output must not be the input; use --in-place to replace it");
  }
  return destination.output;
}

void report(const RopeRequest& request, const std::string& output, const std::vector<std::string>& notes) {
  if (request.json) {
    print_json({{"input", request.input}, {"output", output}, {"notes", notes}});
    return;
  }
  for (const std::string& note : notes) std::cerr << "locus: note: " << printable(note) << '\n';
  std::cerr << "locus: wrote " << output << '\n';
}

void add_to_gguf(CLI::App& convert) {
  CLI::App* const command =
      convert.add_subcommand("to-gguf", "Write the RoPE settings of a config.json as GGUF metadata");
  const auto request = std::make_shared<RopeRequest>();
  command->add_option("CONFIG", request->input, "A config.json")->required();
  command->add_option("--gguf", request->other,
                      "Replace the RoPE keys of this model; absent: write a file of metadata only");
  command->add_option("--architecture", request->architecture, "Set general.architecture, without --gguf");
  add_destination(*command, request->destination, "Write this GGUF file");
  command->add_flag("--json", request->json, "Print what was done as one JSON object");
  command->footer(
      "Weights are not changed; see locus convert pairing.\n"
      "Example: locus convert to-gguf longer.json --gguf model.gguf --output longer.gguf");
  command->callback([request] {
    const std::string output = output_of(*request, request->other, "--gguf");
    report(*request, output, io::write_gguf_rope(request->input, request->other, output, request->architecture));
  });
}

void add_to_config(CLI::App& convert) {
  CLI::App* const command =
      convert.add_subcommand("to-config", "Write the RoPE settings of a GGUF file as config.json");
  const auto request = std::make_shared<RopeRequest>();
  command->add_option("GGUF", request->input, "A GGUF file")->required();
  command->add_option("--config", request->other, "Keep the other keys of this config.json");
  add_destination(*command, request->destination, "Write this config.json (--in-place replaces that of --config)");
  command->add_flag("--json", request->json, "Print what was done as one JSON object");
  command->footer("Example: locus convert to-config model.gguf --output back.json");
  command->callback([request] {
    const std::string output = output_of(*request, request->other, "--config");
    report(*request, output, io::write_hf_rope(request->input, request->other, output));
  });
}

void add_config_layout(CLI::App& convert) {
  CLI::App* const command = convert.add_subcommand(
      "config", "Move the RoPE settings of a config.json between flat keys (v4) and rope_parameters (v5)");
  const auto request = std::make_shared<RopeRequest>();
  const auto to = std::make_shared<std::string>();
  command->add_option("CONFIG", request->input, "A config.json")->required();
  command->add_option("--to", *to, "Convert to this layout: v4 (transformers 4) or v5 (transformers 5)")
      ->required()
      ->check(CLI::IsMember({"v4", "v5"}));
  add_destination(*command, request->destination, "Write this config.json");
  command->add_flag("--json", request->json, "Print what was done as one JSON object");
  command->footer(
      "The result is read again; its meaning must not have changed.\n"
      "Example: locus convert config config.json --to v5 --output v5.json");
  command->callback([request, to] {
    const std::string output = output_of(*request, request->input, "CONFIG");
    const auto layout = *to == "v4" ? io::ConfigLayout::v4 : io::ConfigLayout::v5;
    report(*request, output, io::write_config_layout(request->input, layout, output));
  });
}

}  // namespace

void add_convert_rope_commands(CLI::App& convert) {
  add_to_gguf(convert);
  add_to_config(convert);
  add_config_layout(convert);
}

}  // namespace locus::tools
