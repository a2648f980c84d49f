// SPDX-License-Identifier: Apache-2.0
// The cases that a rotate function is called with: shapes and ids that cross the page and table sizes of real engines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "doctor/verify/fault_model.h"
#include "locus/doctor/verify_callable.h"

namespace locus::doctor {

struct RotateCase {
  std::string name;
  std::vector<Position> ids;             ///< of the first axis, one per token
  std::vector<std::int64_t> calls = {};  ///< number of tokens of each call
  std::int64_t heads = 3;
  Role role = Role::query;
  std::vector<std::int64_t> boundaries = {};  ///< of packed documents
  std::vector<std::uint8_t> mask = {};        ///< 0 for padding, which is not compared
  bool forked = false;                        ///< the last calls continue the first one
  std::vector<double> given = {}, got = {};   ///< [tokens, heads, head_dim]

  std::int64_t tokens() const { return static_cast<std::int64_t>(ids.size()); }
};

/// Returns the cases whose ids the encoding and the options allow, filled with random vectors.
std::vector<RotateCase> rotate_cases(const Encoding& encoding, const VerifyOptions& options);

/// Returns the ids [axes, tokens] of one call. Each further axis follows the first in a different way.
std::vector<Position> ids_of_axes(const Encoding& encoding, std::span<const Position> ids);

}  // namespace locus::doctor
