// SPDX-License-Identifier: Apache-2.0
// The smallest counter-example: three tokens, X = (1,0), (0,1), (1,1), identity weights, unscaled softmax, no mask.
// Without positions, "he work I" is "I work he" with its outputs in another order: attention cannot distinguish them.
#include <array>
#include <sstream>

#include "doctor/verify/small_attention.h"
#include "doctor/verify/worked.h"

namespace locus::doctor {
namespace {

using Order = std::array<std::size_t, 3>;
constexpr std::array<const char*, 3> words = {"I", "work", "he"};
constexpr std::array<Order, 6> orders = {{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
constexpr Order reversed = {2, 1, 0};
constexpr std::array<Position, 3> ids = {0, 1, 2};

Tokens sentence() {
  const std::vector<std::vector<double>> x = {{1, 0}, {0, 1}, {1, 1}};
  return {x, x, x};
}

std::string text_of(const Order& order) {
  std::string text;
  for (const std::size_t token : order) {
    if (!text.empty()) text += ' ';
    text += words[token];
  }
  return text;
}

std::string outputs_of(const Order& order, const SmallAttention& attention) {
  std::ostringstream text;
  text.precision(4);
  text << std::fixed << text_of(order) << " ->";
  for (std::size_t t = 0; t < 3; ++t) text << " (" << attention.output[t][0] << ", " << attention.output[t][1] << ")";
  return text.str();
}

Subject unscaled(Subject subject) {
  subject.scale = 1;
  subject.width = 2;
  subject.heads = 1;  // one head is enough
  return subject;
}

SmallAttention attend_in(const Subject& subject, const Order& order) {
  return attend_small(subject, sentence().permuted(order), ids);
}

}  // namespace

// Scores of "I": (1, 0, 1), so weights (a, b, a) with a = e/(2e + 1), b = 1/(2e + 1), and the output (2a, a + b).
// "work" is its mirror image. "he" has scores (1, 1, 2), weights (c, c, ec) with c = 1/(2 + e), and the output (c + ec,
// c + ec).
Checks three_tokens_without_positions(Subject given) {
  const Subject subject = unscaled(std::move(given));
  const SmallAttention forwards = attend_in(subject, orders[0]), backwards = attend_in(subject, reversed);
  const double e = std::exp(1.0), a = e / (2 * e + 1), b = 1 / (2 * e + 1), c = 1 / (2 + e);
  const std::vector<std::vector<double>> by_hand = {{2 * a, a + b}, {a + b, 2 * a}, {c + e * c, c + e * c}};
  double off = 0, all = 0;
  for (std::size_t t = 0; t < 3; ++t) off = worse(largest_difference(forwards.output[t], by_hand[t]), off);
  for (const Order& order : orders) all = worse(difference_after(forwards, attend_in(subject, order), order), all);
  const double bound = 2 * forwards.rounding();
  return {at_most("three tokens: outputs are those worked by hand", subject.name, off, bound,
                  outputs_of(orders[0], forwards)),
          at_most("three tokens: reversing them reverses the outputs", subject.name,
                  difference_after(forwards, backwards, reversed), bound, outputs_of(reversed, backwards)),
          at_most("three tokens: so do all 6 permutations", subject.name, all, bound)};
}

Checks three_tokens_with_positions(Subject given, int breaking) {
  const Subject subject = unscaled(std::move(given));
  const SmallAttention forwards = attend_in(subject, orders[0]);
  std::string broken;
  int count = 0;
  for (const Order& order : orders) {
    if (difference_after(forwards, attend_in(subject, order), order) <= 2000 * forwards.rounding()) continue;
    broken += count++ == 0 ? "" : ", ";
    broken += text_of(order);
  }
  Checks checks{exactly("three tokens: permutations that no longer permute the outputs", subject.name, count, breaking,
                        count == 0 ? "none of 6" : "of 6: " + broken)};
  const SmallAttention backwards = attend_in(subject, reversed);
  const double difference = difference_after(forwards, backwards, reversed);
  const std::string note = outputs_of(orders[0], forwards) + "; " + outputs_of(reversed, backwards);
  if (subject.claims.has(Claim::distance_only)) {
    checks.push_back(at_most("three tokens: distances alone cannot tell the reverse", subject.name, difference,
                             2 * forwards.rounding(), note));
  } else {
    checks.push_back(
        at_least("three tokens: the reverse differs", subject.name, difference, 2000 * forwards.rounding(), note));
  }
  return checks;
}

// Every order but the first gives different outputs; with distances alone, every order but the first and its reverse.
Checks three_tokens() {
  Checks checks = three_tokens_without_positions(subject_of(Encoding("nope")));
  const auto add = [&](const Checks& more) { checks.insert(checks.end(), more.begin(), more.end()); };
  const auto subject = [](std::string_view scheme, const Arguments& arguments, std::string_view label = "") {
    Subject made = subject_of(Encoding(scheme, arguments));
    made.name += label;
    return made;
  };
  add(three_tokens_with_positions(subject("sinusoidal", {{"dim", 2}}), 5));
  add(three_tokens_with_positions(subject("learned", {{"max_positions", 3}, {"dim", 2}, {"deviation", 0.5}}), 5));
  add(three_tokens_with_positions(subject("rope", {{"head_dim", 2}, {"pairing", "half"}}), 5));
  add(three_tokens_with_positions(subject("alibi", {{"heads", 8}}), 5));
  add(three_tokens_with_positions(subject("alibi", {{"heads", 8}, {"form", "symmetric"}}, " form=symmetric"), 4));
  add(three_tokens_with_positions(subject("kerple", {{"heads", 8}}), 4));
  add(three_tokens_with_positions(subject("sandwich", {{"heads", 8}}), 4));
  add(three_tokens_with_positions(subject("t5", {{"heads", 8}}), 5));
  return checks;
}

}  // namespace locus::doctor
