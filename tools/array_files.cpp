// SPDX-License-Identifier: Apache-2.0
#include "array_files.h"

#include <filesystem>
#include <iostream>

#include "locus/error.h"
#include "locus/text.h"

namespace locus::tools {

ElementType element_type(io::NpyType type, const std::string& path) {
  switch (type) {
    case io::NpyType::float32:
      return ElementType::float32;
    case io::NpyType::float64:
      return ElementType::float64;
    case io::NpyType::float16:
      return ElementType::float16;
    case io::NpyType::uint16:
      return ElementType::bfloat16;
    default:
      fail(path, " must be float32, float64, float16 or (for bfloat16) uint16, got ", io::name_of(type));
  }
}

std::vector<double> numbers_of(const io::NpyArray& array, const std::string& path) {
  if (element_type(array.type, path) != ElementType::bfloat16) return io::to_doubles(array, path);
  std::vector<double> values;
  for (const std::uint16_t bits : array.as<std::uint16_t>()) {
    values.push_back(static_cast<double>(to_float(BFloat16{bits})));
  }
  return values;
}

std::int64_t tokens_in(std::string_view axes, std::span<const std::int64_t> shape) {
  require(axes.size() == shape.size(), "--axes ", axes, " needs ", axes.size(), " extents, the array has ",
          shape.size());
  const std::size_t tokens = axes.find('t');
  require(tokens != std::string_view::npos, "--axes must include the tokens (t), got ", axes);
  return shape[tokens];
}

std::string heads_axes(const std::string& given, std::span<const std::int64_t> shape,
                       std::optional<std::int64_t> tokens, const std::string& path) {
  if (!given.empty()) return given;
  const std::size_t rank = shape.size();
  require(rank >= 2 && rank <= 4, path, " must have 2 to 4 dimensions, such as [tokens, heads, dim], got ", rank);
  if (rank == 2) return "td";
  const std::string first = rank == 3 ? "thd" : "bthd", second = rank == 3 ? "htd" : "bhtd";
  const bool only_second = tokens && tokens_in(first, shape) != *tokens && tokens_in(second, shape) == *tokens;
  return only_second ? second : first;
}

std::string hidden_axes(const std::string& given, std::span<const std::int64_t> shape, const std::string& path) {
  if (!given.empty()) return given;
  require(shape.size() == 2 || shape.size() == 3, path,
          " must have shape [tokens, dim] or [batch, tokens, dim] for a scheme of the hidden site, got ", shape.size(),
          " dimensions");
  return shape.size() == 2 ? "td" : "btd";
}

void Inferences::print() const {
  if (!all_.empty()) std::cerr << "locus: note: inferred " << joined(all_) << '\n';
}

void require_other_file(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;  // a path that does not exist is not the same file
    require(output.empty() || input.empty() || !std::filesystem::equivalent(input, output, error), output,
            ": the output must not be the input");
  }
}

}  // namespace locus::tools
