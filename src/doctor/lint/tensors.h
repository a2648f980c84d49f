// SPDX-License-Identifier: Apache-2.0
// What the weights of a model say about positions: tables of rows and of biases. Only their names and shapes are read.
#pragma once

#include <string>
#include <vector>

#include "locus/io/hf_config.h"
#include "locus/io/safetensors.h"

namespace locus::doctor {

struct PositionTensors {
  std::vector<io::LayerEncoding> layers;  ///< one per scheme and shape
  std::string sentence;                   ///< which tensors hold positions
};

PositionTensors position_tensors(const io::SafetensorsFile& file);

}  // namespace locus::doctor
