// SPDX-License-Identifier: Apache-2.0
// Parameters of schemes: what they are called, which values they take, and the values given.
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

/// A dense float32 array in C order: learned weights that a scheme is given.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> data;

  std::int64_t dim(std::size_t axis) const { return shape.at(axis); }
  std::span<const float> row(std::int64_t index) const;  ///< of a 2-D tensor
};

using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<double>, Tensor>;

enum class ValueKind : std::uint8_t { boolean, integer, real, choice, list, tensor };

/// Describes one parameter. Everything that shows, parses, checks or binds parameters reads this.
struct Parameter {
  std::string_view name;
  ValueKind kind;
  std::string_view meaning;
  std::optional<Value> fallback = {};  ///< absent: no default
  bool required = false;               ///< absent and required: an error; absent and optional: the scheme decides
  double least = -std::numeric_limits<double>::infinity();  ///< bounds of a number, or of each entry of a list
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  ///< the lower bound itself is excluded
  std::vector<std::string_view> choices = {};
};

/// Named values for a scheme. Lookups are by the registry's parameter names.
class Arguments {
 public:
  Arguments() = default;
  Arguments(std::initializer_list<std::pair<const std::string, Value>> values);

  void set(std::string_view name, Value value);
  bool has(std::string_view name) const;
  const Value* find(std::string_view name) const;
  const std::map<std::string, Value, std::less<>>& all() const { return values_; }

  // Typed access to a value that validation has already passed; a wrong name is a programming error and throws.
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

/// Checks `given` against `parameters` (unknown names, kinds, ranges, missing ones) and fills in defaults. `owner` is
/// the name that messages start with. Integers are accepted for reals, and whole reals for integers.
Arguments validate(std::string_view owner, std::span<const Parameter> parameters, const Arguments& given);

/// The parameter called `name`; Error naming those there are.
const Parameter& find_parameter(std::string_view owner, std::span<const Parameter> parameters, std::string_view name);

/// Parses `text` as the parameter's kind: `true`, `32`, `5e5`, `half`, `[16,24,24]` or `16,24,24`. Not for tensors.
Value parse_value(std::string_view owner, const Parameter& parameter, std::string_view text);

/// `32`, `5e5`, `half`, `16,24,24`, `tensor 32x8`.
std::string to_text(const Value& value);

}  // namespace locus
