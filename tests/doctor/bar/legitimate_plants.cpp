// SPDX-License-Identifier: Apache-2.0
// Engines without a fault.
#include <cmath>

#include "doctor/bar/plant.h"

namespace locus::bar {

void add_legitimate(Plants& all) {
  const std::set<std::string> right = {"as_expected"};
  for (const Kind kind : any_rule) {
    all["right_" + std::string(name_of(kind))] = {right, [](Case&, Random&) { return true; }, {kind}};
  }
  all["right_offset"] = {right, [](Case& one, Random&) {
                           if (one.engine.width == one.shape.head_dim) return false;
                           one.engine.offset = one.shape.head_dim - one.engine.width;
                           one.arguments.set("rotary_offset", one.engine.offset);
                           return true;
                         }};
  all["right_deinterleaved"] = {right, [](Case& one, Random&) {
                                  one.engine.deinterleaved_output = one.engine.interleaved;
                                  one.arguments.set("output_order", std::string("deinterleaved"));
                                  return one.engine.interleaved;
                                }};
  all["right_far"] = {right, [](Case& one, Random& random) {
                        set_ids(one, counted(one.shape, one_of<std::int64_t>(random, {4000, 30000, 130000, 1000000})));
                        return true;
                      }};
  all["right_packed"] = {right, [](Case& one, Random& random) {
                           expect_packed(one, cut_of(one, random));
                           return true;
                         }};
  all["right_padded"] = {right, [](Case& one, Random& random) {
                           const std::int64_t pads = between(random, 1, one.shape.tokens / 2);
                           Ids ids = counted(one.shape);
                           for (std::int64_t& id : ids) id = std::max<std::int64_t>(0, id - pads);
                           set_ids(one, ids);
                           return true;
                         }};
  all["right_scattered"] = {right, [](Case& one, Random& random) {
                              Ids ids = counted(one.shape);
                              for (std::int64_t& id : ids) id = between(random, 0, 5000);
                              set_ids(one, ids);
                              return true;
                            }};
  all["right_padding_zero"] = {right, [](Case& one, Random& random) {  // padding is zero before and after
                                 const std::int64_t pads = between(random, 1, one.shape.tokens / 2);
                                 const std::int64_t d = one.shape.head_dim, tokens = one.shape.tokens;
                                 std::normal_distribution<double> normal;
                                 for (std::int64_t n = 0; n < one.shape.rows() * one.shape.heads * d; ++n) {
                                   const bool pad = n / (one.shape.heads * d) % tokens < pads;
                                   one.dump.before.push_back(pad ? 0 : rounded(one.numerics.before, normal(random)));
                                 }
                                 one.engine.sizes.clear();
                                 one.engine.spoil = [=](std::int64_t row, std::int64_t, double* vector) {
                                   if (row % tokens < pads) std::fill(vector, vector + d, 0.0);
                                 };
                                 one.numerics.noise = 0;
                                 return true;
                               }};
  all["right_truncated"] = {right, [](Case& one, Random&) {  // rounded towards zero, as a bit shift does
                              one.numerics.after = Type::bfloat16;
                              const std::int64_t d = one.shape.head_dim;
                              one.engine.spoil = [=](std::int64_t, std::int64_t, double* vector) {
                                for (std::int64_t j = 0; j < d; ++j) {
                                  const double near = rounded(Type::bfloat16, vector[j]);
                                  if (std::abs(near) <= std::abs(vector[j])) continue;
                                  vector[j] = rounded(Type::bfloat16, near - (near - vector[j]) * 2.0 * (1 + 0x1p-9));
                                }
                              };
                              return true;
                            }};
  all["right_mrope"] = {right, make_mrope};
  all["right_xpos"] = {right, [](Case& one, Random&) {
                         if (one.rule.kind != Kind::none || one.engine.width != one.shape.head_dim) return false;
                         if (one.ids[0][0] > 100) return false;  // its scale overflows in float16
                         one.scheme = "xpos";
                         one.arguments = {{"head_dim", one.shape.head_dim},
                                          {"base", one.rule.base},
                                          {"pairing", one.arguments.text("pairing")}};
                         const double d = static_cast<double>(one.engine.width);
                         one.engine.scale = [d, ids = one.ids[0]](double, std::int64_t row, std::int64_t pair) {
                           const double zeta = (2 * static_cast<double>(pair) + 0.4 * d) / (1.4 * d);
                           return std::pow(zeta, static_cast<double>(ids[static_cast<std::size_t>(row)]) / 512);
                         };
                         return true;
                       }};
}

}  // namespace locus::bar
