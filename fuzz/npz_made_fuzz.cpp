// SPDX-License-Identifier: Apache-2.0
// Zip archives of .npy files, stored or deflated, with 32-bit and 64-bit sizes.
#include "checks.h"
#include "made_npy.h"

namespace {

using namespace locus::fuzz;

std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

/// Deflate's blocks without compression.
std::string deflated(const std::string& bytes, Choices& choices) {
  std::string made;
  made += static_cast<char>(choices.fault() ? choices.byte() : 1);  // the last block
  put(made, static_cast<std::uint16_t>(bytes.size()));
  put(made, static_cast<std::uint16_t>(choices.fault() ? choices.byte() : ~bytes.size()));
  return made + bytes;
}

/// What the local header and the directory both state about an entry.
struct Entry {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0, size = 0, at = 0;
  bool wide = false;  // sizes in the extra field
};

void put_common(std::string& file, const Entry& entry, std::size_t extra) {
  put(file, entry.flags);
  put(file, entry.method);
  put(file, std::uint32_t{0});  // time and date
  put(file, entry.crc);
  put(file, entry.wide ? 0xffffffffU : static_cast<std::uint32_t>(entry.compressed));
  put(file, entry.wide ? 0xffffffffU : static_cast<std::uint32_t>(entry.size));
  put(file, static_cast<std::uint16_t>(entry.name.size()));
  put(file, static_cast<std::uint16_t>(extra));
}

std::string made_archive(Choices& choices) {
  static constexpr std::string_view names[] = {"q.npy", "k.npy", "v.npy", "arr_0.npy", "folder/x.npy", "readme"};
  std::string file, directory;
  const std::size_t count = choices.below(4);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string content = made_npy(choices);
    Entry entry{.name = choices.fault() ? choices.text() : std::string(choices.of(names))};
    entry.method = choices.flag() ? 8 : 0;
    const std::string data = entry.method == 8 ? deflated(content, choices) : content;
    entry.flags = choices.fault() ? choices.byte() : 0;
    entry.crc = choices.fault() ? 1 : crc_of(content);
    entry.compressed = data.size();
    entry.size = choices.fault() ? static_cast<std::uint64_t>(choices.integer()) : content.size();
    entry.at = choices.fault() ? static_cast<std::uint64_t>(choices.integer()) : file.size();
    entry.wide = choices.below(4) == 3;
    put(file, std::uint32_t{0x04034b50});
    put(file, std::uint16_t{20});
    put_common(file, entry, 0);
    file += choices.fault() ? choices.text() : entry.name;
    file += data;
    put(directory, std::uint32_t{0x02014b50});
    put(directory, std::uint32_t{20});
    put_common(directory, entry, entry.wide ? 20 : 0);
    put(directory, std::uint16_t{0});  // no comment
    put(directory, std::uint64_t{0});  // disk and attributes
    put(directory, static_cast<std::uint32_t>(entry.at));
    directory += entry.name;
    if (entry.wide) {
      put(directory, static_cast<std::uint16_t>(choices.fault() ? choices.byte() : 1));
      put(directory, static_cast<std::uint16_t>(choices.fault() ? choices.byte() : 16));
      put(directory, entry.size);
      put(directory, entry.compressed);
    }
  }
  const std::size_t at = file.size();
  file += directory;
  const bool wide = choices.below(8) == 7;
  if (wide) {
    const std::size_t record = file.size();
    put(file, std::uint32_t{0x06064b50});
    put(file, std::uint64_t{44});
    put(file, std::uint32_t{45});  // versions
    put(file, std::uint64_t{0});   // disks
    put(file, static_cast<std::uint64_t>(count));
    put(file, choices.fault() ? static_cast<std::uint64_t>(choices.integer()) : static_cast<std::uint64_t>(count));
    put(file, choices.fault() ? static_cast<std::uint64_t>(choices.integer()) : directory.size());
    put(file, choices.fault() ? static_cast<std::uint64_t>(choices.integer()) : at);
    put(file, std::uint32_t{0x07064b50});
    put(file, std::uint32_t{0});
    put(file, choices.fault() ? static_cast<std::uint64_t>(choices.integer()) : record);
    put(file, std::uint32_t{1});
  }
  put(file, std::uint32_t{0x06054b50});
  put(file, std::uint32_t{0});  // disks
  put(file, static_cast<std::uint16_t>(count));
  put(file, static_cast<std::uint16_t>(wide ? 0xffff : choices.fault() ? choices.byte() : count));
  put(file, wide ? 0xffffffffU : static_cast<std::uint32_t>(directory.size()));
  put(file, wide              ? 0xffffffffU
            : choices.fault() ? static_cast<std::uint32_t>(choices.integer())
                              : static_cast<std::uint32_t>(at));
  const std::string comment = choices.flag() ? choices.text() : "";
  put(file, static_cast<std::uint16_t>(comment.size()));
  file += comment;
  damage(file, choices);
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  const std::string file = made_archive(choices);
  check_npz(bytes_of(file));
  return 0;
}
