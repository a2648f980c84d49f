// SPDX-License-Identifier: Apache-2.0
#include "doctor/faults.h"

#include <array>

#include "locus/names.h"

namespace locus::doctor {
namespace {

using enum FaultSite;

constexpr std::array catalogue{
    Fault{"as_expected", "as expected", none, "Every element is what the expected encoding gives."},

    Fault{"position_offset", "positions shifted", ids, "Every position is off by the same number."},
    Fault{"position_offset_from", "positions shifted from a token on", ids,
          "Positions are off by the same number from one token on: a page, a chunk, a draft or a fork starts there."},
    Fault{"off_by_one", "off by one", ids, "Every position is off by one."},
    Fault{"off_by_one_in_decode", "off by one in decode", ids,
          "Positions are right in prefill and off by one in decode."},
    Fault{"positions_reset", "positions reset", ids, "Positions start again inside a sequence."},
    Fault{"positions_not_reset", "packed ids not reset", ids, "Positions run on where a new document starts."},
    Fault{"positions_of_first_document", "ids of the first document", ids,
          "Later packed documents, or later batch rows, carry the ids of the first one."},
    Fault{"padding_counted", "padding counted as positions", ids,
          "Left padding was counted: ids are not shifted by the number of padding tokens."},
    Fault{"ids_ignored", "ids ignored", ids, "Ids were not read: tokens were counted from 0 instead."},
    Fault{"positions_all_zero", "every position is 0", ids, "Every token was rotated as if at position 0."},
    Fault{"no_positions", "positions not applied", ids, "Positions have no effect."},
    Fault{"positions_constant", "every position is the same", ids, "Every token was rotated by the same position."},
    Fault{"positions_negated", "positions negated", ids, "Positions have the wrong sign."},
    Fault{"positions_doubled", "positions doubled", ids, "Every position is twice as large as expected."},
    Fault{"positions_reversed", "positions reversed", ids, "Positions run from the last token to the first."},
    Fault{"positions_wrapped", "positions wrapped", ids,
          "Positions wrap at a power of two: an integer type is too narrow, or a table is indexed modulo its length."},
    Fault{"positions_clamped", "positions clamped", ids,
          "Positions stop at a length: a table ends there and its last row is used for the rest."},
    Fault{"positions_swapped", "positions swapped", ids, "Some tokens have each other's positions."},
    Fault{"positions_differ", "other positions", ids, "Positions differ from those expected in no known pattern."},

    Fault{"base_wrong", "another base", frequencies, "The frequencies are those of another base."},
    Fault{"factor_wrong", "another factor", frequencies, "The rule was applied with another factor."},
    Fault{"rule_not_applied", "rule not applied", frequencies, "The frequencies are those of the plain base."},
    Fault{"rule_applied_twice", "rule applied twice", frequencies, "The frequencies were changed twice by the rule."},
    Fault{"rule_of_another_layer", "rule of another layer", frequencies,
          "A rule was applied where none is expected, as to a layer of the other kind."},
    Fault{"other_rule", "another rule", frequencies, "The frequencies are those of another rule."},
    Fault{"other_rule_and_positions", "another rule and other positions", frequencies,
          "The frequencies are those of another rule, at other positions."},
    Fault{"proportional_as_partial", "proportional taken for partial", frequencies,
          "The first pairs were rotated with the frequencies of a narrower slice: the rule proportional spreads them "
          "over the whole head."},
    Fault{"partial_as_proportional", "partial taken for proportional", frequencies,
          "The exponents of the frequencies run over the whole head, not over the rotated slice."},
    Fault{"sections_swapped", "sections swapped", frequencies, "Sections of the pairs follow each other's axes."},
    Fault{"sections_cut", "sections cut wrongly", frequencies,
          "Sections of the pairs are cut at other places, or all pairs follow one axis."},

    Fault{"not_rotated", "not rotated", rotation, "The rotation was not applied."},
    Fault{"rotated_twice", "rotated twice", rotation, "The rotation was applied twice."},
    Fault{"cached_rotated_twice", "cached keys rotated twice", rotation,
          "Some tokens were rotated twice: keys from the cache were rotated again."},
    Fault{"inverse_rotation", "inverse rotation", rotation, "The rotation runs backwards: the sign of sin is flipped."},
    Fault{"values_rotated", "values rotated", rotation, "Values were rotated; no position may touch them."},

    Fault{"wrong_pairing", "wrong pairing", slice, "Other coordinates form the pairs."},
    Fault{"wrong_output_order", "wrong output order", slice, "The output is in another order of coordinates."},
    Fault{"wrong_width", "wrong width", slice, "More or fewer coordinates are rotated."},
    Fault{"wrong_offset", "wrong offset", slice, "The rotated slice starts at another coordinate."},

    Fault{"magnitude_missing", "magnitude missing", magnitude, "The attention factor was not applied to cos and sin."},
    Fault{"magnitude_squared", "magnitude applied twice", magnitude, "The attention factor was applied twice."},
    Fault{"magnitude_wrong", "wrong magnitude", magnitude, "Cos and sin carry another factor than expected."},
    Fault{"magnitude_varies", "magnitude varies", magnitude, "The magnitude varies with the token, as in xPos."},
    Fault{"roles_exchanged", "query and key scales exchanged", magnitude,
          "Queries got the scale of keys, or the other way round."},

    Fault{"float32_angles", "angles in float32", precision, "Angles carry the errors of float32 arithmetic."},
    Fault{"exact_angles", "exact angles", precision, "Angles are exact where those of a profile were expected."},
    Fault{"bfloat16_angles", "angles in bfloat16", precision,
          "Positions, frequencies or angles were rounded to bfloat16."},
    Fault{"float16_angles", "angles in float16", precision,
          "Positions, frequencies or angles were rounded to float16."},
    Fault{"bfloat16_tables", "tables in bfloat16", precision, "Cos and sin were rounded to bfloat16."},
    Fault{"float16_tables", "tables in float16", precision, "Cos and sin were rounded to float16."},

    Fault{"tokens_zero", "tokens are zero", coverage, "Some tokens are zero."},
    Fault{"heads_zero", "heads are zero", coverage, "Some heads are zero."},
    Fault{"coordinates_zero", "coordinates are zero", coverage, "Some coordinates are zero."},
    Fault{"tokens_not_rotated", "tokens not rotated", coverage, "Some tokens are not rotated."},
    Fault{"heads_not_rotated", "heads not rotated", coverage, "Some heads are not rotated."},
    Fault{"coordinates_not_rotated", "coordinates not rotated", coverage, "Some pairs of the slice are not rotated."},
    Fault{"tokens_swapped", "tokens swapped", coverage, "Some tokens have the content of other tokens."},
    Fault{"tokens_repeated", "tokens repeated", coverage, "Some tokens repeat another token."},
    Fault{"tokens_unexplained", "tokens unexplained", coverage, "Some tokens are explained by no known fault."},
    Fault{"heads_unexplained", "heads unexplained", coverage, "Some heads are explained by no known fault."},
    Fault{"coordinates_unexplained", "coordinates unexplained", coverage,
          "Some coordinates are explained by no known fault."},

    Fault{"wrong_heads", "heads exchanged", heads, "Heads are rotations of other heads."},
    Fault{"heads_tiled", "heads tiled", heads, "Key heads were tiled (0 1 0 1) instead of repeated (0 0 1 1)."},
    Fault{"heads_miscounted", "heads miscounted", heads, "Vectors were counted with another number of heads."},

    Fault{"bias_from_the_wrong_end", "bias counted from the wrong end", bias,
          "Distances are counted from the first key instead of from the query."},
    Fault{"queries_counted_from_zero", "queries counted from zero", bias,
          "The first query was taken for position 0 although keys precede it."},
    Fault{"queries_off_by_one", "queries off by one", bias, "Queries stand one position off."},
    Fault{"alibi_slopes_reversed", "slopes reversed", bias, "ALiBi's slopes are in reverse order of heads."},
    Fault{"alibi_slopes_sorted", "slopes sorted", bias, "ALiBi's slopes are sorted from steep to flat."},
    Fault{"alibi_slopes_next_power", "slopes of the next power of two", bias,
          "Slopes are those of the next power of two heads, cut off."},
    Fault{"alibi_slopes_one_series", "slopes in one series", bias,
          "Slopes form one geometric series although the number of heads is no power of two."},
    Fault{"alibi_sign", "slopes with the wrong sign", bias, "The score grows with distance."},
    Fault{"alibi_scaled", "slopes scaled", bias, "ALiBi's slopes are multiplied by a constant."},
    Fault{"alibi_bias_max", "another bias_max", bias, "ALiBi's slopes are those of another bias_max."},
    Fault{"buckets_wrong", "wrong buckets", bias, "The bias changes at other distances than the expected buckets."},
    Fault{"table_wrong", "wrong table", bias, "Buckets are right, but the numbers are not those of the given table."},
    Fault{"table_transposed", "directions exchanged", bias, "Keys before and after the query are exchanged."},
    Fault{"heads_permuted", "bias of other heads", bias, "Heads carry each other's bias."},
    Fault{"row_constant", "constant per row", bias,
          "The bias differs by a constant per row, which a causal softmax does not see."},
    Fault{"other_form", "another form", bias, "The bias is ALiBi in another form."},
    Fault{"mask_mixed_in", "mask mixed in", bias, "A mask is added to the bias."},

    Fault{"no_rotation", "no rotation", unknown, "No rotation of pairs gives these numbers."},
    Fault{"unexplained", "none of the known faults", unknown, "No fault of the catalogue explains what was seen."},
};

}  // namespace

std::span<const Fault> all_faults() { return catalogue; }

const Fault& find_fault(std::string_view id) {
  return find_named("fault", catalogue, id, [](const Fault& one) { return one.id; });
}

}  // namespace locus::doctor
