// SPDX-License-Identifier: Apache-2.0
// Prints the numbers of every example of the registry as JSON: rows by their bits, rotations and attention with the error
// that is allowed there. compare.mjs compares the WebAssembly module with them.
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "locus/attention.h"
#include "locus/doctor/example_encodings.h"
#include "locus/error.h"
#include "locus/reference_attention.h"
#include "locus/rotate.h"
#include "locus/rows.h"
#include "locus/text.h"

namespace {

using namespace locus;
using Json = nlohmann::ordered_json;

constexpr std::int64_t tokens = 5;

/// `rope:head_dim=16,pairing=half`; empty where an argument cannot be written as text.
std::string spelling_of(const Encoding& encoding, const Arguments& given) {
  std::string text(encoding.scheme().name);
  char separator = ':';
  for (const auto& [name, value] : given.all()) {
    if (std::holds_alternative<Tensor>(value)) return {};
    text += separator + name + "=" + to_text(value);
    separator = ',';
  }
  return text;
}

std::string bits_of(const std::vector<float>& numbers) {
  std::string text;
  for (const float number : numbers) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    char hex[9];
    std::snprintf(hex, sizeof hex, "%08x", bits);
    text += hex;
  }
  return text;
}

std::vector<Position> positions_of(const Encoding& encoding) {
  const PositionRange range = encoding.position_range();
  std::vector<Position> positions;
  for (const Position id : {0, 1, 2, 3, 17, 31, 1000, 1023, 4096, 65537, 1000003, 2147483647}) {
    if (id >= range.first && id <= range.last) positions.push_back(id);
  }
  return positions;
}

/// Numbers from -1 to 1 that JavaScript makes too.
std::vector<float> made_up(std::size_t count, std::uint32_t seed) {
  std::vector<float> numbers;
  std::uint32_t state = seed;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers.push_back(static_cast<float>(state >> 8) / 8388608.0f - 1.0f);
  }
  return numbers;
}

Json rows_json(const Encoding& encoding, const std::vector<Position>& positions) {
  std::vector<float> rows;
  for (const Position id : positions) {
    if (encoding.site() == Site::hidden) {
      std::vector<float> row(static_cast<std::size_t>(encoding.hidden().dim));
      hidden_row(encoding.hidden(), id, row);
      rows.insert(rows.end(), row.begin(), row.end());
    } else {
      const Rotation& rotation = encoding.rotation();
      const auto pairs = static_cast<std::size_t>(rotation.pairs());
      std::vector<float> row(2 * pairs);
      const std::vector<Position> ids(1, id);
      rotation_row(rotation, Role::query, ids, std::span(row).first(pairs), std::span(row).last(pairs));
      rows.insert(rows.end(), row.begin(), row.end());
    }
  }
  return {{"positions", positions}, {"bits", bits_of(rows)}};
}

/// Attention of made-up vectors, with the bound of attention.h on the distance between two results.
Json attention_json(const Encoding& encoding) {
  std::int64_t heads = 1, dim = 16;
  if (encoding.site() == Site::score) heads = encoding.score().heads;
  if (encoding.site() == Site::relative_key) {
    heads = encoding.relative_keys().heads;
    dim = encoding.relative_keys().head_dim;
  }
  if (encoding.site() == Site::query_key) dim = encoding.rotation().head_dim;
  const auto size = static_cast<std::size_t>(tokens * heads * dim);
  std::vector<float> query = made_up(size, 1), key = made_up(size, 2), value = made_up(size, 3), output(size);
  const auto view = [&](std::vector<float>& data) {
    return heads_view(data.data(), ElementType::float32, "thd", {{tokens, heads, dim}});
  };
  PositionIds ids{.tokens = tokens, .ids = {0, 1, 2, 3, 4}};
  Json json{{"heads", heads}, {"dim", dim}};
  if (encoding.site() == Site::query_key) {
    rotate(encoding, view(query), ids, Role::query);
    rotate(encoding, view(key), ids, Role::key);
    json["rotated"] = query;
  }
  AttentionCall call;
  call.query = view(query);
  call.key = view(key);
  call.value = view(value);
  call.output = view(output);
  call.encoding = &encoding;
  call.query_ids = call.key_ids = ids.ids;
  call.mask.causal = true;
  attend(call);
  const reference::Attention exact = reference::attend(call);
  double largest = 0;
  for (const double magnitude : exact.magnitude) largest = std::max(largest, magnitude);
  json["output"] = output;
  // Both results have this error, and queries and keys may differ by the four roundings of two rotations.
  json["bound"] = 2 * (2 * (static_cast<double>(dim) + 20) * largest + 4 * tokens + 16) * 0x1p-24;
  return json;
}

Json numbers_json(const Encoding& encoding) {
  Json json = Json::object();
  if (encoding.site() == Site::hidden && encoding.hidden().neighbours) return json;  // an id alone has no row
  const bool one_axis = encoding.site() != Site::query_key || encoding.rotation().axes == 1;
  if (encoding.site() == Site::hidden || (encoding.site() == Site::query_key && one_axis)) {
    json["rows"] = rows_json(encoding, positions_of(encoding));
  }
  if (encoding.site() == Site::hidden || !one_axis) return json;
  try {
    json["attention"] = attention_json(encoding);
  } catch (const Error&) {  // tokens bring numbers, or ids are cells of a grid
  }
  return json;
}

}  // namespace

int main() {
  Json all = Json::array();
  const auto add = [&](const Scheme& scheme, const Arguments& arguments) {
    const Encoding encoding(scheme.name, arguments);
    const std::string spelling = spelling_of(encoding, arguments);
    if (spelling.empty()) return;
    Json json{{"spelling", spelling}};
    json.update(numbers_json(encoding));
    all.push_back(json);
  };
  for (const Scheme* scheme : schemes()) {
    add(*scheme, scheme->example);
    for (const Example& variant : scheme->variants) add(*scheme, variant.arguments);
  }
  std::cout << all.dump() << '\n';
}
