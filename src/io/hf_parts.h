// SPDX-License-Identifier: Apache-2.0
// Which objects of a config.json are models: the language model, and the parts beside it.
#pragma once

#include <string>
#include <vector>

#include "io/hf_json.h"
#include "io/hf_models.h"

namespace locus::io {

/// One model inside the file.
struct ModelPlace {
  const Json* object = nullptr;
  std::string path = {};        ///< with the dot that keys follow; empty at the root
  std::string model_type = {};  ///< as stated, else the default of the model that it is a part of
  std::string role = {};        ///< `encoder`, `decoder`, where both are the model
};

struct ModelPlaces {
  std::vector<ModelPlace> main;   ///< the language model; two where an encoder and a decoder make it up
  std::vector<ModelPlace> parts;  ///< the others, by name
};

/// Keys about position that are passed on the way to a nested model are noted as ignored.
ModelPlaces find_models(const Json& root, const std::string& file, Notes& notes);

}  // namespace locus::io
