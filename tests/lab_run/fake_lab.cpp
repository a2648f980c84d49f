// SPDX-License-Identifier: Apache-2.0
// locus-lab with instant trials; the command line, the store, the workers and the results are the real ones.
#include "lab_run/fake_parts.h"
#include "run/command.h"

int main(int argc, char** argv) { return locus::lab::lab_main(argc, argv, locus::lab::testing::fake_parts()); }
