// SPDX-License-Identifier: Apache-2.0
#include "io/inflate.h"

#include "locus/error.h"

#ifdef LOCUS_HAS_ZLIB
#include <zlib.h>

#include <algorithm>
#include <limits>
#endif

namespace locus::io {

#ifdef LOCUS_HAS_ZLIB

bool inflate_is_available() { return true; }

std::vector<std::byte> inflate(std::span<const std::byte> deflated, std::size_t size, const std::string& subject) {
  struct Stream : z_stream {
    Stream() : z_stream{} {}
    ~Stream() { inflateEnd(this); }
  } stream;
  require(inflateInit2(&stream, -MAX_WBITS) == Z_OK, subject, ": zlib cannot start");  // negative: no zlib header

  // One byte more than stated, so that a longer stream is detected. zlib counts in 32 bits, so the input is passed in
  // pieces.
  std::vector<std::byte> bytes(size + 1);
  std::size_t taken = 0, made = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    const std::size_t input = std::min(most, deflated.size() - taken), room = std::min(most, bytes.size() - made);
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(deflated.data() + taken));
    stream.avail_in = static_cast<uInt>(input);
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    status = ::inflate(&stream, Z_NO_FLUSH);
    taken += input - stream.avail_in;
    made += room - stream.avail_out;
    if (made == bytes.size()) break;
  }
  require(made <= size, subject, " must have ", size, " bytes when decompressed, got more");
  require(status == Z_STREAM_END, subject,
          " is damaged or truncated: ", stream.msg == nullptr ? "the deflate stream does not end" : stream.msg);
  require(made == size, subject, " must have ", size, " bytes when decompressed, got ", made);
  require(taken == deflated.size(), subject, " must end after its deflate stream, ", deflated.size() - taken,
          " bytes are left over");
  bytes.resize(size);
  return bytes;
}

#else

bool inflate_is_available() { return false; }

std::vector<std::byte> inflate(std::span<const std::byte>, std::size_t, const std::string& subject) {
  fail(subject, " is compressed, but Locus was built without zlib; save with numpy.savez, not savez_compressed");
}

#endif

}  // namespace locus::io
