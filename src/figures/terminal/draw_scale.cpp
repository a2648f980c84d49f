// SPDX-License-Identifier: Apache-2.0
#include "figures/terminal/draw_scale.h"

#include <algorithm>
#include <cmath>

#include "figures/spec.h"

namespace locus::figures {

DrawScale::DrawScale(const Channel& channel, const std::vector<const Json*>& rows)
    : logarithmic_(channel.logarithmic), log_base_(channel.log_base) {
  if (channel.discrete) {
    names_ = labels_of(channel, rows);
    high_ = std::max(1.0, static_cast<double>(names_.size()) - 1);
  } else if (channel.domain) {
    given_ = true;
    low_ = channel.domain->first;
    high_ = channel.domain->second;
  } else {
    include(channel, rows);
  }
}

void DrawScale::include(const Channel& channel, const std::vector<const Json*>& rows) {
  if (given_ || !names_.empty() || !channel.present()) return;
  for (const Json* row : rows) {
    const auto value = number_in(*row, channel.field);
    if (!value || (logarithmic_ && *value <= 0)) continue;
    low_ = empty_ ? *value : std::min(low_, *value);
    high_ = empty_ ? *value : std::max(high_, *value);
    empty_ = false;
  }
}

std::optional<double> DrawScale::place(double value) const {
  if (logarithmic_ && value <= 0) return {};
  if (low_ == high_) return value == low_ ? std::optional(0.5) : std::nullopt;
  const double part = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  // Data is rounded to 6 digits, which must not move it beyond the edge.
  if (part < -1e-5 || part > 1 + 1e-5) return {};
  return std::clamp(part, 0.0, 1.0);
}

std::optional<double> DrawScale::place(const Json& row, const std::string& field) const {
  if (names_.empty()) {
    const auto value = number_in(row, field);
    return value ? place(*value) : std::nullopt;
  }
  if (!row.contains(field)) return {};
  const auto found = std::find(names_.begin(), names_.end(), label_of(row[field]));
  return found == names_.end() ? std::nullopt : place(static_cast<double>(found - names_.begin()));
}

std::vector<double> DrawScale::round_values(std::size_t most) const {
  std::vector<double> values;
  if (low_ == high_) return {low_};
  if (logarithmic_) {
    const double from = std::ceil(std::log(low_) / std::log(log_base_) - 1e-9);
    const double to = std::floor(std::log(high_) / std::log(log_base_) + 1e-9);
    const double step = std::max(1.0, std::ceil((to - from + 1) / static_cast<double>(most)));
    const bool few = to <= from;  // fewer than two powers: also labels between them
    for (double power = few ? from - 1 : from; power <= to; power += step) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = rounded(factor * std::pow(log_base_, power));
        const bool wanted = factor == 1 || (few && factor < log_base_);
        if (wanted && place(value)) values.push_back(value);
      }
    }
    if (values.size() > 1) return values;
    values.clear();
  }
  double step = std::pow(10.0, std::floor(std::log10(high_ - low_)) - 1);
  for (const double factor : {2.0, 2.5, 2.0, 2.0, 2.5, 2.0}) {  // 1, 2, 5, 10, 20, 50, 100
    if ((high_ - low_) / step <= static_cast<double>(most)) break;
    step *= factor;
  }
  for (double count = std::ceil(low_ / step - 1e-9); count * step <= high_ + 1e-9 * step; ++count) {
    values.push_back(rounded(count * step));
  }
  return values;
}

std::vector<Tick> DrawScale::ticks(std::size_t cells, std::size_t most, bool upwards) const {
  std::vector<Tick> ticks;
  const auto add = [&](double value, const std::string& label) {
    const auto where = place(value);
    if (where) ticks.push_back({cell_at(upwards ? 1 - *where : *where, cells), label});
  };
  if (names_.empty()) {
    for (const double value : round_values(most)) add(value, pretty(value));
  } else {
    for (std::size_t i = 0; i < names_.size(); ++i) add(static_cast<double>(i), names_[i]);
  }
  return ticks;
}

std::size_t cell_at(double place, std::size_t cells) {
  return static_cast<std::size_t>(std::lround(place * static_cast<double>(cells - 1)));
}

}  // namespace locus::figures
