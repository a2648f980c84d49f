// SPDX-License-Identifier: Apache-2.0
// Bad input: what every case must do, the files that cases name, and cases that do not fit a table.
#include "cli/bad_input.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace locus::testing::bad_input {
namespace {

/// A .npy file of version 1.0 in parts, so that every part can be wrong.
std::string npy(const std::string& descr, const std::string& order, const std::string& shape,
                const std::string& elements) {
  std::string header = "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + elements;
}

template <class T>
std::string bytes(std::size_t count, T value) {
  std::string text(count * sizeof(T), '\0');
  for (std::size_t i = 0; i < count; ++i) std::memcpy(text.data() + i * sizeof(T), &value, sizeof(T));
  return text;
}

std::string floats(const std::string& shape, std::size_t count, float value = 0.5f) {
  return npy("'<f4'", "False", shape, bytes(count, value));
}
std::string integers(const std::string& shape, std::size_t count, std::int64_t value = 0) {
  return npy("'<i8'", "False", shape, bytes(count, value));
}

std::string nested(std::size_t levels) {
  return R"({"model_type": )" + std::string(levels, '[') + std::string(levels, ']') + "}";
}

std::string llama_with(const std::string& keys) {
  return R"({"model_type": "llama", "head_dim": 8, "max_position_embeddings": 64, )" + keys + "}";
}

/// Returns the names and contents of all files in the folder.
Files snapshot(const TemporaryFolder& folder) {
  Files found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    const std::string name = std::filesystem::relative(entry.path(), folder.path()).string();
    found[name] = entry.is_regular_file() ? folder.read(name) : "";
  }
  return found;
}

}  // namespace

const Files& files() {
  static const Files all = [] {
    const std::string q = floats("(1, 2, 3, 8)", 48);
    Files f;
    f["q.npy"] = q;
    f["q16.npy"] = npy("'<f2'", "False", "(1, 2, 3, 8)", std::string(96, '\0'));
    f["hidden.npy"] = floats("(3, 8)", 24);
    f["existing.npy"] = "what was there before";
    // broken in one way each
    f["ints.npy"] = npy("'<i4'", "False", "(1, 2, 3, 8)", std::string(192, '\0'));
    f["bools.npy"] = npy("'|b1'", "False", "(1, 2, 3, 8)", std::string(48, '\0'));
    f["cut.npy"] = q.substr(0, q.size() - 1);
    f["cut_header.npy"] = q.substr(0, 40);
    f["cut_start.npy"] = q.substr(0, 7);
    f["too_long.npy"] = q + "x";
    f["huge_header.npy"] = std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + q.substr(10);
    f["huge_shape.npy"] = floats("(1, 1, 1099511627776, 8)", 1);
    f["overflowing_shape.npy"] = floats("(4611686018427387904, 4611686018427387904)", 1);
    f["beyond_64_bits.npy"] = floats("(99999999999999999999,)", 1);
    f["negative_shape.npy"] = floats("(-1, 8)", 8);
    f["fortran.npy"] = npy("'<f4'", "True", "(1, 2, 3, 8)", bytes(48, 0.5f));
    f["big_endian.npy"] = npy("'>f4'", "False", "(1, 2, 3, 8)", bytes(48, 0.5f));
    f["object.npy"] = npy("'|O'", "False", "(3,)", "(lp0\n.");
    f["structured.npy"] = npy("[('a', '<f4')]", "False", "(2,)", std::string(8, '\0'));
    f["version9.npy"] = std::string("\x93NUMPY\x09\x00", 8) + q.substr(8);
    f["no_npy.npy"] = "hello";
    f["empty.npy"] = "";
    // positions
    f["ids.npy"] = integers("(3,)", 3);
    f["ids_2x3.npy"] = integers("(2, 3)", 6);
    f["ids_2x1x3.npy"] = integers("(2, 1, 3)", 6);
    f["ids_3x1x3.npy"] = integers("(3, 1, 3)", 9);
    f["ids_4d.npy"] = integers("(1, 1, 1, 3)", 3);
    f["ids_0d.npy"] = integers("()", 1);
    f["ids_none.npy"] = integers("(0,)", 0);
    f["ids_far.npy"] = integers("(3,)", 3, std::int64_t{1} << 31);
    f["ids_negative.npy"] = integers("(3,)", 3, -1);
    f["ids_float.npy"] = floats("(3,)", 3);
    f["ids_u64.npy"] = npy("'<u8'", "False", "(3,)", std::string(24, '\xff'));
    // tables and masks
    f["table.npy"] = floats("(4, 8)", 32);
    f["table_1d.npy"] = floats("(32,)", 32);
    f["table_nan.npy"] = floats("(4, 8)", 32, std::numeric_limits<float>::quiet_NaN());
    f["table_int.npy"] = integers("(4, 8)", 32);
    f["table_4d.npy"] = floats("(1, 1, 4, 8)", 32);
    f["table_narrow.npy"] = floats("(4, 0)", 0);
    f["mask.npy"] = integers("(1, 2)", 2, 7);
    f["mask_1d.npy"] = integers("(2,)", 2, 1);
    // configs
    f["llama.json"] = llama_with(R"("rope_theta": 1e4)");
    f["no_gguf.gguf"] = "GGUF";
    f["no_json.json"] = "pairing: half";
    f["nothing.json"] = "  ";
    f["list.json"] = "[1, 2]";
    f["two.json"] = "{} {}";
    f["bad_utf8.json"] = "{\"model_type\": \"\xff\"}";
    f["deep.json"] = nested(100000);
    f["deep_open.json"] = std::string(100000, '[');
    f["text_head_dim.json"] = R"({"model_type": "llama", "head_dim": "64"})";
    f["real_head_dim.json"] = R"({"model_type": "llama", "head_dim": 64.5})";
    f["list_theta.json"] = llama_with(R"("rope_theta": [1])");
    f["zero_theta.json"] = llama_with(R"("rope_theta": 0)");
    f["huge_theta.json"] = llama_with(R"("rope_theta": 1e999)");
    f["number_rope.json"] = llama_with(R"("rope_scaling": 2)");
    f["unknown_rope.json"] = llama_with(R"("rope_scaling": {"rope_type": "spiral", "factor": 2})");
    f["number_type.json"] = llama_with(R"("rope_scaling": {"rope_type": 3})");
    f["no_factor.json"] = llama_with(R"("rope_scaling": {"rope_type": "linear"})");
    f["small_factor.json"] = llama_with(R"("rope_scaling": {"rope_type": "linear", "factor": 0.5})");
    f["short_list.json"] = llama_with(R"("rope_scaling": {"rope_type": "longrope", "factor": 2,
        "short_factor": [1, 1, 1], "long_factor": [1, 1, 1, 1], "original_max_position_embeddings": 32})");
    f["bands.json"] = llama_with(R"("rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4,
        "high_freq_factor": 1, "original_max_position_embeddings": 32})");
    f["sections.json"] = llama_with(R"("rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 1]})");
    f["no_sections.json"] = llama_with(R"("rope_scaling": {"type": "mrope"})");
    f["odd_width.json"] = llama_with(R"("partial_rotary_factor": 0.9)");
    f["wide_fraction.json"] = llama_with(R"("partial_rotary_factor": 1.5)");
    f["wide_rotary.json"] = llama_with(R"("rotary_dim": 16)");
    f["no_size.json"] = R"({"rope_theta": 1e4})";
    f["negative_heads.json"] = R"({"model_type": "bloom", "hidden_size": 64, "n_head": -4})";
    f["several.json"] = R"({"model_type": "gemma3_text", "head_dim": 8, "rope_theta": 1e6,
        "rope_local_base_freq": 1e4, "max_position_embeddings": 64})";
    f["bloom.json"] = R"({"model_type": "bloom", "hidden_size": 64, "n_head": 4})";
    return f;
  }();
  return all;
}

void expect_refused(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& fragments) {
  const Files before = snapshot(folder);
  const CommandResult result = run_locus(folder, arguments);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  EXPECT_EQ(result.err.rfind(json ? "{\"error\":" : "locus: ", 0), 0u) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_TRUE(result.err.ends_with('\n')) << result.err;
  EXPECT_LT(result.err.size(), 1000u) << result.err;
  for (const std::string& fragment : fragments) {
    EXPECT_NE(result.err.find(fragment), std::string::npos) << "expected \"" << fragment << "\" in\n" << result.err;
  }
  EXPECT_TRUE(snapshot(folder) == before) << "a file was left behind or changed";
}

TEST_P(BadInputTest, IsRefusedInOneLine) {
  ASSERT_FALSE(GetParam().fragments.empty());
  const TemporaryFolder folder;
  for (const auto& [name, content] : files()) {
    if (GetParam().line.find(name) != std::string::npos) folder.write(name, content);
  }
  expect_refused(folder, words(GetParam().line), GetParam().fragments);
}

namespace {

TEST(BadInputText, ControlCharactersDoNotMakeASecondLine) {
  const TemporaryFolder folder;
  expect_refused(folder, {"show", "--scheme", "two\nlines"}, {"two?lines"});
  expect_refused(folder, {"show", "--config", "a\nb.json"}, {"a?b.json"});
  expect_refused(folder, {"show", "--scheme", "rope", "--set", "a\r\nb=1"}, {"a??b"});
  expect_refused(folder, {"bogus\n"}, {"bogus?"});
}

TEST(BadInputText, DoesNotWriteThroughADanglingLink) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("absent/target.npy", folder / "link.npy");
  expect_refused(folder, words("positions prefill 3 --output link.npy"), {"link.npy", "leads nowhere"});
}

// The header states more than the file holds: 2^50 bytes cannot be allocated, so a reader that tries crashes or
// reports memory.
TEST(BadInputText, ChecksSizesBeforeAllocating) {
  const TemporaryFolder folder;
  for (const std::string name : {"huge_shape.npy", "huge_header.npy"}) {
    folder.write(name, files().at(name));
    const CommandResult result = run_locus(folder, apply("--axes bhtd --positions 0:3 --input " + name));
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err.find("memory"), std::string::npos) << result.err;
  }
}

}  // namespace
}  // namespace locus::testing::bad_input
