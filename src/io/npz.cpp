// SPDX-License-Identifier: Apache-2.0
// A zip archive is read from its end: the end record locates the directory, the directory locates the local header of
// each entry, and the data follow that header. A size of 0xffffffff means that the 64-bit size is in the extra field
// (tag 1). Sizes in local headers are ignored: streaming writers omit them, and NumPy writes them in 64 bits.
#include "locus/io/npz.h"

#include <array>
#include <limits>
#include <utility>

#include "io/inflate.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50, directory_signature = 0x02014b50, end_signature = 0x06054b50,
                        end64_signature = 0x06064b50, end64_locator_signature = 0x07064b50;
constexpr std::size_t end_bytes = 22, end64_locator_bytes = 20, longest_comment = 65535;
constexpr std::uint16_t not_in_16 = 0xffff;
constexpr std::uint32_t not_in_32 = 0xffffffff;
constexpr std::uint16_t flag_encrypted = 1;
constexpr std::uint16_t method_stored = 0, method_deflated = 8;
constexpr std::uint64_t largest_inflation = 1032;  // 258 bytes from two bits, the limit of deflate

struct Directory {
  std::uint64_t entries, size, at;
};

/// Returns a reader at `at`, which must be inside the file.
ByteReader reader_at(std::span<const std::byte> file, std::uint64_t at, const std::string& name,
                     std::string_view what) {
  require(at <= file.size(), name, ": ", what, " must be inside the file (", file.size(), " bytes), got byte ", at);
  return {file.subspan(static_cast<std::size_t>(at)), name};
}

void expect_signature(ByteReader& reader, std::uint32_t signature, std::string_view what) {
  require(reader.number<std::uint32_t>(what) == signature, reader.name(), ": ", what, " is not where the archive says");
}

/// The end record is last in the file, except for a comment, whose length it states.
std::size_t find_end(std::span<const std::byte> file, const std::string& name) {
  require(file.size() >= 4 && (load<std::uint32_t>(file.data()) == local_signature ||
                               load<std::uint32_t>(file.data()) == end_signature),
          name, ": not an .npz file (it does not start as a zip archive)");
  const std::size_t last = file.size() < end_bytes ? 0 : file.size() - end_bytes;
  for (std::size_t comment = 0; comment <= last && comment <= longest_comment && file.size() >= end_bytes; ++comment) {
    const std::byte* const here = file.data() + (last - comment);
    if (load<std::uint32_t>(here) == end_signature && load<std::uint16_t>(here + 20) == comment) return last - comment;
  }
  fail(name, ": truncated, the end record of a zip archive is missing");
}

Directory find_directory(std::span<const std::byte> file, const std::string& name) {
  const std::size_t end = find_end(file, name);
  const std::byte* const record = file.data() + end;
  const auto this_disk = load<std::uint16_t>(record + 4), first_disk = load<std::uint16_t>(record + 6);
  Directory directory{load<std::uint16_t>(record + 10), load<std::uint32_t>(record + 12),
                      load<std::uint32_t>(record + 16)};
  const bool wide = directory.entries == not_in_16 || directory.size == not_in_32 || directory.at == not_in_32;
  if (wide && end >= end64_locator_bytes &&
      load<std::uint32_t>(record - end64_locator_bytes) == end64_locator_signature) {
    ByteReader reader =
        reader_at(file, load<std::uint64_t>(record - end64_locator_bytes + 8), name, "the 64-bit end record");
    expect_signature(reader, end64_signature, "the 64-bit end record");
    reader.take(8 + 2 + 2 + 4 + 4 + 8, "the 64-bit end record");  // its size, versions, disks, entries on this disk
    directory.entries = reader.number<std::uint64_t>("the 64-bit end record");
    directory.size = reader.number<std::uint64_t>("the 64-bit end record");
    directory.at = reader.number<std::uint64_t>("the 64-bit end record");
  } else {
    require(this_disk == 0 && first_disk == 0, name, ": archives in several parts are not supported");
  }
  require(directory.at <= end && directory.size <= end - directory.at, name,
          ": the directory must be before the end record, got ", directory.size, " bytes at byte ", directory.at);
  return directory;
}

/// An entry of the directory, as stored.
struct Record {
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0, size = 0, local_at = 0;
  std::string_view file_name;
};

/// Replaces sizes that do not fit into 32 bits by the 64-bit ones.
void widen(Record& record, std::span<const std::byte> extra, const std::string& subject) {
  if (record.size != not_in_32 && record.compressed != not_in_32 && record.local_at != not_in_32) return;
  ByteReader fields(extra, subject);
  while (fields.remaining() > 0) {
    const auto tag = fields.number<std::uint16_t>("the extra field");
    const auto length = fields.number<std::uint16_t>("the extra field");
    const auto body = fields.take(length, "the extra field");
    if (tag != 1) continue;
    ByteReader wide(body, subject);
    for (std::uint64_t* value : {&record.size, &record.compressed, &record.local_at}) {
      if (*value == not_in_32) *value = wide.number<std::uint64_t>("the 64-bit extra field");
    }
    return;
  }
  fail(subject, ": must have its 64-bit sizes in an extra field");
}

Record take_record(ByteReader& reader) {
  constexpr std::string_view what = "the directory";
  expect_signature(reader, directory_signature, "an entry of the directory");
  Record record;
  reader.take(2 + 2, what);  // versions
  record.flags = reader.number<std::uint16_t>(what);
  record.method = reader.number<std::uint16_t>(what);
  reader.take(2 + 2, what);  // time and date
  record.crc = reader.number<std::uint32_t>(what);
  record.compressed = reader.number<std::uint32_t>(what);
  record.size = reader.number<std::uint32_t>(what);
  const auto name_length = reader.number<std::uint16_t>(what), extra_length = reader.number<std::uint16_t>(what),
             comment_length = reader.number<std::uint16_t>(what);
  reader.take(2 + 2 + 4, what);  // disk and attributes
  record.local_at = reader.number<std::uint32_t>(what);
  record.file_name = text_of(reader.take(name_length, what));
  const auto extra = reader.take(extra_length, what);
  reader.take(comment_length, what);
  widen(record, extra, reader.name() + ": entry " + shown(record.file_name));
  return record;
}

/// Returns the data of an entry. Error: its local header does not agree with the directory.
std::span<const std::byte> data_of(const Record& record, std::span<const std::byte> file, std::uint64_t directory_at,
                                   const std::string& subject) {
  ByteReader reader =
      reader_at(file.first(static_cast<std::size_t>(directory_at)), record.local_at, subject, "the local header");
  constexpr std::string_view what = "the local header";
  expect_signature(reader, local_signature, what);
  reader.take(2 + 2, what);  // version and flags
  const auto method = reader.number<std::uint16_t>(what);
  reader.take(2 + 2 + 4 + 4 + 4, what);  // time, date, CRC and sizes
  const auto name_length = reader.number<std::uint16_t>(what), extra_length = reader.number<std::uint16_t>(what);
  const auto file_name = text_of(reader.take(name_length, what));
  require(method == record.method && file_name == record.file_name, subject,
          ": the local header must agree with the directory, got method ", method, " and name ", shown(file_name));
  reader.take(extra_length, what);
  return reader.take(record.compressed, "the data");
}

std::uint32_t crc32(std::span<const std::byte> bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> rows{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1u ? 0xedb88320u : 0u);
      rows[i] = value;
    }
    return rows;
  }();
  std::uint32_t crc = ~0u;
  for (const std::byte byte : bytes) crc = crc >> 8 ^ table[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xffu];
  return ~crc;
}

}  // namespace

bool npz_reads_deflated() { return inflate_is_available(); }

/// Fills an NpzFile.
class NpzParser {
 public:
  static NpzFile parse(std::span<const std::byte> file, const std::string& name,
                       std::shared_ptr<const MappedFile> mapping) {
    NpzFile npz;
    npz.name_ = name;
    npz.mapping_ = std::move(mapping);
    const Directory directory = find_directory(file, name);
    ByteReader reader(file.subspan(static_cast<std::size_t>(directory.at), static_cast<std::size_t>(directory.size)),
                      name);
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
      const Record record = take_record(reader);
      const std::string subject = name + ": entry " + shown(record.file_name);
      std::string array_name(record.file_name);
      if (array_name.ends_with(".npy")) array_name.resize(array_name.size() - 4);
      const bool is_new =
          npz.entries_.emplace(std::move(array_name), checked(record, file, directory.at, subject)).second;
      require(is_new, subject, " must be in the archive once, got it twice");
    }
    require(reader.remaining() == 0, name, ": the directory must end after its ", directory.entries, " entries, ",
            reader.remaining(), " bytes are left over");
    return npz;
  }

 private:
  static NpzFile::Entry checked(const Record& record, std::span<const std::byte> file, std::uint64_t directory_at,
                                const std::string& subject) {
    require((record.flags & flag_encrypted) == 0, subject, " is encrypted, which is not supported");
    const bool deflated = record.method == method_deflated;
    require(deflated || record.method == method_stored, subject, " must be stored or deflated, got method ",
            record.method);
    const auto bytes = data_of(record, file, directory_at, subject);
    require(deflated || record.size == bytes.size(), subject, " is not compressed and must have one size, got ",
            record.size, " and ", bytes.size());
    require(!deflated || record.size / largest_inflation <= bytes.size(), subject, " cannot have ", record.size,
            " bytes, its compressed size is ", bytes.size());
    return {deflated, record.crc, record.size, bytes};
  }
};

std::vector<std::string> NpzFile::array_names() const {
  std::vector<std::string> names;
  for (const auto& [array_name, entry] : entries_) names.push_back(array_name);
  return names;
}

NpyArray NpzFile::read(std::string_view array_name) const {
  const std::string subject = name_ + ": entry " + shown(array_name);
  const auto found = entries_.find(array_name);
  require(found != entries_.end(), name_, ": has no array ", shown(array_name));
  const Entry& entry = found->second;
  std::vector<std::byte> inflated;
  if (entry.deflated) inflated = inflate(entry.bytes, static_cast<std::size_t>(entry.size), subject);
  const std::span<const std::byte> bytes = entry.deflated ? std::span<const std::byte>(inflated) : entry.bytes;
  const std::uint32_t crc = crc32(bytes);
  require(crc == entry.crc, subject, " is damaged, its CRC must be ", entry.crc, ", got ", crc);
  return parse_npy(bytes, subject);
}

NpzFile parse_npz(std::span<const std::byte> file, const std::string& name) {
  return NpzParser::parse(file, name, nullptr);
}

NpzFile read_npz(const std::filesystem::path& path) {
  auto mapping = std::make_shared<const MappedFile>(path);
  const auto bytes = mapping->bytes();
  return NpzParser::parse(bytes, path.string(), std::move(mapping));
}

}  // namespace locus::io
