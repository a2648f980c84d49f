// SPDX-License-Identifier: Apache-2.0
// .npy files built from choices.
#pragma once

#include "choices.h"

namespace locus::fuzz {

inline std::string made_npy(Choices& choices) {
  struct Type {
    std::string_view descr;
    std::size_t bytes;
  };
  static constexpr Type types[] = {{"<f4", 4}, {"<f8", 8}, {"<f2", 2}, {"<i4", 4}, {"<i8", 8},
                                   {"|u1", 1}, {"|i1", 1}, {"<i2", 2}, {"<u2", 2}, {"<u4", 4},
                                   {"<u8", 8}, {"|b1", 1}, {">f4", 4}, {"|O", 8},  {"=f4", 4}};
  const Type& type = choices.of(types);
  std::string shape = "(";
  std::size_t bytes = type.bytes;
  const std::size_t axes = choices.fault() ? choices.below(70) : choices.below(5);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::size_t extent = choices.below(5);
    shape += (choices.fault() ? std::to_string(choices.integer()) : std::to_string(extent)) + ",";
    bytes *= axes > 8 ? 1 : extent;
  }
  if (axes > 1 && choices.flag()) shape.pop_back();
  shape += choices.fault() ? "" : ")";
  std::string entries[] = {"'descr': '" + std::string(type.descr) + "'",
                           choices.flag() ? "'fortran_order': True" : "'fortran_order': False", "'shape': " + shape};
  if (choices.fault()) std::swap(entries[0], entries[choices.below(3)]);
  if (choices.fault()) entries[choices.below(3)] = "'" + choices.text() + "': " + choices.text();
  std::string header = "{" + entries[0] + ", " + entries[1] + ", " + entries[2] + (choices.flag() ? ", }" : "}");
  if (choices.flag()) header.append(choices.below(64), ' ');
  header += choices.fault() ? "" : "\n";
  std::string file = "\x93NUMPY";
  const std::size_t version = choices.fault() ? choices.byte() : 1 + choices.below(3);
  file += static_cast<char>(version);
  file += static_cast<char>(choices.fault() ? 1 : 0);
  const std::size_t length = choices.fault() ? static_cast<std::size_t>(choices.integer()) : header.size();
  if (version == 1) {
    put(file, static_cast<std::uint16_t>(length));
  } else {
    put(file, static_cast<std::uint32_t>(length));
  }
  file += header;
  for (std::size_t i = 0; i < bytes; ++i) file += static_cast<char>(i * 29);
  damage(file, choices);
  return file;
}

}  // namespace locus::fuzz
