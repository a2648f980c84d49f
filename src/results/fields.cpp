// SPDX-License-Identifier: Apache-2.0
#include "results/fields.h"

#include "locus/error.h"

namespace locus::results {
namespace {

std::string excerpt(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60);
}

}  // namespace

Fields::Fields(const Json& object, std::string place) : object_(object), place_(std::move(place)) {
  if (!object_.is_object()) fail(place_, " must be an object, got ", object_.type_name());
}

bool Fields::has(const char* key) const {
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

const Json& Fields::at(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) fail(place_, " has no \"", key, "\"");
  return *found;
}

std::string Fields::text(const char* key) const {
  const Json& value = at(key);
  if (!value.is_string()) fail(place_, ".", key, " must be text, got ", excerpt(value));
  return value.get<std::string>();
}

std::string Fields::text_or_empty(const char* key) const { return has(key) ? text(key) : std::string(); }

std::int64_t Fields::integer(const char* key) const {
  const Json& value = at(key);
  if (!value.is_number_integer()) fail(place_, ".", key, " must be a whole number, got ", excerpt(value));
  return value.get<std::int64_t>();
}

std::int64_t Fields::integer_or_zero(const char* key) const { return has(key) ? integer(key) : 0; }

bool Fields::flag(const char* key) const {
  const Json& value = at(key);
  if (!value.is_boolean()) fail(place_, ".", key, " must be true or false, got ", excerpt(value));
  return value.get<bool>();
}

double Fields::number(const char* key) const {
  const Json& value = at(key);
  if (!value.is_number()) fail(place_, ".", key, " must be a number, got ", excerpt(value));
  return value.get<double>();
}

std::optional<double> Fields::optional_number(const char* key) const {
  return has(key) ? std::optional(number(key)) : std::nullopt;
}

const Json& Fields::array(const char* key) const {
  const Json& value = at(key);
  if (!value.is_array()) fail(place_, ".", key, " must be an array, got ", excerpt(value));
  return value;
}

std::vector<std::int64_t> Fields::integers(const char* key) const {
  std::vector<std::int64_t> values;
  for (const Json& value : array(key)) {
    if (!value.is_number_integer()) fail(place_, ".", key, " must hold whole numbers, got ", excerpt(value));
    values.push_back(value.get<std::int64_t>());
  }
  return values;
}

std::vector<std::string> Fields::texts(const char* key) const {
  std::vector<std::string> values;
  for (const Json& value : array(key)) {
    if (!value.is_string()) fail(place_, ".", key, " must hold texts, got ", excerpt(value));
    values.push_back(value.get<std::string>());
  }
  return values;
}

Fields Fields::object(const char* key) const { return Fields(at(key), place_ + "." + key); }

}  // namespace locus::results
