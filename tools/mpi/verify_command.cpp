// SPDX-License-Identifier: Apache-2.0
// `locus-mpi verify`: attention over the ranks against the exact reference over the whole, for every scheme.
#include <cstdio>
#include <memory>
#include <optional>

#include "locus/doctor/example_encodings.h"
#include "locus/error.h"
#include "locus/names.h"
#include "mpi/commands.h"
#include "mpi/verify_ring.h"

namespace locus::tools {
namespace {

struct VerifyOptions {
  std::string scheme, broken;
  std::uint64_t seed = 1;
  std::int64_t tokens = 37;
  bool json = false;
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
  fail_unknown("--broken", name, {"ids", "documents"});
}

Json divergence_json(const std::optional<Divergence>& first) {
  if (!first) return nullptr;
  return {{"rank", first->rank},
          {"token", first->token},
          {"head", first->head},
          {"got", finite_or_null(first->got)},
          {"expected", finite_or_null(first->want)},
          {"bound", finite_or_null(first->bound)}};
}

/// Counts comparisons, and prints each as a line of rank 0 or all of them as one JSON object.
class Reporter {
 public:
  explicit Reporter(bool json) : json_(json) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }

  void add(const std::string& encoding, const std::string& what, const RingComparison& comparison) {
    ++(comparison.passed() ? passed_ : failed_);
    if (rank_ != 0) return;
    if (json_) {
      checks_.push_back({{"encoding", encoding},
                         {"what", what},
                         {"share_of_bound", finite_or_null(comparison.worst)},
                         {"numbers", comparison.compared},
                         {"passed", comparison.passed()},
                         {"divergence", divergence_json(comparison.first)}});
      return;
    }
    std::printf("%s  %s, %s: %.3f of the bound, %lld numbers\n", comparison.passed() ? "pass" : "FAIL",
                encoding.c_str(), what.c_str(), comparison.worst, static_cast<long long>(comparison.compared));
    if (comparison.first) std::printf("      first %s\n", to_text(*comparison.first).c_str());
    std::fflush(stdout);
  }

  /// Returns whether all comparisons passed.
  bool finish() {
    if (rank_ == 0 && json_) {
      print_json_line({{"ranks", ranks_}, {"checks", checks_}, {"passed", passed_}, {"failed", failed_}});
    } else if (rank_ == 0) {
      std::printf("%lld passed, %lld failed on %d rank%s\n", static_cast<long long>(passed_),
                  static_cast<long long>(failed_), ranks_, ranks_ == 1 ? "" : "s");
    }
    return failed_ == 0;
  }

 private:
  bool json_;
  int rank_ = 0, ranks_ = 1;
  std::int64_t passed_ = 0, failed_ = 0;
  Json checks_ = Json::array();
};

void verify(const VerifyOptions& options) {
  require(options.tokens >= 1 && options.tokens <= 4096, "--tokens must be 1 to 4096, got ", options.tokens);
  const Sabotage sabotage = sabotage_of(options.broken);
  const auto encodings = options.scheme.empty() ? example_encodings() : example_encodings(options.scheme);
  Reporter reporter(options.json);
  for (const NamedEncoding& named : encodings) {
    const RingShape shape = shape_for(named.encoding, options.tokens);
    RingSample sample(named.encoding, shape, ElementType::float32, options.seed);
    reporter.add(named.name, "zigzag", compare_forward(MPI_COMM_WORLD, sample, {}, sabotage));
    RingSample half(named.encoding, shape, ElementType::bfloat16, options.seed + 1);
    const RingCase uneven{.kind = positions::ShardKind::contiguous, .remainder = positions::Remainder::uneven};
    reporter.add(named.name, "contiguous bfloat16", compare_forward(MPI_COMM_WORLD, half, uneven, sabotage));
    if (sabotage != nullptr) continue;
    const double tolerance = 64 * static_cast<double>(options.tokens + shape.head_dim) * 0x1p-24;
    reporter.add(named.name, "gradients", compare_backward(MPI_COMM_WORLD, sample, {}, tolerance));
  }
  if (!reporter.finish()) throw RingCheckFailed();
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
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Compares the outputs of all ranks; names the first token, head and rank that diverge. Exit code 1 if one does.\n"
      "Example:\n  mpirun -n 4 locus-mpi verify\n  mpirun -n 4 locus-mpi verify --scheme alibi --broken ids");
  command->callback([options] { verify(*options); });
}

}  // namespace locus::tools
