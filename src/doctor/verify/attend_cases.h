// SPDX-License-Identifier: Apache-2.0
// The ways in which a function of attention is called: shapes and ids that cross what engines have.
#pragma once

#include <string>
#include <vector>

#include "doctor/random_numbers.h"
#include "locus/doctor/verify_callable.h"

namespace locus::doctor {

/// One call: some tokens of a sequence against its first `keys` keys.
struct AttendStep {
  std::vector<std::int64_t> queries;  ///< tokens, in order
  std::int64_t keys = 0;
  std::vector<std::int64_t> query_boundaries = {};
  std::size_t branch = 0;  ///< which text of the case
  std::int64_t sequence = 0;
  std::int64_t cached = 0;
  std::int64_t forked_from = -1;
  bool forked = false;                         ///< the sequence has a parent
  std::int64_t shared = 0;                     ///< keys that both branches of a fork have
  std::vector<std::uint8_t> overwritten = {};  ///< per key: the other branch wrote this place last

  std::vector<std::int64_t> rows = {};  ///< queries, by index, that are compared
  std::vector<double> output = {};      ///< what came back, of all queries
  std::vector<double> log_sum_exp = {};
  std::vector<double> asked_query = {};  ///< of this step's queries
  std::vector<Position> query_ids = {};
};

/// Vectors of all tokens of one text.
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
  std::int64_t cost() const;  ///< rows x keys that are compared
};

/// Heads and key heads of a call.
struct HeadCounts {
  std::int64_t heads = 4;
  std::int64_t key_heads = 2;
};

/// What the encoding leaves free.
struct AttendShape {
  std::int64_t head_dim = 16;
  /// A power of two that queries are multiplied by: with large scores one key would take all the weight, and errors of
  /// the others would not be seen.
  double query_size = 1;
  std::vector<HeadCounts> heads;  ///< the first is the usual one
};
AttendShape attend_shape(const Encoding& encoding);

/// The cases whose ids the encoding and the options allow, filled with random vectors.
std::vector<AttendCase> attend_cases(const Encoding& encoding, const VerifyOptions& options);

}  // namespace locus::doctor
