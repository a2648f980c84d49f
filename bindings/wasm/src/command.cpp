// SPDX-License-Identifier: Apache-2.0
// The commands that read files and print, with their output as text.
#include <iostream>
#include <sstream>

#include "encodings.h"
#include "numbers.h"
#include "run_commands.h"

namespace locus::wasm {
namespace {

/// Collects what is written to a stream while this object lives.
class Captured {
 public:
  explicit Captured(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(before_); }
  Captured(const Captured&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::ostream& stream_;
  std::streambuf* before_;
};

}  // namespace

val run_command(const val& words) {
  using namespace tools;
  static const std::vector<CommandGroup> groups = {
      {"Inspect", {add_list_command, add_show_command, add_plot_command, add_positions_command, add_bias_command}},
      {"Check", {add_diagnose_command, add_lint_command}},
  };
  return guarded([&] {
    const auto given = emscripten::vecFromJSArray<std::string>(words);
    std::vector<const char*> arguments{"locus"};
    for (const std::string& word : given) arguments.push_back(word.c_str());
    const Captured output(std::cout), errors(std::cerr);
    const int code = run_commands(groups, static_cast<int>(arguments.size()), arguments.data());
    val result = val::object();
    result.set("code", code);
    result.set("output", output.text());
    result.set("errors", errors.text());
    return result;
  });
}

}  // namespace locus::wasm
