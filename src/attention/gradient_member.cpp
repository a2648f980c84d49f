// SPDX-License-Identifier: Apache-2.0
#include "locus/attention_backward.h"

namespace locus {

std::span<double> LearnedGradients::*gradient_member(LearnedGradient gradient) {
  switch (gradient) {
    case LearnedGradient::hidden_rows:
      return nullptr;
    case LearnedGradient::bias_table:
      return &LearnedGradients::bias_table;
    case LearnedGradient::bias_parameters:
      return &LearnedGradients::bias_parameters;
    case LearnedGradient::bias_network:
      return &LearnedGradients::bias_network;
    case LearnedGradient::key_table:
      return &LearnedGradients::key_table;
    case LearnedGradient::query_table:
      return &LearnedGradients::query_table;
    case LearnedGradient::column_table:
      return &LearnedGradients::column_table;
    case LearnedGradient::value_table:
      return &LearnedGradients::value_table;
    case LearnedGradient::u:
      return &LearnedGradients::u;
    case LearnedGradient::v:
      return &LearnedGradients::v;
    case LearnedGradient::w_r:
      return &LearnedGradients::w_r;
    case LearnedGradient::phases:
      return &LearnedGradients::phases;
    case LearnedGradient::gate_mix:
      return &LearnedGradients::gate_mix;
  }
  return nullptr;
}

}  // namespace locus
