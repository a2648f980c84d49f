// SPDX-License-Identifier: Apache-2.0
// Dumps of ALiBi's biases with one fault.
#include <algorithm>
#include <array>

#include "learn/detective/cases.h"
#include "locus/bias.h"
#include "locus/doctor/diagnose_bias.h"
#include "locus/error.h"

namespace locus::learn::detective {
namespace {

struct BiasScene {
  std::int64_t heads = 0, tokens = 0;
  std::vector<double> slopes = {};  ///< of the fault
  double scale = 1;
  std::int64_t late = 0;  ///< queries stand this many positions later than they do
};

struct PlantedBias {
  const char* name;
  void (*plant)(BiasScene& scene, Random& random);
};

std::vector<double> slopes_of(std::int64_t heads, double bias_max = 8) {
  return Encoding("alibi", {{"heads", heads}, {"bias_max", bias_max}}).score().slopes;
}

constexpr std::array planted_biases = {
    PlantedBias{"alibi_sign", [](BiasScene& scene, Random&) { scene.scale = -1; }},
    PlantedBias{"alibi_slopes_reversed",
                [](BiasScene& scene, Random&) { std::reverse(scene.slopes.begin(), scene.slopes.end()); }},
    PlantedBias{"alibi_slopes_next_power",
                [](BiasScene& scene, Random& random) {
                  scene.heads = random.one_of(std::array<std::int64_t, 3>{6, 12, 20});
                  scene.slopes = slopes_of(scene.heads == 6 ? 8 : scene.heads == 12 ? 16 : 32);
                  scene.slopes.resize(static_cast<std::size_t>(scene.heads));
                }},
    PlantedBias{"alibi_scaled",
                [](BiasScene& scene, Random& random) {
                  scene.scale = random.one_of(std::array{0.125, 0.0884, 3.0});
                }},
    PlantedBias{"alibi_bias_max",
                [](BiasScene& scene, Random& random) {
                  scene.slopes = slopes_of(scene.heads, random.one_of(std::array{4.0, 16.0}));
                }},
};

Array bias_of(const BiasScene& scene) {
  Array bias = Array::real({scene.heads, scene.tokens, scene.tokens}, {});
  for (const double slope : scene.slopes) {
    for (std::int64_t i = 0; i < scene.tokens; ++i) {
      for (std::int64_t j = 0; j < scene.tokens; ++j) {
        const auto distance = static_cast<double>(std::max<std::int64_t>(0, i + scene.late - j));
        bias.values.push_back(static_cast<float>(-scene.scale * slope * distance));
      }
    }
  }
  return bias;
}

}  // namespace

std::size_t bias_faults() { return planted_biases.size(); }

Case bias_case(std::size_t fault, Random& random) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    BiasScene scene{.heads = random.one_of(std::array<std::int64_t, 3>{4, 8, 16}), .tokens = random.between(10, 20)};
    scene.slopes = slopes_of(scene.heads);
    planted_biases.at(fault).plant(scene, random);
    const Array bias = bias_of(scene);
    const BiasDiagnosis diagnosis = diagnose_bias({scene.heads, scene.tokens, scene.tokens, bias.values},
                                                  Encoding("alibi", {{"heads", scene.heads}}));
    if (diagnosis.verdicts.front().name != planted_biases[fault].name) continue;
    Case one{planted_biases[fault].name, "case.bias_story"};
    one.parameters = {{"heads", shown(scene.heads)}, {"tokens", shown(scene.tokens)}};
    one.arrays["bias.npy"] = bias;
    return one;
  }
  fail("no dump shows the fault ", planted_biases.at(fault).name);
}

}  // namespace locus::learn::detective
