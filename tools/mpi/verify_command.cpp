// SPDX-License-Identifier: Apache-2.0
// `locus-mpi verify`: attention over the ranks against the exact reference over the whole, for every scheme.
#include <cstdio>
#include <iostream>
#include <memory>

#include "locus/doctor/example_encodings.h"
#include "locus/error.h"
#include "mpi/commands.h"
#include "mpi/verify_ring.h"

namespace locus::tools {
namespace {

struct VerifyOptions {
  std::string scheme, broken;
  std::uint64_t seed = 1;
  std::int64_t tokens = 37;
};

// The ids of the last rank start one too late, as where a rank counts from 1.
void shift_last_ids(RingSample::Share& share, int rank, int ranks) {
  if (rank != ranks - 1) return;
  for (Position& id : share.ids) ++id;
}

// The last rank takes the ids of its first document for the later ones too.
void reuse_first_ids(RingSample::Share& share, int rank, int ranks) {
  std::size_t first = 0;
  for (const positions::Piece& piece : share.shard.pieces) {
    if (piece.document == 0) first += static_cast<std::size_t>(piece.tokens);
  }
  if (rank != ranks - 1 || first == 0) return;
  for (std::size_t i = first; i < share.ids.size(); ++i) share.ids[i] = share.ids[i % first];
}

Sabotage sabotage_of(const std::string& name) {
  if (name.empty()) return nullptr;
  if (name == "ids") return shift_last_ids;
  if (name == "documents") return reuse_first_ids;
  fail("--broken must be ids or documents, got ", name);
}

/// Prints a line of rank 0 and returns whether the comparison passed.
bool report(const std::string& name, const std::string& what, const RingComparison& comparison, int rank) {
  if (rank != 0) return comparison.passed();
  std::printf("%s  %s, %s: %.3f of the bound, %lld numbers\n", comparison.passed() ? "pass" : "FAIL", name.c_str(),
              what.c_str(), comparison.worst, static_cast<long long>(comparison.compared));
  if (comparison.first) std::printf("      first %s\n", to_text(*comparison.first).c_str());
  std::fflush(stdout);
  return comparison.passed();
}

void verify(const VerifyOptions& options) {
  require(options.tokens >= 1 && options.tokens <= 4096, "--tokens must be 1 to 4096, got ", options.tokens);
  const Sabotage sabotage = sabotage_of(options.broken);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto encodings = options.scheme.empty() ? example_encodings() : example_encodings(options.scheme);
  std::int64_t failed = 0, passed = 0;
  const auto count = [&](bool good) { ++(good ? passed : failed); };
  for (const NamedEncoding& named : encodings) {
    const RingShape shape = shape_for(named.encoding, options.tokens);
    RingSample sample(named.encoding, shape, ElementType::float32, options.seed);
    count(report(named.name, "zigzag", compare_forward(MPI_COMM_WORLD, sample, {}, sabotage), rank));
    RingSample half(named.encoding, shape, ElementType::bfloat16, options.seed + 1);
    const RingCase uneven{.kind = positions::ShardKind::contiguous, .remainder = positions::Remainder::uneven};
    count(report(named.name, "contiguous bfloat16", compare_forward(MPI_COMM_WORLD, half, uneven, sabotage), rank));
    if (!has_backward(named.encoding) || sabotage != nullptr) continue;
    const double tolerance = 64 * static_cast<double>(options.tokens + shape.head_dim) * 0x1p-24;
    count(report(named.name, "gradients", compare_backward(MPI_COMM_WORLD, sample, {}, tolerance), rank));
  }
  if (rank == 0) {
    std::printf("%lld passed, %lld failed on %d ranks\n", static_cast<long long>(passed),
                static_cast<long long>(failed), ranks);
  }
  if (failed > 0) throw RingCheckFailed();
}

}  // namespace

void add_ring_verify(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("verify", "Compare attention over the ranks with the exact reference, for every scheme");
  auto options = std::make_shared<VerifyOptions>();
  command->add_option("--scheme", options->scheme, "Check the examples of this scheme only");
  command->add_option("--seed", options->seed, "Set the seed of the tokens")->capture_default_str();
  command->add_option("--tokens", options->tokens, "Set the length of the longest document")->capture_default_str();
  command->add_option("--broken", options->broken,
                      "Plant a fault in the last rank that must be found: ids (one too large) or documents (ids of the "
                      "first one reused)");
  command->footer(
      "Compares the outputs of all ranks; names the first token, head and rank that diverge. Exit code 1 if one does.\n"
      "Example:\n  mpirun -n 4 locus-mpi verify\n  mpirun -n 4 locus-mpi verify --scheme alibi --broken ids");
  command->callback([options] { verify(*options); });
}

}  // namespace locus::tools
