// SPDX-License-Identifier: Apache-2.0
#include "locus/io/npz.h"

#include <gtest/gtest.h>

#include <optional>

#include "io/bytes.h"

namespace locus::io {
namespace {

/// CRC-32 by its definition, bit by bit.
std::uint32_t crc_of(const std::string& text) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc % 2 == 1 ? crc / 2 ^ 0xedb88320 : crc / 2;
  }
  return crc ^ 0xffffffff;
}

std::string npy(const std::string& shape, const std::string& elements) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return Bytes()
      .text("\x93NUMPY\x01")
      .zeros(1)
      .number(static_cast<std::uint16_t>(header.size()))
      .text(header)
      .text(elements)
      .str();
}

const std::string two_floats = npy("(2,)", Bytes().number(1.0f).number(-2.0f).str());

/// One member of an archive; unset fields follow from `data`.
struct Member {
  std::string name = "a.npy";
  std::string data = two_floats;
  std::uint16_t flags = 0, method = 0;
  std::optional<std::uint64_t> size = {}, compressed = {};
  std::optional<std::uint32_t> crc = {}, local_at = {};
  std::optional<std::string> local_name = {};
  std::string extra = {};
};

struct Archive {
  std::vector<Member> members = {};
  std::string comment = {};
  std::optional<std::uint16_t> count = {};
  std::optional<std::uint32_t> directory_at = {}, directory_size = {};
  std::uint16_t disk = 0;
  bool wide_end = false;  // only the 64-bit end record has the numbers
};

std::string zip(const Archive& archive) {
  Bytes file, directory;
  for (const Member& m : archive.members) {
    const std::uint32_t crc = m.crc.value_or(crc_of(m.data));
    const auto size = static_cast<std::uint32_t>(m.size.value_or(m.data.size()));
    const auto compressed = static_cast<std::uint32_t>(m.compressed.value_or(m.data.size()));
    const std::string local_name = m.local_name.value_or(m.name);
    const auto at = static_cast<std::uint32_t>(file.size());
    file.number(0x04034b50u).number(std::uint16_t{20}).number(m.flags).number(m.method).zeros(4).number(crc);
    file.number(compressed).number(size).number(static_cast<std::uint16_t>(local_name.size())).zeros(2);
    file.text(local_name).text(m.data);
    directory.number(0x02014b50u).zeros(4).number(m.flags).number(m.method).zeros(4).number(crc);
    directory.number(compressed).number(size).number(static_cast<std::uint16_t>(m.name.size()));
    directory.number(static_cast<std::uint16_t>(m.extra.size())).zeros(2 + 2 + 2 + 4);
    directory.number(m.local_at.value_or(at)).text(m.name).text(m.extra);
  }
  const std::uint64_t at = file.size(), count = archive.members.size(), size = directory.size();
  file.text(directory.str());
  if (archive.wide_end) {
    const std::uint64_t wide_at = file.size();
    file.number(0x06064b50u)
        .number(std::uint64_t{44})
        .zeros(2 + 2 + 4 + 4)
        .number(count)
        .number(count)
        .number(size)
        .number(at);
    file.number(0x07064b50u).zeros(4).number(wide_at).number(1u);
  }
  const std::uint16_t count16 = archive.wide_end ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(count);
  file.number(0x06054b50u).number(archive.disk).number(archive.disk);
  file.number(archive.count.value_or(count16)).number(archive.count.value_or(count16));
  file.number(archive.wide_end ? 0xffffffffu : archive.directory_size.value_or(static_cast<std::uint32_t>(size)));
  file.number(archive.wide_end ? 0xffffffffu : archive.directory_at.value_or(static_cast<std::uint32_t>(at)));
  file.number(static_cast<std::uint16_t>(archive.comment.size())).text(archive.comment);
  return file.str();
}

std::string zip_of(const Member& member) { return zip({.members = {member}}); }

const auto parse_as_npz = [](std::span<const std::byte> bytes, const std::string& name) {
  const NpzFile file = parse_npz(bytes, name);
  for (const std::string& array : file.array_names()) file.read(array);
};

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// Written by Python's zipfile as numpy.savez and numpy.savez_compressed call it: [1, -2, 0.5] as arr_0.
const std::string stored_archive = from_hex(
    "504b03042d0000000000000021004d356550ffffffffffffffff090014006172725f302e6e7079010010008c000000000000"
    "008c00000000000000934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f72646572"
    "273a2046616c73652c20277368617065273a2028332c292c207d202020202020202020202020202020202020202020202020"
    "2020202020202020202020202020202020202020202020202020202020202020202020200a0000803f000000c00000003f50"
    "4b01022d032d0000000000000021004d3565508c0000008c0000000900000000000000000000008001000000006172725f30"
    "2e6e7079504b0506000000000100010037000000c70000000000");
const std::string deflated_archive = from_hex(
    "504b03042d0000000800000021004d356550ffffffffffffffff090014006172725f302e6e7079010010008c000000000000"
    "004f000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a"
    "12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e0686067b06068603406c0f00504b01022d032d0000000800"
    "000021004d3565504f0000008c0000000900000000000000000000008001000000006172725f302e6e7079504b0506000000"
    "0001000100370000008a0000000000");

TEST(Npz, ReadsWhatNumpyWrites) {
  for (const std::string& bytes : {stored_archive, deflated_archive}) {
    const NpzFile file = parse_npz(std::as_bytes(std::span(bytes)), "f");
    EXPECT_EQ(file.array_names(), std::vector<std::string>{"arr_0"});
    if (bytes == deflated_archive && !npz_reads_deflated()) {
      EXPECT_NE(error_of([&] { file.read("arr_0"); }).find("built without zlib"), std::string::npos);
      continue;
    }
    const NpyArray array = file.read("arr_0");
    EXPECT_EQ(array.shape, std::vector<std::int64_t>{3});
    EXPECT_EQ(to_floats(array, "x"), (std::vector<float>{1, -2, 0.5f}));
  }
}

TEST(Npz, ReadsSeveralMembersAndAComment) {
  const std::string bytes =
      zip({.members = {{.name = "b.npy"}, {.name = "a.b.npy", .data = npy("()", Bytes().number(7.0f).str())}},
           .comment = "a comment"});
  const NpzFile file = parse_npz(std::as_bytes(std::span(bytes)), "f");
  EXPECT_EQ(file.array_names(), (std::vector<std::string>{"a.b", "b"}));
  EXPECT_TRUE(file.contains("b"));
  EXPECT_FALSE(file.contains("b.npy"));
  EXPECT_EQ(to_floats(file.read("a.b"), "x"), std::vector<float>{7});
  EXPECT_EQ(to_floats(file.read("b"), "x"), (std::vector<float>{1, -2}));
  EXPECT_EQ(error_of([&] { file.read("c"); }), "f: has no array 'c'");
  const std::string nothing = zip({});
  EXPECT_TRUE(parse_npz(std::as_bytes(std::span(nothing)), "f").array_names().empty());
}

std::string wide_extra(std::initializer_list<std::uint64_t> numbers) {
  Bytes extra;
  extra.number(std::uint16_t{0x5455}).number(std::uint16_t{1}).text("x");  // another field first
  extra.number(std::uint16_t{1}).number(static_cast<std::uint16_t>(8 * numbers.size()));
  for (const std::uint64_t number : numbers) extra.number(number);
  return extra.str();
}

TEST(Npz, ReadsSixtyFourBitSizes) {
  const std::uint64_t size = two_floats.size();
  const Member wide = {
      .size = 0xffffffff, .compressed = 0xffffffff, .local_at = 0xffffffff, .extra = wide_extra({size, size, 0})};
  const std::string bytes = zip({.members = {wide}, .wide_end = true});
  const NpzFile file = parse_npz(std::as_bytes(std::span(bytes)), "f");
  EXPECT_EQ(to_floats(file.read("a"), "x"), (std::vector<float>{1, -2}));
}

TEST(Npz, RefusesMalformedArchives) {
  const Member good = {};
  const std::uint64_t size = two_floats.size(), huge = ~std::uint64_t{0};
  std::string wrong_signature = zip_of(good);
  wrong_signature[wrong_signature.size() - 22 - (46 + 5)] = 'x';
  std::string wrong_locator = zip({.members = {good}, .wide_end = true});
  wrong_locator[wrong_locator.size() - 22 - 20 + 8] = '\x01';
  expect_refusals(
      {
          {"empty", "", "not an .npz file"},
          {"an .npy file", two_floats, "not an .npz file"},
          {"the start of an archive", "PK\x03\x04", "end record of a zip archive is missing"},
          {"data after the end", zip_of(good) + "x", "end record of a zip archive is missing"},
          {"several parts", zip({.members = {good}, .disk = 1}), "several parts"},
          {"directory behind the end", zip({.members = {good}, .directory_at = 10000}), "before the end record"},
          {"directory too long", zip({.members = {good}, .directory_size = 10000}), "before the end record"},
          {"directory elsewhere", zip({.members = {good}, .directory_at = 1}), "is not where the archive says"},
          {"too many members", zip({.members = {good}, .count = std::uint16_t{2}}), "truncated"},
          {"too few members", zip({.members = {good}, .count = std::uint16_t{0}}), "must end after its 0 entries"},
          {"a member of another kind", wrong_signature, "an entry of the directory is not where"},
          {"a member twice", zip({.members = {good, good}}), "must be in the archive once"},
          {"an array twice", zip({.members = {good, {.name = "a"}}}), "must be in the archive once"},
          {"encrypted", zip_of({.flags = 1}), "is encrypted"},
          {"another method", zip_of({.method = 12}), "stored or deflated, got method 12"},
          {"two sizes", zip_of({.size = size + 1}), "is not compressed and must have one size"},
          {"beyond the directory", zip_of({.size = size + 1, .compressed = size + 1}), "truncated, the data"},
          {"local header outside", zip_of({.local_at = 100000}), "must be inside the file"},
          {"local header elsewhere", zip_of({.local_at = 1}), "the local header is not where"},
          {"another local name", zip_of({.local_name = "b.npy"}), "must agree with the directory"},
          {"a wrong CRC", zip_of({.crc = 1}), "its CRC must be 1, got"},
          {"no .npy inside", zip_of({.data = "text"}), "not a .npy file"},
          {"no 64-bit field", zip_of({.size = 0xffffffff}), "64-bit sizes in an extra field"},
          {"half a 64-bit field", zip_of({.size = 0xffffffff, .compressed = 0xffffffff, .extra = wide_extra({size})}),
           "truncated, the 64-bit extra field"},
          {"an extra field cut short", zip_of({.size = 0xffffffff, .extra = "\x01"}), "truncated, the extra field"},
          {"a 64-bit size of 2^64 - 1",
           zip_of({.size = 0xffffffff, .compressed = 0xffffffff, .extra = wide_extra({huge, huge})}),
           "truncated, the data"},
          {"a 64-bit place of 2^64 - 1", zip_of({.local_at = 0xffffffff, .extra = wide_extra({huge})}),
           "must be inside the file"},
          {"64-bit end record elsewhere", wrong_locator, "the 64-bit end record is not where"},
          {"more than deflate can do", zip_of({.data = "xxxx", .method = 8, .size = 1032 * 5}),
           "cannot have 5160 bytes"},
      },
      parse_as_npz);
}

TEST(Npz, RefusesDamagedDeflateStreams) {
  if (!npz_reads_deflated()) GTEST_SKIP() << "built without zlib";
  // A stored deflate block: final and type 0, the length, its complement, the bytes.
  const auto block = [](const std::string& text) {
    const auto length = static_cast<std::uint16_t>(text.size());
    return Bytes().number(std::uint8_t{1}).number(length).number(static_cast<std::uint16_t>(~length)).text(text).str();
  };
  const std::uint64_t size = two_floats.size();
  const auto member = [&](const std::string& data, std::uint64_t said) {
    return zip_of({.data = data, .method = 8, .size = said, .crc = crc_of(two_floats)});
  };
  const std::string good = block(two_floats);
  const auto whole = on_heap(member(good, size));
  EXPECT_EQ(error_of([&] { parse_as_npz(whole, "f"); }), "no error");
  std::string third_type = good;
  third_type[0] = '\x07';
  expect_refusals({{"more than was said", member(good, size - 1), "bytes when decompressed, got more"},
                   {"less than was said", member(good, size + 1), "when decompressed, got " + std::to_string(size)},
                   {"cut short", member(good.substr(0, good.size() - 1), size), "damaged or truncated"},
                   {"nothing", member("", size), "damaged or truncated"},
                   {"bytes behind the stream", member(good + "x", size), "1 bytes are left over"},
                   {"a block type that does not exist", member(third_type, size), "invalid block type"}},
                  parse_as_npz);
}

TEST(Npz, RefusesEveryTruncation) {
  expect_every_truncation_refused(stored_archive, parse_as_npz);
  expect_every_truncation_refused(zip({.members = {{.name = "b.npy"}, {}}, .wide_end = true}), parse_as_npz);
}

TEST(Npz, SurvivesEveryDamagedByte) {
  EXPECT_GT(count_refused_damage(stored_archive, parse_as_npz), 300u);
  EXPECT_GT(count_refused_damage(deflated_archive, parse_as_npz), 300u);
  EXPECT_GT(count_refused_damage(zip({.members = {{}}, .wide_end = true}), parse_as_npz), 300u);
}

class NpzFiles : public InTemporaryFolder {};

TEST_F(NpzFiles, ReadsFromDisk) {
  const NpzFile file = read_npz(put("a.npz", stored_archive));
  EXPECT_EQ(to_floats(file.read("arr_0"), "x"), (std::vector<float>{1, -2, 0.5f}));
}

}  // namespace
}  // namespace locus::io
