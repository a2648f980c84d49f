// SPDX-License-Identifier: Apache-2.0
// Parameters of schemes, and the arguments given for them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace locus {

/// A dense float32 array in C order: learned weights given to a scheme.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> data;

  std::int64_t dim(std::size_t axis) const { return shape.at(axis); }
  std::span<const float> row(std::int64_t index) const;  ///< of a 2-D tensor
};

using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<double>, Tensor>;

enum class ValueKind : std::uint8_t { boolean, integer, real, choice, list, tensor };

/// Declares one parameter. All code that shows, parses, checks or binds parameters reads this declaration.
struct Parameter {
  std::string_view name;
  ValueKind kind;
  std::string_view meaning;
  std::optional<Value> fallback = {};  ///< absent: no default
  bool required = false;  ///< an argument must be given; if not required and without default, the scheme decides
  double least = -std::numeric_limits<double>::infinity();  ///< lower bound of a number, or of each entry of a list
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  ///< the lower bound is excluded
  std::vector<std::string_view> choices = {};
};

/// Named values for the parameters of a scheme.
class Arguments {
 public:
  Arguments() = default;
  Arguments(std::initializer_list<std::pair<const std::string, Value>> values);

  void set(std::string_view name, Value value);
  bool has(std::string_view name) const;
  const Value* find(std::string_view name) const;
  const std::map<std::string, Value, std::less<>>& all() const { return values_; }

  // Typed access to validated arguments. Error: a name without a value, which is a programming error.
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool boolean(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::vector<double>& list(std::string_view name) const;
  const Tensor& tensor(std::string_view name) const;
  std::optional<double> maybe_real(std::string_view name) const;
  std::optional<std::int64_t> maybe_integer(std::string_view name) const;

 private:
  const Value& at(std::string_view name) const;
  std::map<std::string, Value, std::less<>> values_;
};

/// Checks `given` against `parameters` and fills in defaults. Converts integers to reals and whole reals to integers.
/// `owner` starts every message.
/// Error: unknown names, wrong kinds, values out of range, missing required ones.
Arguments validate(std::string_view owner, std::span<const Parameter> parameters, const Arguments& given);

/// Returns the parameter called `name`.
/// Error: an unknown name.
const Parameter& find_parameter(std::string_view owner, std::span<const Parameter> parameters, std::string_view name);

/// Parses `text` as the parameter's kind: `true`, `32`, `5e5`, `half`, `[16,24,24]` or `16,24,24`.
/// Error: text of another kind, and tensors.
Value parse_value(std::string_view owner, const Parameter& parameter, std::string_view text);

/// Formats a value: `32`, `5e5`, `half`, `16,24,24`, `tensor 32x8`.
std::string to_text(const Value& value);

}  // namespace locus
