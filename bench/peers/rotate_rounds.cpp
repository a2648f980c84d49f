// SPDX-License-Identifier: Apache-2.0
// Runs our rotation on behalf of another program, for peers that cannot be called from C++ and alternate with us.
// Reads one command per line from standard input and answers each with a line:
//   prepare PAIRING TYPE TOKENS FILE   reads [tokens, 32, 128] from FILE, rotates it and writes it back: "ready"
//   time REPEATS                       seconds of one rotation in place, timed over REPEATS rotations
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include "buffer.h"
#include "locus/locus.h"
#include "measure.h"
#include "rotate_cases.h"

namespace {

using namespace locus;

struct OwnRotation {
  bench::Buffer buffer;
  Encoding encoding;
  HeadsView view;
  PositionIds ids;

  OwnRotation(const std::string& pairing, ElementType type, std::int64_t tokens)
      : buffer(static_cast<std::size_t>(tokens * bench::rotate_heads * bench::rotate_head_dim) * size_of(type)),
        encoding("rope", {{"head_dim", bench::rotate_head_dim}, {"pairing", pairing}}, std::size_t{64} << 20),
        view(heads_view(buffer.data(), type, "thd", {{tokens, bench::rotate_heads, bench::rotate_head_dim}})),
        ids(positions::prefill(tokens)) {}
  void run() const { rotate(encoding, view, ids); }
};

std::unique_ptr<OwnRotation> prepare(std::istream& words) {
  std::string pairing, type, file;
  std::int64_t tokens = 0;
  words >> pairing >> type >> tokens >> std::ws;
  std::getline(words, file);
  require(type == "float32" || type == "float16", "prepare: the type must be float32 or float16, got " + type);
  require(tokens > 0, "prepare: the number of tokens must be positive");
  auto rotation =
      std::make_unique<OwnRotation>(pairing, type == "float32" ? ElementType::float32 : ElementType::float16, tokens);
  auto* bytes = static_cast<char*>(rotation->buffer.data());
  const auto size = static_cast<std::streamsize>(rotation->buffer.bytes());
  require(std::ifstream(file, std::ios::binary).read(bytes, size).gcount() == size, "prepare: too short: " + file);
  rotation->run();
  std::ofstream out(file, std::ios::binary);
  out.write(bytes, size).flush();
  require(out.good(), "prepare: cannot write " + file);
  return rotation;
}

}  // namespace

int main() {
  std::unique_ptr<OwnRotation> rotation;
  try {
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string verb;
      words >> verb;
      if (verb == "prepare") {
        rotation = prepare(words);
        std::cout << "ready" << std::endl;
      } else {
        int repeats = 0;
        require(verb == "time" && words >> repeats && repeats > 0 && rotation, "expected prepare or time, got " + line);
        std::cout << std::setprecision(9) << bench::seconds_of([&] { rotation->run(); }, repeats) << std::endl;
      }
    }
  } catch (const std::exception& error) {
    std::cerr << "locus_rotate_rounds: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
