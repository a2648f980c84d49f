// SPDX-License-Identifier: Apache-2.0
// `locus-mpi bench attention`: the time of each rank, what of the transfers is hidden behind work, and the bytes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/names.h"
#include "mpi/commands.h"
#include "mpi/ring_sample.h"

namespace locus::tools {
namespace {

struct BenchOptions {
  std::string scheme = "alibi", kind = "zigzag", what = "attention";
  std::int64_t tokens = 4096, heads = 8, key_heads = 8, head_dim = 64;
  int repeats = 5;
  bool backward = false, dense = false, json = false;
};

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

positions::ShardKind kind_of(const std::string& text) {
  if (text == "contiguous") return positions::ShardKind::contiguous;
  if (text == "striped") return positions::ShardKind::striped;
  if (text == "zigzag") return positions::ShardKind::zigzag;
  fail_unknown("--kind", text, {"contiguous", "striped", "zigzag"});
}

Encoding encoding_for(const BenchOptions& options) {
  if (options.scheme == "none") return Encoding("nope");
  if (options.scheme != "alibi") fail_unknown("--scheme", options.scheme, {"alibi", "none"});
  return Encoding("alibi", {{"heads", options.heads}});
}

/// What one rank measured.
struct Measured {
  double wall = 1e30, cpu = 1e30, waiting = 0, transfers = 0;
  double sent = 0, needed = 0, pairs = 0, rounds = 0, skipped_rounds = 0, computed = 0, skipped = 0;
};

/// The same bytes around the ring without any work, in seconds.
double transfer_alone(std::int64_t bytes, std::int64_t rounds, int rank, int ranks) {
  std::vector<std::byte> out(static_cast<std::size_t>(bytes)), in(out.size());
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = wall_seconds();
  constexpr std::int64_t most = std::int64_t{1} << 30;  // of one message: MPI counts in int
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::int64_t first = 0; first < bytes; first += most) {
      const int size = static_cast<int>(std::min(most, bytes - first));
      MPI_Sendrecv(out.data() + first, size, MPI_BYTE, (rank + 1) % ranks, 0, in.data() + first, size, MPI_BYTE,
                   (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  return wall_seconds() - start;
}

Measured measure(const BenchOptions& options, int rank, int ranks) {
  const RingShape shape{{options.tokens}, options.heads, options.key_heads, options.head_dim};
  RingSample sample(encoding_for(options), shape, ElementType::float32, 1);
  RingSample::Share share;
  sample.make_share(kind_of(options.kind), positions::Remainder::padded, ranks, rank, share);
  share.call.communicator = MPI_COMM_WORLD;
  share.call.mask = {.causal = true};
  share.call.skip_irrelevant_blocks = !options.dense;
  TokenRows gradient = share.query, dq = share.query, dk = share.key, dv = share.key;
  for (float *x = reinterpret_cast<float*>(gradient.bytes.data()), *end = x + gradient.bytes.size() / sizeof(float);
       x != end; ++x) {
    *x = *x == *x ? *x : 0.0f;  // no NaN of padding
  }
  Measured best;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    if (options.backward) mpi::attend(share.call);
    MPI_Barrier(MPI_COMM_WORLD);
    const double wall = wall_seconds();
    const mpi::RingWork work = options.backward ? mpi::attend_backward({.forward = share.call,
                                                                        .output_gradient = gradient.view(),
                                                                        .query_gradient = dq.view(),
                                                                        .key_gradient = dk.view(),
                                                                        .value_gradient = dv.view()})
                                                : mpi::attend(share.call);
    const double took = wall_seconds() - wall;
    best.cpu = std::min(best.cpu, work.seconds_working);
    if (took >= best.wall) continue;
    best.wall = took;
    best.waiting = work.seconds_waiting;
    best.sent = static_cast<double>(work.bytes_sent);
    best.needed = static_cast<double>(work.bytes_needed) * (options.backward ? 2 : 1);
    best.rounds = static_cast<double>(work.rounds);
    best.skipped_rounds = static_cast<double>(work.rounds_skipped);
    best.computed = static_cast<double>(work.tiles.computed);
    best.skipped = static_cast<double>(work.tiles.skipped);
  }
  if (best.rounds > 0) {
    best.transfers = 1e30;
    const auto own = static_cast<std::int64_t>(best.sent / best.rounds);
    std::int64_t bytes = own;  // blocks differ by a few pieces
    MPI_Allreduce(&own, &bytes, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int repeat = 0; repeat < options.repeats; ++repeat) {
      best.transfers =
          std::min(best.transfers, transfer_alone(bytes, static_cast<std::int64_t>(best.rounds), rank, ranks));
    }
  }
  for (const std::int64_t token : share.shard.tokens) best.pairs += token < 0 ? 0 : static_cast<double>(token + 1);
  return best;
}

double giga_operations(const BenchOptions& options, const Measured& m) {
  return 1e-9 * (options.backward ? 10.0 : 4.0) * static_cast<double>(options.head_dim * options.heads) * m.pairs;
}

/// The share of the transfers that was not waited for.
double hidden_share(const Measured& m) {
  return m.transfers > 0 ? std::clamp(1 - m.waiting / m.transfers, 0.0, 1.0) : 1.0;
}

void print_table(const BenchOptions& options, const std::vector<Measured>& all) {
  const int ranks = static_cast<int>(all.size());
  std::printf("%s%s, causal, %s, %lld tokens, %lld/%lld heads of %lld, float32, %d rank%s, best of %d\n",
              options.scheme.c_str(), options.backward ? " backward" : "", options.kind.c_str(),
              static_cast<long long>(options.tokens), static_cast<long long>(options.heads),
              static_cast<long long>(options.key_heads), static_cast<long long>(options.head_dim), ranks,
              ranks == 1 ? "" : "s", options.repeats);
  std::printf(
      "rank  wall ms  CPU ms  GFLOP/s  waiting ms  transfers alone ms  hidden  rounds  MB sent  tiles skipped\n");
  double sent = 0, needed = 0;
  for (int r = 0; r < ranks; ++r) {
    const Measured& m = all[static_cast<std::size_t>(r)];
    std::printf("%4d %8.2f %7.2f %8.1f %11.2f %19.2f %6.0f%% %3.0f of %d %8.2f %13.0f%%\n", r, 1e3 * m.wall,
                1e3 * m.cpu, giga_operations(options, m) / m.cpu, 1e3 * m.waiting, 1e3 * m.transfers,
                100 * hidden_share(m), m.rounds, ranks - 1, 1e-6 * m.sent,
                100 * m.skipped / std::max(m.computed + m.skipped, 1.0));
    sent += m.sent;
    needed += m.needed;
  }
  if (needed > 0) std::printf("all ranks sent %.2f MB, %.2f of the least\n", 1e-6 * sent, sent / needed);
}

void print_bench_json(const BenchOptions& options, const std::vector<Measured>& all) {
  Json ranks = Json::array();
  for (const Measured& m : all) {
    ranks.push_back({{"rank", ranks.size()},
                     {"wall_seconds", m.wall},
                     {"cpu_seconds", m.cpu},
                     {"gflops", finite_or_null(giga_operations(options, m) / m.cpu)},
                     {"waiting_seconds", m.waiting},
                     {"transfer_seconds", m.transfers},
                     {"hidden_share", hidden_share(m)},
                     {"rounds", std::llround(m.rounds)},
                     {"rounds_skipped", std::llround(m.skipped_rounds)},
                     {"bytes_sent", std::llround(m.sent)},
                     {"bytes_needed", std::llround(m.needed)},
                     {"tiles_computed", std::llround(m.computed)},
                     {"tiles_skipped", std::llround(m.skipped)}});
  }
  print_json_line({{"what", options.what},
                   {"scheme", options.scheme},
                   {"pass", options.backward ? "backward" : "forward"},
                   {"kind", options.kind},
                   {"tokens", options.tokens},
                   {"heads", options.heads},
                   {"key_heads", options.key_heads},
                   {"head_dim", options.head_dim},
                   {"repeats", options.repeats},
                   {"ranks", ranks}});
}

void bench(const BenchOptions& options) {
  if (options.what != "attention") fail_unknown("WHAT", options.what, {"attention"});
  require(options.tokens >= 1 && options.tokens <= (std::int64_t{1} << 24), "--tokens must be 1 to 16777216, got ",
          options.tokens);
  require(options.repeats >= 1 && options.repeats <= 10000, "--repeats must be 1 to 10000, got ", options.repeats);
  require(options.heads >= 1 && options.heads <= 4096, "--heads must be 1 to 4096, got ", options.heads);
  require(options.key_heads >= 1 && options.heads % options.key_heads == 0,
          "--heads must be a multiple of --key-heads, got ", options.heads, " and ", options.key_heads);
  require(options.head_dim >= 1 && options.head_dim <= 65536, "--head-dim must be 1 to 65536, got ", options.head_dim);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Measured own = measure(options, rank, ranks);
  std::vector<Measured> all(static_cast<std::size_t>(ranks));
  MPI_Gather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 0) (options.json ? print_bench_json : print_table)(options, all);
}

}  // namespace

void add_ring_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "Time attention over the ranks");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("WHAT", options->what, "attention")->capture_default_str();
  command->add_option("--scheme", options->scheme, "Time alibi or none")->capture_default_str();
  command->add_option("--kind", options->kind, "Shard contiguous, striped or zigzag")->capture_default_str();
  command->add_option("--tokens", options->tokens, "Set the tokens of all ranks together")->capture_default_str();
  command->add_option("--heads", options->heads, "Set the query heads")->capture_default_str();
  command->add_option("--key-heads", options->key_heads, "Set the key heads")->capture_default_str();
  command->add_option("--head-dim", options->head_dim, "Set the head dimension")->capture_default_str();
  command->add_option("--repeats", options->repeats, "Time this many runs and keep the best")->capture_default_str();
  command->add_flag("--backward", options->backward, "Time the backward pass");
  command->add_flag("--dense", options->dense, "Compute and send what could be skipped");
  command->add_flag("--json", options->json, "Print one JSON object, with seconds and bytes");
  command->footer(
      "CPU is the processor time of the rank's work; GFLOP/s counts visible pairs over it. Transfers alone are "
      "the same bytes without work; hidden is the share of that time that was not waited for. The least are the blocks "
      "that ranks need of others, backward twice.\n"
      "Example:\n  mpirun -n 4 locus-mpi bench attention --tokens 8192");
  command->callback([options] { bench(*options); });
}

}  // namespace locus::tools
