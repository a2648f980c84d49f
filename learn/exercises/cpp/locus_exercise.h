// SPDX-License-Identifier: Apache-2.0
// What an exercise of `locus learn` in C++ includes: a block of numbers, and `serve`, which answers the grader.
//
//   Array rows(const Ids& positions, std::int64_t dim) { ... }
//   int main() { return learn::serve({{"rows", learn::function(rows)}}); }
//
// Arguments and results are Array, Ids, double, std::int64_t, std::string, and std::function of these as an argument.
// The questions come and the answers go over file descriptor 3 (harness.py says how); what you print stays apart.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace learn {

using Ids = std::vector<std::int64_t>;

/// An index that an Array does not have. The grader says it in the learner's language.
struct WrongIndex : std::out_of_range {
  WrongIndex(const char* what_kind, std::int64_t index, std::int64_t size)
      : std::out_of_range(std::to_string(index) + " " + std::to_string(size)), kind(what_kind) {}
  const char* kind;  ///< "index": beyond the axis; "axes": too many or too few of them
};

/// Real numbers in C order: a(i), a(i, j) and a(i, j, k) are elements; new ones are 0.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<double> values;

  Array() = default;
  explicit Array(std::vector<std::int64_t> sizes) : shape(std::move(sizes)) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    values.resize(static_cast<std::size_t>(count));
  }
  double& operator()(std::int64_t i) { return values[place({i})]; }
  double operator()(std::int64_t i) const { return values[place({i})]; }
  double& operator()(std::int64_t i, std::int64_t j) { return values[place({i, j})]; }
  double operator()(std::int64_t i, std::int64_t j) const { return values[place({i, j})]; }
  double& operator()(std::int64_t i, std::int64_t j, std::int64_t k) { return values[place({i, j, k})]; }
  double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const { return values[place({i, j, k})]; }

 private:
  std::size_t place(std::initializer_list<std::int64_t> indices) const {
    if (indices.size() != shape.size()) {
      throw WrongIndex("axes", static_cast<std::int64_t>(indices.size()), static_cast<std::int64_t>(shape.size()));
    }
    std::int64_t at = 0;
    std::size_t axis = 0;
    for (const std::int64_t index : indices) {
      const std::int64_t size = shape[axis++];
      if (index < 0 || index >= size) throw WrongIndex("index", index, size);
      at = at * size + index;
    }
    return static_cast<std::size_t>(at);
  }
};

/// What a function throws that is still to be written.
struct NotWritten : std::exception {};

// ---- the protocol

struct Line {
  std::FILE* in = fdopen(3, "rb");
  std::FILE* out = fdopen(dup(3), "wb");

  bool read(void* data, std::size_t bytes) { return bytes == 0 || std::fread(data, 1, bytes, in) == bytes; }
  void write(const void* data, std::size_t bytes) { std::fwrite(data, 1, bytes, out); }
  std::vector<std::string> words() {
    std::vector<std::string> found(1);
    for (int c = std::fgetc(in); c != EOF && c != '\n'; c = std::fgetc(in)) {
      if (c == ' ') {
        found.emplace_back();
      } else {
        found.back().push_back(static_cast<char>(c));
      }
    }
    return found;
  }
  static Line& instance() {
    static Line line;
    return line;
  }
};

/// A value as it travels.
struct Value {
  std::string kind;
  std::vector<std::int64_t> shape;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;
  std::string text;
  int function = 0;

  static Value read() {
    Line& line = Line::instance();
    const std::vector<std::string> words = line.words();
    Value value;
    value.kind = words[0];
    if (value.kind == "function") {
      value.function = std::atoi(words[1].c_str());
    } else if (value.kind == "text") {
      value.text.resize(std::strtoull(words[1].c_str(), nullptr, 10));
      line.read(value.text.data(), value.text.size());
    } else {
      std::size_t count = 1;
      for (std::size_t i = 2; i < words.size(); ++i) {
        value.shape.push_back(std::atoll(words[i].c_str()));
        count *= static_cast<std::size_t>(value.shape.back());
      }
      if (value.kind == "real") {
        value.reals.resize(count);
        line.read(value.reals.data(), 8 * count);
      } else {
        value.integers.resize(count);
        line.read(value.integers.data(), 8 * count);
      }
    }
    return value;
  }

  void write() const {
    Line& line = Line::instance();
    if (kind == "text") {
      std::fprintf(line.out, "text %zu\n", text.size());
      line.write(text.data(), text.size());
      return;
    }
    std::fprintf(line.out, "%s %zu", kind.c_str(), shape.size());
    for (const std::int64_t size : shape) std::fprintf(line.out, " %lld", static_cast<long long>(size));
    std::fputc('\n', line.out);
    line.write(reals.data(), 8 * reals.size());
    line.write(integers.data(), 8 * integers.size());
  }
};

inline Value to_value(const Array& array) { return {"real", array.shape, array.values, {}, {}, 0}; }
inline Value to_value(const Ids& ids) { return {"integer", {static_cast<std::int64_t>(ids.size())}, {}, ids, {}, 0}; }
inline Value to_value(double number) { return {"real", {}, {number}, {}, {}, 0}; }
inline Value to_value(std::int64_t number) { return {"integer", {}, {}, {number}, {}, 0}; }
inline Value to_value(const std::string& text) { return {"text", {}, {}, {}, text, 0}; }

template <class T>
struct From;
template <>
struct From<Array> {
  static Array of(const Value& value) {
    Array array(value.shape);
    array.values = value.reals;
    return array;
  }
};
template <>
struct From<Ids> {
  static Ids of(const Value& value) { return value.integers; }
};
template <>
struct From<double> {
  static double of(const Value& value) { return value.reals.at(0); }
};
template <>
struct From<std::int64_t> {
  static std::int64_t of(const Value& value) { return value.integers.at(0); }
};
template <>
struct From<std::string> {
  static std::string of(const Value& value) { return value.text; }
};
template <class Result, class... Parts>
struct From<std::function<Result(Parts...)>> {
  static std::function<Result(Parts...)> of(const Value& value) {
    return [number = value.function](Parts... parts) {
      Line& line = Line::instance();
      std::fprintf(line.out, "ask %d %zu\n", number, sizeof...(parts));
      (to_value(parts).write(), ...);
      std::fflush(line.out);
      return From<Result>::of(Value::read());
    };
  }
};

using Function = std::function<Value(const std::vector<Value>&)>;

template <class Result, class... Parts, std::size_t... I>
Function function_of(Result (*written)(Parts...), std::index_sequence<I...>) {
  return [written](const std::vector<Value>& values) {
    return to_value(written(From<std::decay_t<Parts>>::of(values.at(I))...));
  };
}
template <class Result, class... Parts>
Function function(Result (*written)(Parts...)) {
  return function_of(written, std::index_sequence_for<Parts...>());
}

inline void say_error(const char* kind, const std::string& text) {
  Line& line = Line::instance();
  std::fprintf(line.out, "error %s 0 %zu\n%s", kind, text.size(), text.c_str());
}

/// Answers questions until there are no more.
inline int serve(const std::map<std::string, Function>& functions) {
  Line& line = Line::instance();
  std::setvbuf(stdout, nullptr, _IOLBF, 4096);  // the grader ends this process without a chance to flush
  for (;;) {
    const std::vector<std::string> words = line.words();
    if (words.size() < 3) return 0;
    std::vector<Value> arguments;
    for (int i = std::atoi(words[2].c_str()); i > 0; --i) arguments.push_back(Value::read());
    try {
      const auto found = functions.find(words[1]);
      if (found == functions.end()) {
        say_error("missing", words[1]);
      } else {
        const Value result = found->second(arguments);
        std::fputs("result\n", line.out);
        result.write();
      }
    } catch (const NotWritten&) {
      say_error("not_written", words[1]);
    } catch (const WrongIndex& error) {
      say_error(error.kind, error.what());
    } catch (const std::exception& error) {
      say_error("raised", error.what());
    }
    std::fflush(line.out);
  }
}

}  // namespace learn

using learn::Array;
using learn::Ids;
