// SPDX-License-Identifier: Apache-2.0
#include "locus/io/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/bytes.h"

namespace locus::io {
namespace {

class MappedFiles : public InTemporaryFolder {};

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST_F(MappedFiles, ShowsTheBytes) {
  const std::string text(100000, 'x');
  EXPECT_EQ(text_of(MappedFile(put("a", text))), text);
  EXPECT_TRUE(MappedFile(put("empty", "")).bytes().empty());
}

TEST_F(MappedFiles, CanBeMoved) {
  MappedFile a(put("a", "one")), b(put("b", "two"));
  MappedFile c(std::move(a));
  EXPECT_EQ(text_of(c), "one");
  c = std::move(b);
  EXPECT_EQ(text_of(c), "two");
  EXPECT_EQ(c.name(), (folder_ / "b").string());
}

TEST_F(MappedFiles, RefusesWhatIsNoFile) {
  EXPECT_EQ(error_of([&] { MappedFile(folder_ / "no"); }),
            (folder_ / "no").string() + ": cannot open for reading (No such file or directory)");
  EXPECT_EQ(error_of([&] { MappedFile{folder_}; }), folder_.string() + ": cannot read, it is a directory");
  EXPECT_EQ(error_of([&] { MappedFile("/dev/null"); }), "/dev/null: cannot read, it is not a regular file");
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { MappedFile{pipe}; }), pipe.string() + ": cannot read, it is not a regular file");
}

}  // namespace
}  // namespace locus::io
