// SPDX-License-Identifier: Apache-2.0
// The cases that an attention function is called with: shapes and ids that cross the page, chunk and window sizes of
// real engines.
#pragma once

#include <string>
#include <vector>

#include "doctor/random_numbers.h"
#include "locus/doctor/verify_callable.h"

namespace locus::doctor {

/// One call: some tokens of a sequence attend to its first `keys` keys.
struct AttendStep {
  std::vector<std::int64_t> queries;  ///< tokens, in order
  std::int64_t keys = 0;
  std::vector<std::int64_t> query_boundaries = {};
  std::size_t branch = 0;  ///< the text of the case that it uses
  std::int64_t sequence = 0;
  std::int64_t cached = 0;
  std::int64_t forked_from = -1;
  bool forked = false;                         ///< the sequence has a parent
  std::int64_t shared = 0;                     ///< keys that both branches of a fork share
  std::vector<std::uint8_t> overwritten = {};  ///< per key: 1 if the other branch wrote this slot last

  std::vector<std::int64_t> rows = {};  ///< indices of the queries to compare
  std::vector<double> output = {};      ///< the result for all queries
  std::vector<double> log_sum_exp = {};
  std::vector<double> asked_query = {};  ///< of the queries of this step
  std::vector<Position> query_ids = {};
};

/// The vectors of all tokens of one text.
struct Text {
  std::vector<double> query, key, value;
};

struct AttendCase {
  std::string name;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;
  std::vector<Position> ids;
  std::vector<AttendStep> steps;
  std::vector<std::int64_t> boundaries = {};  ///< of the keys
  std::vector<std::uint8_t> mask = {};
  std::vector<Text> texts = {};

  std::int64_t tokens() const { return static_cast<std::int64_t>(ids.size()); }
  std::int64_t cost() const;  ///< rows x keys to compare
};

/// The numbers of query heads and key heads of a call.
struct HeadCounts {
  std::int64_t heads = 4;
  std::int64_t key_heads = 2;
};

/// The parts of a shape that the encoding does not determine.
struct AttendShape {
  std::int64_t head_dim = 16;
  /// A power of two that multiplies the queries. Large scores would give one key all the weight and hide errors of the
  /// others.
  double query_size = 1;
  std::vector<HeadCounts> heads;  ///< the first is the most common
};
AttendShape attend_shape(const Encoding& encoding);

/// Returns the cases whose ids the encoding and the options allow, filled with random vectors.
std::vector<AttendCase> attend_cases(const Encoding& encoding, const VerifyOptions& options);

}  // namespace locus::doctor
