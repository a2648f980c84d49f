// SPDX-License-Identifier: Apache-2.0
// safetensors files whose tensors fill the data in order, and indexes of several files.
#include "checks.h"
#include "made_json.h"

namespace {

using namespace locus::fuzz;

struct Type {
  std::string_view name;
  std::size_t bytes;
};
constexpr Type types[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},     {"U8", 1},      {"BOOL", 1}, {"F64", 8},
                          {"I8", 1},  {"I16", 2}, {"I32", 4},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"U32", 4},  {"X9", 1}};
constexpr std::string_view names[] = {"wte.weight", "model.layers.0.self_attn.q_proj.weight", "h.0.attn.bias", "a", "b",
                                      "c"};

std::string made_file(Choices& choices) {
  Json header = Json::object();
  if (choices.flag()) header["__metadata__"] = {{"format", choices.text()}};
  std::size_t end = 0;
  for (std::size_t i = choices.below(6); i > 0; --i) {
    const Type& type = choices.of(types);
    Json shape = Json::array();
    std::size_t bytes = type.bytes;
    for (std::size_t axis = choices.below(4); axis > 0; --axis) {
      const std::size_t extent = choices.below(5);
      shape.push_back(extent);
      bytes *= extent;
    }
    const std::string name = choices.fault() ? choices.text() : std::string(choices.of(names)) + std::to_string(i);
    header[name] = {{"dtype", type.name}, {"shape", shape}, {"data_offsets", {end, end + bytes}}};
    end += bytes;
  }
  if (choices.fault()) vary(header, choices);
  std::string text = text_of(header, choices);
  if (choices.flag()) text.append(choices.below(9), ' ');
  std::string file;
  put(file, choices.fault() ? static_cast<std::uint64_t>(choices.integer()) : text.size());
  file += text;
  for (std::size_t i = 0; i < end; ++i) file += static_cast<char>(i * 37);
  damage(file, choices);
  return file;
}

std::string made_index(Choices& choices) {
  Json index = {{"metadata", {{"total_size", choices.integer()}}}, {"weight_map", Json::object()}};
  for (std::size_t i = choices.below(5); i > 0; --i) {
    index["weight_map"][choices.text()] = choices.fault() ? choices.text() : "model-00001-of-00002.safetensors";
  }
  vary(index, choices);
  return text_of(index, choices);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const std::string file = choices.below(8) == 7 ? made_index(choices) : made_file(choices);
  check_safetensors(bytes_of(file));
  return 0;
}
