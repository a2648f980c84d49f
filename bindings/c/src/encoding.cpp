// SPDX-License-Identifier: Apache-2.0
// Makes encodings from settings or a model's file, and describes them.
#include <algorithm>
#include <sstream>

#include "convert.h"
#include "handles.h"
#include "locus/io/model_encoding.h"
#include "locus/io/npy.h"
#include "locus/settings.h"
#include "sized.h"

namespace locus::c {
namespace {

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

std::string parameters_text(const Encoding& encoding) {
  std::ostringstream text;
  text << "scheme = " << encoding.scheme().name << '\n';
  for (const auto& [name, value] : encoding.arguments().all()) text << name << " = " << to_text(value) << '\n';
  return text.str();
}

Tensor tensor_of(const locus_setting& setting) {
  if (setting.weights.data == nullptr) {
    const std::string path = text_or_empty(setting.text);
    require(!path.empty(), setting.name, " needs weights with their shape, or the path of a .npy file");
    const io::NpyArray array = io::read_npy(path);
    return {.shape = array.shape, .data = io::to_floats(array, path)};
  }
  const auto values = span_of(setting.weights, setting.name);
  const auto shape = span_of(setting.shape, setting.name);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count = elements(setting.name, count, extent, 1, 1);
  require(count == setting.weights.count, setting.name, ": the shape has ", count, " elements, got ",
          setting.weights.count, " weights");
  return {.shape = {shape.begin(), shape.end()}, .data = {values.begin(), values.end()}};
}

Arguments arguments_of(const Scheme& scheme, const locus_setting* settings, std::int64_t count) {
  const auto given = span_of(settings, count, "settings");
  std::vector<Setting> texts;
  for (const locus_setting& setting : given) {
    texts.push_back({&at(setting.name, "the name of a setting"), text_or_empty(setting.text)});
  }
  return parse_settings(scheme, texts, [&](const Setting& wanted) {
    const auto same_name = [&](const locus_setting& setting) { return wanted.name == setting.name; };
    return tensor_of(*std::find_if(given.begin(), given.end(), same_name));
  });
}

locus_info info_of(const Encoding& encoding) {
  const PositionRange range = encoding.position_range();
  locus_info info = {};
  info.scheme = encoding.scheme().name.data();
  info.site = static_cast<std::int32_t>(encoding.site());
  info.axes = 1;
  info.first_position = range.first;
  info.last_position = range.last;
  info.length_dependent = encoding.length_dependent() ? 1 : 0;
  info.magnitude = info.softmax_scale_factor = 1;
  if (const auto* hidden = std::get_if<HiddenRows>(&encoding.term())) {
    info.width = info.row_width = hidden->dim;
  } else if (const auto* rotation = std::get_if<Rotation>(&encoding.term())) {
    info.axes = rotation->axes;
    info.width = rotation->head_dim;
    info.row_width = 2 * rotation->pairs();
    info.magnitude = rotation->magnitude;
    info.softmax_scale_factor = rotation->softmax_scale_factor;
    info.turned_output = rotation->turns_output ? 1 : 0;
    info.polar_width = rotation->polar ? rotation->polar->head_dim : 0;
  } else if (const auto* score = std::get_if<ScoreBias>(&encoding.term())) {
    info.heads = score->heads;
    info.token_numbers = static_cast<std::int32_t>(score->token_numbers);
  } else if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) {
    info.heads = keys->heads;
    info.width = keys->head_dim;
  }
  return info;
}

}  // namespace
}  // namespace locus::c

using namespace locus::c;

extern "C" {

int locus_encoding_new(const char* scheme, const locus_setting* settings, int64_t count, locus_encoding** out) {
  return give(out, [&] {
    const locus::Scheme& found = locus::find_scheme(&at(scheme, "scheme"));
    locus::Encoding encoding(found.name, arguments_of(found, settings, count));
    std::string text = parameters_text(encoding);
    return new locus_encoding{.encoding = std::move(encoding), .description = std::move(text)};
  });
}

int locus_encoding_from_config(const char* path, const locus_config_options* options, locus_encoding** out) {
  return give(out, [&] {
    locus::io::ModelOptions wanted;
    if (options != nullptr) {
      const locus_config_options given = read_sized(options, "options");
      wanted = {text_or_empty(given.layer_type), text_or_empty(given.pairing), text_or_empty(given.profile)};
      locus::require(given.length >= 0, "options.length must not be negative, got ", given.length);
      if (given.length > 0) wanted.length = given.length;
    }
    const locus::io::ModelEncoding model = locus::io::model_encoding(&at(path, "path"), wanted);
    std::string text = parameters_text(model.encoding);
    for (const std::string& line : model.read.defaulted) text += "defaulted: " + line + '\n';
    for (const std::string& line : model.read.unknown) text += "unknown: " + line + '\n';
    for (const auto& other : model.read.alternatives) text += "otherwise: " + other.reader + ": " + other.what + '\n';
    return new locus_encoding{.encoding = model.encoding, .description = std::move(text)};
  });
}

int locus_encoding_at_length(const locus_encoding* encoding, int64_t length, locus_encoding** out) {
  return give(out, [&] {
    locus::Encoding changed = encoding_of(encoding).at_length(length);
    std::string text = parameters_text(changed);
    return new locus_encoding{.encoding = std::move(changed), .description = std::move(text)};
  });
}

void locus_encoding_free(locus_encoding* encoding) { release(encoding); }

int locus_encoding_info(const locus_encoding* encoding, locus_info* info) {
  return guarded([&] { write_sized(info, info_of(encoding_of(encoding)), "info"); });
}

int locus_encoding_describe(const locus_encoding* encoding, const char** text) {
  return guarded([&] { at(text, "text") = valid(encoding, "encoding").description.c_str(); });
}

int locus_encoding_learned_count(const locus_encoding* encoding, int64_t* count) {
  return guarded([&] { at(count, "count") = std::ssize(encoding_of(encoding).learned_weights()); });
}

int locus_encoding_learned(const locus_encoding* encoding, int64_t index, locus_learned_weight* weight) {
  return guarded([&] {
    const auto weights = encoding_of(encoding).learned_weights();
    locus::require(index >= 0 && index < std::ssize(weights), "index must be from 0 to ", std::ssize(weights) - 1,
                   ", got ", index);
    const locus::LearnedWeight& one = weights[static_cast<std::size_t>(index)];
    const locus_learned_weight found = {.size = sizeof found,
                                        .name = one.name.data(),  // of a literal
                                        .shape = one.shape.data(),
                                        .rank = std::ssize(one.shape),
                                        .count = count_of(one),
                                        .deviation = one.deviation,
                                        .positive = one.positive ? 1 : 0,
                                        .in_hidden = one.gradient == locus::LearnedGradient::hidden_rows ? 1 : 0};
    write_sized(weight, found, "weight");
  });
}

int locus_pool_new(int threads, locus_pool** out) {
  return give(out, [&] { return new locus_pool(threads); });
}

void locus_pool_free(locus_pool* pool) { release(pool); }

}  // extern "C"
