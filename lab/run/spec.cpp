// SPDX-License-Identifier: Apache-2.0
#include "run/spec.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>

#include "locus/error.h"

namespace locus::lab {
namespace {

// FNV-1a, 64 bits: enough to distinguish a few thousand trials, and the same on every machine.
std::uint64_t digest(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string hexadecimal(std::uint64_t number) {
  std::ostringstream text;
  text << std::hex;
  text.width(16);
  text.fill('0');
  text << number;
  return text.str();
}

std::string content_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  require(stream.is_open() && !stream.bad(), "the text file ", file, " cannot be read");
  return content;
}

}  // namespace

Json to_json(const TrialSpec& spec) {
  Json json = {{"task", spec.task},
               {"scheme", spec.scheme},
               {"seed", spec.seed},
               {"train_length", spec.trained_length},
               {"lengths", spec.lengths},
               {"steps", spec.steps},
               {"tune_steps", spec.tune_steps},
               {"batch", spec.batch},
               {"test_rows", spec.test_rows},
               {"learning_rate", spec.learning_rate},
               {"layers", spec.model.layers},
               {"heads", spec.model.heads},
               {"width", spec.model.width},
               {"text_file", spec.text_file}};
  if (spec.every_rule) json["every_rule"] = true;  // absent otherwise: keys of earlier trials stay valid
  return json;
}

TrialSpec spec_from_json(const Json& json) {
  TrialSpec spec;
  try {
    json.at("task").get_to(spec.task);
    json.at("scheme").get_to(spec.scheme);
    json.at("seed").get_to(spec.seed);
    json.at("train_length").get_to(spec.trained_length);
    json.at("lengths").get_to(spec.lengths);
    json.at("steps").get_to(spec.steps);
    json.at("tune_steps").get_to(spec.tune_steps);
    json.at("batch").get_to(spec.batch);
    json.at("test_rows").get_to(spec.test_rows);
    json.at("learning_rate").get_to(spec.learning_rate);
    json.at("layers").get_to(spec.model.layers);
    json.at("heads").get_to(spec.model.heads);
    json.at("width").get_to(spec.model.width);
    json.at("text_file").get_to(spec.text_file);
    spec.every_rule = json.value("every_rule", false);
  } catch (const Json::exception& error) {
    fail("a trial's spec in the store cannot be read: ", error.what());
  }
  require(to_json(spec) == json, "a trial's spec in the store has fields of another version: ", json);
  return spec;
}

std::string key_of(const TrialSpec& spec) {
  Json json = to_json(spec);
  json["version"] = LOCUS_VERSION;
  if (!spec.text_file.empty()) json["text_file"] = hexadecimal(digest(content_of(spec.text_file)));
  return spec.task + '-' + spec.scheme + '-' + std::to_string(spec.seed) + '-' + hexadecimal(digest(json.dump()));
}

}  // namespace locus::lab
