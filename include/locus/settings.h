// SPDX-License-Identifier: Apache-2.0
// Arguments of a scheme from names and texts, as command lines and C programs give them.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "locus/registry.h"
#include "locus/value.h"

namespace locus {

/// `head_dim` and `128`.
struct Setting {
  std::string name;
  std::string text;
};

/// Parses each text as the kind of its parameter (parse_value); the parameters of a RoPE rule are known once `rule` is
/// among the settings, wherever it stands. Tensors come from `tensor_of`. Error for unknown names and names given
/// twice.
Arguments parse_settings(const Scheme& scheme, std::span<const Setting> settings,
                         const std::function<Tensor(const Setting& setting)>& tensor_of);

}  // namespace locus
