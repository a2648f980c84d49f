// SPDX-License-Identifier: Apache-2.0
// Models whose config.json is wrong in one way, for `locus lint`.
#include <array>

#include "learn/detective/cases.h"

namespace locus::learn::detective {
namespace {

struct PlantedSetting {
  const char* name;  ///< lint's first finding
  std::string (*keys)(Random& random);
};

std::string one_factor(Random& random) { return shown(random.one_of(std::array{2, 4, 8})); }

constexpr std::array planted_settings = {
    PlantedSetting{"yarn-factor-mismatch",
                   [](Random& random) {
                     const std::int64_t factor = random.between(2, 4);
                     return R"("rope_theta": 1000000, "max_position_embeddings": )" + shown(8192 * factor) +
                            R"(, "rope_scaling": {"rope_type": "yarn", "factor": )" + shown(2 * factor) +
                            R"(, "original_max_position_embeddings": 8192})";
                   }},
    PlantedSetting{"list-length",
                   [](Random& random) {
                     std::string factors = "1";
                     for (std::int64_t i = random.between(3, 20); i > 0; --i) factors += ", 1";
                     return R"("rope_theta": 10000, "max_position_embeddings": 32768, "rope_scaling": {)"
                            R"("rope_type": "longrope", "original_max_position_embeddings": 4096, "short_factor": [)" +
                            factors + R"(], "long_factor": [)" + factors + "]}";
                   }},
    PlantedSetting{
        "settings-refused",
        [](Random& random) {
          return R"("rope_theta": 10000, "max_position_embeddings": 4096, "rope_scaling": {"rope_type": "linear", "factor": -)" +
                 one_factor(random) + "}";
        }},
    PlantedSetting{
        "keys-disagree",
        [](Random& random) {
          return R"("max_position_embeddings": 4096, "rope_theta": 10000, "rope_parameters": {"rope_type": "default", "rope_theta": )" +
                 shown(random.between(2, 9)) + "00000}";
        }},
};

}  // namespace

std::size_t model_faults() { return planted_settings.size(); }

Case model_case(std::size_t fault, Random& random) {
  const std::int64_t heads = random.one_of(std::array<std::int64_t, 3>{4, 8, 16});
  Case one{planted_settings.at(fault).name, "case.model_story", Tool::lint};
  one.texts["config.json"] = R"({"model_type": "llama", "num_attention_heads": )" + shown(heads) +
                             R"(, "hidden_size": )" + shown(64 * heads) + ", " + planted_settings[fault].keys(random) +
                             "}";
  return one;
}

}  // namespace locus::learn::detective
