// SPDX-License-Identifier: Apache-2.0
// The registry of schemes. Listings, help, bindings, property tests, the lab and the documentation iterate over it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "locus/claims.h"
#include "locus/site.h"
#include "locus/value.h"

namespace locus {

/// The ids that an encoding accepts, from `first` to `last` inclusive.
struct PositionRange {
  Position first = 0;
  Position last = max_position;
};

/// The gradient of a learned weight: the member of LearnedGradients (attention_backward.h) of the same name.
/// `hidden_rows` is the gradient of the rows added to the tokens, which attention does not see.
enum class LearnedGradient : std::uint8_t {
  hidden_rows,
  bias_table,
  bias_parameters,
  bias_network,
  key_table,
  query_table,
  column_table,
  value_table,
  u,
  v,
  w_r,
  phases,
  gate_mix
};

/// A weight that training changes.
struct LearnedWeight {
  std::string_view name;            ///< the parameter that holds the trained values
  std::vector<std::int64_t> shape;  ///< of a tensor; [heads] for a list of numbers per head
  double deviation = 0.02;          ///< standard deviation of the initial values in training
  LearnedGradient gradient = LearnedGradient::bias_table;
  bool positive = false;    ///< must stay above 0: training updates its logarithm
  std::int64_t column = 0;  ///< of bias_parameters [heads, columns]; of bias_network, the first of its weights
  double initial = 0;       ///< mean of the initial values; if positive, of their logarithms
};

/// What a scheme returns for validated arguments.
struct SchemeResult {
  SiteTerm term;
  Claims claims;                                    ///< the scheme's claims minus those that these arguments withdraw
  std::vector<LearnedWeight> learned = {};          ///< in the order of the parameters
  std::optional<PositionRange> range = {};          ///< absent: 0 (-max_position if claimed) to max_position
  std::string_view range_reason = {};               ///< what sets the range, for error messages
  std::optional<PositionRange> float16_range = {};  ///< if float16 tensors have a narrower one
};

/// A labelled set of arguments, such as `form=symmetric`. Tests, `locus verify` and documents iterate over them.
struct Example {
  std::string_view label;
  Arguments arguments;
};

/// How small a comparison of schemes may be to have this one: the presets of the lab. `never`: it is not for plain
/// sequences of tokens (windows, grids).
enum class ComparedIn : std::uint8_t { quick, standard, full, never };

struct Scheme {
  std::string_view name;   ///< in code and on the command line: `transformer_xl`
  std::string_view title;  ///< in prose and charts: `Transformer-XL`
  std::string_view summary;
  std::string_view paper;
  Site site;
  Claims claims;                      ///< with default arguments
  std::vector<Parameter> parameters;  ///< in display order
  SchemeResult (*make)(const Arguments& arguments);
  /// Returns all parameters where some depend on others (a RoPE rule adds its own). Absent: `parameters` is complete.
  std::vector<Parameter> (*parameters_for)(const Arguments& given) = nullptr;
  Arguments example;                   ///< small valid arguments
  std::vector<Example> variants = {};  ///< small, with other claims or code paths
  ComparedIn compared = ComparedIn::full;
};

/// Returns all schemes in registry order.
std::span<const Scheme* const> schemes();
/// Returns the scheme called `name`.
/// Error: an unknown name.
const Scheme& find_scheme(std::string_view name);

}  // namespace locus
