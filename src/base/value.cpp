// SPDX-License-Identifier: Apache-2.0
#include "locus/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "locus/error.h"
#include "locus/names.h"
#include "locus/text.h"

namespace locus {
namespace {

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::boolean:
      return "true or false";
    case ValueKind::integer:
      return "an integer";
    case ValueKind::real:
      return "a number";
    case ValueKind::choice:
      return "a word";
    case ValueKind::list:
      return "a list of numbers";
    case ValueKind::tensor:
      return "a tensor";
  }
  return "?";
}

std::string range_text(const Parameter& parameter) {
  std::ostringstream text;
  text.precision(12);
  const bool below = std::isfinite(parameter.least);
  if (below) text << (parameter.above_least ? "above " : "at least ") << parameter.least;
  if (std::isfinite(parameter.most)) text << (below ? " and " : "") << "at most " << parameter.most;
  return text.str();
}

void check_range(std::string_view owner, const Parameter& parameter, double number) {
  require(std::isfinite(number), owner, ".", parameter.name, " must be finite, got ", number);
  const bool low = parameter.above_least ? number <= parameter.least : number < parameter.least;
  if (low || number > parameter.most) {
    fail(owner, ".", parameter.name, " must be ", range_text(parameter), ", got ", number);
  }
}

void check_tensor(std::string_view owner, const Parameter& parameter, const Tensor& tensor) {
  std::int64_t size = 1;
  for (const std::int64_t extent : tensor.shape) {
    require(extent >= 0 && (extent == 0 || size <= std::numeric_limits<std::int64_t>::max() / extent), owner, ".",
            parameter.name, " has an invalid shape: ", [&] { return to_text(Value(tensor)); });
    size *= extent;
  }
  require(size == static_cast<std::int64_t>(tensor.data.size()), owner, ".", parameter.name, " has ",
          tensor.data.size(), " values, but its shape needs ", size);
  for (const float value : tensor.data) {
    require(std::isfinite(value), owner, ".", parameter.name, " must be finite, got ", value, " among its values");
  }
}

// Converts a given value to the parameter's kind. Error: a value of another kind.
Value convert(std::string_view owner, const Parameter& parameter, const Value& given) {
  const auto refuse = [&]() -> Value {
    fail(owner, ".", parameter.name, " must be ", name_of(parameter.kind), ", got ", to_text(given));
  };
  const double* real = std::get_if<double>(&given);
  const std::int64_t* integer = std::get_if<std::int64_t>(&given);
  switch (parameter.kind) {
    case ValueKind::boolean:
      return std::holds_alternative<bool>(given) ? given : refuse();
    case ValueKind::integer: {
      if (real != nullptr) {
        require(std::isfinite(*real) && *real == std::floor(*real) && std::fabs(*real) < 0x1p53, owner, ".",
                parameter.name, " must be an integer, got ", *real);
        check_range(owner, parameter, *real);
        return static_cast<std::int64_t>(*real);
      }
      if (integer == nullptr) return refuse();
      check_range(owner, parameter, static_cast<double>(*integer));
      return given;
    }
    case ValueKind::real: {
      if (real == nullptr && integer == nullptr) return refuse();
      const double number = real != nullptr ? *real : static_cast<double>(*integer);
      check_range(owner, parameter, number);
      return number;
    }
    case ValueKind::choice: {
      const std::string* word = std::get_if<std::string>(&given);
      if (word == nullptr) return refuse();
      if (std::find(parameter.choices.begin(), parameter.choices.end(), *word) == parameter.choices.end()) {
        fail_unknown(concat(owner, ".", parameter.name), *word, parameter.choices);
      }
      return given;
    }
    case ValueKind::list: {
      const std::vector<double>* numbers = std::get_if<std::vector<double>>(&given);
      if (numbers == nullptr) return refuse();
      require(!numbers->empty(), owner, ".", parameter.name, " must not be empty");
      for (const double number : *numbers) check_range(owner, parameter, number);
      return given;
    }
    case ValueKind::tensor: {
      const Tensor* tensor = std::get_if<Tensor>(&given);
      if (tensor == nullptr) return refuse();
      check_tensor(owner, parameter, *tensor);
      return given;
    }
  }
  return refuse();
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  text = trim(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size();
}

std::vector<double> parse_list(std::string_view owner, const Parameter& parameter, std::string_view text) {
  std::string_view rest = trim(text);
  if (!rest.empty() && rest.front() == '[' && rest.back() == ']') rest = rest.substr(1, rest.size() - 2);
  std::vector<double> numbers;
  if (rest.empty()) return numbers;
  for (;;) {
    const std::size_t comma = rest.find(',');
    double number = 0;
    require(parse_number(rest.substr(0, comma), number), owner, ".", parameter.name,
            " must be a list of numbers such as 16,24,24, got ", text);
    numbers.push_back(number);
    if (comma == std::string_view::npos) return numbers;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

std::span<const float> Tensor::row(std::int64_t index) const {
  const auto width = static_cast<std::size_t>(shape.back());
  return std::span(data).subspan(static_cast<std::size_t>(index) * width, width);
}

Arguments::Arguments(std::initializer_list<std::pair<const std::string, Value>> values) : values_(values) {}

void Arguments::set(std::string_view name, Value value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

const Value* Arguments::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

bool Arguments::has(std::string_view name) const { return find(name) != nullptr; }

const Value& Arguments::at(std::string_view name) const {
  const Value* value = find(name);
  require(value != nullptr, "parameter ", name, " has no value");
  return *value;
}

std::int64_t Arguments::integer(std::string_view name) const { return std::get<std::int64_t>(at(name)); }
double Arguments::real(std::string_view name) const { return std::get<double>(at(name)); }
bool Arguments::boolean(std::string_view name) const { return std::get<bool>(at(name)); }
const std::string& Arguments::text(std::string_view name) const { return std::get<std::string>(at(name)); }
const std::vector<double>& Arguments::list(std::string_view name) const {
  return std::get<std::vector<double>>(at(name));
}
const Tensor& Arguments::tensor(std::string_view name) const { return std::get<Tensor>(at(name)); }

std::optional<double> Arguments::maybe_real(std::string_view name) const {
  return has(name) ? std::optional(real(name)) : std::nullopt;
}
std::optional<std::int64_t> Arguments::maybe_integer(std::string_view name) const {
  return has(name) ? std::optional(integer(name)) : std::nullopt;
}

const Parameter& find_parameter(std::string_view owner, std::span<const Parameter> parameters, std::string_view name) {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == name) return parameter;
  }
  fail_unknown(concat(owner, " parameter"), name, names_of(parameters, [](const Parameter& one) { return one.name; }));
}

Arguments validate(std::string_view owner, std::span<const Parameter> parameters, const Arguments& given) {
  Arguments result;
  for (const auto& [name, value] : given.all()) {
    result.set(name, convert(owner, find_parameter(owner, parameters, name), value));
  }
  for (const Parameter& parameter : parameters) {
    if (result.has(parameter.name)) continue;
    if (parameter.fallback) {
      result.set(parameter.name, *parameter.fallback);
    } else if (parameter.required) {
      const std::string hint = parameter.choices.empty() ? "" : " (" + listed(parameter.choices, " or ") + ")";
      fail(owner, ".", parameter.name, " must be given", hint, ": ", parameter.meaning);
    }
  }
  return result;
}

Value parse_value(std::string_view owner, const Parameter& parameter, std::string_view text) {
  switch (parameter.kind) {
    case ValueKind::boolean:
      require(text == "true" || text == "false", owner, ".", parameter.name, " must be true or false, got ", text);
      return text == "true";
    case ValueKind::integer: {
      std::int64_t integer = 0;
      if (parse_number(text, integer)) return integer;
      [[fallthrough]];  // accepts 1e6 as an integer; validation refuses 1.5
    }
    case ValueKind::real: {
      double real = 0;
      require(parse_number(text, real), owner, ".", parameter.name, " must be ", name_of(parameter.kind), ", got ",
              text);
      return real;
    }
    case ValueKind::choice:
      return std::string(text);
    case ValueKind::list:
      return parse_list(owner, parameter, text);
    case ValueKind::tensor:
      break;
  }
  fail(owner, ".", parameter.name, " is a tensor and cannot be given as text");
}

std::string to_text(const Value& value) {
  std::ostringstream text;
  text.precision(12);
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool>) {
          text << (held ? "true" : "false");
        } else if constexpr (std::is_same_v<Held, std::vector<double>>) {
          text << joined(held, ",");
        } else if constexpr (std::is_same_v<Held, Tensor>) {
          text << "tensor " << joined(held.shape, "x");
        } else {
          text << held;
        }
      },
      value);
  return text.str();
}

}  // namespace locus
