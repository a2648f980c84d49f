// SPDX-License-Identifier: Apache-2.0
// `locus resize`: resizes a learned position table to another length or grid.
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array_files.h"
#include "command.h"
#include "lengths.h"
#include "locus/error.h"
#include "locus/io/npy.h"
#include "locus/resize.h"
#include "position_list.h"

namespace locus::tools {
namespace {

constexpr std::int64_t max_table_values = std::int64_t{1} << 31;

struct ResizeRequest {
  std::string table;
  std::string from;
  std::string to;
  std::string method;
  ResizeOptions options;
  std::string output;
  bool json = false;
};

std::int64_t product(const Lengths& lengths, std::string_view option) {
  std::int64_t value = 1;
  for (const std::int64_t length : lengths) {
    require(!__builtin_mul_overflow(value, length, &value), option, " is too large, got ",
            [&] { return joined(lengths, "x"); });
  }
  return value;
}

/// Error: a result, or an intermediate grid, that is too large. Checked before anything is allocated.
void check_size(const Lengths& from, const Lengths& to, const Lengths& shape) {
  std::int64_t values = 1;
  std::int64_t between = shape.back();
  bool fits = true;
  for (const std::int64_t length : shape) fits = fits && !__builtin_mul_overflow(values, length, &values);
  if (to.size() == 2) {
    fits = fits && !__builtin_mul_overflow(between, from[0], &between) &&
           !__builtin_mul_overflow(between, to[1], &between);
  }
  require(fits && values <= max_table_values && between <= max_table_values, "--to must give at most ",
          max_table_values, " values, got ", joined(to, "x"), " rows of ", shape.back());
}

/// Returns the shape of the result: [rows,d], [1,rows,d] or [h,w,d], like the table's. Error: a table that does not
/// fit `from`.
Lengths result_shape(const Lengths& table, const Lengths& from, const Lengths& to, std::int64_t prefix) {
  if (table.size() == 3 && prefix == 0 && from.size() == 2 && table[0] == from[0] && table[1] == from[1]) {
    return {to[0], to[1], table[2]};
  }
  const bool batched = table.size() == 3 && table[0] == 1;
  const std::string grid_form = from.size() == 2 ? " or, without --prefix, [" + joined(from, ",") + ",d]" : "";
  require(table.size() == 2 || batched, "--table must have the shape [rows,d] or [1,rows,d]", grid_form, ", got [",
          joined(table, ","), "]");
  const std::int64_t rows = table[table.size() - 2];
  const std::int64_t body = product(from, "--from");
  require(rows - prefix == body, "--table must have ", body, " rows for --from ", joined(from, "x"),
          prefix == 0 ? "" : " after those of --prefix", ", got ", rows, " rows with --prefix ", prefix,
          prefix == 0 && rows - 1 == body ? "; did you mean --prefix 1 (a class token)?" : "");
  const std::int64_t target = product(to, "--to");
  std::int64_t target_rows = 0;
  require(!__builtin_add_overflow(target, prefix, &target_rows), "--to is too large, got ", joined(to, "x"));
  if (batched) return {1, target_rows, table[2]};
  return {target_rows, table[1]};
}

template <class T>
std::vector<T> resize(std::span<const T> table, std::int64_t dim, const Lengths& from, const Lengths& to,
                      const ResizeOptions& options) {
  if (from.size() == 1) return resize_1d(table, dim, from[0], to[0], options);
  return resize_2d(table, dim, {from[0], from[1]}, {to[0], to[1]}, options);
}

void resize_and_write(const ResizeRequest& request, const io::NpyArray& table, const Lengths& from, const Lengths& to,
                      const Lengths& shape) {
  const std::int64_t dim = shape.back();
  switch (table.type) {
    case io::NpyType::float32: {
      const std::vector<float> rows = resize(table.as<float>(), dim, from, to, request.options);
      return io::write_npy<float>(request.output, shape, rows);
    }
    case io::NpyType::float64: {
      const std::vector<double> rows = resize(table.as<double>(), dim, from, to, request.options);
      return io::write_npy<double>(request.output, shape, rows);
    }
    case io::NpyType::float16: {
      const std::vector<double> wide = io::to_doubles(table, request.table);
      std::vector<Float16> rows;
      for (const double value : resize<double>(wide, dim, from, to, request.options)) {
        rows.push_back(to_float16(value));
      }
      return io::write_npy<Float16>(request.output, shape, rows);
    }
    default:
      fail("--table must hold float16, float32 or float64, got ", io::name_of(table.type));
  }
}

void run(ResizeRequest request) {
  const Lengths from = parse_lengths("--from", request.from);
  const Lengths to = parse_lengths("--to", request.to);
  require(from.size() == to.size(), "--from and --to must both be lengths or both be grids, got ", request.from,
          " and ", request.to);
  require((request.method == "linear") == (from.size() == 1),
          "--method must be linear for a length, bilinear or bicubic for a grid, got ", request.method, " for --from ",
          request.from);
  require(request.options.prefix_rows >= 0, "--prefix must not be negative, got ", request.options.prefix_rows);
  request.options.method = request.method == "linear"     ? ResizeMethod::linear
                           : request.method == "bilinear" ? ResizeMethod::bilinear
                                                          : ResizeMethod::bicubic;

  require_other_file(request.output, {request.table});
  const io::NpyArray table = io::read_npy(request.table);
  const Lengths shape = result_shape(table.shape, from, to, request.options.prefix_rows);
  check_size(from, to, shape);
  resize_and_write(request, table, from, to, shape);

  if (request.json) {
    print_json({{"table", request.table},
                {"method", request.method},
                {"from", from},
                {"to", to},
                {"shape", shape},
                {"output", request.output}});
  } else {
    std::cerr << "locus: wrote " << request.output << ": [" << joined(shape, ",") << "] " << io::name_of(table.type)
              << ", " << request.method << (request.options.antialias ? " with antialias" : "") << " from "
              << request.from << " to " << request.to << '\n';
  }
}

}  // namespace

void add_resize_command(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("resize", "Resize a learned position table to another length or grid");
  const auto request = std::make_shared<ResizeRequest>();
  command->add_option("--table", request->table, "Read this table (.npy): [rows,d], [1,rows,d] or [height,width,d]")
      ->required();
  command->add_option("--from", request->from, "Set the length (512) or grid (14x14, height x width) of the table")
      ->required();
  command->add_option("--to", request->to, "Resize to this length or grid")->required();
  command->add_option("--method", request->method, "Interpolate: linear for a length; bilinear or bicubic for a grid")
      ->required()
      ->check(CLI::IsMember({"linear", "bilinear", "bicubic"}));
  command->add_flag("--antialias", request->options.antialias, "Antialias as torch does (grids only; SigLIP 2)");
  command
      ->add_option("--scale-offset", request->options.scale_offset,
                   "Add this to the target size when computing the scale; 0.1 in DINOv2 and older ViT code")
      ->capture_default_str();
  add_integer(*command, "--prefix", request->options.prefix_rows,
              "Copy this many leading rows, such as 1 for a class token [0]");
  command->add_option("--output", request->output, "Write the table (.npy) in the type and form of the input")
      ->required();
  command->add_flag("--json", request->json, "Print what was done as one JSON object");
  command->footer(
      "Examples:\n"
      "  locus resize --table vit.npy --from 14x14 --to 20x17 --method bicubic --prefix 1 --output resized.npy\n"
      "  locus resize --table bert.npy --from 512 --to 1024 --method linear --output longer.npy");
  command->callback([request] { run(*request); });
}

}  // namespace locus::tools
