// SPDX-License-Identifier: Apache-2.0
#include "lab/run/command.h"

#include <iostream>

#include "lab/run/spec.h"
#include "locus/error.h"

namespace locus::lab {

// One trial, given as JSON, for now.
int lab_main(int argc, char** argv, const Parts& parts) {
  try {
    require(argc == 3 && std::string(argv[1]) == "trial", "usage: locus-lab trial SPEC");
    for (const Measurement& one : parts.run_trial(spec_from_json(Json::parse(argv[2])), [](double) {})) {
      std::cout << one.line << ' ' << one.name << ' ' << one.length << ' ' << one.place << ' ' << one.value << '\n';
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "locus-lab: " << error.what() << '\n';
    return 2;
  }
}

}  // namespace locus::lab
