// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer: over every file of its corpus, then over random changes of them. Usage:
// TARGET CORPUS SECONDS. Run i depends only on i and the corpus, so failures are reproducible. An input that crashes
// the program is saved as crash-TARGET in the current folder; add it to the corpus when the bug is fixed.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using Input = std::vector<std::uint8_t>;

const std::uint8_t* current_data = nullptr;
std::size_t current_size = 0;
std::string crash_file;

/// Calls only functions that are safe in a signal handler.
void keep_current_input() {
  const int file = open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  if (write(file, current_data, current_size) < 0) return;
  close(file);
  constexpr char text[] = "the input that did this is kept in the current folder, see crash-*\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
}

void on_signal(int number) {
  keep_current_input();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void run(const Input& input) {
  // A heap copy of exactly this size: a sanitizer detects the first read beyond it.
  const auto copy = std::make_unique<std::uint8_t[]>(input.size());
  std::copy(input.begin(), input.end(), copy.get());
  current_data = copy.get();
  current_size = input.size();
  LLVMFuzzerTestOneInput(copy.get(), input.size());
}

class Mutator {
 public:
  Mutator(const std::vector<Input>& corpus, std::uint32_t seed) : corpus_(corpus), random_(seed) {}

  Input mutated() {
    Input input = corpus_[below(corpus_.size())];
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes; ++i) change(input);
    return input;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  void change(Input& input) {
    if (input.empty()) {
      input.push_back(static_cast<std::uint8_t>(random_()));
      return;
    }
    const std::size_t at = below(input.size());
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    const auto rest = static_cast<std::ptrdiff_t>(std::min<std::size_t>(1 + below(16), input.size() - at));
    switch (below(7)) {
      case 0:
        input[at] = static_cast<std::uint8_t>(input[at] ^ (1u << below(8)));
        break;
      case 1:
        input[at] = static_cast<std::uint8_t>(random_());
        break;
      case 2:
        overwrite_number(input, at);
        break;
      case 3:
        input.erase(place, place + rest);
        break;
      case 4: {
        const Input piece(place, place + rest);
        input.insert(place, piece.begin(), piece.end());
        break;
      }
      case 5:
        input.resize(at);
        break;
      default:
        splice(input, at);
    }
  }

  /// Sizes and counts that are just too large, or negative if read as signed.
  void overwrite_number(Input& input, std::size_t at) {
    static constexpr std::array<std::uint64_t, 10> numbers = {
        0, 1, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff, 0x2000000000000000};
    const std::uint64_t number = numbers[below(numbers.size())];
    const std::size_t width = std::min(std::size_t{1} << below(4), input.size() - at);
    std::memcpy(input.data() + at, &number, width);
  }

  void splice(Input& input, std::size_t at) {
    const Input& other = corpus_[below(corpus_.size())];
    if (other.empty()) return;
    const std::size_t from = below(other.size());
    input.resize(at);
    input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
  }

  const std::vector<Input>& corpus_;
  std::mt19937 random_;
};

std::vector<Input> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Input> corpus;
  for (const auto& path : files) {
    std::ifstream stream(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return corpus;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s CORPUS SECONDS\n", argv[0]);
    return 2;
  }
  crash_file = "crash-" + std::filesystem::path(argv[0]).filename().string();
  for (const int number : {SIGABRT, SIGFPE, SIGILL, SIGSEGV}) std::signal(number, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_current_input);

  const std::vector<Input> corpus = read_corpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s has no files\n", argv[1]);
    return 1;
  }
  run({});
  for (const Input& input : corpus) run(input);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[2]));
  std::uint32_t runs = 0;
  while (std::chrono::steady_clock::now() < end) run(Mutator(corpus, runs++).mutated());
  std::printf("%zu files and %u changes of them\n", corpus.size(), runs);
  return runs > 0 ? 0 : 1;
}
