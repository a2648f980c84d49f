// SPDX-License-Identifier: Apache-2.0
// Maps claims to properties, and missing claims to expected differences.
#include "locus/doctor/properties.h"

#include <map>
#include <utility>

#include "doctor/verify/property_list.h"

namespace locus {
namespace {

using doctor::Checks;
using Property = Checks (*)(const Subject&);
using Properties = std::map<std::pair<Claim, Site>, std::vector<Property>>;

const Properties& claimed() {
  static const Properties all = [] {
    using namespace doctor;
    Properties table = {
        {{Claim::relative, Site::none}, {outputs_keep_shifts}},
        {{Claim::relative, Site::query_key}, {dot_products_keep_shifts, outputs_keep_shifts}},
        {{Claim::relative, Site::hidden}, {outputs_keep_shifts}},
        {{Claim::relative, Site::score}, {scores_keep_shifts, outputs_keep_shifts}},
        {{Claim::relative, Site::relative_key}, {scores_keep_shifts, outputs_keep_shifts}},
        {{Claim::norm_preserving, Site::none}, {nothing_is_done}},
        {{Claim::norm_preserving, Site::query_key}, {rotation_keeps_norms}},
        {{Claim::linear_in_distance, Site::score}, {bias_is_linear}},
        {{Claim::distance_only, Site::score}, {bias_is_the_same_both_ways, outputs_follow_reversal}},
        {{Claim::decaying, Site::score}, {bias_never_grows}},
        {{Claim::linear_shift, Site::hidden}, {rows_shift_by_one_map}},
        {{Claim::causal_only, Site::score}, {bias_leaves_the_future}},
    };
    for (const Site site : {Site::none, Site::hidden, Site::query_key, Site::score, Site::relative_key}) {
      table[{Claim::cache_safe, site}] = {numbers_keep_at_any_length};
      table[{Claim::negative_positions, site}] = {negative_ids_are_served};
      table[{Claim::unbounded, site}] = {last_id_is_served};
      if (site != Site::none) table[{Claim::learned, site}] = {weights_matter};
    }
    return table;
  }();
  return all;
}

void append(Checks& checks, Checks more) { checks.insert(checks.end(), more.begin(), more.end()); }

void append_claimed(Checks& checks, const Subject& subject) {
  for (const Claim claim : subject.claims.all()) {
    const auto found = claimed().find({claim, subject.site});
    if (found == claimed().end()) {
      const std::string name(name_of(claim));
      checks.push_back({name + ": no check at this site", subject.name, 0, 0, false,
                        "there is no check of " + name + " at the site " + std::string(name_of(subject.site))});
      continue;
    }
    for (const Property property : found->second) append(checks, property(subject));
  }
}

void append_unclaimed(Checks& checks, const Subject& subject) {
  using namespace doctor;
  const auto lacks = [&](Claim claim) { return !subject.claims.has(claim); };
  if (lacks(Claim::relative) && subject.absolute) {
    append(checks, subject.site == Site::score ? scores_show_shifts(subject) : outputs_show_shifts(subject));
  }
  if (lacks(Claim::norm_preserving) && subject.site == Site::query_key) append(checks, rotation_changes_norms(subject));
  // The two sides of a learned table cannot be predicted.
  if (lacks(Claim::distance_only) && subject.site == Site::score && lacks(Claim::learned) && !subject.tokens_decide) {
    append(checks, bias_differs_both_ways(subject));
  }
  if (lacks(Claim::cache_safe) && subject.length_matters) append(checks, numbers_change_with_length(subject));
  if (lacks(Claim::negative_positions)) append(checks, negative_ids_are_refused(subject));
  append(checks, ids_beyond_are_refused(subject));
}

}  // namespace

std::vector<Check> verify_properties(const Subject& subject) {
  Checks checks;
  append_claimed(checks, subject);
  append_unclaimed(checks, subject);
  append(checks, doctor::waves_start_at_zero_and_one(subject));
  append(checks, doctor::rows_keep_as_tokens_follow(subject));
  append(checks, doctor::ids_decide(subject));
  append(checks, doctor::order_is_seen(subject));
  return checks;
}

std::vector<Check> verify_properties(const Encoding& encoding) { return verify_properties(subject_of(encoding)); }

}  // namespace locus
