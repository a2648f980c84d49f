// SPDX-License-Identifier: Apache-2.0
#include "mask_options.h"

#include <algorithm>

#include "locus/error.h"
#include "locus/io/npy.h"
#include "position_list.h"

namespace locus::tools {
namespace {

std::int64_t count_of(std::string_view name, std::string_view text, std::int64_t least) {
  const std::int64_t value = parse_integer("--mask " + std::string(name), text);
  require(value >= least, "--mask ", name, " must be at least ", least, ", got ", value);
  return value;
}

Mask parse_rule(const std::string& text) {
  Mask mask;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const bool plain = equals == std::string_view::npos;
    const std::string_view value = plain ? "" : item.substr(equals + 1);
    if (plain && name == "full") {
      require(text == "full", "--mask full must be the only word, got ", text);
    } else if (plain && name == "causal") {
      mask.causal = true;
    } else if (plain && name == "by_index") {
      mask.by_index = true;
    } else if (!plain && name == "prefix") {
      mask.prefix = count_of(name, value, 0);
      mask.causal = true;  // without causal, every query sees every key anyway
    } else if (!plain && name == "window") {
      mask.window = count_of(name, value, 1);
    } else if (!plain && name == "sinks") {
      mask.sinks = count_of(name, value, 0);
    } else {
      fail("--mask must be full, or causal, prefix=N, window=N, sinks=N and by_index separated by commas, got ", text);
    }
  }
  require(mask.sinks == 0 || mask.window > 0, "--mask sinks=N needs window=N, got ", text);
  return mask;
}

}  // namespace

std::vector<std::uint8_t> read_mask(const std::string& path, std::int64_t batch,
                                    const std::vector<std::int64_t>& extents) {
  const io::NpyArray array = io::read_npy(path);
  std::vector<std::int64_t> batched = extents;
  batched.insert(batched.begin(), batch);
  if (array.shape != extents && array.shape != batched) {
    std::string wanted;
    for (const std::int64_t extent : extents) wanted += (wanted.empty() ? "" : ", ") + std::to_string(extent);
    std::string got;
    for (const std::int64_t extent : array.shape) got += (got.empty() ? "" : ", ") + std::to_string(extent);
    fail(path, " must have shape [", wanted, "] or [", batch, ", ", wanted, "], got [", got, "]");
  }
  std::vector<std::uint8_t> mask;
  mask.reserve(static_cast<std::size_t>(array.size()));
  for (const std::int64_t value : io::to_integers(array, path)) {
    require(value == 0 || value == 1, path, " must hold only 0 (masked) and 1, got ", value);
    mask.push_back(static_cast<std::uint8_t>(value));
  }
  return mask;
}

void add_mask_options(CLI::App& command, MaskOptions& options) {
  command.add_option(
      "--mask", options.rule,
      "Mask keys: full, or causal, prefix=N (causal, but all see the first N), window=N, sinks=N and by_index "
      "(compare indices, not positions), separated by commas [full]");
  command.add_option("--key-mask", options.keys, "Mask keys by a .npy of 0 (padding) and 1: [keys] or [batch, keys]");
  command.add_option("--mask-pairs", options.pairs,
                     "Mask pairs by a .npy of 0 (masked) and 1: [queries, keys] or [batch, queries, keys]");
}

Mask ChosenMask::view() const {
  Mask result = mask;
  result.keys = keys;
  result.pairs = pairs;
  return result;
}

ChosenMask choose_mask(const MaskOptions& options, std::int64_t batch, std::int64_t queries, std::int64_t keys) {
  ChosenMask chosen{.mask = parse_rule(options.rule), .keys = {}, .pairs = {}};
  if (!options.keys.empty()) chosen.keys = read_mask(options.keys, batch, {keys});
  if (!options.pairs.empty()) chosen.pairs = read_mask(options.pairs, batch, {queries, keys});
  return chosen;
}

}  // namespace locus::tools
