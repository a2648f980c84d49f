// SPDX-License-Identifier: Apache-2.0
#include "learn/course.h"

#include <array>
#include <fstream>
#include <sstream>

#include "learn/laws/laws.h"
#include "learn/spoken_error.h"
#include "locus/names.h"

namespace locus::learn {
namespace {

namespace fs = std::filesystem;

constexpr std::array path{
    Exercise{"attention", Kind::code, laws_of_attention},
    Exercise{"permutation", Kind::code, laws_of_permutation},
    Exercise{"symmetry", Kind::code, laws_of_symmetry},
    Exercise{"sinusoidal", Kind::code, laws_of_sinusoidal},
    Exercise{"shift-matrix", Kind::code, laws_of_shift_matrix},
    Exercise{"picture", Kind::code, laws_of_picture},
    Exercise{"resized-table", Kind::code, laws_of_resized_table},
    Exercise{"rope-interleaved", Kind::code, laws_of_rope_interleaved},
    Exercise{"rope-half", Kind::code, laws_of_rope_half},
    Exercise{"relative-score", Kind::code, laws_of_relative_score},
    Exercise{"partial-rope", Kind::code, laws_of_partial_rope},
    Exercise{"alibi-slopes", Kind::code, laws_of_alibi_slopes},
    Exercise{"alibi-bias", Kind::code, laws_of_alibi_bias},
    Exercise{"t5-buckets", Kind::code, laws_of_t5_buckets},
    Exercise{"position-ids", Kind::code, laws_of_position_ids},
    Exercise{"interpolation", Kind::code, laws_of_interpolation},
    Exercise{"cache-shift", Kind::code, laws_of_cache_shift},
    Exercise{"comparison", Kind::comparison},
    Exercise{"case-01", Kind::detective, nullptr, 1},
    Exercise{"case-02", Kind::detective, nullptr, 2},
    Exercise{"case-03", Kind::detective, nullptr, 3},
    Exercise{"case-04", Kind::detective, nullptr, 4},
    Exercise{"case-05", Kind::detective, nullptr, 5},
    Exercise{"case-06", Kind::detective, nullptr, 6},
    Exercise{"case-07", Kind::detective, nullptr, 7},
    Exercise{"case-08", Kind::detective, nullptr, 8},
    Exercise{"case-09", Kind::detective, nullptr, 9},
    Exercise{"case-10", Kind::detective, nullptr, 10},
};

/// A learner's file or folder names its exercise: "03-symmetry.py", "./18-comparison/".
std::string_view id_in(std::string_view name) {
  while (name.ends_with('/')) name.remove_suffix(1);
  name = name.substr(name.rfind('/') + 1);
  for (const std::string_view ending : {".py", ".cpp"}) {
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  const bool has_place = name.size() > 3 && name.find_first_not_of("0123456789") == 2 && name[2] == '-';
  return has_place ? name.substr(3) : name;
}

/// Error: always, naming the nearest exercise if there is one.
[[noreturn]] void fail_unknown_exercise(std::string_view id) {
  const std::vector<std::string_view> known = names_of(path, [](const Exercise& one) { return one.id; });
  Parameters parameters = {{"exercise", std::string(id)}};
  std::string& all = parameters["known"];
  for (const std::string_view one : known) all.append(all.empty() ? "" : ", ").append(one);
  const auto nearest = nearest_name(id, known);
  if (nearest) parameters["nearest"] = std::string(*nearest);
  throw SpokenError(nearest ? "ui.unknown_exercise_near" : "ui.unknown_exercise", std::move(parameters));
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

}  // namespace

std::span<const Exercise> exercises() { return path; }

const Exercise& find_exercise(std::string_view name) {
  const std::string_view id = id_in(name);
  const bool is_number = !id.empty() && id.size() <= 2 && id.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_number) {
    const std::size_t place = std::stoul(std::string(id));
    if (place < 1 || place > path.size()) {
      throw SpokenError("ui.exercise_number", {{"all", std::to_string(path.size())}, {"number", std::string(id)}});
    }
    return path[place - 1];
  }
  for (const Exercise& one : path) {
    if (one.id == id) return one;
  }
  fail_unknown_exercise(id);
}

std::string file_stem(const Exercise& exercise) {
  const std::size_t place = static_cast<std::size_t>(&find_exercise(exercise.id) - path.data()) + 1;
  return (place < 10 ? "0" : "") + std::to_string(place) + "-" + std::string(exercise.id);
}

std::string text_at(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream.good()) throw SpokenError("ui.cannot_read", {{"file", file.string()}});
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Course::Course(const fs::path& folder) : folder_(folder) {
  std::error_code none;
  if (folder_.empty()) {
    folder_ = fs::read_symlink("/proc/self/exe", none).parent_path().parent_path() / "share" / "locus" / "exercises";
  }
  if (!fs::is_regular_file(folder_ / "python" / "harness.py", none)) {
    throw SpokenError("ui.no_course", {{"folder", folder_.string()}});
  }
}

fs::path Course::folder_of(const Exercise& exercise) const {
  return folder_ / (exercise.kind == Kind::detective ? "detective" : std::string(exercise.id));
}

// `# Title`, the text, one `## ` section per hint, and a last one with the explanation.
Texts Course::texts(const Exercise& exercise, Language language) const {
  const std::string file = std::string(code_of(language)) + ".md";
  std::istringstream lines(text_at(folder_of(exercise) / file));
  Texts texts;
  std::vector<std::string> sections(1);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) {
      texts.title = line.substr(2);
    } else if (line.starts_with("## ")) {
      sections.emplace_back();
    } else {
      sections.back() += line + '\n';
    }
  }
  for (std::string& section : sections) section = trimmed(section);
  require(sections.size() >= 3, file, " of ", exercise.id, " has no hint or no explanation");
  texts.intro = sections.front();
  texts.explanation = sections.back();
  texts.hints.assign(sections.begin() + 1, sections.end() - 1);
  if (exercise.kind == Kind::detective) {  // one text for all cases
    texts.title += " " + std::to_string(exercise.number);
    const std::string placeholder = "case-NN";
    const std::size_t at = texts.intro.find(placeholder);
    if (at != std::string::npos) texts.intro.replace(at, placeholder.size(), exercise.id);
  }
  return texts;
}

}  // namespace locus::learn
