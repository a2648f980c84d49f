// SPDX-License-Identifier: Apache-2.0
// The options that decide which keys a query sees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command.h"
#include "locus/attention.h"

namespace locus::tools {

struct MaskOptions {
  std::string rule = "full";
  std::string keys;
  std::string pairs;
};

/// Adds --mask, --key-mask and --mask-pairs.
void add_mask_options(CLI::App& command, MaskOptions& options);

/// Reads one byte per element, 0 where the array holds 0. The last axes must be `extents`, optionally after a batch
/// axis.
std::vector<std::uint8_t> read_mask(const std::string& path, std::int64_t batch,
                                    const std::vector<std::int64_t>& extents);

/// A mask with the bytes that it refers to.
struct ChosenMask {
  Mask mask;
  std::vector<std::uint8_t> keys, pairs;

  /// Returns the mask for a call; valid as long as this object.
  Mask view() const;
};

/// Reads the options. Arrays must have the extents of the call, with or without the batch.
ChosenMask choose_mask(const MaskOptions& options, std::int64_t batch, std::int64_t queries, std::int64_t keys);

}  // namespace locus::tools
