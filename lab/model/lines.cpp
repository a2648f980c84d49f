// SPDX-License-Identifier: Apache-2.0
#include "model/lines.h"

#include <algorithm>

#include "locus/resize.h"
#include "locus/scaling.h"
#include "locus/stretch.h"

namespace locus::lab {
namespace {

std::int64_t longest_of(const TrialSpec& spec) {
  std::int64_t longest = spec.trained_length;
  for (const std::int64_t length : spec.lengths) longest = std::max(longest, length);
  return longest;
}

/// Returns whether the scheme adds a learned row per position to the hidden state: only such tables can be resized.
bool has_table_of_rows(const Scheme& scheme) {
  return scheme.site == Site::hidden && takes(scheme, "table") && takes(scheme, "max_positions");
}

Encoding resized(const Encoding& encoding, std::int64_t trained, std::int64_t length) {
  const HiddenRows& hidden = encoding.hidden();
  Arguments arguments = encoding.arguments();
  const auto prefix = static_cast<std::size_t>(hidden.row_offset * hidden.dim);
  const auto count = static_cast<std::size_t>(trained * hidden.dim);
  const std::span<const float> rows = std::span(hidden.table.data).subspan(prefix, count);
  std::vector<float> table(hidden.table.data.begin(), hidden.table.data.begin() + static_cast<std::ptrdiff_t>(prefix));
  const std::vector<float> stretched = resize_1d(rows, hidden.dim, trained, length);
  table.insert(table.end(), stretched.begin(), stretched.end());
  arguments.set("table", Tensor{{hidden.row_offset + length, hidden.dim}, std::move(table)});
  arguments.set("max_positions", length);
  return Encoding(encoding.scheme().name, arguments);
}

/// Returns whether lines of this rule are part of the trial. A rule that needs more than a factor has no line: LongRoPE's
/// lists come from a search on the trained model.
bool is_tested(const Rule& rule, const TrialSpec& spec) {
  return rule.compared || (spec.every_rule && needs_factor_only(rule));
}

}  // namespace

std::vector<Line> lines_with_variants(const TrialSpec& spec) {
  const SchemeText scheme = parse_scheme(spec.scheme);
  std::vector<Line> lines{{.name = spec.scheme, .variant = ""}};
  if (has_table_of_rows(find_scheme(scheme.name))) {
    lines.push_back({.name = spec.scheme + "+resized", .variant = "resized"});
  }
  // A requested rule is used for training and testing unchanged. An offset map stretches without a rule.
  const Scheme& trained = find_scheme(scheme.name);
  if (!takes(trained, "rule") || takes(trained, "map") || scheme.arguments.has("rule")) return lines;
  std::vector<Line> tuned{{spec.scheme + "+tuned", "", true}};
  for (const Rule* rule : rules()) {
    if (!is_tested(*rule, spec)) continue;
    const std::string variant(rule->name), name = spec.scheme + "+" + variant;
    lines.push_back({.name = name, .variant = variant});
    if (rule->compared) tuned.push_back({name + "+tuned", variant, true});
  }
  if (spec.tune_steps > 0) lines.insert(lines.end(), tuned.begin(), tuned.end());
  return lines;
}

std::vector<std::string> lines_of(const TrialSpec& spec) {
  std::vector<std::string> names;
  for (const Line& line : lines_with_variants(spec)) names.push_back(line.name);
  return names;
}

Encoding encoding_of(const Line& line, const TrialSpec& spec, const Transformer& model, std::int64_t length) {
  const Encoding trained = model.encoding();
  if (line.variant.empty()) return trained.at_length(length);
  if (line.variant == "resized") {
    return length > spec.trained_length ? resized(trained, spec.trained_length, length) : trained;
  }
  const bool constant = line.tuned || find_rule(line.variant).length_dependent;
  const std::int64_t longest = constant ? longest_of(spec) : length;
  return with_rule(trained, line.variant, {.trained = spec.trained_length, .longest = longest}).at_length(length);
}

}  // namespace locus::lab
