// SPDX-License-Identifier: Apache-2.0
// Shared by commands that take .npy arrays: element types, axes and positions, and what was inferred.
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

/// Returns the element type of an array for the kernels; uint16 means bfloat16, a type that NumPy lacks. Error: a
/// type that kernels do not take; the message names the file.
ElementType element_type(io::NpyType type, const std::string& path);

/// Returns the numbers of a float16, bfloat16, float32 or float64 array. Error: another type; the message names the
/// file.
std::vector<double> numbers_of(const io::NpyArray& array, const std::string& path);

/// Returns the axes of an array of queries or keys: `given`, or td, thd, bthd by the number of dimensions; htd or
/// bhtd if only those have `tokens` tokens. Error: another number of dimensions.
std::string heads_axes(const std::string& given, std::span<const std::int64_t> shape,
                       std::optional<std::int64_t> tokens, const std::string& path);
/// Returns the axes of hidden states: `given`, or td, btd by the number of dimensions.
std::string hidden_axes(const std::string& given, std::span<const std::int64_t> shape, const std::string& path);

/// Returns the number of tokens of an array with these axes.
std::int64_t tokens_in(std::string_view axes, std::span<const std::int64_t> shape);

/// What a command inferred, as text: `axes thd`, `positions 0:128`.
class Inferences {
 public:
  void add(const std::string& what) { all_.push_back(what); }
  /// Prints a note on standard error if anything was inferred.
  void print() const;
  /// Adds the field `inferred` to the JSON of a command.
  void add_to(Json& object) const { object["inferred"] = all_; }

 private:
  std::vector<std::string> all_;
};

/// Error: an `output` that is the same file as one of the inputs. Ignores empty names and paths that do not exist.
void require_other_file(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace locus::tools
