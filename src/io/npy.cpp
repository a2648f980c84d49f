// SPDX-License-Identifier: Apache-2.0
// A .npy file has: the magic "\x93NUMPY", one byte each of major and minor version, the length of the header (two bytes
// in version 1, four in 2 and 3, little endian), the header, the elements. The header is a Python dictionary as text:
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, padded with blanks and terminated by a newline.
#include "locus/io/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "locus/error.h"
#include "locus/io/atomic_file.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

static_assert(std::endian::native == std::endian::little, ".npy elements are used as they are stored");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t largest_preamble = 12;          // magic, version and a four-byte length
constexpr std::size_t largest_header = 1 << 20;       // far above what any supported array needs
constexpr std::size_t npy_most_axes = 64;             // NumPy's own limit
constexpr std::size_t alignment_of_elements = 64;     // NumPy pads the header to a multiple of this
constexpr std::size_t digits_of_a_growing_axis = 21;  // NumPy leaves room for the first axis to grow in place

struct NpyTypeRow {
  NpyType type;
  std::string_view name;
  std::string_view descr;
  std::size_t size;
};
constexpr std::array<NpyTypeRow, 12> npy_type_rows = {{
    {NpyType::float32, "float32", "<f4", 4},
    {NpyType::float64, "float64", "<f8", 8},
    {NpyType::float16, "float16", "<f2", 2},
    {NpyType::int32, "int32", "<i4", 4},
    {NpyType::int64, "int64", "<i8", 8},
    {NpyType::uint8, "uint8", "|u1", 1},
    {NpyType::int8, "int8", "|i1", 1},
    {NpyType::int16, "int16", "<i2", 2},
    {NpyType::uint16, "uint16", "<u2", 2},
    {NpyType::uint32, "uint32", "<u4", 4},
    {NpyType::uint64, "uint64", "<u8", 8},
    {NpyType::boolean, "bool", "|b1", 1},
}};

const NpyTypeRow& row_of(NpyType type) {
  const auto row =
      std::find_if(npy_type_rows.begin(), npy_type_rows.end(), [&](const NpyTypeRow& r) { return r.type == type; });
  require(row != npy_type_rows.end(), "npy type must be one of the enumerators, got ", static_cast<int>(type));
  return *row;
}

/// Returns the number of bytes of `shape`. The product of the other axes must not overflow even if one axis has length
/// 0, since strides are computed from it.
std::size_t bytes_of(std::span<const std::int64_t> shape, std::size_t element_size, const std::string& name) {
  require(shape.size() <= npy_most_axes, name, ": shape must have at most ", npy_most_axes, " axes, got ",
          shape.size());
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t bytes = element_size;
  bool empty = false;
  for (const std::int64_t length : shape) {
    require(length >= 0, name, ": shape must not have negative lengths, got ", length);
    if (length == 0) {
      empty = true;
      continue;
    }
    require(bytes <= most / static_cast<std::uint64_t>(length), name, ": shape holds more bytes than 2^63 - 1");
    bytes *= static_cast<std::uint64_t>(length);
  }
  return empty ? 0 : static_cast<std::size_t>(bytes);
}

struct Preamble {
  int version;
  std::size_t header_at;
  std::size_t header_length;
};

/// `start` has at least the first min(largest_preamble, file_size) bytes of the file.
Preamble parse_preamble(std::span<const std::byte> start, std::uint64_t file_size, const std::string& name) {
  const auto byte = [&](std::size_t index) { return std::to_integer<std::size_t>(start[index]); };
  require(start.size() >= magic.size() && std::memcmp(start.data(), magic.data(), magic.size()) == 0, name,
          ": not a .npy file (it does not start with \\x93NUMPY)");
  require(start.size() >= 10, name, ": truncated inside the first 10 bytes of the .npy format");
  const std::size_t major = byte(6), minor = byte(7);
  require(major >= 1 && major <= 3 && minor == 0, name, ": .npy version must be 1.0, 2.0 or 3.0, got ", major, ".",
          minor);
  Preamble preamble{static_cast<int>(major), 10, byte(8) | byte(9) << 8};
  if (major > 1) {
    require(start.size() >= 12, name, ": truncated inside the first 12 bytes of the .npy format");
    preamble.header_at = 12;
    preamble.header_length |= byte(10) << 16 | byte(11) << 24;
  }
  require(preamble.header_length <= largest_header, name, ": header length must be at most ", largest_header,
          " bytes, got ", preamble.header_length);
  require(preamble.header_length <= file_size - preamble.header_at, name, ": truncated, the header should have ",
          preamble.header_length, " bytes, but the file has only ", file_size - preamble.header_at, " after its start");
  return preamble;
}

struct NpyHeader {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

/// Reads the dictionary that NumPy writes, not Python in general: three known keys, each with its own type of value.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    require(take('{'), name_, ": header must be a dictionary ", [&] { return shown(); });
    while (!take('}')) {
      parse_entry(header);
      if (take(',')) continue;
      require(take('}'), name_, ": header must have ',' or '}' after an entry ", [&] { return shown(); });
      break;
    }
    skip_blanks();
    require(at_ == text_.size(), name_, ": header must end after its dictionary ", [&] { return shown(); });
    require(header.descr.has_value(), name_, ": header must have the key 'descr'");
    require(header.fortran_order.has_value(), name_, ": header must have the key 'fortran_order'");
    require(header.shape.has_value(), name_, ": header must have the key 'shape'");
    return header;
  }

 private:
  void parse_entry(NpyHeader& header) {
    const std::string key = parse_string("a key of the header");
    require(take(':'), name_, ": header must have ':' after the key '", key, "' ", [&] { return shown(); });
    if (key == "descr") {
      refuse_second(header.descr.has_value(), key);
      require(!next_is('['), name_, ": structured dtypes are not supported; save each field as a separate array");
      header.descr = parse_string("descr");
    } else if (key == "fortran_order") {
      refuse_second(header.fortran_order.has_value(), key);
      header.fortran_order = parse_boolean();
    } else if (key == "shape") {
      refuse_second(header.shape.has_value(), key);
      header.shape = parse_shape();
    } else {
      fail(name_, ": header must have only the keys 'descr', 'fortran_order' and 'shape', got '", key, "'");
    }
  }

  void refuse_second(bool present, const std::string& key) const {
    require(!present, name_, ": header must have the key '", key, "' once, got it twice");
  }

  std::string parse_string(const char* what) {
    const char quote = next_is('"') ? '"' : '\'';
    require(take(quote), name_, ": ", what, " must be a string in quotes ", [&] { return shown(); });
    std::string value;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      const char c = text_[at_];
      require(c >= ' ' && c <= '~' && c != '\\', name_, ": ", what, " must be plain ASCII without escapes");
      require(value.size() < 64, name_, ": ", what, " must be at most 64 characters long");
      value.push_back(c);
    }
    require(take(quote), name_, ": ", what, " must end with a quote");
    return value;
  }

  bool parse_boolean() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    fail(name_, ": fortran_order must be True or False ", shown());
  }

  std::vector<std::int64_t> parse_shape() {
    std::vector<std::int64_t> shape;
    require(take('('), name_, ": shape must be a tuple of integers ", [&] { return shown(); });
    bool comma = true;
    while (!take(')')) {
      require(comma, name_, ": shape must have ',' between its lengths ", [&] { return shown(); });
      require(shape.size() < npy_most_axes, name_, ": shape must have at most ", npy_most_axes, " axes");
      shape.push_back(parse_length());
      comma = take(',');
    }
    require(comma || shape.size() != 1, name_, ": shape must be a tuple, (", shape.empty() ? 0 : shape[0],
            ") without a comma is a number, not a tuple");
    return shape;
  }

  std::int64_t parse_length() {
    skip_blanks();
    std::int64_t value = 0;
    const char* const first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    require(error != std::errc::result_out_of_range, name_, ": shape must have lengths below 2^63 ",
            [&] { return shown(); });
    require(error == std::errc(), name_, ": shape must be a tuple of integers ", [&] { return shown(); });
    require(value >= 0, name_, ": shape must not have negative lengths, got ", value);
    at_ += static_cast<std::size_t>(end - first);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers as 3L
    return value;
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool next_is(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  /// Returns the text at the error, formatted for a message.
  std::string shown() const {
    std::string text = "(at byte " + std::to_string(at_) + " of the header: \"";
    for (const char c : text_.substr(at_, 24)) text.push_back(c >= ' ' && c <= '~' ? c : '?');
    return text + "\")";
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

const NpyTypeRow& row_of_descr(std::string descr, const std::string& name) {
  const std::string given = descr;
  const bool one_byte = descr.size() == 3 && descr[2] == '1';
  if (one_byte && descr[0] == '<') descr[0] = '|';  // byte order has no meaning for a single byte
  const auto row =
      std::find_if(npy_type_rows.begin(), npy_type_rows.end(), [&](const NpyTypeRow& r) { return r.descr == descr; });
  if (row != npy_type_rows.end()) return *row;
  require(descr.find('O') == std::string::npos, name, ": object arrays ('", given,
          "') are Python pickles, which are not supported; save a numeric array");
  require(!descr.starts_with('>'), name, ": dtype '", given,
          "' is big endian; save array.astype(array.dtype.newbyteorder('<'))");
  fail(name, ": dtype must be one of <f2 <f4 <f8 <i2 <i4 <i8 <u2 <u4 <u8 |i1 |u1 |b1, got '", given, "'");
}

/// Returns type and shape of the array, whose elements are the `data_size` bytes after the header.
NpyArray parse_header(std::string_view text, std::uint64_t data_size, const std::string& name) {
  NpyHeader header = HeaderParser(text, name).parse();
  const NpyTypeRow& row = row_of_descr(*header.descr, name);
  require(!*header.fortran_order, name,
          ": array must be in C order, got Fortran order; save numpy.ascontiguousarray(array)");
  NpyArray array{row.type, std::move(*header.shape), {}};
  const std::size_t expected = bytes_of(array.shape, row.size, name);
  require(data_size >= expected, name, ": truncated, the shape needs ", expected, " bytes of elements, the file has ",
          data_size);
  require(data_size == expected, name, ": the shape needs ", expected, " bytes of elements, the file has ", data_size,
          " (too many)");
  return array;
}

/// Formats `{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }` after its preamble, padded exactly as by NumPy.
std::string make_header(std::string_view descr, std::span<const std::int64_t> shape) {
  std::string lengths;
  for (const std::int64_t length : shape) {
    if (!lengths.empty()) lengths += ", ";
    lengths += std::to_string(length);
  }
  if (shape.size() == 1) lengths += ",";
  std::string dictionary =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + lengths + "), }";
  if (!shape.empty()) dictionary.append(digits_of_a_growing_axis - std::to_string(shape[0]).size(), ' ');

  constexpr std::size_t preamble = 10;
  const std::size_t unpadded = preamble + dictionary.size() + 1;
  dictionary.append((alignment_of_elements - unpadded % alignment_of_elements) % alignment_of_elements, ' ');
  dictionary += '\n';

  std::string header(magic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

/// Calls `visit` with the elements as a span of their C++ type.
template <class Visitor>
void visit_elements(const NpyArray& array, const std::string& name, Visitor visit) {
  const std::size_t expected = bytes_of(array.shape, row_of(array.type).size, name);
  require(array.bytes.size() == expected, name, ": the shape needs ", expected, " bytes of elements, the array has ",
          array.bytes.size());
  switch (array.type) {
    case NpyType::float32:
      return visit(array.as<float>());
    case NpyType::float64:
      return visit(array.as<double>());
    case NpyType::float16:
      return visit(array.as<Float16>());
    case NpyType::int32:
      return visit(array.as<std::int32_t>());
    case NpyType::int64:
      return visit(array.as<std::int64_t>());
    case NpyType::uint8:
      return visit(array.as<std::uint8_t>());
    case NpyType::int8:
      return visit(array.as<std::int8_t>());
    case NpyType::int16:
      return visit(array.as<std::int16_t>());
    case NpyType::uint16:
      return visit(array.as<std::uint16_t>());
    case NpyType::uint32:
      return visit(array.as<std::uint32_t>());
    case NpyType::uint64:
      return visit(array.as<std::uint64_t>());
    case NpyType::boolean:
      return visit(array.as<std::byte>());
  }
}

template <class Real, class T>
Real to_real(T value) {
  return static_cast<Real>(value);
}
template <class Real>
Real to_real(Float16 value) {
  return to_float(value);
}
template <class Real>
Real to_real(std::byte value) {
  return value == std::byte{0} ? Real{0} : Real{1};
}

template <class Real>
std::vector<Real> to_reals(const NpyArray& array, const std::string& name) {
  std::vector<Real> values;
  visit_elements(array, name, [&](auto elements) {
    values.reserve(elements.size());
    for (const auto element : elements) values.push_back(to_real<Real>(element));
  });
  return values;
}

}  // namespace

std::string_view name_of(NpyType type) { return row_of(type).name; }

std::int64_t NpyArray::size() const { return static_cast<std::int64_t>(bytes_of(shape, 1, "array")); }

NpyArray parse_npy(std::span<const std::byte> file, const std::string& name) {
  const Preamble preamble = parse_preamble(file, file.size(), name);
  const auto header = text_of(file.subspan(preamble.header_at, preamble.header_length));
  const auto elements = file.subspan(preamble.header_at + preamble.header_length);
  NpyArray array = parse_header(header, elements.size(), name);
  array.bytes.assign(elements.begin(), elements.end());
  return array;
}

NpyArray read_npy(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  require(std::filesystem::exists(status), name, ": cannot read (", error.message(), ")");
  require(std::filesystem::is_regular_file(status), name, ": cannot read, it is ",
          std::filesystem::is_directory(status) ? "a directory" : "not a regular file");
  const std::uint64_t file_size = std::filesystem::file_size(path, error);
  require(!error, name, ": cannot read (", error.message(), ")");
  std::ifstream stream(path, std::ios::binary);
  require(stream.is_open(), name, ": cannot open for reading");

  // Reads preamble, header and elements in order, each after its length was checked.
  std::array<std::byte, largest_preamble> start_bytes;
  const auto read = [&](std::span<std::byte> into, std::uint64_t from) {
    stream.seekg(static_cast<std::streamoff>(from));
    stream.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
    require(stream.good(), name, ": cannot read ", into.size(), " bytes at byte ", from);
  };
  const auto start = std::span(start_bytes).first(std::min<std::uint64_t>(largest_preamble, file_size));
  read(start, 0);
  const Preamble preamble = parse_preamble(start, file_size, name);
  std::vector<std::byte> header(preamble.header_length);
  read(header, preamble.header_at);
  const std::uint64_t elements_at = preamble.header_at + preamble.header_length;
  NpyArray array = parse_header(text_of(header), file_size - elements_at, name);
  array.bytes.resize(file_size - elements_at);
  read(array.bytes, elements_at);
  return array;
}

void write_npy(const std::filesystem::path& path, NpyType type, std::span<const std::int64_t> shape,
               std::span<const std::byte> bytes) {
  const NpyTypeRow& row = row_of(type);
  const std::size_t expected = bytes_of(shape, row.size, path.string());
  require(bytes.size() == expected, path.string(), ": the shape needs ", expected, " bytes of elements, got ",
          bytes.size());
  const std::string header = make_header(row.descr, shape);
  const std::array<ByteChunk, 2> chunks = {std::as_bytes(std::span(header)), bytes};
  write_atomically(path, chunks);
}

std::vector<float> to_floats(const NpyArray& array, const std::string& name) { return to_reals<float>(array, name); }

std::vector<double> to_doubles(const NpyArray& array, const std::string& name) { return to_reals<double>(array, name); }

std::vector<std::int64_t> to_integers(const NpyArray& array, const std::string& name) {
  std::vector<std::int64_t> values;
  visit_elements(array, name, [&]<class T>(std::span<const T> elements) {
    if constexpr (std::is_integral_v<T>) {
      values.reserve(elements.size());
      for (const T element : elements) {
        require(std::in_range<std::int64_t>(element), name, ": integers must be below 2^63, got ", element);
        values.push_back(static_cast<std::int64_t>(element));
      }
    } else if constexpr (std::is_same_v<T, std::byte>) {
      for (const std::byte element : elements) values.push_back(element == std::byte{0} ? 0 : 1);
    } else {
      fail(name, ": must be an integer array, got ", name_of(array.type));
    }
  });
  return values;
}

}  // namespace locus::io
