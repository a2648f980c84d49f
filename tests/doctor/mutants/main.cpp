// SPDX-License-Identifier: Apache-2.0
// Mutation testing of the verifier: runs every planted fault and every right implementation, and prints the score.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "doctor/mutants/mutants.h"

int main(int argc, char** argv) {
  using namespace mutants;
  const bool verbose = argc > 1 && std::strcmp(argv[1], "--verbose") == 0;
  const std::size_t step = argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 1;
  const std::vector<Subject> right = right_ones();
  const std::vector<std::string> wrong = refused(right, step);
  std::printf("right: %zu of %zu refused\n", wrong.size(), (right.size() + step - 1) / step);
  for (const std::string& one : wrong) std::printf("refused   %s\n", one.c_str());
  const Score score = run_planted(planted_faults(), step, verbose);
  const bool good = wrong.empty() && score.caught >= 0.98 * score.all && score.named >= 0.85 * score.all &&
                    (step > 1 || score.all >= 400);
  return good ? 0 : 1;
}
