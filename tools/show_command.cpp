// SPDX-License-Identifier: Apache-2.0
// `locus show`: prints the numbers of an encoding.
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <numbers>

#include "encoding_options.h"
#include "locus/bias.h"
#include "locus/doctor/diagnosis_fields.h"
#include "locus/error.h"
#include "locus/reference.h"
#include "model_reading.h"
#include "position_list.h"
#include "printable.h"

namespace locus::tools {
namespace {

constexpr std::int64_t max_numbers = std::int64_t{1} << 24;

struct ShowRequest {
  EncodingOptions encoding;
  std::optional<std::string> positions;
  bool json = false;
};

void check_size(std::int64_t rows, std::int64_t width) {
  require(rows <= max_numbers / std::max<std::int64_t>(width, 1), "show prints at most ", max_numbers,
          " numbers; choose fewer positions (", rows, " x ", width, ")");
}

Json ids_json(const PositionIds& ids) {
  if (ids.axes == 1) return ids.ids;
  Json json = Json::array();
  for (std::int64_t axis = 0; axis < ids.axes; ++axis) {
    const auto row = ids.axis(axis);
    json.push_back(std::vector<Position>(row.begin(), row.end()));
  }
  return json;
}

void add_rotation(Json& json, const Encoding& encoding, const std::optional<PositionIds>& positions) {
  Rotation rotation = encoding.rotation();
  const std::optional<QueryScale> query_scale = rotation.query_scale;
  rotation.query_scale.reset();  // listed apart: keys do not have it
  json["head_dim"] = rotation.head_dim;
  json["rotary_dim"] = rotation.rotary_dim;
  json["rotary_offset"] = rotation.rotary_offset;
  json["pairing"] = name_of(rotation.pairing);
  json["rule"] = encoding.arguments().has("rule") ? encoding.arguments().text("rule") : "none";
  json["inv_freq"] = rotation.inv_freq;
  json["attention_factor"] = rotation.magnitude;
  json["softmax_scale_factor"] = rotation.softmax_scale_factor;
  json["profile"] = name_of(rotation.profile);
  json["axes"] = encoding.arguments().has("axes") ? encoding.arguments().text("axes") : "1d";
  if (rotation.axes > 1) json["pair_axis"] = rotation.axis;
  if (!positions) return;
  const PositionIds ids = fit_axes(rotation, *positions);
  encoding.check_positions(ids.ids);
  check_size(ids.batch * ids.tokens, 2 * rotation.pairs());
  json["positions"] = ids_json(*positions);
  Json& cos_rows = json["cos"] = Json::array();
  Json& sin_rows = json["sin"] = Json::array();
  std::vector<double> cos(static_cast<std::size_t>(rotation.pairs()));
  std::vector<double> sin(cos.size());
  std::vector<Position> place(static_cast<std::size_t>(ids.axes));
  for (std::int64_t t = 0; t < ids.batch * ids.tokens; ++t) {
    for (std::int64_t a = 0; a < ids.axes; ++a) {
      place[static_cast<std::size_t>(a)] = ids.axis(a)[static_cast<std::size_t>(t)];
    }
    reference::rotation_row(rotation, Role::query, place, cos, sin);
    cos_rows.push_back(cos);
    sin_rows.push_back(sin);
    if (query_scale) json["query_factor"].push_back(query_scale->at(place[0]));
  }
}

void add_hidden(Json& json, const Encoding& encoding, const std::optional<PositionIds>& positions) {
  const HiddenRows& hidden = encoding.hidden();
  json["dim"] = hidden.dim;
  if (hidden.neighbours) {
    const Neighbours& from = *hidden.neighbours;
    json["taps_before"] = from.before;
    json["taps_after"] = from.kernel - 1 - from.before;
    json["parameters"] = from.weight.size() + from.bias.size();
    require(!positions, encoding.scheme().name,
            " makes rows from neighbours: positions alone show none; use `locus apply`");
    return;
  }
  if (hidden.waves.empty()) {
    json["max_positions"] = hidden.table.dim(0) - hidden.row_offset;
    json["parameters"] = hidden.table.data.size();
  } else {
    Json& inv_freq = json["inv_freq"] = Json::array();
    for (const Wave& wave : hidden.waves) inv_freq.push_back(wave.inv_freq);
  }
  json["profile"] = name_of(Profile::exact);
  if (!positions) return;
  require(positions->axes == 1, "this encoding needs 1 axis of positions, got ", positions->axes);
  encoding.check_positions(positions->ids);
  check_size(positions->batch * positions->tokens, hidden.dim);
  json["positions"] = ids_json(*positions);
  Json& rows = json["rows"] = Json::array();
  for (const Position id : positions->ids) rows.push_back(reference::hidden_row(hidden, id));
}

// Score schemes show their buckets or biases by offset key - query; --positions sets the offsets.
void add_score(Json& json, const Encoding& encoding, const std::optional<PositionIds>& positions) {
  const ScoreBias& bias = encoding.score();
  json["heads"] = bias.heads;
  if (!bias.slopes.empty()) json["slopes"] = bias.slopes;
  json["profile"] = encoding.arguments().has("profile") ? encoding.arguments().text("profile") : "exact";
  if (bias.softmax_scale) json["softmax_scale"] = *bias.softmax_scale;
  std::vector<Position> keys;
  std::vector<Position> queries{0};
  if (positions) {
    require(positions->axes == 1, "offsets must have 1 axis, got ", positions->axes);
    keys = positions->ids;
    json["positions"] = ids_json(*positions);
  } else if (bias.max_id) {
    for (Position id = 0; id < *bias.max_id; ++id) keys.push_back(id);
    queries = keys;
  } else if (bias.bucket) {
    for (Position offset = -256; offset <= 256; ++offset) keys.push_back(offset);
  }
  check_size(static_cast<std::int64_t>(queries.size()), static_cast<std::int64_t>(keys.size()));
  if (bias.bucket) {
    json["num_buckets"] = bias.buckets;
    const std::vector<std::int64_t> buckets = bucket_matrix(encoding, queries, keys);
    if (queries.size() == 1) {
      json["offsets"] = keys;
      json["buckets"] = buckets;
    } else {
      Json& rows = json["buckets"] = Json::array();
      for (std::size_t q = 0; q < queries.size(); ++q) {
        const auto row = std::span(buckets).subspan(q * keys.size(), keys.size());
        rows.push_back(std::vector<std::int64_t>(row.begin(), row.end()));
      }
    }
  }
}

void add_relative(Json& json, const Encoding& encoding) {
  const RelativeKeys& keys = encoding.relative_keys();
  json["heads"] = keys.heads;
  json["head_dim"] = keys.head_dim;
  json["profile"] = name_of(Profile::exact);
  if (keys.index) json["rows"] = keys.key_table.dim(0);
  json["parameters"] = keys.key_table.data.size() + keys.value_table.data.size() + keys.u.data.size() +
                       keys.v.data.size() + keys.w_r.data.size();
}

Arguments stated_arguments(const ChosenEncoding& chosen) {
  Arguments arguments = chosen.encoding.arguments();
  if (chosen.max_positions) arguments.set("max_positions", *chosen.max_positions);
  return arguments;
}

Json describe(const ChosenEncoding& chosen, const std::optional<PositionIds>& positions) {
  const Encoding& encoding = chosen.encoding;
  Json json{{"scheme", encoding.scheme().name}, {"site", name_of(encoding.site())}};
  switch (encoding.site()) {
    case Site::query_key:
      add_rotation(json, encoding, positions);
      break;
    case Site::hidden:
      add_hidden(json, encoding, positions);
      break;
    case Site::score:
      add_score(json, encoding, positions);
      break;
    case Site::relative_key:
      add_relative(json, encoding);
      break;
    case Site::output:  // no scheme acts there alone
    case Site::none:
      json["profile"] = name_of(Profile::exact);
      break;
  }
  Json claims = Json::array();
  for (const Claim claim : encoding.claims().all()) claims.push_back(name_of(claim));
  json["claims"] = claims;
  json["arguments"] = JsonFields<Json>::of(stated_arguments(chosen));
  if (chosen.max_positions) {  // only the printed rows were made
    json["max_positions"] = *chosen.max_positions;
    json["parameters"] = (*chosen.max_positions + encoding.hidden().row_offset) * encoding.hidden().dim;
  }
  if (chosen.trained_length)
    json["trained_length"] = json["training_length"] = *chosen.trained_length;  // and its old name
  add_reading(json, chosen);
  return json;
}

void print_list(std::string_view title, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    std::cout << std::left << std::setw(12) << title << printable(line) << '\n';
    title = "";
  }
}

// Prints wavelengths, and the number of turns of each pair within the trained length. A pair with less than one turn
// did not see all angles in training.
void print_wavelengths(const Rotation& rotation, std::optional<std::int64_t> trained_length) {
  std::cout << std::right << std::setw(6) << "pair" << std::setw(16) << "inv_freq" << std::setw(18) << "wavelength";
  if (trained_length) std::cout << std::setw(14) << "turns in " << *trained_length;
  std::cout << '\n';
  for (std::size_t i = 0; i < rotation.inv_freq.size(); ++i) {
    const double w = rotation.inv_freq[i];
    std::cout << std::setw(6) << i << std::setw(16) << std::setprecision(8) << w << std::setw(18);
    if (w == 0) {
      std::cout << "never turns";
    } else {
      const double wavelength = 2 * std::numbers::pi / w;
      std::cout << std::setprecision(8) << wavelength;
      if (trained_length) {
        std::cout << std::setw(18) << std::setprecision(4) << static_cast<double>(*trained_length) / wavelength;
      }
    }
    if (rotation.axes > 1) std::cout << "   axis " << static_cast<int>(rotation.axis[i]);
    std::cout << '\n';
  }
}

template <class Number>
void print_numbers(std::string_view name, const std::vector<Number>& numbers) {
  std::cout << name << ':';
  for (const Number number : numbers) std::cout << ' ' << std::setprecision(9) << number;
  std::cout << '\n';
}

void print_text(const ChosenEncoding& chosen, const Json& json) {
  const Encoding& encoding = chosen.encoding;
  if (!chosen.layer_type.empty()) std::cout << "layer type " << printable(chosen.layer_type) << '\n';
  std::cout << encoding.scheme().name << " (" << name_of(encoding.site()) << "): " << encoding.scheme().summary << '\n';
  const Arguments arguments = stated_arguments(chosen);
  for (const auto& [name, value] : arguments.all()) {
    std::cout << "  " << std::left << std::setw(20) << name << printable(to_text(value)) << '\n';
  }
  std::string claims;
  for (const Claim claim : encoding.claims().all())
    claims += (claims.empty() ? "" : ", ") + std::string(name_of(claim));
  std::cout << "claims      " << claims << '\n';
  if (encoding.site() == Site::query_key) {
    const Rotation& rotation = encoding.rotation();
    std::cout << "attention factor (on cos and sin)  " << std::setprecision(17) << rotation.magnitude
              << "\nsoftmax-scale factor               " << rotation.softmax_scale_factor << '\n';
    if (encoding.length_dependent())
      std::cout << "depends on the sequence length: cached keys become wrong when it changes\n";
    print_wavelengths(rotation, chosen.trained_length);
  }
  for (const char* name : {"slopes", "offsets", "buckets", "query_factor"}) {
    if (json.contains(name) && json[name].is_array() && !json[name].empty() && json[name][0].is_number()) {
      print_numbers(name, json[name].get<std::vector<double>>());
    }
  }
  for (const char* name : {"cos", "sin", "rows"}) {
    if (!json.contains(name) || !json[name].is_array()) continue;
    for (std::size_t t = 0; t < json[name].size(); ++t) {
      print_numbers(std::string(name) + "[" + std::to_string(t) + "]", json[name][t].get<std::vector<double>>());
    }
  }
  print_list("used", chosen.used);
  print_list("defaulted", chosen.defaulted);
  print_list("unknown", chosen.unknown);
  print_model_reading(chosen.read);
}

void show(const ShowRequest& request) {
  std::optional<PositionIds> positions;
  std::optional<std::int64_t> length;
  if (request.positions) {
    positions = parse_position_list(*request.positions);
    length = length_implied_by(*positions);
  }
  EncodingOptions options = request.encoding;
  options.positions_read = length.value_or(1);
  const std::vector<ChosenEncoding> chosen = choose_encodings(options, length);
  const std::vector<io::HfPart> parts = parts_of(request.encoding.config);
  Json layers = Json::object();
  std::vector<Json> descriptions;
  for (const ChosenEncoding& one : chosen) descriptions.push_back(describe(one, positions));
  print_note(chosen.front());
  if (request.json) {
    if (chosen.size() == 1) {
      Json object = descriptions[0];
      if (!chosen[0].layer_type.empty()) object["layer_type"] = chosen[0].layer_type;
      if (!parts.empty()) object["parts"] = parts_json(parts);
      print_json(object);
      return;
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) layers[chosen[i].layer_type] = descriptions[i];
    Json object = {{"layers", layers}};
    if (!parts.empty()) object["parts"] = parts_json(parts);
    print_json(object);
    return;
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i > 0) std::cout << '\n';
    print_text(chosen[i], descriptions[i]);
  }
  print_parts(parts);
}

}  // namespace

void add_show_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("show", "Show the numbers of an encoding: frequencies, factors, slopes, buckets");
  const auto request = std::make_shared<ShowRequest>();
  request->encoding.incomplete = true;
  add_encoding_options(*command, request->encoding);
  command->add_option("--positions", request->positions,
                      "Show cos and sin (or rows, or buckets by offset) at 0,1,17 or 0:100 or the ids of a .npy file");
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "Examples:\n"
      "  locus show --scheme rope --set head_dim=128 --set pairing=half --set base=500000 --positions 0,1,17\n"
      "  locus show --config config.json --json");
  command->callback([request] { show(*request); });
}

}  // namespace locus::tools
