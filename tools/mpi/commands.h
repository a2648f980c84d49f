// SPDX-License-Identifier: Apache-2.0
// The subcommands of `locus-mpi`. Every rank runs them; rank 0 prints.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace locus::tools {

/// Thrown if a check failed, after its line was printed: exit code 1.
class RingCheckFailed : public std::runtime_error {
 public:
  RingCheckFailed() : std::runtime_error("a check failed") {}
};

using Json = nlohmann::ordered_json;
/// A number of a JSON object; null if it is not finite.
Json finite_or_null(double number);
/// Prints one JSON object on standard output.
void print_json_line(const Json& object);

void add_ring_verify(CLI::App& app);
void add_ring_bench(CLI::App& app);

}  // namespace locus::tools
