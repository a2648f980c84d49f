// SPDX-License-Identifier: Apache-2.0
#include "locus/io/npy.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "io/temporary_path.h"
#include "locus/error.h"
#include "locus/io/atomic_file.h"
#include "support/error_of.h"

namespace locus::io {
namespace {

using testing::error_of;

namespace fs = std::filesystem;
using namespace std::string_literals;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

bool has_part(const std::string& message, const std::string& part) { return message.find(part) != std::string::npos; }

/// A file by the description of the format, with the header as unpadded text.
std::string npy_file(int version, const std::string& header, const std::string& elements) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  for (std::size_t i = 0; i < length_bytes; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return file + header + elements;
}

std::string dictionary(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

std::string message_of(const std::string& file) {
  return error_of([&] { parse_npy(bytes_of(file), "some.npy"); });
}

/// The fault of a file whose header is valid except for `header`, with 8 bytes of elements.
std::string header_fault(const std::string& header) { return message_of(npy_file(1, header, "12345678")); }

class NpyFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::random_device random;
    folder_ = fs::temp_directory_path() / ("locus_npy_test_" + std::to_string(random()) + std::to_string(random()));
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string contents(const fs::path& path) const {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void put(const fs::path& path, const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }

  fs::path folder_;
};

TEST(ParseNpy, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    const std::string file = npy_file(version, dictionary("'<i2'", "(2, 1)"), "\x01\x02\xff\xff"s);
    const NpyArray array = parse_npy(bytes_of(file), "some.npy");
    EXPECT_EQ(array.type, NpyType::int16);
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 1}));
    EXPECT_EQ(to_integers(array, "some.npy"), (std::vector<std::int64_t>{0x0201, -1}));
  }
}

TEST(ParseNpy, KnowsEveryTypeByItsNumpyName) {
  const std::vector<std::tuple<std::string, NpyType, std::size_t, std::string>> types = {
      {"<f2", NpyType::float16, 2, "float16"}, {"<f4", NpyType::float32, 4, "float32"},
      {"<f8", NpyType::float64, 8, "float64"}, {"|i1", NpyType::int8, 1, "int8"},
      {"<i2", NpyType::int16, 2, "int16"},     {"<i4", NpyType::int32, 4, "int32"},
      {"<i8", NpyType::int64, 8, "int64"},     {"|u1", NpyType::uint8, 1, "uint8"},
      {"<u2", NpyType::uint16, 2, "uint16"},   {"<u4", NpyType::uint32, 4, "uint32"},
      {"<u8", NpyType::uint64, 8, "uint64"},   {"|b1", NpyType::boolean, 1, "bool"}};
  for (const auto& [descr, type, size, name] : types) {
    const std::string file = npy_file(1, dictionary("'" + descr + "'", "(3,)"), std::string(3 * size, '\0'));
    const NpyArray array = parse_npy(bytes_of(file), "some.npy");
    EXPECT_EQ(array.type, type) << descr;
    EXPECT_EQ(array.size(), 3) << descr;
    EXPECT_EQ(name_of(type), name);
    EXPECT_EQ(to_doubles(array, "some.npy"), std::vector<double>(3, 0.0)) << descr;
  }
}

TEST(ParseNpy, ReadsScalarsAndEmptyArrays) {
  const std::string scalar = npy_file(1, dictionary("'<f8'", "()"), "\0\0\0\0\0\0\xf8\x3f"s);
  EXPECT_EQ(to_doubles(parse_npy(bytes_of(scalar), "s"), "s"), std::vector<double>{1.5});
  const std::string empty = npy_file(1, dictionary("'<f8'", "(3, 0, 2)"), "");
  const NpyArray array = parse_npy(bytes_of(empty), "e");
  EXPECT_EQ(array.size(), 0);
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{3, 0, 2}));
}

TEST(ParseNpy, AcceptsTheFreedomsOfTheDictionary) {
  EXPECT_EQ(header_fault("{\"shape\":(2,),'fortran_order':False,'descr':\"<f4\"}"), "no error");
  EXPECT_EQ(header_fault(" { 'shape' : ( 2L , 1L ) , 'fortran_order' : False , 'descr' : '<f4' } \n"), "no error");
  EXPECT_EQ(header_fault(dictionary("'<u1'", "(2, 4,)")), "no error");
}

TEST(ParseNpy, RefusesWhatIsNotTheFormat) {
  EXPECT_PRED2(has_part, message_of(""), "some.npy: not a .npy file");
  EXPECT_PRED2(has_part, message_of("PK\x03\x04 a zip archive"), "not a .npy file");
  EXPECT_PRED2(has_part, message_of("\x93NUMPY"), "truncated");
  EXPECT_PRED2(has_part, message_of("\x93NUMPY\x02\x00\x10\x00"s), "truncated");
  EXPECT_PRED2(has_part, message_of(npy_file(4, dictionary("'<f4'", "(2,)"), "12345678")), "version");
  EXPECT_PRED2(has_part, message_of(npy_file(0, dictionary("'<f4'", "(2,)"), "12345678")), "got 0.0");
  EXPECT_PRED2(has_part, message_of("\x93NUMPY\x01\x01\x10\x00"s), "got 1.1");
  EXPECT_PRED2(has_part, message_of("\x93NUMPY\x01\x00\xff\xff{}"s), "truncated, the header should have 65535");
  EXPECT_PRED2(has_part, message_of("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s), "header length must be at most");
}

TEST(ParseNpy, EveryPrefixOfAFileIsRefused) {
  for (const int version : {1, 2, 3}) {
    const std::string file = npy_file(version, dictionary("'<f4'", "(2,)"), "12345678");
    ASSERT_EQ(message_of(file), "no error");
    for (std::size_t size = 0; size < file.size(); ++size) {
      EXPECT_PRED2(has_part, message_of(file.substr(0, size)), "some.npy: ") << size;
    }
  }
}

TEST(ParseNpy, RefusesBadHeaders) {
  EXPECT_PRED2(has_part, header_fault(""), "header must be a dictionary");
  EXPECT_PRED2(has_part, header_fault("['descr']"), "header must be a dictionary");
  EXPECT_PRED2(has_part, header_fault("{}"), "'descr'");
  EXPECT_PRED2(has_part, header_fault("{'descr': '<f4', 'shape': (2,)}"), "must have the key 'fortran_order'");
  EXPECT_PRED2(has_part, header_fault("{'descr': '<f4', 'fortran_order': False}"), "must have the key 'shape'");
  EXPECT_PRED2(has_part, header_fault("{'fortran_order': False, 'shape': (2,)}"), "must have the key 'descr'");
  EXPECT_PRED2(has_part, header_fault("{'descr': '<f4', 'descr': '<f4'}"), "twice");
  EXPECT_PRED2(has_part, header_fault("{'owner': 'me'}"), "got 'owner'");
  EXPECT_PRED2(has_part, header_fault("{1: 2}"), "key");
  EXPECT_PRED2(has_part, header_fault("{'descr' '<f4'}"), "':'");
  EXPECT_PRED2(has_part, header_fault("{'descr': '<f4' 'shape': (2,)}"), "','");
  EXPECT_PRED2(has_part, header_fault("{'descr': '<f4"), "descr must end with a quote");
  EXPECT_PRED2(has_part, header_fault("{'descr': '<f\\x34'}"), "escapes");
  EXPECT_PRED2(has_part, header_fault("{'descr': '" + std::string(100, 'f') + "'}"), "at most 64 characters");
  EXPECT_PRED2(has_part, header_fault(dictionary("'<f4'", "(2,)") + "x"), "end after its dictionary");
}

TEST(ParseNpy, RefusesBadTypes) {
  EXPECT_PRED2(has_part, header_fault(dictionary("'>f4'", "(2,)")), "big endian");
  EXPECT_PRED2(has_part, header_fault(dictionary("'|O'", "(2,)")), "object arrays");
  EXPECT_PRED2(has_part, header_fault(dictionary("[('x', '<f4'), ('y', '<f4')]", "(1,)")), "structured");
  EXPECT_PRED2(has_part, header_fault(dictionary("'<c8'", "(1,)")), "got '<c8'");
  EXPECT_PRED2(has_part, header_fault(dictionary("'<U2'", "(1,)")), "got '<U2'");
  EXPECT_PRED2(has_part, header_fault(dictionary("'f4'", "(2,)")), "got 'f4'");
  EXPECT_PRED2(has_part, header_fault(dictionary("4", "(2,)")), "descr must be a string");
  EXPECT_PRED2(has_part, header_fault(dictionary("'<f4'", "(2,)", "True")), "numpy.ascontiguousarray");
  EXPECT_PRED2(has_part, header_fault(dictionary("'<f4'", "(2,)", "0")), "fortran_order must be True or False");
}

TEST(ParseNpy, RefusesBadShapes) {
  const auto fault = [](const std::string& shape) { return header_fault(dictionary("'<f4'", shape)); };
  EXPECT_EQ(fault("(2,)"), "no error");
  EXPECT_PRED2(has_part, fault("(-2,)"), "negative");
  EXPECT_PRED2(has_part, fault("(2)"), "tuple");
  EXPECT_PRED2(has_part, fault("2"), "tuple");
  EXPECT_PRED2(has_part, fault("[2]"), "tuple");
  EXPECT_PRED2(has_part, fault("(,)"), "tuple of integers");
  EXPECT_PRED2(has_part, fault("(2.0,)"), "','");
  EXPECT_PRED2(has_part, fault("('2',)"), "tuple of integers");
  EXPECT_PRED2(has_part, fault("(2 1)"), "','");
  EXPECT_PRED2(has_part, fault("(2,"), "tuple of integers");
  EXPECT_PRED2(has_part, fault("(9223372036854775808,)"), "below 2^63");
  EXPECT_PRED2(has_part, fault("(4611686018427387904, 4611686018427387904)"), "more bytes than");
  EXPECT_PRED2(has_part, fault("(4294967296, 4294967296)"), "more bytes than");  // 2^64: would wrap to nothing
  EXPECT_PRED2(has_part, fault("(0, 4294967296, 4294967296)"), "more bytes than");
  EXPECT_PRED2(has_part, fault("(2305843009213693951,)"), "truncated");  // 2^61 - 1 floats: addressable, absent
  std::string many = "(2,";
  for (int axis = 1; axis < 65; ++axis) many += "1,";
  EXPECT_PRED2(has_part, fault(many + ")"), "at most 64 axes");
}

TEST(ParseNpy, RefusesDataThatDoNotFitTheShape) {
  EXPECT_PRED2(has_part, header_fault(dictionary("'<f4'", "(3,)")), "truncated, the shape needs 12 bytes");
  EXPECT_PRED2(has_part, header_fault(dictionary("'<f4'", "(1,)")), "needs 4 bytes of elements, the file has 8");
  EXPECT_PRED2(has_part, header_fault(dictionary("'<f4'", "(0,)")), "(too many)");
}

TEST(NpyConversions, GoByTheElementType) {
  const std::string halves = npy_file(1, dictionary("'<f2'", "(2,)"), "\x00\x3c\x00\xc1"s);  // 1 and -2.5
  EXPECT_EQ(to_floats(parse_npy(bytes_of(halves), "h"), "h"), (std::vector<float>{1.0f, -2.5f}));
  const std::string flags = npy_file(1, dictionary("'|b1'", "(3,)"), "\x00\x01\x02"s);
  EXPECT_EQ(to_integers(parse_npy(bytes_of(flags), "b"), "b"), (std::vector<std::int64_t>{0, 1, 1}));
  EXPECT_EQ(to_doubles(parse_npy(bytes_of(flags), "b"), "b"), (std::vector<double>{0, 1, 1}));
  const std::string big = npy_file(1, dictionary("'<i4'", "(1,)"), "\x01\x00\x00\x01"s);  // 2^24 + 1
  EXPECT_EQ(to_floats(parse_npy(bytes_of(big), "i"), "i"), std::vector<float>{16777216.0f});
  EXPECT_EQ(to_doubles(parse_npy(bytes_of(big), "i"), "i"), std::vector<double>{16777217.0});
}

TEST(NpyConversions, RefuseWhatDoesNotFit) {
  const NpyArray half = parse_npy(bytes_of(npy_file(1, dictionary("'<f2'", "(1,)"), "\x00\x3c"s)), "h");
  EXPECT_PRED2(has_part, error_of([&] { to_integers(half, "h"); }), "h: must be an integer array, got float16");
  const NpyArray huge = parse_npy(bytes_of(npy_file(1, dictionary("'<u8'", "(1,)"), "\0\0\0\0\0\0\0\x80"s)), "u");
  EXPECT_PRED2(has_part, error_of([&] { to_integers(huge, "u"); }), "got 9223372036854775808");
  EXPECT_EQ(to_doubles(huge, "u"), std::vector<double>{9223372036854775808.0});
  NpyArray short_one{NpyType::float32, {3}, std::vector<std::byte>(8)};
  EXPECT_PRED2(has_part, error_of([&] { to_floats(short_one, "x"); }), "needs 12 bytes");
}

using ReadNpy = NpyFolder;

TEST_F(ReadNpy, AgreesWithParsing) {
  for (const int version : {1, 2, 3}) {
    const std::string file = npy_file(version, dictionary("'<u4'", "(1, 2)"), "\x01\0\0\0\x02\0\0\0"s);
    put(folder_ / "a.npy", file);
    const NpyArray array = read_npy(folder_ / "a.npy");
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(to_integers(array, "a"), (std::vector<std::int64_t>{1, 2}));
  }
}

TEST_F(ReadNpy, NamesTheFileThatItCannotRead) {
  EXPECT_PRED2(has_part, error_of([&] { read_npy(folder_ / "absent.npy"); }), (folder_ / "absent.npy").string());
  EXPECT_PRED2(has_part, error_of([&] { read_npy(folder_); }), folder_.string() + ": cannot read, it is a directory");
  put(folder_ / "empty.npy", "");
  EXPECT_PRED2(has_part, error_of([&] { read_npy(folder_ / "empty.npy"); }), "empty.npy: not a .npy file");
  put(folder_ / "short.npy", npy_file(1, dictionary("'<f4'", "(2,)"), "1234567"));
  EXPECT_PRED2(has_part, error_of([&] { read_npy(folder_ / "short.npy"); }), "short.npy: truncated");
  EXPECT_PRED2(has_part, error_of([&] { read_npy("/dev/zero"); }), "not a regular file");
}

TEST_F(ReadNpy, NamesTheFileThatItMayNotRead) {
  if (geteuid() == 0) GTEST_SKIP() << "permissions do not bind the superuser";
  put(folder_ / "secret.npy", "x");
  fs::permissions(folder_ / "secret.npy", fs::perms::none);
  EXPECT_PRED2(has_part, error_of([&] { read_npy(folder_ / "secret.npy"); }), "secret.npy: cannot open");
}

using WriteNpy = NpyFolder;

// The expected bytes are what NumPy 1.24 saves.
TEST_F(WriteNpy, WritesTheBytesThatNumpyWrites) {
  const std::vector<std::int32_t> values = {1, -1};
  const fs::path path = folder_ / "a.npy";
  write_npy<std::int32_t>(path, std::vector<std::int64_t>{2}, values);
  EXPECT_EQ(contents(path), "\x93NUMPY\x01\x00\x76\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }"s +
                                std::string(60, ' ') + "\n\x01\0\0\0\xff\xff\xff\xff"s);
  const std::vector<double> scalar = {1.5};
  write_npy<double>(path, {}, scalar);
  EXPECT_EQ(contents(path), "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (), }"s +
                                std::string(62, ' ') + "\n\0\0\0\0\0\0\xf8\x3f"s);
  EXPECT_EQ(files(), 1u);
}

TEST_F(WriteNpy, ReadsBackWhatItWrote) {
  const std::vector<float> values = {0.1f, -0.0f, std::numeric_limits<float>::infinity(), 3e-45f, 5, 6};
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{6}, {2, 3}, {1, 1, 6, 1}}) {
    write_npy<float>(folder_ / "a.npy", shape, values);
    const NpyArray array = read_npy(folder_ / "a.npy");
    EXPECT_EQ(array.type, NpyType::float32);
    EXPECT_EQ(array.shape, shape);
    EXPECT_EQ(std::memcmp(array.bytes.data(), values.data(), array.bytes.size()), 0);
  }
}

TEST_F(WriteNpy, StartsElementsAtMultiplesOf64Bytes) {
  std::vector<std::int64_t> shape;
  for (int axes = 0; axes < 40; ++axes) {
    write_npy(folder_ / "a.npy", NpyType::uint8, shape, std::vector<std::byte>(1));
    EXPECT_EQ(contents(folder_ / "a.npy").size() % 64, 1u) << axes;
    EXPECT_EQ(read_npy(folder_ / "a.npy").shape, shape);
    shape.push_back(1);
  }
}

TEST_F(WriteNpy, RefusesShapesThatDoNotFitAndWritesNothing) {
  const std::vector<float> values(6);
  const auto fault = [&](std::vector<std::int64_t> shape) {
    return error_of([&] { write_npy<float>(folder_ / "a.npy", shape, values); });
  };
  EXPECT_PRED2(has_part, fault({5}), "a.npy: the shape needs 20 bytes of elements, got 24");
  EXPECT_PRED2(has_part, fault({-2, -3}), "negative");
  EXPECT_PRED2(has_part, fault({std::int64_t{1} << 62, 4}), "more bytes than");
  EXPECT_PRED2(has_part, fault(std::vector<std::int64_t>(65, 1)), "at most 64 axes");
  EXPECT_EQ(files(), 0u);
}

using AtomicFile = NpyFolder;

void write_text(const fs::path& path, const std::string& text) {
  const ByteChunk chunk = bytes_of(text);
  write_atomically(path, std::span(&chunk, 1));
}

TEST_F(AtomicFile, JoinsChunksAndReplacesWhatWasThere) {
  const std::string first = "one ", second, third = "two";
  const std::vector<ByteChunk> chunks = {bytes_of(first), bytes_of(second), bytes_of(third)};
  put(folder_ / "a", "something much longer than the new contents");
  write_atomically(folder_ / "a", chunks);
  EXPECT_EQ(contents(folder_ / "a"), "one two");
  EXPECT_EQ(files(), 1u);
}

// The next write to a folder removes the temporary files of dead processes, but not those of running ones.
TEST_F(AtomicFile, RemovesWhatDeadProcessesLeft) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);  // from here on no process has this id
  const std::string name = TemporaryPath(folder_).path().filename().string();
  const std::string own = "-" + std::to_string(getpid()) + "-";
  const std::size_t at = name.find(own);
  ASSERT_NE(at, std::string::npos) << name;
  const auto of = [&](pid_t process) {
    return name.substr(0, at) + "-" + std::to_string(process) + "-" + name.substr(at + own.size());
  };
  const fs::path fresh = folder_ / "fresh";
  fs::create_directory(fresh);
  put(fresh / of(child), "left by a process that is gone");
  fs::create_directory(fresh / ("x" + of(child)));
  put(fresh / of(getppid()), "of a process that lives");
  put(fresh / ".locus-other.tmp", "not ours");
  fs::create_directory(fresh / (of(child).substr(0, of(child).size() - 4) + "1.tmp"));
  put(fresh / (of(child).substr(0, of(child).size() - 4) + "1.tmp") / "half", "a folder of it");
  write_text(fresh / "new", "x");
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(fresh)) left.insert(entry.path().filename().string());
  EXPECT_EQ(left, (std::set<std::string>{"new", of(getppid()), ".locus-other.tmp", "x" + of(child)}));
}

TEST_F(AtomicFile, WhatIsBeingWrittenCanBeRemovedAtOnce) {
  fs::path unfinished;
  {
    TemporaryPath path(folder_);
    unfinished = path.path();
    fs::create_directory(unfinished);
    put(unfinished / "part", "half of it");
    bool ended = false;
    remove_unfinished_files([&] { ended = !fs::exists(unfinished); });
    EXPECT_TRUE(ended);
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(AtomicFile, TakesTheLongestNameThereIs) {
  const std::string name(255, 'n');
  write_text(folder_ / name, "x");
  EXPECT_EQ(contents(folder_ / name), "x");
}

TEST_F(AtomicFile, FollowsALinkInsteadOfReplacingIt) {
  put(folder_ / "real", "old");
  fs::create_symlink("real", folder_ / "link");
  write_text(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(folder_ / "real"), "new");
  fs::create_symlink("nothing", folder_ / "dangling");
  EXPECT_PRED2(has_part, error_of([&] { write_text(folder_ / "dangling", "x"); }), "leads nowhere");
}

TEST_F(AtomicFile, RefusesTargetsThatAreNotFiles) {
  fs::create_directory(folder_ / "sub");
  EXPECT_PRED2(has_part, error_of([&] { write_text(folder_ / "sub", "x"); }), "sub: cannot write, it is a directory");
  EXPECT_PRED2(has_part, error_of([&] { write_text(folder_ / "none" / "a", "x"); }), "none/a: cannot create");
  EXPECT_PRED2(has_part, error_of([&] { write_text("/dev/null", "x"); }), "not a regular file");
  EXPECT_PRED2(has_part, error_of([&] { write_text("", "x"); }), "must name a file");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, LeavesTheOldFileAndNoTemporaryWhenTheDiskFails) {
  put(folder_ / "a", "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = error_of([&] { write_text(folder_ / "a", std::string(100000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_PRED2(has_part, message, "a: cannot write (");
  EXPECT_EQ(contents(folder_ / "a"), "old");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace locus::io
