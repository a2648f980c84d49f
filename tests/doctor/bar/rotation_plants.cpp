// SPDX-License-Identifier: Apache-2.0
// Wrong rotations, slices, magnitudes and precision.
#include "doctor/bar/plant.h"

namespace locus::bar {
namespace {

Plant casting(Type type, const std::string& name, int what) {
  return {{name}, [=](Case& one, Random& random) {
            set_ids(one, counted(one.shape, what == 1 ? between(random, 3, 500) : between(random, 2100, 3000)));
            one.engine.angle = [=](std::int64_t id, long double w) -> long double {
              const double p = static_cast<double>(id);
              if (what == 0) return rounded(type, p) * w;
              if (what == 1) return p * rounded(type, static_cast<double>(w));
              return rounded(type, static_cast<double>(p * w));
            };
            return true;
          }};
}

}  // namespace

void add_rotations(Plants& all) {
  all["not_rotated"] = {{"not_rotated", "positions_all_zero"}, [](Case& one, Random&) {
                          one.engine.treat = [](auto, auto) { return Treatment{.times = 0}; };
                          return true;
                        }};
  all["twice"] = {{"rotated_twice", "positions_doubled"}, [](Case& one, Random&) {
                    one.engine.treat = [](auto, auto) { return Treatment{.times = 2}; };
                    return true;
                  }};
  all["inverse"] = {{"inverse_rotation", "positions_negated"}, [](Case& one, Random&) {
                      one.engine.treat = [](auto, auto) { return Treatment{.times = -1}; };
                      return true;
                    }};
  all["values"] = {{"values_rotated"}, [](Case& one, Random&) { return one.expected.values = true; }};
  all["values_right"] = {{"as_expected"}, [](Case& one, Random&) {
                           one.engine.treat = [](auto, auto) { return Treatment{.times = 0}; };
                           return one.expected.values = true;
                         }};
  all["pairing"] = {{"wrong_pairing"}, [](Case& one, Random&) {
                      one.engine.interleaved = !one.engine.interleaved;
                      return true;
                    }};
  all["output_order"] = {{"wrong_output_order"},
                         [](Case& one, Random&) { return one.engine.deinterleaved_output = one.engine.interleaved; }};
  all["width"] = {{"wrong_width"},
                  [](Case& one, Random&) {
                    one.engine.width /= 2;
                    use_rule(one, one.rule);
                    return true;
                  },
                  {Kind::none, Kind::linear, Kind::yarn}};
  all["offset_slice"] = {{"wrong_offset"}, [](Case& one, Random&) {
                           one.engine.offset = one.shape.head_dim - one.engine.width;
                           return one.engine.offset > 0;
                         }};
  all["magnitude_missing"] = {{"magnitude_missing"},
                              [](Case& one, Random&) {
                                one.engine.magnitude = 1;
                                return true;
                              },
                              {Kind::yarn}};
  all["magnitude_twice"] = {{"magnitude_squared"},
                            [](Case& one, Random&) {
                              one.engine.magnitude *= one.engine.magnitude;
                              return true;
                            },
                            {Kind::yarn}};
  all["magnitude_wrong"] = {{"magnitude_wrong"}, [](Case& one, Random& random) {
                              one.engine.magnitude *= one_of<double>(random, {1.1, 0.5, 0.125});
                              return true;
                            }};
  all["bfloat16_positions"] = casting(Type::bfloat16, "bfloat16_angles", 0);
  all["float16_positions"] = casting(Type::float16, "float16_angles", 0);
  all["bfloat16_frequencies"] = casting(Type::bfloat16, "bfloat16_angles", 1);
  all["bfloat16_angle"] = casting(Type::bfloat16, "bfloat16_angles", 2);
}

}  // namespace locus::bar
