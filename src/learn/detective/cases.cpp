// SPDX-License-Identifier: Apache-2.0
#include "learn/detective/cases.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <numeric>

#include "doctor/faults.h"
#include "learn/messages.h"
#include "locus/doctor/lint.h"
#include "locus/error.h"
#include "locus/io/npy.h"
#include "locus/names.h"

namespace locus::learn::detective {
namespace {

namespace fs = std::filesystem;

enum class Tool : std::uint8_t { rotation, bias, model };

struct Plan {
  Tool tool;
  std::size_t fault;
};

template <class Items>
void shuffle(Items& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
}

/// Six dumps of rotations, two of biases and two models, no fault twice, in an order that the seed chooses.
std::vector<Plan> plans_of(std::uint64_t seed) {
  Random random(mixed_bits(seed));
  std::vector<Plan> plans;
  const auto draw = [&](Tool tool, std::size_t known, std::size_t count) {
    std::vector<std::size_t> faults(known);
    std::iota(faults.begin(), faults.end(), std::size_t{0});
    shuffle(faults, random);
    for (std::size_t i = 0; i < count; ++i) plans.push_back({tool, faults[i]});
  };
  draw(Tool::rotation, rotation_faults(), 6);
  draw(Tool::bias, bias_faults(), 2);
  draw(Tool::model, model_faults(), 2);
  shuffle(plans, random);
  return plans;
}

void write_array(const fs::path& file, const Array& array) {
  if (array.integer) {
    const std::vector<std::int64_t> whole(array.values.begin(), array.values.end());
    io::write_npy<std::int64_t>(file, array.shape, whole);
  } else {
    const std::vector<float> values(array.values.begin(), array.values.end());
    io::write_npy<float>(file, array.shape, values);
  }
}

/// The first line with something on it, in small letters, spaces as underscores: "Wrong pairing" is wrong_pairing.
std::string answer_in(const fs::path& file) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::string word;
    for (const char c : line) {
      if (c == '\r' || c == '`' || c == '.') continue;
      word += std::isspace(static_cast<unsigned char>(c))
                  ? '_'
                  : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    while (word.ends_with('_')) word.pop_back();
    while (word.starts_with('_')) word.erase(0, 1);
    if (!word.empty()) return word;
  }
  return {};
}

std::vector<std::string_view> known_words() {
  std::vector<std::string_view> words = names_of(doctor::all_faults(), [](const doctor::Fault& one) { return one.id; });
  for (const std::string_view id : lint_ids()) words.push_back(id);
  return words;
}

}  // namespace

Case make_case(std::uint64_t seed, int number) {
  const std::vector<Plan> plans = plans_of(seed);
  require(number >= 1 && static_cast<std::size_t>(number) <= plans.size(), "cases are numbered from 1 to ",
          plans.size(), ", got ", number);
  const Plan& plan = plans[static_cast<std::size_t>(number - 1)];
  Random random(mixed_bits(seed + golden_step * static_cast<std::uint64_t>(number)));
  switch (plan.tool) {
    case Tool::rotation:
      return rotation_case(plan.fault, random);
    case Tool::bias:
      return bias_case(plan.fault, random);
    case Tool::model:
      return model_case(plan.fault, random);
  }
  fail("unknown tool");
}

std::string write_case(const fs::path& folder, std::uint64_t seed, int number, const Course& course,
                       const std::string& lang) {
  const Case one = make_case(seed, number);
  for (const auto& [name, text] : one.texts) {
    std::ofstream stream(folder / name);
    stream << text << '\n';
    require(stream.good(), "cannot write ", (folder / name).string());
  }
  for (const auto& [name, array] : one.arrays) write_array(folder / name, array);
  return Messages(course.folder() / "messages.json", lang).text(one.story, one.parameters);
}

void grade_case(const fs::path& folder, std::uint64_t seed, int number) {
  const std::string answer = answer_in(folder / "answer.txt");
  if (answer.empty()) throw BrokenLaw{"case.no_answer"};
  const Case one = make_case(seed, number);
  if (answer == one.fault) return;
  const std::vector<std::string_view> known = known_words();
  const Parameters parameters = {{"answer", answer}};
  if (answer == "as_expected") throw BrokenLaw{"case.not_this", "case.something_is", parameters};
  if (std::find(known.begin(), known.end(), answer) == known.end()) {
    throw BrokenLaw{"case.unknown", answer.find('_') != answer.rfind('_') && answer.size() > 40 ? "case.sentence" : "",
                    parameters};
  }
  const auto ids = lint_ids();
  const bool finding = std::find(ids.begin(), ids.end(), answer) != ids.end();
  throw BrokenLaw{"case.not_this", finding == one.arrays.empty() ? "case.other_verdict" : "case.other_tool",
                  parameters};
}

}  // namespace locus::learn::detective
