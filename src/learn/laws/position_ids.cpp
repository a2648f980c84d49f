// SPDX-License-Identifier: Apache-2.0
// decode_ids, padded_ids and packed_ids: a token has the same id however it is cut, padded or packed.
#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "locus/positions.h"

namespace locus::learn {
namespace {

using Numbers = std::vector<double>;

Numbers counted(std::int64_t count, double first = 0) {
  Numbers ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(first + static_cast<double>(i));
  return ids;
}

Numbers as_numbers(const PositionIds& plan) { return {plan.ids.begin(), plan.ids.end()}; }

std::function<Parameters(std::size_t)> at_index() {
  return [](std::size_t index) { return Parameters{{"token", shown(index)}}; };
}

void check_decode(Solution& solution, std::int64_t prefix, std::int64_t tokens) {
  const Numbers got = solution.call("decode_ids", {Array::number(prefix), Array::number(tokens)}, {tokens}).values;
  const auto first = static_cast<double>(prefix);
  const std::string cause = likely_cause(got, {{"ids.decode_from_zero", [&] { return counted(tokens); }},
                                               {"ids.decode_late", [&] { return counted(tokens, first + 1); }},
                                               {"ids.decode_early", [&] { return counted(tokens, first - 1); }},
                                               {"ids.decode_constant", [&] { return Numbers(got.size(), first); }}});
  require_equal(got, as_numbers(positions::decode(prefix, tokens)), "ids.decode", cause, [&](std::size_t index) {
    return Parameters{{"token", shown(index)}, {"prefix", shown(prefix)}};
  });
}

/// Only tokens are compared: padding may carry any id, since the mask hides it.
void check_padded(Solution& solution, const std::vector<std::uint8_t>& mask) {
  const auto width = static_cast<std::int64_t>(mask.size());
  const Array given = Array::ids({mask.begin(), mask.end()});
  const Numbers got = solution.call("padded_ids", {given}, {width}).values;
  const Numbers all = as_numbers(positions::from_mask(mask, 1, width).ids);
  const auto tokens_of = [&](const Numbers& ids) {
    Numbers kept;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] != 0) kept.push_back(ids[i]);
    }
    return kept;
  };
  const Numbers tokens = tokens_of(got);
  const auto later = [&](double amount) {
    return [&, amount] {
      Numbers ids = tokens_of(all);
      for (double& id : ids) id += amount;
      return ids;
    };
  };
  const std::string cause = likely_cause(
      tokens, {{"ids.padding_counted", [&] { return tokens_of(counted(width)); }},
               {"ids.padded_from_one", later(1)},
               {"ids.padded_constant", [&] { return Numbers(tokens.size(), tokens.empty() ? 0 : tokens.front()); }},
               {"ids.padded_from_end", [&] {
                  Numbers ids = tokens_of(all);
                  std::reverse(ids.begin(), ids.end());
                  return ids;
                }}});
  require_equal(tokens, tokens_of(all), "ids.padded", cause, at_index());
}

void check_packed(Solution& solution, const std::vector<std::int64_t>& lengths) {
  const Numbers wanted = as_numbers(positions::packed(lengths));
  const auto total = static_cast<std::int64_t>(wanted.size());
  const Numbers got = solution.call("packed_ids", {Array::ids(lengths)}, {total}).values;
  const std::string cause =
      likely_cause(got, {{"ids.packed_not_reset", [&] { return counted(total); }},
                         {"ids.packed_documents",
                          [&] {
                            Numbers ids;
                            for (std::size_t d = 0; d < lengths.size(); ++d) {
                              ids.insert(ids.end(), static_cast<std::size_t>(lengths[d]), static_cast<double>(d));
                            }
                            return ids;
                          }},
                         {"ids.packed_from_one", [&] {
                            Numbers ids = wanted;
                            for (double& id : ids) id += 1;
                            return ids;
                          }}});
  require_equal(got, wanted, "ids.packed", cause, at_index());
}

}  // namespace

void laws_of_position_ids(Solution& solution) {
  for (const auto& [prefix, tokens] : {std::pair<std::int64_t, std::int64_t>{12, 3}, {0, 4}, {7, 1}}) {
    check_decode(solution, prefix, tokens);
  }
  for (const std::vector<std::uint8_t>& mask : {std::vector<std::uint8_t>{0, 0, 0, 1, 1, 1, 1}, {1, 1, 1}, {0, 1}}) {
    check_padded(solution, mask);
  }
  for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{3, 5, 2}, {4}, {1, 0, 2}}) {
    check_packed(solution, lengths);
  }
}

}  // namespace locus::learn
