// SPDX-License-Identifier: Apache-2.0
// Converts the spelling of a scheme, "rope:base=500000", to an Encoding that fits a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "locus/attention_backward.h"
#include "locus/encoding.h"
#include "trial.h"

namespace locus::lab {

/// A scheme's registry name and the arguments written after it. "none" means nope.
struct SchemeText {
  std::string name;
  Arguments arguments;
};
SchemeText parse_scheme(const std::string& text);

/// Returns whether the scheme has a parameter of this name.
bool takes(const Scheme& scheme, std::string_view name);

/// The sizes of a model that an encoding needs.
struct EncodingSize {
  ModelShape model;
  bool causal = true;
  std::int64_t positions = 0;  ///< rows of a learned table
};

/// Returns the arguments of the spelling, those that the model determines, and for the rest those of the scheme's
/// example.
Arguments complete_arguments(const SchemeText& scheme, const EncodingSize& size);

/// A weight that is learned through the encoding: an argument of the scheme, and where its gradient is.
struct LearnedArgument {
  std::string name;
  std::vector<std::int64_t> shape;
  double deviation = 0;                                     ///< of its initial values, normal
  double initial = 0;                                       ///< their mean; if exponential, of the logarithms
  bool exponential = false;                                 ///< the argument is e^weight: it must stay positive
  std::int64_t column = 0, columns = 1;                     ///< its columns among those that share a gradient
  std::int64_t room = 0;                                    ///< the number of columns that share it, including these
  std::span<double> LearnedGradients::*gradient = nullptr;  ///< null: of add_backward()
  std::int64_t count() const;
};

/// Returns the learned weights of an encoding, except rows of a table; empty if nothing else is learned.
std::vector<LearnedArgument> learned_arguments(const Encoding& encoding);

/// Returns the same encoding with `weights`: all learned arguments, concatenated.
Encoding with_weights(const Encoding& encoding, std::span<const LearnedArgument> learned, const float* weights);

}  // namespace locus::lab
