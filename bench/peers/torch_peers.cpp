// SPDX-License-Identifier: Apache-2.0
// `locus_bench_peers`: times libtorch on cases of `locus bench`, in this process, with one thread on both sides.
// Prints one JSON object per result; tools/peer_programs.h describes it.
#include "torch_peers.h"

#include <ATen/Parallel.h>
#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "blas_in_use.h"

extern "C" void openblas_set_num_threads(int threads);

namespace {

struct Request {
  locus::bench::Pairs pairs;
  bool quick = false;
  std::set<std::string> groups;
};

Request parse(int argc, char** argv) {
  Request request;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--rounds" && more) {
      request.pairs.rounds = std::atoi(argv[++i]);
    } else if (word == "--round-seconds" && more) {
      request.pairs.round_seconds = std::atof(argv[++i]);
    } else if (word == "--quick") {
      request.quick = true;
    } else {
      request.groups.insert(word);
    }
  }
  return request;
}

void print(const std::string& peer, const std::string& group, const std::string& line,
           const locus::bench::Comparison& result) {
  const nlohmann::ordered_json json = {{"peer", peer},
                                       {"group", group},
                                       {"line", line},
                                       {"times", result.share.median},
                                       {"interval", {result.share.low, result.share.high}},
                                       {"seconds", result.limit_seconds},
                                       {"our_seconds", result.our_seconds}};
  std::cout << json.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string blas = locus::bench::blas_in_use();
  if (blas.find("openblas") == std::string::npos) {
    std::cerr << "locus_bench_peers: libtorch would compute with " << blas
              << ", some 20 times slower than OpenBLAS; install libopenblas0 and choose it by update-alternatives\n";
    return 2;
  }
  at::set_num_threads(1);
  openblas_set_num_threads(1);
  // Keeps memory that a peer frees for its next call: allocation is warm-up, not work.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  try {
    const Request request = parse(argc, argv);
    const auto wanted = [&](const char* group) { return request.groups.empty() || request.groups.contains(group); };
    if (wanted("rotate")) locus::bench::torch_rotate(request.pairs, print);
    if (wanted("attention")) locus::bench::torch_attention(request.quick, request.pairs, print);
  } catch (const std::exception& error) {
    std::cerr << "locus_bench_peers: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
