// SPDX-License-Identifier: Apache-2.0
#include "learn/verify_file.h"

#include <algorithm>

#include "learn/programs.h"
#include "locus/error.h"

namespace locus::learn {
namespace {

constexpr double verification_seconds = 600;

std::string program_language_of(const std::filesystem::path& file) {
  const std::string ending = file.extension();
  if (ending == ".py") return "python";
  require(ending == ".cpp", "--function must be a file with the ending .py or .cpp, got ", file.string());
  return "cpp";
}

Array ids_of(std::span<const Position> ids, std::int64_t axes = 1) {
  Array array = Array::ids({ids.begin(), ids.end()});
  if (axes > 1) array.shape = {axes, array.shape[0] / axes};
  return array;
}

/// A function of the file. What it raises is an error of that call alone: a table may end somewhere.
class Served {
 public:
  Served(Solution& solution, std::string function) : solution_(solution), function_(std::move(function)) {}

  void operator()(const std::vector<Argument>& arguments, const Shape& shape, std::span<float> result) const {
    try {
      const Array array = solution_.call(function_, arguments, shape);
      std::copy(array.values.begin(), array.values.end(), result.begin());
    } catch (const BrokenLaw& broken) {
      if (!broken.law.starts_with("run.raised")) throw;
      fail(broken.parameters.at("error"));
    }
  }

 private:
  Solution& solution_;
  std::string function_;
};

std::vector<Check> verify_rotation(const Encoding& encoding, Solution& solution, const VerifyOptions& options) {
  const Rotation& rotation = encoding.rotation();
  require(!rotation.scale && !rotation.query_scale, encoding.scheme().name,
          " rotates queries otherwise than keys, which rotate(x, positions) is not told");
  const Served rotate(solution, "rotate");
  return verify_rotate(
      encoding,
      [&](const RotateRequest& request) {
        const Shape shape = {request.tokens, request.heads, request.head_dim};
        const Array x = Array::real(shape, {request.data.begin(), request.data.end()});
        rotate({x, ids_of(request.ids, rotation.axes)}, shape, request.data);
      },
      options);
}

std::vector<Check> verify_numbers(const Encoding& encoding, Solution& solution, const VerifyOptions& options) {
  if (encoding.site() == Site::score) {
    const Served bias(solution, "bias");
    return verify_bias(
        encoding,
        [&](const BiasRequest& request) {
          const Array queries = ids_of(request.query_ids), keys = ids_of(request.key_ids);
          bias({queries, keys}, {request.heads, queries.size(0), keys.size(0)}, request.bias);
        },
        options);
  }
  require(encoding.site() == Site::hidden, "--function is for encodings of the sites query_key, score and hidden; ",
          encoding.scheme().name, " is none");
  const Served rows(solution, "rows");
  return verify_rows(
      encoding,
      [&](const RowsRequest& request) {
        const Array ids = ids_of(request.ids);
        rows({ids}, {ids.size(0), request.dim}, request.rows);
      },
      options);
}

}  // namespace

std::vector<Check> verify_file(const Encoding& encoding, const Course& course, const std::filesystem::path& file,
                               const VerifyOptions& options) {
  require(std::filesystem::is_regular_file(file), "cannot read ", file.string());
  try {
    const Program program(course, program_language_of(file), file);
    Solution solution(program.words(), verification_seconds);
    return encoding.site() == Site::query_key ? verify_rotation(encoding, solution, options)
                                              : verify_numbers(encoding, solution, options);
  } catch (const BrokenLaw& broken) {
    fail(file.string(), ": ", Sentences().text(broken.law, broken.parameters));
  }
}

}  // namespace locus::learn
