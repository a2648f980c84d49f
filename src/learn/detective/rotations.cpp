// SPDX-License-Identifier: Apache-2.0
// Dumps of queries before and after a rotation with one fault.
#include <array>
#include <functional>
#include <numeric>

#include "learn/detective/cases.h"
#include "locus/doctor/diagnose.h"
#include "locus/error.h"
#include "locus/reference.h"

namespace locus::learn::detective {
namespace {

using Ids = std::vector<std::int64_t>;

/// What a model expects, and what happened instead.
struct Scene {
  std::int64_t tokens = 0, heads = 2, head_dim = 0;
  double base = 0;
  Arguments expected = {}, happened = {};
  Ids ids = {}, used = {};
  bool packed = false;  ///< the ids are written to a file
  std::string config = {};
};

struct PlantedFault {
  const char* name;
  void (*plant)(Scene& scene, Random& random);
};

double other_base(const Scene& scene, Random& random) {
  constexpr std::array bases = {10000.0, 100000.0, 500000.0, 1000000.0};
  for (;;) {
    const double base = random.one_of(bases);
    if (base != scene.base) return base;
  }
}

/// The model interpolates by a factor; `happened` does not yet.
double expect_interpolation(Scene& scene, Random& random) {
  const double factor = random.one_of(std::array{2.0, 4.0, 8.0});
  scene.expected.set("rule", "linear");
  scene.expected.set("factor", factor);
  scene.config = R"(, "rope_scaling": {"rope_type": "linear", "factor": )" + shown(factor) + "}";
  return factor;
}

constexpr std::array planted = {
    PlantedFault{"wrong_pairing", [](Scene& scene, Random&) { scene.happened.set("pairing", "interleaved"); }},
    PlantedFault{"position_offset",
                 [](Scene& scene, Random& random) {
                   const std::int64_t amount = random.between(2, 40);
                   for (std::int64_t& id : scene.used) id += amount;
                 }},
    PlantedFault{"base_wrong",
                 [](Scene& scene, Random& random) { scene.happened.set("base", other_base(scene, random)); }},
    PlantedFault{"wrong_width", [](Scene& scene, Random&) { scene.happened.set("rotary_dim", scene.head_dim / 2); }},
    PlantedFault{"positions_reversed",
                 [](Scene& scene, Random&) { scene.used.assign(scene.ids.rbegin(), scene.ids.rend()); }},
    PlantedFault{"positions_clamped",
                 [](Scene& scene, Random& random) {
                   const std::int64_t last = random.between(scene.tokens / 2, scene.tokens - 6);
                   for (std::int64_t& id : scene.used) id = std::min(id, last);
                 }},
    PlantedFault{"positions_not_reset",
                 [](Scene& scene, Random& random) {
                   const std::int64_t first = random.between(8, scene.tokens - 8);
                   for (std::int64_t t = first; t < scene.tokens; ++t)
                     scene.ids[static_cast<std::size_t>(t)] = t - first;
                   scene.packed = true;
                 }},
    PlantedFault{"rule_not_applied", [](Scene& scene, Random& random) { expect_interpolation(scene, random); }},
    PlantedFault{"factor_wrong",
                 [](Scene& scene, Random& random) {
                   const double factor = expect_interpolation(scene, random);
                   scene.happened.set("rule", "linear");
                   scene.happened.set("factor", factor + 1);
                 }},
    PlantedFault{"positions_reset",
                 [](Scene& scene, Random& random) {
                   const std::int64_t first = random.between(8, scene.tokens - 8);
                   for (std::int64_t t = first; t < scene.tokens; ++t) {
                     scene.used[static_cast<std::size_t>(t)] = t - first;
                   }
                 }},
    PlantedFault{"rule_applied_twice",
                 [](Scene& scene, Random& random) {
                   const double factor = expect_interpolation(scene, random);
                   scene.happened.set("rule", "linear");
                   scene.happened.set("factor", factor * factor);
                 }},
};

Scene random_scene(Random& random) {
  Scene scene;
  scene.tokens = random.between(24, 48);
  scene.head_dim = random.one_of(std::array<std::int64_t, 3>{16, 32, 64});
  scene.base = random.one_of(std::array{10000.0, 500000.0, 1000000.0});
  scene.expected = {{"head_dim", scene.head_dim}, {"pairing", "half"}, {"base", scene.base}};
  scene.happened = scene.expected;
  scene.ids.resize(static_cast<std::size_t>(scene.tokens));
  std::iota(scene.ids.begin(), scene.ids.end(), 0);
  scene.used = scene.ids;
  return scene;
}

/// The dump, rounded to float32 as it is written.
RotationDump dump_of(const Scene& scene, Random& random) {
  const Encoding encoding("rope", scene.happened);
  RotationDump dump{.batch = 1, .tokens = scene.tokens, .heads = scene.heads, .head_dim = scene.head_dim};
  for (std::int64_t row = 0; row < scene.tokens * scene.heads; ++row) {
    std::vector<double> head;
    for (std::int64_t c = 0; c < scene.head_dim; ++c) head.push_back(static_cast<float>(4 * random.uniform() - 2));
    dump.before.insert(dump.before.end(), head.begin(), head.end());
    const Position id = scene.used[static_cast<std::size_t>(row / scene.heads)];
    head = reference::rotate(encoding.rotation(), Role::query, Direction::forward, std::span(&id, 1), head);
    for (const double value : head) dump.after.push_back(static_cast<float>(value));
  }
  return dump;
}

std::string config_of(const Scene& scene) {
  return R"({"model_type": "llama", "hidden_size": )" + shown(scene.heads * scene.head_dim) +
         R"(, "num_attention_heads": )" + shown(scene.heads) + R"(, "max_position_embeddings": 4096, "rope_theta": )" +
         std::to_string(static_cast<std::int64_t>(scene.base)) + scene.config + "}";
}

}  // namespace

std::size_t rotation_faults() { return planted.size(); }

Case rotation_case(std::size_t fault, Random& random) {
  // In some sizes another fault gives the same dump; then other sizes are drawn.
  for (int attempt = 0; attempt < 50; ++attempt) {
    Scene scene = random_scene(random);
    planted.at(fault).plant(scene, random);
    const RotationDump dump = dump_of(scene, random);
    const PositionIds ids{.axes = 1, .batch = 1, .tokens = scene.tokens, .ids = scene.ids};
    const Diagnosis diagnosis = diagnose(dump, {.encoding = Encoding("rope", scene.expected), .positions = ids});
    const Verdict& first = diagnosis.verdicts.front();
    if (first.name != planted[fault].name || first.confidence < confident) continue;
    Case one{planted[fault].name, scene.packed ? "case.packed_story" : "case.rotation_story"};
    one.parameters = {{"tokens", shown(scene.tokens)}, {"heads", shown(scene.heads)}, {"dim", shown(scene.head_dim)}};
    one.texts["config.json"] = config_of(scene);
    const Shape shape = {scene.tokens, scene.heads, scene.head_dim};
    one.arrays["before.npy"] = Array::real(shape, dump.before);
    one.arrays["after.npy"] = Array::real(shape, dump.after);
    if (scene.packed) one.arrays["positions.npy"] = Array::ids(scene.ids);
    return one;
  }
  fail("no dump shows the fault ", planted.at(fault).name);
}

}  // namespace locus::learn::detective
