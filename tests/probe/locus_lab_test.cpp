// SPDX-License-Identifier: Apache-2.0
// The files of the lab's models: messages name what is missing or does not fit. tests/lab_model/save_test.cpp tests
// their numbers, with libtorch.
#include <gtest/gtest.h>

#include <random>

#include "locus/error.h"
#include "locus/io/encoding_json.h"
#include "probe/measure/model_check.h"
#include "probe/model.h"
#include "probe/tokenizers/tokenizer.h"
#include "support/command.h"
#include "support/error_of.h"
#include "support/tiny_model.h"

namespace locus::probe {
namespace {

using Json = nlohmann::json;
using locus::testing::TemporaryFolder;
using locus::testing::TinyModel;

constexpr std::int64_t width = 16, heads = 2, vocabulary = 12;

void add_tensor(TinyModel& model, const std::string& name, const std::vector<std::int64_t>& shape, double deviation) {
  std::mt19937_64 random(model.tensors.size());
  std::normal_distribution<double> normal(0, deviation);
  std::int64_t count = 1;
  for (const std::int64_t axis : shape) count *= axis;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(normal(random)));
  model.tensors[name] = {shape, values};
}

/// Shaw's table for offsets from -2 to 2, heads of 8.
TinyModel lab_model() {
  TinyModel model;
  model.architecture = "locus_lab";
  add_tensor(model, "embedding.weight", {vocabulary, width}, 1);
  add_tensor(model, "head.weight", {vocabulary, width}, 0.25);
  add_tensor(model, "norm.weight", {width}, 1);
  add_tensor(model, "layers.0.attention.norm.weight", {width}, 1);
  add_tensor(model, "layers.0.attention.qkv.weight", {3 * width, width}, 0.25);
  add_tensor(model, "layers.0.attention.out.weight", {width, width}, 0.25);
  add_tensor(model, "layers.0.feed_forward.norm.weight", {width}, 1);
  add_tensor(model, "layers.0.feed_forward.in.weight", {4 * width, width}, 0.25);
  add_tensor(model, "layers.0.feed_forward.out.weight", {width, 4 * width}, 0.1);
  add_tensor(model, "positions.key_table", {5, width / heads}, 1);
  const Json encoding = {{"scheme", "shaw"},
                         {"arguments",
                          {{"heads", heads},
                           {"head_dim", width / heads},
                           {"clip_left", 2},
                           {"clip_right", 2},
                           {"key_table", {{"shape", {5, width / heads}}}}}}};
  model.config = {{"model_type", "locus_lab"},    {"num_hidden_layers", 1},         {"num_attention_heads", heads},
                  {"hidden_size", width},         {"intermediate_size", 4 * width}, {"vocab_size", vocabulary},
                  {"max_position_embeddings", 8}, {"rms_norm_eps", 1e-5},           {"tie_word_embeddings", false},
                  {"tokenizer", "none"},          {"locus_encoding", encoding}};
  return model;
}

std::string message_of(TinyModel model) {
  const TemporaryFolder folder;
  write_hf_folder(model, folder / "model");
  return testing::error_of([&] { (void)load(folder / "model"); });
}

void expect_lab_refused(const TinyModel& model, const std::vector<std::string>& parts) {
  const std::string message = message_of(model);
  for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(LocusLab, IsReadWithItsEncoding) {
  TinyModel tiny = lab_model();
  const TemporaryFolder folder;
  write_hf_folder(tiny, folder / "model");
  const Model model = load(folder / "model");
  EXPECT_EQ(model.encoding().scheme().name, "shaw");
  EXPECT_EQ(model.encoding().relative_keys().key_table.data, tiny.at("positions.key_table").values);
  EXPECT_EQ(model.config().trained_length, 8);
  EXPECT_TRUE(model.config().begins_anywhere);
  EXPECT_TRUE(model.notes().empty()) << model.notes().front();
  const std::vector<Token> tokens = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (const Check& check : check_model(model, tokens)) EXPECT_TRUE(check.pass) << check.name;
}

TEST(LocusLab, NamesWhatIsMissingOrDoesNotFit) {
  TinyModel model = lab_model();
  model.tensors.erase("head.weight");
  expect_lab_refused(model, {"tensor head.weight is missing"});
  model = lab_model();
  model.tensors.erase("positions.key_table");
  expect_lab_refused(model, {"tensor positions.key_table is missing"});
  model = lab_model();
  add_tensor(model, "positions.key_table", {4, width / heads}, 1);
  expect_lab_refused(model, {"positions.key_table must have the shape [5, 8], got [4, 8]"});
  model = lab_model();
  add_tensor(model, "layers.0.attention.qkv.weight", {width, width}, 1);
  expect_lab_refused(model, {"layers.0.attention.qkv.weight must have the shape [48, 16], got [16, 16]"});
  model = lab_model();
  model.config["num_attention_heads"] = 3;
  expect_lab_refused(model, {"the encoding shaw is for a model with a head width of 8, this one has 5"});
}

TEST(LocusLab, NamesWhatIsWrongWithTheEncoding) {
  const auto with = [](const Json& encoding) {
    TinyModel model = lab_model();
    model.config["locus_encoding"] = encoding;
    return model;
  };
  const auto arguments = [](const char* scheme, const Json& given) {
    return Json{{"scheme", scheme}, {"arguments", given}};
  };
  TinyModel without = lab_model();
  without.config.erase("locus_encoding");
  expect_lab_refused(without, {"config.json: locus_encoding must be there"});
  expect_lab_refused(with({{"scheme", "rope"}}), {"locus_encoding: arguments must be given"});
  expect_lab_refused(with(arguments("wings", Json::object())), {"its encoding:", "wings", "transformer_xl"});
  expect_lab_refused(with(arguments("rope", {{"head_dim", 8}, {"pairing", "half"}, {"bass", 3}})),
                     {"its encoding:", "bass"});
  expect_lab_refused(with(arguments("rope", {{"head_dim", nullptr}})), {"locus_encoding: head_dim must be a number"});
  expect_lab_refused(with(arguments("rope", {{"head_dim", 4}, {"pairing", "half"}})),
                     {"a head width of 4, this one has 8"});
  expect_lab_refused(with(arguments("alibi", {{"heads", 4}})),
                     {"alibi is for a model with a head count of 4", "has 2"});
  expect_lab_refused(with(arguments("sinusoidal", {{"dim", 8}})), {"a width of 8, this one has 16"});
  expect_lab_refused(with(arguments("shaw", {{"key_table", {{"shape", {0, 8}}}}})),
                     {"key_table", "from 1 to 2^31 - 1"});
  expect_lab_refused(with(arguments("shaw", {{"key_table", {{"form", "round"}}}})), {"key_table must be {\"shape\""});
}

TEST(LocusLab, NamesWhatIsWrongWithItsKeys) {
  const Json good = {{"key_mark", 10}, {"question", 11}, {"noise", {3, 4}}, {"keys", {{0, 1}, {1, 2}}}};
  const auto with = [&](const char* key, const Json& value) {
    TinyModel model = lab_model();
    model.config["passkey"] = good;
    if (*key != '\0') model.config["passkey"][key] = value;
    return model;
  };
  EXPECT_EQ(message_of(with("", 0)), "no error");
  expect_lab_refused(with("question", vocabulary), {"passkey: token 12 is outside the model's vocabulary of 12"});
  expect_lab_refused(with("noise", Json::array()), {"passkey: noise must be a list of token ids"});
  expect_lab_refused(with("keys", {{0, 1}, {1}}), {"the same length, got 2 and 1"});
  expect_lab_refused(with("key_mark", -1), {"key_mark must be a token id"});
  TinyModel without = with("", 0);
  without.config["passkey"].erase("keys");
  expect_lab_refused(without, {"passkey: keys is missing"});
}

TEST(LocusLab, AGgufFileMustStateItsEncoding) {
  const TemporaryFolder folder;
  const std::vector<float> values(static_cast<std::size_t>(vocabulary * width));
  std::vector<io::GgufEntry> entries = {{"general.architecture", io::GgufValue::of(std::string_view("locus_lab"))},
                                        {"locus_lab.block_count", io::GgufValue::of(std::uint32_t{1})},
                                        {"locus_lab.attention.head_count", io::GgufValue::of(std::uint32_t{2})},
                                        {"locus_lab.embedding_length", io::GgufValue::of(std::uint32_t{width})},
                                        {"locus_lab.context_length", io::GgufValue::of(std::uint32_t{8})}};
  const io::GgufTensor embedding{
      "token_embd.weight", io::GgufTensorType::f32, {vocabulary, width}, std::as_bytes(std::span(values))};
  const auto message = [&] {
    write_gguf(folder / "model.gguf", entries, std::span(&embedding, 1));
    try {
      (void)load(folder / "model.gguf");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message().find("locus_lab.encoding is missing"), std::string::npos) << message();
  entries.push_back({"locus_lab.encoding", io::GgufValue::of(std::string_view("{\"scheme\": 1}"))});
  EXPECT_NE(message().find("locus_lab.encoding: scheme must be given, as a string"), std::string::npos) << message();
  entries.back().value = io::GgufValue::of(std::string_view(R"({"scheme": "nope", "arguments": {}})"));
  EXPECT_NE(message().find("tensor output_norm.weight is missing"), std::string::npos) << message();
}

TEST(NamedTokenizer, BytesAreTheirOwnIds) {
  const auto tokenizer = make_named_tokenizer("bytes", "m");
  EXPECT_EQ(tokenizer->vocab_size(), 256);
  EXPECT_EQ(tokenizer->encode("A\xff\n"), (std::vector<TokenId>{65, 255, 10}));
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{72, 105, 0, 200}), std::string("Hi\0\xc8", 4));
  EXPECT_FALSE(tokenizer->bos() || tokenizer->eos());
  EXPECT_THROW(make_named_tokenizer("none", "m"), Error);
  EXPECT_THROW(make_named_tokenizer("words", "m"), Error);
}

// Every kind of value round-trips, doubles with all bits.
TEST(EncodingJson, RoundTrips) {
  const Encoding encoding(
      "kerple", {{"heads", 2}, {"r1", std::vector<double>{1.0 / 3, 0.1}}, {"r2", std::vector<double>{5e-324, 1}}});
  const io::LayerEncoding read = io::parse_encoding_json(io::encoding_json(encoding), "m");
  EXPECT_EQ(read.scheme, "kerple");
  EXPECT_EQ(read.arguments.all().size(), encoding.arguments().all().size());
  EXPECT_EQ(Encoding(read.scheme, read.arguments).arguments().list("r1"), (std::vector<double>{1.0 / 3, 0.1}));
  const Encoding rope(
      "rope", {{"head_dim", 8}, {"pairing", "half"}, {"rule", "yarn"}, {"factor", 1.1}, {"original_length", 16}});
  const io::LayerEncoding again = io::parse_encoding_json(io::encoding_json(rope), "m");
  EXPECT_EQ(again.arguments.real("factor"), 1.1);
  EXPECT_EQ(Encoding(again.scheme, again.arguments).rotation().inv_freq, rope.rotation().inv_freq);
}

}  // namespace
}  // namespace locus::probe
