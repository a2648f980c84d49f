// SPDX-License-Identifier: Apache-2.0
#include "learn/solution.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>

#include "locus/error.h"

namespace locus::learn {
namespace {

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

/// The header line and the bytes of numbers.
std::string encoded(const Array& array) {
  std::string text = array.integer ? "integer" : "real";
  text += ' ' + std::to_string(array.shape.size());
  for (const std::int64_t size : array.shape) text += ' ' + std::to_string(size);
  text += '\n';
  for (const double value : array.values) {
    char bytes[8];
    if (array.integer) {
      const auto whole = static_cast<std::int64_t>(value);
      std::memcpy(bytes, &whole, sizeof whole);
    } else {
      std::memcpy(bytes, &value, sizeof value);
    }
    text.append(bytes, sizeof bytes);
  }
  return text;
}

Array decoded(bool integer, Shape shape, const std::string& bytes) {
  Array array{std::move(shape), {}, integer};
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    double value = 0;
    std::int64_t whole = 0;
    std::memcpy(integer ? static_cast<void*>(&whole) : &value, bytes.data() + at, 8);
    array.values.push_back(integer ? static_cast<double>(whole) : value);
  }
  return array;
}

/// The sizes on a value's line; their product is bounded, since a learner's mistake must not exhaust the memory.
Shape sizes_on(const std::vector<std::string>& words, std::size_t& count) {
  constexpr std::size_t most = std::size_t{1} << 26;
  Shape shape;
  count = 1;
  for (std::size_t i = 2; i < words.size(); ++i) {
    shape.push_back(std::stoll(words[i]));
    count *= static_cast<std::size_t>(shape.back());
    if (count > most) throw BrokenLaw{"run.too_large", {}, {{"shape", shape_text(shape)}}};
  }
  return shape;
}

void check_numbers(const Array& array, const std::string& function) {
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    if (std::isfinite(array.values[i])) continue;
    Shape place;
    std::size_t rest = i;
    for (auto size = array.shape.rbegin(); size != array.shape.rend(); ++size) {
      place.insert(place.begin(), static_cast<std::int64_t>(rest) % *size);
      rest /= static_cast<std::size_t>(*size);
    }
    throw BrokenLaw{
        "run.not_finite",
        {},
        {{"function", function}, {"value", std::isnan(array.values[i]) ? "NaN" : "inf"}, {"place", shape_text(place)}}};
  }
}

}  // namespace

Solution::Solution(std::vector<std::string> words, double seconds)
    : child_(std::move(words), seconds), seconds_(seconds) {}

void Solution::lost() {
  const Ending ending = child_.end();
  if (ending.timed_out) throw BrokenLaw{"run.timeout", {}, {{"seconds", shown(seconds_)}}};
  if (ending.signal != 0) {
    throw BrokenLaw{"run.crashed", {}, {{"signal", std::to_string(ending.signal)}, {"name", strsignal(ending.signal)}}};
  }
  if (ending.exit_code == not_found) throw BrokenLaw{"tool.no_python"};
  throw BrokenLaw{"run.ended", {}, {{"code", std::to_string(ending.exit_code)}}};
}

std::string Solution::read_bytes(std::size_t count) {
  std::string bytes;
  if (!child_.receive(count, bytes)) lost();
  return bytes;
}

std::vector<std::string> Solution::read_words() {
  std::string line;
  if (!child_.receive_line(line)) lost();
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) lost();
  return words;
}

void Solution::refused(const std::vector<std::string>& words) {
  const std::string& kind = words.at(1);
  const std::string text = read_bytes(std::stoull(words.at(3)));
  if (kind == "index" || kind == "axes") {  // "INDEX SIZE", of a C++ Array
    const std::size_t space = std::min(text.find(' '), text.size() - 1);
    Parameters parameters = {{"index", text.substr(0, space)}, {"size", text.substr(space + 1)}};
    const std::string law = kind == "index" ? "run.raised_index" : "run.raised_axes";
    parameters["error"] = Sentences().text(law, parameters);
    throw BrokenLaw{law, {}, parameters};
  }
  const Parameters parameters = {{"function", text}, {"error", text}, {"line", words.at(2)}};
  if (kind == "missing") throw BrokenLaw{"run.missing", {}, parameters};
  if (kind == "not_written") throw BrokenLaw{"run.not_written", {}, parameters};
  if (kind == "no_numpy") throw BrokenLaw{"tool.no_numpy", {}, parameters};
  throw BrokenLaw{words.at(2) == "0" ? "run.raised" : "run.raised_at", {}, parameters};
}

void Solution::send_value(const Argument& value, std::size_t index) {
  std::string text;
  if (const auto* array = std::get_if<Array>(&value)) {
    text = encoded(*array);
  } else if (const auto* words = std::get_if<std::string>(&value)) {
    text = "text " + std::to_string(words->size()) + '\n' + *words;
  } else {
    text = "function " + std::to_string(index) + '\n';
  }
  if (!child_.send(text)) lost();
}

Argument Solution::read_value(const std::string& function) {
  const std::vector<std::string> words = read_words();
  if (words[0] == "text") return read_bytes(std::stoull(words.at(1)));
  if (words[0] == "unusable") {
    throw BrokenLaw{"run.type", {}, {{"function", function}, {"got", read_bytes(std::stoull(words.at(1)))}}};
  }
  std::size_t count = 0;
  Shape shape = sizes_on(words, count);
  return decoded(words[0] == "integer", std::move(shape), read_bytes(8 * count));
}

void Solution::ask(const std::string& function, const std::vector<Argument>& arguments) {
  if (!child_.send("call " + function + ' ' + std::to_string(arguments.size()) + '\n')) lost();
  for (std::size_t i = 0; i < arguments.size(); ++i) send_value(arguments[i], i);
  for (;;) {
    const std::vector<std::string> words = read_words();
    if (words[0] == "result") return;
    if (words[0] == "error") refused(words);
    // "ask": one of the functions that were passed is called back, with one array.
    const Argument argument = read_value(function);
    const auto* array = std::get_if<Array>(&argument);
    if (array == nullptr) throw BrokenLaw{"run.type", {}, {{"function", function}, {"got", "text"}}};
    send_value(std::get<Callback>(arguments.at(std::stoull(words.at(1))))(*array), 0);
  }
}

Array Solution::numbers(const std::string& function, const std::vector<Argument>& arguments) {
  ask(function, arguments);
  Argument value = read_value(function);
  auto* array = std::get_if<Array>(&value);
  if (array == nullptr) throw BrokenLaw{"run.type", {}, {{"function", function}, {"got", "text"}}};
  return std::move(*array);
}

Array Solution::call(const std::string& function, const std::vector<Argument>& arguments) {
  Array array = numbers(function, arguments);
  check_numbers(array, function);
  return array;
}

Array Solution::call(const std::string& function, const std::vector<Argument>& arguments, const Shape& shape) {
  Array array = numbers(function, arguments);
  if (array.shape != shape) {
    throw BrokenLaw{
        "run.shape", {}, {{"function", function}, {"shape", shape_text(array.shape)}, {"wanted", shape_text(shape)}}};
  }
  check_numbers(array, function);
  return array;
}

std::string Solution::call_for_text(const std::string& function, const std::vector<Argument>& arguments) {
  ask(function, arguments);
  Argument value = read_value(function);
  auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) throw BrokenLaw{"run.text_wanted", {}, {{"function", function}}};
  return std::move(*text);
}

}  // namespace locus::learn
