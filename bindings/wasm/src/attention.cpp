// SPDX-License-Identifier: Apache-2.0
// Rotation and attention of arrays [tokens, heads, head_dim].
#include "locus/attention.h"

#include "encoding_options.h"
#include "encodings.h"
#include "locus/error.h"
#include "locus/reference_attention.h"
#include "locus/rows.h"
#include "numbers.h"

namespace locus::wasm {
namespace {

std::int64_t integer(const val& object, const char* name) {
  return static_cast<std::int64_t>(object[name].as<double>());
}

/// An array [tokens, heads, head_dim] of float32 and its view.
struct Heads {
  std::vector<float> numbers;
  HeadsView view;

  Heads(const char* name, const val& array, std::int64_t tokens, std::int64_t heads)
      : numbers(to_vector<float>(array)) {
    require(tokens > 0 && heads > 0 && numbers.size() % static_cast<std::size_t>(tokens * heads) == 0, name, " has ",
            numbers.size(), " numbers: no multiple of ", tokens, " tokens x ", heads, " heads");
    const std::int64_t head_dim = static_cast<std::int64_t>(numbers.size()) / (tokens * heads);
    view = heads_view(numbers.data(), ElementType::float32, "thd", {{tokens, heads, head_dim}});
  }
};

PositionIds ids_for(const Encoding& encoding, const std::vector<Position>& positions) {
  PositionIds ids{.tokens = static_cast<std::int64_t>(positions.size()), .ids = positions};
  return encoding.site() == Site::query_key ? tools::fit_axes(encoding.rotation(), std::move(ids)) : ids;
}

/// Rotates, or adds the row of each token to all of its heads; other sites change nothing here.
void place(const Encoding& encoding, Heads& heads, const std::vector<Position>& positions, Role role) {
  if (encoding.site() == Site::query_key) {
    rotate(encoding, heads.view, ids_for(encoding, positions), role);
  } else if (encoding.site() == Site::hidden) {
    const HiddenRows& hidden = encoding.hidden();
    require(hidden.dim == heads.view.head_dim, encoding.scheme().name, ".dim is ", hidden.dim, ", the vectors have ",
            heads.view.head_dim, " numbers");
    encoding.check_positions(positions);
    std::vector<float> row(static_cast<std::size_t>(hidden.dim));
    std::size_t at = 0;
    for (const Position position : positions) {
      hidden_row(hidden, position, row);
      for (std::int64_t head = 0; head < heads.view.heads; ++head) {
        for (const float number : row) heads.numbers[at++] += number;
      }
    }
  }
}

std::vector<float> to_floats(const std::vector<double>& numbers) { return {numbers.begin(), numbers.end()}; }

/// The arrays of one call of attend().
struct Call {
  std::vector<Position> query_ids, key_ids;
  Heads query, key, value;
  std::vector<float> output;
  AttentionCall call;

  Call(const Encoding& encoding, const val& request)
      : query_ids(to_positions(request["queryPositions"])),
        key_ids(to_positions(request["keyPositions"])),
        query("query", request["query"], std::ssize(query_ids), integer(request, "heads")),
        key("key", request["key"], std::ssize(key_ids), integer(request, "keyHeads")),
        value("value", request["value"], std::ssize(key_ids), integer(request, "keyHeads")),
        output(query.numbers.size()) {
    place(encoding, query, query_ids, Role::query);
    place(encoding, key, key_ids, Role::key);
    if (encoding.site() == Site::hidden) place(encoding, value, key_ids, Role::key);
    call.query = query.view;
    call.key = key.view;
    call.value = value.view;
    call.output = query.view;
    call.output.data = output.data();
    if (encoding.site() != Site::none && encoding.site() != Site::hidden) call.encoding = &encoding;
    call.query_ids = query_ids;
    call.key_ids = key_ids;
    call.mask.causal = request["causal"].as<bool>();
  }
};

}  // namespace

val rotate_heads(const val& chosen, const val& request) {
  return guarded([&] {
    const Encoding& encoding = encoding_of(chosen);
    const std::vector<Position> positions = to_positions(request["positions"]);
    Heads heads("data", request["data"], std::ssize(positions), integer(request, "heads"));
    const Role role = request["role"].as<std::string>() == "key" ? Role::key : Role::query;
    const Direction direction = request["inverse"].as<bool>() ? Direction::inverse : Direction::forward;
    encoding.rotation();  // refuses other sites by name
    rotate(encoding, heads.view, ids_for(encoding, positions), role, direction);
    return to_array(heads.numbers);
  });
}

val attend_heads(const val& chosen, const val& request) {
  return guarded([&] {
    const Encoding& encoding = encoding_of(chosen);
    Call all(encoding, request);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < std::ssize(all.query_ids); ++i) rows.push_back(i);
    std::vector<float> probabilities(static_cast<std::size_t>(all.query.view.heads) * rows.size() * all.key_ids.size());
    all.call.rows_wanted = rows;
    all.call.probabilities = probabilities.data();
    attend(all.call);
    val result = val::object();
    result.set("output", to_array(all.output));
    result.set("probabilities", to_array(probabilities));
    return result;
  });
}

/// Scores in double, before the softmax: those of the encoding, and those of the same vectors without positions.
val score_parts(const val& chosen, const val& request) {
  return guarded([&] {
    const Encoding& encoding = encoding_of(chosen);
    const Call placed(encoding, request), plain(Encoding("nope"), request);
    val result = val::object();
    result.set("scores", to_array(to_floats(reference::attend(placed.call).scores)));
    result.set("content", to_array(to_floats(reference::attend(plain.call).scores)));
    return result;
  });
}

}  // namespace locus::wasm
