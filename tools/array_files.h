// SPDX-License-Identifier: Apache-2.0
// What the commands that take .npy arrays share: element types, axes and positions, and what was inferred of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "locus/element.h"
#include "locus/io/npy.h"
#include "locus/position_ids.h"
#include "locus/rotate.h"

namespace locus::tools {

/// The element type that kernels know an array by: uint16 is bfloat16, which NumPy has no name for. Error naming the
/// file where they do not take it.
ElementType element_type(io::NpyType type, const std::string& path);

/// The numbers of a float16, bfloat16, float32 or float64 array; Error naming the file for any other.
std::vector<double> numbers_of(const io::NpyArray& array, const std::string& path);

/// The axes of an array that holds queries or keys: `given`, or td, thd, bthd by the number of dimensions; htd or bhtd
/// where only those have `tokens` tokens. Error for other numbers of dimensions.
std::string heads_axes(const std::string& given, std::span<const std::int64_t> shape,
                       std::optional<std::int64_t> tokens, const std::string& path);
/// The axes of hidden states: `given`, or td, btd by the number of dimensions.
std::string hidden_axes(const std::string& given, std::span<const std::int64_t> shape, const std::string& path);

/// How many tokens an array with these axes has.
std::int64_t tokens_in(std::string_view axes, std::span<const std::int64_t> shape);

/// What a command inferred, in words: `axes thd`, `positions 0:128`.
class Inferences {
 public:
  void add(const std::string& what) { all_.push_back(what); }
  /// A note on standard error, where anything was inferred.
  void print() const;
  /// The field `inferred` of the JSON that a command prints.
  void add_to(Json& object) const { object["inferred"] = all_; }

 private:
  std::vector<std::string> all_;
};

/// Throws Error where `output` is one of the inputs, by whatever name; empty names and names of no file do not count.
void require_other_file(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace locus::tools
