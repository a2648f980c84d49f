// SPDX-License-Identifier: Apache-2.0
#include "learn/detective/cases.h"

#include <fstream>
#include <numeric>

#include "locus/error.h"
#include "locus/io/npy.h"

namespace locus::learn::detective {
namespace {

namespace fs = std::filesystem;

/// A kind of case and one of its faults.
struct Plan {
  Case (*make)(std::size_t fault, Random& random);
  std::size_t fault;
};

template <class Items>
void shuffle(Items& items, Random& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
}

/// Four dumps of rotations, two of biases, two models and two engines, no fault twice, in an order that the seed chooses.
std::vector<Plan> plans_of(std::uint64_t seed) {
  Random random(mixed_bits(seed));
  std::vector<Plan> plans;
  const auto draw = [&](auto make, std::size_t known, std::size_t count) {
    std::vector<std::size_t> faults(known);
    std::iota(faults.begin(), faults.end(), std::size_t{0});
    shuffle(faults, random);
    for (std::size_t i = 0; i < count; ++i) plans.push_back({make, faults[i]});
  };
  draw(rotation_case, rotation_faults(), 4);
  draw(bias_case, bias_faults(), 2);
  draw(model_case, model_faults(), 2);
  draw(engine_case, engine_faults(), 2);
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

}  // namespace

Case make_case(std::uint64_t seed, int number) {
  const std::vector<Plan> plans = plans_of(seed);
  require(number >= 1 && static_cast<std::size_t>(number) <= plans.size(), "cases are numbered from 1 to ",
          plans.size(), ", got ", number);
  const Plan& plan = plans[static_cast<std::size_t>(number - 1)];
  Random random(mixed_bits(seed + golden_step * static_cast<std::uint64_t>(number)));
  return plan.make(plan.fault, random);
}

std::string write_case(const fs::path& folder, const Workspace& workspace, int number, Language language) {
  Case one = make_case(workspace.seed(), number);
  const std::string ending = workspace.program_language() == "cpp" ? ".cpp" : ".py";
  for (const auto& [name, text] : one.texts) {
    const fs::path extension = fs::path(name).extension();
    if (extension != ending && (extension == ".py" || extension == ".cpp")) continue;
    std::ofstream stream(folder / name);
    stream << text << (text.ends_with('\n') ? "" : "\n");
    require(stream.good(), "cannot write ", (folder / name).string());
  }
  for (const auto& [name, array] : one.arrays) write_array(folder / name, array);
  one.parameters["file"] = "engine" + ending;
  return Sentences(language).text(one.story, one.parameters);
}

}  // namespace locus::learn::detective
