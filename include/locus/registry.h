// SPDX-License-Identifier: Apache-2.0
// The registry of schemes. Listing, help, bindings, property tests, the lab and the documentation iterate over it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "locus/claims.h"
#include "locus/site.h"
#include "locus/value.h"

namespace locus {

/// The ids that an encoding accepts, both ends included.
struct PositionRange {
  Position first = 0;
  Position last = max_position;
};

/// Which gradient a learned weight has: the member of LearnedGradients (attention_backward.h) of the same name.
/// `hidden_rows` is the gradient of the rows added to the tokens, which attention does not see.
enum class LearnedGradient : std::uint8_t {
  hidden_rows,
  bias_table,
  bias_parameters,
  key_table,
  value_table,
  u,
  v,
  w_r
};

/// A weight that training changes.
struct LearnedWeight {
  std::string_view name;            ///< the parameter that takes the trained values
  std::vector<std::int64_t> shape;  ///< of a tensor; [heads] for a list of numbers per head
  double deviation = 0.02;          ///< standard deviation of the initial values in training, around 0
  LearnedGradient gradient = LearnedGradient::bias_table;
  bool positive = false;    ///< must stay above 0: training changes its logarithm
  std::int64_t column = 0;  ///< bias_parameters [heads, columns]: its column
};

/// What a scheme makes of validated arguments.
struct SchemeResult {
  SiteTerm term;
  Claims claims;                                    ///< the scheme's claims less those that these arguments give up
  std::vector<LearnedWeight> learned = {};          ///< in the order of the parameters
  std::optional<PositionRange> range = {};          ///< absent: 0 (or, where claimed, -max_position) to max_position
  std::string_view range_reason = {};               ///< what sets the range, for error messages
  std::optional<PositionRange> float16_range = {};  ///< where tensors of float16 have a narrower one
};

/// A labelled variant of a scheme, such as `form=symmetric`. Tests, `locus verify` and documents go through them.
struct Example {
  std::string_view label;
  Arguments arguments;
};

struct Scheme {
  std::string_view name;   ///< in code and on the command line: `transformer_xl`
  std::string_view title;  ///< in prose and charts: `Transformer-XL`
  std::string_view summary;
  std::string_view paper;
  Site site;
  Claims claims;                      ///< with default arguments
  std::vector<Parameter> parameters;  ///< in the order in which they are shown
  SchemeResult (*make)(const Arguments& arguments);
  /// Parameters may depend on others (a RoPE rule has its own): absent means `parameters` is all.
  std::vector<Parameter> (*parameters_for)(const Arguments& given) = nullptr;
  Arguments example;                   ///< a small valid set of arguments
  std::vector<Example> variants = {};  ///< small ones that make other claims or take other paths
};

/// All schemes, in the order of the registry.
std::span<const Scheme* const> schemes();
/// Throws Error naming the known schemes.
const Scheme& find_scheme(std::string_view name);

}  // namespace locus
