// SPDX-License-Identifier: Apache-2.0
#include "locus/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "locus/error.h"

namespace locus::io {
namespace {

/// Closes the descriptor; the mapping outlives it.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

std::string last_reason() { return std::generic_category().message(errno); }

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path.string()) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer before the pipe could be refused.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  require(file.number >= 0, name_, ": cannot open for reading (", last_reason(), ")");
  struct stat status {};
  require(fstat(file.number, &status) == 0, name_, ": cannot read (", last_reason(), ")");
  require(!S_ISDIR(status.st_mode), name_, ": cannot read, it is a directory");
  require(S_ISREG(status.st_mode), name_, ": cannot read, it is not a regular file");
  if (status.st_size == 0) return;  // an empty file cannot be mapped
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  require(data != MAP_FAILED, name_, ": cannot map ", size, " bytes (", last_reason(), ")");
  data_ = data;
  size_ = size;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : name_(std::move(other.name_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, std::size_t{0})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace locus::io
