// SPDX-License-Identifier: Apache-2.0
#include "locus/io/sniff.h"

#include <gtest/gtest.h>

#include "io/bytes.h"

namespace locus::io {
namespace {

class Sniff : public InTemporaryFolder {
 protected:
  FileKind kind_of(const std::string& name, const std::string& content) {
    put(name, content);
    return sniff(folder_ / name);
  }
};

std::string llama2c_header(std::int32_t dim, std::int32_t vocab_size) {
  Bytes bytes;
  for (const std::int32_t value : {dim, 3, 2, 2, 1, vocab_size, 6}) bytes.number(value);
  return bytes.str();
}

// Every content with a file name of another kind.
TEST_F(Sniff, GoesByContentNotByName) {
  EXPECT_EQ(kind_of("a.json", "GGUF" + std::string(20, '\0')), FileKind::gguf);
  EXPECT_EQ(kind_of("b.gguf", "\x93NUMPY" + std::string("\x01\x00", 2)), FileKind::npy);
  EXPECT_EQ(kind_of("c.npy", std::string("PK\x03\x04", 4)), FileKind::npz);
  EXPECT_EQ(kind_of("d.bin", Bytes().number(std::uint64_t{8}).text("{}      ").str()), FileKind::safetensors);
  EXPECT_EQ(kind_of("e.safetensors", "{\"model_type\": \"llama\"}"), FileKind::json);
  EXPECT_EQ(kind_of("f.json", "{\"metadata\": {}, \"weight_map\": {\"a\": \"b\"}}"), FileKind::safetensors_index);
  EXPECT_EQ(kind_of("g.gguf", llama2c_header(4, 5)), FileKind::llama2c);
  EXPECT_EQ(kind_of("h.gguf", llama2c_header(4, -5)), FileKind::llama2c);
}

TEST_F(Sniff, LooksForTheIndexAtTheOutermostObjectOnly) {
  EXPECT_EQ(kind_of("a", "{\"x\": {\"weight_map\": 1}, \"y\": [[{\"weight_map\": 2}]]}"), FileKind::json);
  EXPECT_EQ(kind_of("b", "\xEF\xBB\xBF \n\t{\"x\": [1, {}], \"weight_map\": {}}"), FileKind::safetensors_index);
}

TEST_F(Sniff, BrokenJsonIsStillJson) { EXPECT_EQ(kind_of("a", "{\"model_type\": "), FileKind::json); }

TEST_F(Sniff, WhatItDoesNotKnowIsUnknown) {
  EXPECT_EQ(kind_of("a.gguf", ""), FileKind::unknown);
  EXPECT_EQ(kind_of("b.json", "[1, 2]"), FileKind::unknown);
  EXPECT_EQ(kind_of("c.gguf", "GGU"), FileKind::unknown);
  EXPECT_EQ(kind_of("d.bin", llama2c_header(5, 5)), FileKind::unknown);  // two heads do not divide 5
  EXPECT_EQ(kind_of("e.bin", llama2c_header(-4, 5)), FileKind::unknown);
  EXPECT_EQ(kind_of("f.safetensors", Bytes().number(std::uint64_t{9}).text("{}      ").str()), FileKind::unknown);
  EXPECT_EQ(kind_of("g.safetensors", Bytes().number(~std::uint64_t{0}).text("{}      ").str()), FileKind::unknown);
}

TEST_F(Sniff, TellsModelFoldersFromOthers) {
  EXPECT_EQ(sniff(folder_), FileKind::folder);
  put("config.json", "{}");
  EXPECT_EQ(sniff(folder_), FileKind::hf_folder);
}

TEST_F(Sniff, RefusesWhatIsNotThere) {
  EXPECT_EQ(error_of([&] { sniff(folder_ / "none"); }), (folder_ / "none").string() + ": does not exist");
}

TEST_F(Sniff, FindsTheFileThatDescribesAModel) {
  put("notes.txt", "no model");
  EXPECT_NE(error_of([&] { find_model_file(folder_); }).find("a model folder must have config.json"),
            std::string::npos);
  put("weights", "GGUF" + std::string(20, '\0'));
  EXPECT_EQ(find_model_file(folder_), folder_ / "weights");
  put("other.bin", llama2c_header(4, 5));
  EXPECT_EQ(error_of([&] { find_model_file(folder_); }),
            folder_.string() + ": has several models; give one of them: other.bin, weights");
  put("config.json", "{}");
  EXPECT_EQ(find_model_file(folder_), folder_ / "config.json");
  EXPECT_EQ(find_model_file(folder_ / "notes.txt"), folder_ / "notes.txt");
}

}  // namespace
}  // namespace locus::io
