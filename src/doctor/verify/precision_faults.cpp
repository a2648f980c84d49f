// SPDX-License-Identifier: Apache-2.0
// Positions, frequencies, angles and tables in types that are too narrow.
#include <cmath>

#include "doctor/verify/fault_model.h"

namespace locus::doctor {

Models precision_faults() {
  Models all;
  const auto add = [&](std::string_view fault, const std::string& detail,
                       const std::function<double(double position, double frequency)>& angle) {
    all.push_back({.fault = fault,
                   .detail = detail,
                   .row = [angle](const Rotation& rotation, Role, std::span<const Position> ids, std::span<double> cos,
                                  std::span<double> sin) {
                     for (std::size_t i = 0; i < cos.size(); ++i) {
                       const double position = static_cast<double>(ids[rotation.axis[i] % ids.size()]);
                       const double length = std::hypot(cos[i], sin[i]), turned = angle(position, rotation.inv_freq[i]);
                       cos[i] = length * std::cos(turned);
                       sin[i] = length * std::sin(turned);
                     }
                   }});
  };
  all.push_back({.fault = "float32_angles", .float32_angles = true});
  for (const ElementType type : {ElementType::bfloat16, ElementType::float16}) {
    const std::string_view angles = type == ElementType::bfloat16 ? "bfloat16_angles" : "float16_angles";
    const auto round = [type](double value) { return rounded_to(type, value); };
    add(angles, "", [=](double p, double w) { return round(round(p) * round(w)); });
    add(angles, "frequencies rounded", [=](double p, double w) { return p * round(w); });
    add(angles, "angles rounded", [=](double p, double w) { return round(p * w); });
    add(angles, "positions rounded", [=](double p, double w) { return round(p) * w; });
    add(angles, "positions and frequencies rounded", [=](double p, double w) { return round(p) * round(w); });
    add(angles, "frequencies and angles rounded", [=](double p, double w) { return round(p * round(w)); });
    all.push_back({.fault = type == ElementType::bfloat16 ? "bfloat16_tables" : "float16_tables",
                   .row = [round](const Rotation&, Role, std::span<const Position>, std::span<double> cos,
                                  std::span<double> sin) {
                     for (double& c : cos) c = round(c);
                     for (double& s : sin) s = round(s);
                   }});
  }
  // Frequencies with few digits, as printed in decimal or stored in 16 bits.
  for (const double steps : {1e3, 1e4, 1e5, 1e6}) {
    add("frequencies_rounded", "", [steps](double p, double w) { return p * std::round(w * steps) / steps; });
  }
  return all;
}

}  // namespace locus::doctor
