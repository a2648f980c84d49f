// SPDX-License-Identifier: Apache-2.0
// Finds the models in a config.json: the language model and the other parts.
#pragma once

#include <string>
#include <vector>

#include "io/hf_json.h"
#include "io/hf_models.h"

namespace locus::io {

/// One model inside the file.
struct ModelPlace {
  const Json* object = nullptr;
  std::string path = {};        ///< ends with a dot; empty at the root
  std::string model_type = {};  ///< as stated, otherwise the default of the enclosing model
  std::string role = {};        ///< `encoder` or `decoder`, if the model has both
};

struct ModelPlaces {
  std::vector<ModelPlace> main;   ///< the language model; two if it has an encoder and a decoder
  std::vector<ModelPlace> parts;  ///< the others, by name
};

/// Notes keys that concern positions in enclosing objects as ignored.
ModelPlaces find_models(const Json& root, const std::string& file, Notes& notes);

}  // namespace locus::io
