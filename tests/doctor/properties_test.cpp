// SPDX-License-Identifier: Apache-2.0
// Every scheme passes the checks of its claims, and every check can fail: each gets an encoding with the one fault that
// it must find.
#include "locus/doctor/properties.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "doctor/verify/property_list.h"
#include "doctor/verify/worked.h"
#include "locus/doctor/example_encodings.h"
#include "locus/error.h"
#include "locus/rows.h"
#include "locus/scaling.h"

namespace locus {
namespace {

// ---- right encodings pass, and no claim is omitted

std::string text_of(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    text += check.scheme + ": " + check.name + ": " + std::to_string(check.value) + " against " +
            std::to_string(check.bound) + (check.pass ? "\n" : " FAIL\n");
  }
  return text;
}

bool asks(const std::vector<Check>& checks, const std::string& start) {
  return std::any_of(checks.begin(), checks.end(), [&](const Check& check) { return check.name.starts_with(start); });
}

class ExampleTest : public ::testing::TestWithParam<NamedEncoding> {};

TEST_P(ExampleTest, PassesAndIsAskedAboutEveryClaim) {
  const Encoding& encoding = GetParam().encoding;
  const std::vector<Check> checks = verify_properties(encoding);
  EXPECT_EQ(failed(checks), 0) << text_of(checks);
  for (const Claim claim : encoding.claims().all()) {
    EXPECT_TRUE(asks(checks, std::string(name_of(claim)) + ":")) << name_of(claim) << "\n" << text_of(checks);
  }
  for (const Check& check : checks) EXPECT_EQ(check.scheme, encoding.scheme().name);
}

INSTANTIATE_TEST_SUITE_P(Examples, ExampleTest, ::testing::ValuesIn(example_encodings()), [](const auto& one) {
  std::string name = one.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(Examples, HasEverySchemeAndEveryRule) {
  std::set<std::string> names;
  for (const NamedEncoding& one : example_encodings()) EXPECT_TRUE(names.insert(one.name).second) << one.name;
  for (const Scheme* scheme : schemes()) EXPECT_TRUE(names.contains(std::string(scheme->name))) << scheme->name;
  for (const Rule* rule : rules()) {
    EXPECT_TRUE(rule->name == "none" || names.contains("rope rule=" + std::string(rule->name))) << rule->name;
  }
  EXPECT_THROW(example_encodings("spiral"), Error);
}

// The claims that schemes do not make, according to their papers and docs/design.md.
TEST(Properties, WhatIsNotClaimedShowsTheDifference) {
  const auto not_claimed = [](std::string_view scheme, const Arguments& arguments) {
    std::set<std::string> found;
    for (const Check& check : verify_properties(Encoding(scheme, arguments))) {
      if (check.name.starts_with("not ")) found.insert(check.name.substr(4, check.name.find(':') - 4));
    }
    return found;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(not_claimed("sinusoidal", {{"dim", 8}}), Names({"relative"}));
  EXPECT_EQ(not_claimed("learned", {{"max_positions", 16}, {"dim", 8}}), Names({"relative", "negative_positions"}));
  EXPECT_EQ(not_claimed("rope", {{"head_dim", 8}, {"pairing", "half"}}), Names());
  EXPECT_EQ(not_claimed(
                "rope",
                {{"head_dim", 8}, {"pairing", "half"}, {"rule", "dynamic_ntk"}, {"factor", 2}, {"max_length", 131072}}),
            Names({"cache_safe"}));
  EXPECT_EQ(not_claimed("xpos", {{"head_dim", 8}, {"pairing", "half"}}), Names({"norm_preserving"}));
  EXPECT_EQ(not_claimed("alibi", {{"heads", 4}}), Names({"distance_only"}));
  EXPECT_EQ(not_claimed("alibi", {{"heads", 4}, {"form", "symmetric"}}), Names());
}

TEST(Properties, AClaimThatNobodyCanCheckFails) {
  Subject subject = subject_of(Encoding("nope"));
  subject.claims = subject.claims.with(Claim::linear_in_distance);
  const std::vector<Check> checks = verify_properties(subject);
  EXPECT_EQ(failed(checks), 1) << text_of(checks);
}

TEST(Properties, DegenerateEncodingsAreNotAccused) {
  const auto failures = [](std::string_view scheme, const Arguments& arguments) {
    const std::vector<Check> checks = verify_properties(Encoding(scheme, arguments));
    return failed(checks) == 0 ? "" : text_of(checks);
  };
  EXPECT_EQ(failures("learned", {{"max_positions", 1}, {"dim", 4}}), "");
  EXPECT_EQ(failures("learned", {{"max_positions", 2}, {"dim", 4}}), "");
  EXPECT_EQ(failures("relative_bias", {{"heads", 1}, {"index", "swin"}, {"window_height", 1}, {"window_width", 6}}),
            "");
  EXPECT_EQ(failures("shaw", {{"heads", 1}, {"head_dim", 4}, {"clip_left", 2}, {"clip", false}}), "");
  const std::vector<double> same(4, 2.0);
  EXPECT_EQ(failures("rope", {{"head_dim", 8},
                              {"pairing", "half"},
                              {"rule", "longrope"},
                              {"short_factor", same},
                              {"long_factor", same},
                              {"original_length", 4096},
                              {"max_length", 8192}}),
            "");
  for (const char* profile : {"hf", "ggml", "vllm"}) {
    EXPECT_EQ(failures("rope", {{"head_dim", 64}, {"pairing", "half"}, {"profile", profile}}), "") << profile;
  }
  EXPECT_EQ(failures("rope", {{"head_dim", 64}, {"pairing", "half"}, {"profile", "hf"}, {"table_type", "bfloat16"}}),
            "");
}

// ---- every property can fail

struct Mutation {
  std::string name;
  std::function<std::vector<Check>()> broken;
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

Subject rope() { return subject_of(Encoding("rope", {{"head_dim", 8}, {"pairing", "half"}})); }
Subject alibi(const std::string& form = "causal") {
  return subject_of(Encoding("alibi", {{"heads", 8}, {"form", form}}));
}
Subject sinusoidal(std::int64_t dim = 8) { return subject_of(Encoding("sinusoidal", {{"dim", dim}})); }
Subject learned() { return subject_of(Encoding("learned", {{"max_positions", 16}, {"dim", 8}})); }
Subject nope() { return subject_of(Encoding("nope")); }
Subject shaw() { return subject_of(Encoding("shaw", {{"heads", 2}, {"head_dim", 4}, {"values", true}})); }
Subject t5() { return subject_of(Encoding("t5", {{"heads", 2}})); }

// The same rotation with changed ids, or with a changed result.
Subject with_ids(Subject subject, const std::function<Position(Role, Position)>& change) {
  subject.rotate = [rotate = subject.rotate, change](Role role, std::span<const Position> ids,
                                                     std::span<const double> head) {
    std::vector<Position> changed;
    for (const Position id : ids) changed.push_back(change(role, id));
    return rotate(role, changed, head);
  };
  return subject;
}
Subject stretched(Subject subject, double factor) {
  subject.rotate = [rotate = subject.rotate, factor](Role role, std::span<const Position> ids,
                                                     std::span<const double> head) {
    std::vector<double> turned = rotate(role, ids, head);
    for (double& value : turned) value *= factor;
    return turned;
  };
  return subject;
}
// Angles as a float32 product: right near 0, wrong at a million.
Subject with_float_angles(std::int64_t width = 2) {
  Subject subject = subject_of(Encoding("rope", {{"head_dim", width}, {"pairing", "half"}}));
  subject.rotate = [](Role, std::span<const Position> ids, std::span<const double> head) {
    std::vector<double> turned(head.begin(), head.end());
    const std::size_t half = head.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      const float w = std::pow(10000.0f, -static_cast<float>(i) / static_cast<float>(half)) * 1.1f;
      const double angle = static_cast<double>(static_cast<float>(ids[0]) * w);
      turned[i] = head[i] * std::cos(angle) - head[i + half] * std::sin(angle);
      turned[i + half] = head[i] * std::sin(angle) + head[i + half] * std::cos(angle);
    }
    return turned;
  };
  return subject;
}
Subject with_bias(Subject subject, const std::function<double(std::int64_t, Position, Position)>& bias) {
  subject.bias = bias;
  return subject;
}
Subject with_rows(Subject subject, const std::function<std::vector<double>(Position)>& row) {
  subject.row = row;
  return subject;
}
double distance(Position a, Position b) { return std::fabs(static_cast<double>(a - b)); }

const std::vector<Mutation>& property_mutations() {
  using namespace doctor;
  static const std::vector<Mutation> all = {
      {"indices_in_the_place_of_ids",
       [] {
         // Six tokens, the query and then the key of each: the token's index is the number of the call divided by 2.
         return ids_decide(
             with_ids(rope(), [calls = std::make_shared<Position>()](Role, Position) { return (*calls)++ / 2 % 6; }));
       }},
      {"ids_ignored", [] { return order_is_seen(with_ids(rope(), [](Role, Position) { return Position{5}; })); }},
      {"nope_with_a_row",
       [] {
         Subject subject = nope();
         subject.row = [](Position id) { return std::vector<double>(8, static_cast<double>(id)); };
         return order_is_seen(subject);
       }},
      {"nope_that_does_something",
       [] {
         Subject subject = nope();
         subject.bias = [](std::int64_t, Position, Position) { return 0.0; };
         return nothing_is_done(subject);
       }},
      {"outputs_of_keys_that_lag_behind",
       [] {
         return outputs_keep_shifts(
             with_ids(rope(), [](Role role, Position id) { return role == Role::key && id > 50 ? id - 1 : id; }));
       }},
      {"an_absolute_row_that_never_moves",
       [] { return outputs_show_shifts(with_rows(learned(), [](Position) { return std::vector<double>(8, 0.5); })); }},
      {"float_angles", [] { return dot_products_keep_shifts(with_float_angles()); }},
      {"keys_turned_the_other_way",
       [] {
         return dot_products_keep_shifts(
             with_ids(rope(), [](Role role, Position id) { return role == Role::key ? -id : id; }));
       }},
      {"a_rotation_that_stretches", [] { return rotation_keeps_norms(stretched(rope(), 1 + 1e-12)); }},
      {"a_magnitude_that_is_lost", [] { return rotation_changes_norms(rope()); }},
      {"a_bias_from_the_wrong_end",
       [] {
         return scores_keep_shifts(
             with_bias(alibi(), [](std::int64_t, Position, Position key) { return -0.5 * static_cast<double>(key); }));
       }},
      {"shaw_by_the_key_alone",
       [] {
         Subject subject = shaw();
         subject.relative_score = [score = subject.relative_score](std::int64_t head, std::span<const double> q,
                                                                   std::span<const double> k, Position,
                                                                   Position key) { return score(head, q, k, 0, key); };
         return scores_keep_shifts(subject);
       }},
      {"an_absolute_bias_that_is_relative", [] { return scores_show_shifts(alibi()); }},
      {"a_quadratic_bias",
       [] {
         return bias_is_linear(with_bias(alibi(), [](std::int64_t, Position query, Position key) {
           return -distance(query, key) * distance(query, key);
         }));
       }},
      {"a_bias_without_a_slope",
       [] { return bias_is_linear(with_bias(alibi(), [](std::int64_t, Position, Position) { return 0.0; })); }},
      {"one_head_that_rises",
       [] {
         return bias_never_grows(with_bias(alibi(), [](std::int64_t head, Position query, Position key) {
           return (head == 7 ? 0.01 : -0.5) * distance(query, key);
         }));
       }},
      {"a_bias_that_is_not_symmetric", [] { return bias_is_the_same_both_ways(alibi("causal")); }},
      {"a_reversal_that_is_seen", [] { return outputs_follow_reversal(alibi("causal")); }},
      {"a_bias_that_is_symmetric", [] { return bias_differs_both_ways(alibi("symmetric")); }},
      {"a_future_pushed_away", [] { return bias_leaves_the_future(alibi("symmetric")); }},
      {"waves_that_start_at_one",
       [] {
         return waves_start_at_zero_and_one(
             with_rows(sinusoidal(), [row = sinusoidal().row](Position id) { return row(id + 1); }));
       }},
      {"sines_and_cosines_exchanged",
       [] {
         return waves_start_at_zero_and_one(with_rows(sinusoidal(), [row = sinusoidal().row](Position id) {
           std::vector<double> values = row(id);
           for (std::size_t i = 0; i + 1 < values.size(); i += 2) std::swap(values[i], values[i + 1]);
           return values;
         }));
       }},
      {"rows_of_another_base",
       [] {
         const Subject other = subject_of(Encoding("sinusoidal", {{"dim", 8}, {"base", 9999}}));
         return rows_shift_by_one_map(with_rows(sinusoidal(), other.row));
       }},
      {"rows_rounded_to_float32",
       [] {
         return rows_shift_by_one_map(with_rows(sinusoidal(), [row = sinusoidal().row](Position id) {
           std::vector<double> values = row(id);
           for (double& value : values) value = static_cast<double>(static_cast<float>(value));
           return values;
         }));
       }},
      {"a_wave_without_a_partner", [] { return rows_shift_by_one_map(sinusoidal(7)); }},
      {"numbers_that_depend_on_the_length",
       [] {
         Subject subject = alibi();
         subject.at_length = [](std::int64_t length) {
           return subject_of(Encoding("alibi", {{"heads", 8}, {"form", "mpt"}, {"length", length}}));
         };
         return numbers_keep_at_any_length(subject);
       }},
      {"a_length_without_effect", [] { return numbers_change_with_length(rope()); }},
      {"negative_ids_without_numbers",
       [] {
         return negative_ids_are_served(
             with_bias(alibi(), [](std::int64_t, Position query, Position) { return query < 0 ? std::nan("") : 0.0; }));
       }},
      {"negative_ids_refused", [] { return negative_ids_are_served(learned()); }},
      {"negative_ids_accepted", [] { return negative_ids_are_refused(rope()); }},
      {"the_last_id_refused", [] { return last_id_is_served(learned()); }},
      {"ids_that_wrap_around",
       [] {
         Subject subject = learned();
         subject.accepts = [](Position) { return true; };
         return ids_beyond_are_refused(subject);
       }},
      {"weights_that_nobody_reads",
       [] {
         Subject subject = t5();
         subject.with_other_weights = t5;
         return weights_matter(subject);
       }},
  };
  return all;
}

// ---- every worked example can fail

Subject pair_of(double factor) {
  return subject_of(Encoding("rope", {{"head_dim", 2}, {"pairing", "half"}, {"rule", "linear"}, {"factor", factor}}));
}

const std::vector<Mutation>& example_mutations() {
  using namespace doctor;
  static const std::vector<Mutation> all = {
      {"three_tokens_with_a_bias_on_nope",
       [] {
         return three_tokens_without_positions(
             with_bias(nope(), [](std::int64_t, Position query, Position key) { return -distance(query, key); }));
       }},
      {"three_tokens_with_ids_ignored",
       [] {
         const Subject subject = subject_of(Encoding("rope", {{"head_dim", 2}, {"pairing", "half"}}));
         return three_tokens_with_positions(with_ids(subject, [](Role, Position) { return Position{0}; }), 5);
       }},
      {"three_tokens_with_a_lopsided_distance",
       [] {
         Subject subject = alibi("symmetric");
         subject.bias = alibi("causal").bias;
         return three_tokens_with_positions(subject, 4);
       }},
      {"dot_products_of_another_base",
       [] {
         const Subject other = subject_of(Encoding("sinusoidal", {{"dim", 4}, {"base", 9000}}));
         return sinusoid_dot_products(with_rows(sinusoidal(4), other.row));
       }},
      {"aliases_without_slow_columns",
       [] {
         return sinusoid_aliases(with_rows(sinusoidal(4), [row = sinusoidal(4).row](Position id) {
           const std::vector<double> values = row(id);
           return std::vector<double>{values[0], values[1], values[0], values[1]};
         }));
       }},
      {"a_pair_off_by_one",
       [] {
         return one_pair_at_seven_and_four(
             with_ids(pair_of(1), [](Role, Position id) { return id == 7 ? Position{8} : id; }));
       }},
      {"rotations_by_float_angles", [] { return rotations_compose(with_float_angles(8)); }},
      {"interpolation_by_two", [] { return interpolation_by_four(pair_of(2)); }},
      {"slopes_of_twelve_heads_in_order",
       [] {
         return slopes_halve(with_bias(alibi(), [](std::int64_t head, Position query, Position key) {
           return -std::exp2(-8.0 * static_cast<double>(head + 1) / 12) * distance(query, key);
         }));
       }},
      {"a_bias_that_is_added",
       [] {
         return quarter_slope_of_five(with_bias(
             alibi(), [](std::int64_t, Position query, Position key) { return 0.25 * distance(query, key); }));
       }},
      {"a_tenth_counted_from_one",
       [] {
         return tenth_per_step(with_bias(
             alibi(), [](std::int64_t, Position query, Position key) { return -0.1 * (distance(query, key) + 1); }));
       }},
      {"buckets_without_an_end",
       [] { return buckets_rise_and_saturate([](Position query, Position key) { return std::abs(query - key); }); }},
      {"buckets_that_wrap",
       [] {
         return buckets_rise_and_saturate(
             [](Position query, Position key) { return (query < key ? 16 : 0) + std::abs(query - key) % 16; });
       }},
      {"key_minus_query",
       [] { return offsets_are_query_minus_key([](Position query, Position key) { return key - query; }); }},
      {"decoding_off_by_one",
       [] {
         return decode_goes_on([](std::int64_t prefix, std::int64_t n) { return positions::decode(prefix + 1, n); });
       }},
      {"decoding_from_zero",
       [] { return decode_goes_on([](std::int64_t, std::int64_t n) { return positions::decode(0, n); }); }},
      {"rows_that_wrap_around", [] { return rows_beyond_the_table_are_refused([](Position) {}); }},
  };
  return all;
}

class MutationTest : public ::testing::TestWithParam<Mutation> {};

TEST_P(MutationTest, IsFound) {
  const std::vector<Check> checks = GetParam().broken();
  EXPECT_GE(failed(checks), 1) << text_of(checks);
}

const auto mutation_name = [](const auto& one) { return one.param.name; };
INSTANTIATE_TEST_SUITE_P(Properties, MutationTest, ::testing::ValuesIn(property_mutations()), mutation_name);
INSTANTIATE_TEST_SUITE_P(Examples, MutationTest, ::testing::ValuesIn(example_mutations()), mutation_name);

TEST(WorkedExamples, Pass) {
  const std::vector<Check> checks = verify_worked_examples();
  EXPECT_EQ(failed(checks), 0) << text_of(checks);
  std::set<std::string> names;
  for (const Check& check : checks) EXPECT_TRUE(names.insert(check.scheme + check.name).second) << check.name;
}

// Computed with a calculator: softmax of (1, 0, 1) is (.4223, .1554, .4223), of (1, 1, 2) it is (.2119, .2119, .5761).
TEST(WorkedExamples, PrintTheThreeTokens) {
  const std::vector<Check> checks = doctor::three_tokens_without_positions(nope());
  EXPECT_EQ(checks.at(0).note, "I work he -> (0.8446, 0.5777) (0.5777, 0.8446) (0.7881, 0.7881)");
  EXPECT_EQ(checks.at(1).note, "he work I -> (0.7881, 0.7881) (0.5777, 0.8446) (0.8446, 0.5777)");
}

// A user's rotation instead of ours: passes if right, fails if wrong.
TEST(Subject, TakesAUsersOwnFunction) {
  Subject mine = rope();
  mine.name = "mine";
  mine.rotate = [](Role, std::span<const Position> ids, std::span<const double> head) {
    std::vector<double> turned(head.size());
    for (std::size_t i = 0; i < 4; ++i) {
      const double angle = static_cast<double>(ids[0]) * std::pow(10000.0, -static_cast<double>(i) / 4);
      turned[i] = head[i] * std::cos(angle) - head[i + 4] * std::sin(angle);
      turned[i + 4] = head[i] * std::sin(angle) + head[i + 4] * std::cos(angle);
    }
    return turned;
  };
  mine.angle_error = 0x1p-52;  // angles in double: two roundings of the angle, the fastest of which is the position
  const std::vector<Check> checks = verify_properties(mine);
  EXPECT_EQ(failed(checks), 0) << text_of(checks);
  for (const Check& check : checks) EXPECT_EQ(check.scheme, "mine");
}

}  // namespace
}  // namespace locus
