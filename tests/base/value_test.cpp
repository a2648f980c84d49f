// SPDX-License-Identifier: Apache-2.0
// Parameters and their values: what is accepted, what is filled in, and that messages name parameter, value and rule.
#include "locus/value.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "locus/error.h"

namespace locus {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all = {
      {.name = "flag", .kind = ValueKind::boolean, .meaning = "a switch", .fallback = true},
      {.name = "count", .kind = ValueKind::integer, .meaning = "how many", .required = true, .least = 1, .most = 1e6},
      {.name = "rate",
       .kind = ValueKind::real,
       .meaning = "how fast",
       .fallback = 2.5,
       .least = 0,
       .above_least = true},
      {.name = "free", .kind = ValueKind::real, .meaning = "any number"},
      {.name = "word", .kind = ValueKind::choice, .meaning = "which", .choices = {"one", "two", "three"}},
      {.name = "parts", .kind = ValueKind::list, .meaning = "shares", .least = 0, .most = 100},
      {.name = "table", .kind = ValueKind::tensor, .meaning = "weights"},
  };
  return all;
}

Arguments checked(Arguments given) {
  if (!given.has("count")) given.set("count", std::int64_t{3});
  return validate("thing", parameters(), given);
}

void expect_error(const std::string& message, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "accepted what should give: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), message);
  }
}

const Parameter& parameter(std::string_view name) { return find_parameter("thing", parameters(), name); }
Value parsed(std::string_view name, std::string_view text) { return parse_value("thing", parameter(name), text); }

TEST(Validate, FillsInDefaultsAndOmitsOptionalParameters) {
  const Arguments result = checked({});
  EXPECT_TRUE(result.boolean("flag"));
  EXPECT_EQ(result.integer("count"), 3);
  EXPECT_EQ(result.real("rate"), 2.5);
  EXPECT_FALSE(result.has("free") || result.has("word") || result.has("parts") || result.has("table"));
  EXPECT_EQ(result.maybe_real("free"), std::nullopt);
  EXPECT_EQ(result.maybe_integer("count"), 3);
}

TEST(Validate, KeepsGivenValues) {
  const Arguments result = checked({{"flag", false},
                                    {"count", 1000000},
                                    {"rate", 0.5},
                                    {"free", -1e300},
                                    {"word", "three"},
                                    {"parts", std::vector<double>{0, 100}},
                                    {"table", Tensor{{2, 2}, {1, 2, 3, 4}}}});
  EXPECT_FALSE(result.boolean("flag"));
  EXPECT_EQ(result.integer("count"), 1000000);
  EXPECT_EQ(result.real("rate"), 0.5);
  EXPECT_EQ(result.real("free"), -1e300);
  EXPECT_EQ(result.text("word"), "three");
  EXPECT_EQ(result.list("parts"), (std::vector<double>{0, 100}));
  EXPECT_EQ(result.tensor("table").row(1)[0], 3);
}

TEST(Validate, ConvertsIntegersAndWholeReals) {
  EXPECT_EQ(checked({{"rate", 7}}).real("rate"), 7.0);
  EXPECT_EQ(checked({{"count", 64.0}}).integer("count"), 64);
  EXPECT_EQ(checked({{"count", 1e6}}).integer("count"), 1000000);
}

TEST(Validate, RefusesWrongKinds) {
  expect_error("thing.flag must be true or false, got 1", [] { checked({{"flag", 1}}); });
  expect_error("thing.flag must be true or false, got yes", [] { checked({{"flag", "yes"}}); });
  expect_error("thing.count must be an integer, got true", [] { checked({{"count", true}}); });
  expect_error("thing.count must be an integer, got 1.5", [] { checked({{"count", 1.5}}); });
  expect_error("thing.count must be an integer, got 3", [] { checked({{"count", "3"}}); });
  expect_error("thing.rate must be a number, got fast", [] { checked({{"rate", "fast"}}); });
  expect_error("thing.rate must be a number, got 1,2", [] { checked({{"rate", std::vector<double>{1, 2}}}); });
  expect_error("thing.word must be a word, got 1", [] { checked({{"word", 1}}); });
  expect_error("thing.parts must be a list of numbers, got 4", [] { checked({{"parts", 4}}); });
  expect_error("thing.table must be a tensor, got 0.5", [] { checked({{"table", 0.5}}); });
  expect_error("thing.rate must be a number, got tensor 1x2", [] { checked({{"rate", Tensor{{1, 2}, {0, 0}}}}); });
}

TEST(Validate, RefusesNumbersOutOfRange) {
  expect_error("thing.count must be at least 1 and at most 1000000, got 0", [] { checked({{"count", 0}}); });
  expect_error("thing.count must be at least 1 and at most 1000000, got 1000001", [] {
    checked({{"count", 1000001}});
  });
  expect_error("thing.count must be at least 1 and at most 1000000, got -5", [] { checked({{"count", -5.0}}); });
  expect_error("thing.rate must be above 0, got 0", [] { checked({{"rate", 0}}); });
  expect_error("thing.rate must be above 0, got -0.5", [] { checked({{"rate", -0.5}}); });
  expect_error("thing.parts must be at least 0 and at most 100, got 101", [] {
    checked({{"parts", std::vector<double>{1, 101}}});
  });
  expect_error("thing.parts must not be empty", [] { checked({{"parts", std::vector<double>{}}}); });
}

TEST(Validate, RefusesNonFiniteNumbers) {
  expect_error("thing.rate must be finite, got nan", [] { checked({{"rate", nan}}); });
  expect_error("thing.rate must be finite, got inf", [] { checked({{"rate", infinity}}); });
  expect_error("thing.free must be finite, got -inf", [] { checked({{"free", -infinity}}); });
  expect_error("thing.count must be an integer, got nan", [] { checked({{"count", nan}}); });
  expect_error("thing.count must be an integer, got inf", [] { checked({{"count", infinity}}); });
  expect_error("thing.count must be an integer, got 1e+300", [] { checked({{"count", 1e300}}); });
  expect_error("thing.parts must be finite, got nan", [] { checked({{"parts", std::vector<double>{1, nan}}}); });
  expect_error("thing.table must be finite, got nan among its values", [] {
    checked({{"table", Tensor{{2}, {0, std::numeric_limits<float>::quiet_NaN()}}}});
  });
}

TEST(Validate, RefusesTensorsOfAnotherSize) {
  expect_error("thing.table has 3 values, but its shape needs 4", [] {
    checked({{"table", Tensor{{2, 2}, {1, 2, 3}}}});
  });
  expect_error("thing.table has an invalid shape: tensor -1x2", [] { checked({{"table", Tensor{{-1, 2}, {}}}}); });
  const std::int64_t huge = std::int64_t{1} << 40;
  expect_error("thing.table has an invalid shape: tensor 1099511627776x1099511627776", [&] {
    checked({{"table", Tensor{{huge, huge}, {}}}});
  });
}

TEST(Validate, RefusesUnknownWordsAndNames) {
  expect_error("unknown thing.word 'four'; known: one, two, three", [] { checked({{"word", "four"}}); });
  expect_error(
      "unknown thing parameter 'cuont'; did you mean 'count'? known: flag, count, rate, free, word, parts, table", [] {
        checked({{"cuont", 3}});
      });
  expect_error("unknown thing parameter ''; known: flag, count, rate, free, word, parts, table", [] {
    checked({{"", 3}});
  });
  expect_error("unknown thing parameter 'a'; known: none", [] { validate("thing", {}, {{"a", 1}}); });
}

TEST(Validate, MissingRequiredParametersAreDescribed) {
  expect_error("thing.count must be given: how many", [] { validate("thing", parameters(), {}); });
  const std::vector<Parameter> choice = {{.name = "pairing",
                                          .kind = ValueKind::choice,
                                          .meaning = "which",
                                          .required = true,
                                          .choices = {"half", "other"}}};
  expect_error("rope.pairing must be given (half or other): which", [&] { validate("rope", choice, {}); });
}

TEST(FindParameter, ByName) {
  EXPECT_EQ(parameter("rate").meaning, "how fast");
  expect_error("unknown thing parameter 'rat'; did you mean 'rate'? known: flag, count, rate, free, word, parts, table",
               [] { parameter("rat"); });
}

TEST(ParseValue, EachKind) {
  EXPECT_EQ(std::get<bool>(parsed("flag", "true")), true);
  EXPECT_EQ(std::get<bool>(parsed("flag", "false")), false);
  EXPECT_EQ(std::get<std::int64_t>(parsed("count", "32")), 32);
  EXPECT_EQ(std::get<std::int64_t>(parsed("count", " -7 ")), -7);
  EXPECT_EQ(std::get<std::int64_t>(parsed("count", "+7")), 7);
  EXPECT_EQ(std::get<double>(parsed("rate", "5e5")), 500000.0);
  EXPECT_EQ(std::get<double>(parsed("rate", "0.1")), 0.1);
  EXPECT_EQ(std::get<std::string>(parsed("word", "two")), "two");
  const std::vector<double> list{16, 24, 24};
  EXPECT_EQ(std::get<std::vector<double>>(parsed("parts", "16,24,24")), list);
  EXPECT_EQ(std::get<std::vector<double>>(parsed("parts", "[16, 24, 24]")), list);
  EXPECT_EQ(std::get<std::vector<double>>(parsed("parts", "1.5")), (std::vector<double>{1.5}));
}

TEST(ParseValue, WholeNumbersWrittenWithAnExponentAreIntegers) {
  EXPECT_EQ(checked({{"count", parsed("count", "1e6")}}).integer("count"), 1000000);
  EXPECT_EQ(checked({{"count", parsed("count", "64.0")}}).integer("count"), 64);
  expect_error("thing.count must be an integer, got 1.5", [] { checked({{"count", parsed("count", "1.5")}}); });
  expect_error("thing.count must be an integer, got 1e+20", [] {
    checked({{"count", parsed("count", "100000000000000000000")}});
  });
}

TEST(ParseValue, RefusesInvalidText) {
  expect_error("thing.flag must be true or false, got True", [] { parsed("flag", "True"); });
  expect_error("thing.count must be an integer, got 12x", [] { parsed("count", "12x"); });
  expect_error("thing.count must be an integer, got ", [] { parsed("count", ""); });
  expect_error("thing.count must be an integer, got 0x10", [] { parsed("count", "0x10"); });
  expect_error("thing.rate must be a number, got 1.5.2", [] { parsed("rate", "1.5.2"); });
  expect_error("thing.rate must be a number, got 1e999", [] { parsed("rate", "1e999"); });
  expect_error("thing.parts must be a list of numbers such as 16,24,24, got 16,,24", [] { parsed("parts", "16,,24"); });
  expect_error("thing.parts must be a list of numbers such as 16,24,24, got 16;24", [] { parsed("parts", "16;24"); });
  expect_error("thing.parts must be a list of numbers such as 16,24,24, got 16,24,", [] { parsed("parts", "16,24,"); });
  expect_error("thing.parts must be a list of numbers such as 16,24,24, got [16", [] { parsed("parts", "[16"); });
  expect_error("thing.rate must be a number, got +-5", [] { parsed("rate", "+-5"); });
  expect_error("thing.parts must not be empty", [] { checked({{"parts", parsed("parts", "[]")}}); });
  expect_error("thing.table is a tensor and cannot be given as text", [] { parsed("table", "1,2"); });
  expect_error("thing.rate must be finite, got nan", [] { checked({{"rate", parsed("rate", "nan")}}); });
  expect_error("thing.rate must be finite, got -inf", [] { checked({{"rate", parsed("rate", "-inf")}}); });
}

TEST(ToText, FormatsEachKind) {
  EXPECT_EQ(to_text(Value(true)), "true");
  EXPECT_EQ(to_text(Value(std::int64_t{32})), "32");
  EXPECT_EQ(to_text(Value(0.5)), "0.5");
  EXPECT_EQ(to_text(Value(std::string("half"))), "half");
  EXPECT_EQ(to_text(Value(std::vector<double>{16, 24, 24.5})), "16,24,24.5");
  EXPECT_EQ(to_text(Value(Tensor{{32, 8}, {}})), "tensor 32x8");
}

TEST(ArgumentsTest, RefusesAWrongName) {
  const Arguments arguments{{"a", 1}};
  EXPECT_EQ(arguments.find("b"), nullptr);
  expect_error("parameter b has no value", [&] { arguments.integer("b"); });
}

}  // namespace
}  // namespace locus
