// SPDX-License-Identifier: Apache-2.0
// A learner's folder: progress, the prediction, results and argument of lab 03, and the answer of a detective case. Each
// file is read, or refused as an exercise is.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "learn/broken_law.h"
#include "learn/comparison.h"
#include "learn/detective/cases.h"
#include "learn/workspace.h"
#include "locus/error.h"
#include "made_results.h"

namespace {

using namespace locus::fuzz;
namespace fs = std::filesystem;
namespace learn = locus::learn;

/// One folder per process, removed at its end. In memory where the system has such a place.
const fs::path& folder() {
  static const struct Folder {
    fs::path path;
    Folder() {
      const fs::path memory = "/dev/shm";
      path =
          (fs::is_directory(memory) ? memory : fs::temp_directory_path()) / ("locus-fuzz-" + std::to_string(getpid()));
      fs::create_directories(path);
    }
    ~Folder() {
      std::error_code none;
      fs::remove_all(path, none);
    }
  } one;
  return one.path;
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

std::string made_progress(Choices& choices) {
  Json progress = {{"language", choices.flag() ? "python" : "cpp"},
                   {"lang", choices.flag() ? "en" : "es"},
                   {"seed", 7},
                   {"exercises", Json::object()}};
  for (const std::string_view id : {"comparison", "picture", "attention"}) {
    if (choices.flag()) {
      progress["exercises"][std::string(id)] = {
          {"passed", choices.flag()}, {"hints", choices.below(3)}, {"prediction", choices.text()}};
    }
  }
  vary(progress, choices);
  return text_of(progress, choices);
}

std::string made_prediction(Choices& choices) {
  static constexpr std::string_view words[] = {"rope", "alibi", "learned", "sinusoidal", "t5", "RoPE"};
  std::string text;
  for (const std::string_view task : {"order", "verbs"}) {
    text += std::string(task) + ": ";
    if (choices.below(4) < 3) {
      text += "rope > alibi > learned > sinusoidal";
    } else {
      for (std::size_t i = choices.below(6); i > 0; --i) text += std::string(choices.of(words)) + " > ";
    }
    text += choices.fault() ? choices.text() : "\n";
  }
  if (choices.fault()) text.append(choices.below(60000), 'a');
  return text;
}

std::string made_argument(Choices& choices) {
  static constexpr std::string_view pieces[] = {"On order ",     "verbs ", "rope ", "alibi reaches ",
                                                " at 32 tokens", ". ",     "% ",    "\n"};
  std::string text;
  for (std::size_t i = choices.below(64); i > 0; --i) {
    text += choices.flag() ? std::string(choices.of(pieces)) : std::to_string(choices.real());
  }
  if (choices.fault()) text.append(choices.below(60000), '9');
  if (choices.fault()) text += ".5";
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const learn::Exercise* comparison = nullptr;
  for (const learn::Exercise& one : learn::exercises()) {
    if (one.id == "comparison") comparison = &one;
  }
  if (comparison == nullptr) std::abort();
  write(folder() / learn::Workspace::file_name, made_progress(choices));
  try {
    std::optional<learn::Workspace> workspace = learn::Workspace::find(folder());
    if (!workspace) std::abort();
    (void)workspace->next();
    const fs::path place = workspace->path_of(*comparison);
    write(place / "prediction.txt", made_prediction(choices));
    write(place / "argument.md", made_argument(choices));
    Json results = small_results(choices);
    vary(results, choices);
    write(place / "lab" / "results.json", text_of(results, choices));
    std::vector<std::string> notes;
    learn::grade_comparison(*workspace, *comparison, locus::Sentences(), notes);
  } catch (const locus::Error&) {
  } catch (const learn::BrokenLaw&) {
  }
  try {
    write(folder() / "answer.txt", choices.flag() ? choices.text() : "wrong_pairing");
    learn::detective::grade_case(folder(), choices.byte(), 1 + static_cast<int>(choices.below(10)));
  } catch (const learn::BrokenLaw&) {
  }
  return 0;
}
