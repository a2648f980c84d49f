// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>

#include "cli/locus_command.h"
#include "locus/io/gguf.h"
#include "locus/io/safetensors.h"

namespace locus::testing {
namespace {

using io::SafetensorsType;

/// Element i of a tensor is i, so that its first element identifies a row.
std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

/// Two heads of four, one key head, hidden width 3.
class Convert : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<float> q = counting(8 * 3), k = counting(4 * 3), wpe = counting(4 * 2);
    const auto bytes = [](const std::vector<float>& values) { return std::as_bytes(std::span(values)); };
    const std::vector<io::SafetensorsTensor> tensors = {
        {"model.layers.0.self_attn.q_proj.weight", SafetensorsType::f32, {8, 3}, bytes(q)},
        {"model.layers.0.self_attn.k_proj.weight", SafetensorsType::f32, {4, 3}, bytes(k)},
        {"wpe.weight", SafetensorsType::f32, {4, 2}, bytes(wpe)}};
    io::write_safetensors(folder_ / "model.safetensors", tensors);
    folder_.write("config.json", R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2,
                                     "num_key_value_heads": 1, "max_position_embeddings": 4})");
  }
  std::vector<float> first_column(const std::string& file, const std::string& tensor) {
    const io::SafetensorsFile model = io::read_safetensors(folder_ / file);
    const auto values = model.floats(*model.find_tensor(tensor));
    std::vector<float> column;
    for (std::size_t i = 0; i < values.size(); i += 3) column.push_back(values[i] / 3);
    return column;
  }
  std::string refusal(const std::string& line) {
    const CommandResult result = run_locus(folder_, line);
    EXPECT_EQ(result.exit_code, 2) << line;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  }

  TemporaryFolder folder_;
};

TEST_F(Convert, PairingToInterleavedAndBack) {
  const Json json = json_of(folder_, "convert pairing model.safetensors --to interleaved --output out.safetensors");
  EXPECT_EQ(json["layers"], 1);
  EXPECT_EQ(json["heads"], 2);
  EXPECT_EQ(json["key_value_heads"], 1);
  EXPECT_EQ(json["head_dim"], 4);
  EXPECT_EQ(json["rotary_dim"], 4);
  EXPECT_EQ(json["engine_pairing"], "half");
  EXPECT_EQ(json["tensors"].size(), 2u);
  // half x0 x1 y0 y1 becomes x0 y0 x1 y1.
  EXPECT_EQ(first_column("out.safetensors", "model.layers.0.self_attn.q_proj.weight"),
            (std::vector<float>{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(first_column("out.safetensors", "model.layers.0.self_attn.k_proj.weight"),
            (std::vector<float>{0, 2, 1, 3}));

  const CommandResult back =
      run_locus(folder_, "convert pairing out.safetensors --from interleaved --to half --in-place");
  EXPECT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(folder_.read("out.safetensors"), folder_.read("model.safetensors"));
}

TEST_F(Convert, PairingWarnsAboutEngines) {
  const CommandResult result = run_locus(folder_, "convert pairing model.safetensors --to interleaved --in-place");
  EXPECT_NE(result.err.find("note: engines pair llama as half"), std::string::npos) << result.err;
}

TEST_F(Convert, FolderToNewFolder) {
  const Json json =
      json_of(folder_, "convert pairing . --to interleaved --output ../" + folder_.path().filename().string() + "/new");
  EXPECT_EQ(json["files"].size(), 1u);
  EXPECT_EQ(folder_.read("new/config.json"), folder_.read("config.json"));
  EXPECT_EQ(first_column("new/model.safetensors", "model.layers.0.self_attn.k_proj.weight"),
            (std::vector<float>{0, 2, 1, 3}));
}

TEST_F(Convert, TableInAFolder) {
  const Json json = json_of(folder_, "convert table . --tensor wpe.weight --to 8 --in-place");
  EXPECT_EQ(json["shape_before"], (Json{4, 2}));
  EXPECT_EQ(json["shape"], (Json{8, 2}));
  EXPECT_EQ(json["adjusted"], (Json{"max_position_embeddings"}));
  EXPECT_EQ(Json::parse(folder_.read("config.json"))["max_position_embeddings"], 8);
  const io::SafetensorsFile model = io::read_safetensors(folder_ / "model.safetensors");
  EXPECT_EQ(model.find_tensor("wpe.weight")->shape, (std::vector<std::int64_t>{8, 2}));
  EXPECT_EQ(first_column("model.safetensors", "model.layers.0.self_attn.k_proj.weight"),
            (std::vector<float>{0, 1, 2, 3}));
}

TEST_F(Convert, SettingsToGgufAndBack) {
  folder_.write("c.json", R"({"model_type": "qwen2", "hidden_size": 256, "num_attention_heads": 4,
                             "num_key_value_heads": 2, "max_position_embeddings": 131072, "rope_theta": 1000000.0,
                             "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "truncate": true,
                                              "original_max_position_embeddings": 32768}})");
  const Json there = json_of(folder_, "convert to-gguf c.json --output c.gguf");
  EXPECT_EQ(there["notes"], Json::array());
  const io::GgufFile file = io::read_gguf(folder_ / "c.gguf");
  EXPECT_EQ(file.text("qwen2.rope.scaling.type"), "yarn");
  EXPECT_EQ(file.real("qwen2.rope.freq_base"), 1e6);
  json_of(folder_, "convert to-config c.gguf --output back.json");
  Json wanted = Json::parse(folder_.read("c.json"));
  wanted["rope_scaling"].erase("truncate");  // GGUF has no key for it, and it is the default of both sides
  EXPECT_EQ(Json::parse(folder_.read("back.json")), wanted);

  EXPECT_NE(refusal("convert to-gguf c.json --in-place").find("--gguf"), std::string::npos);
  EXPECT_NE(refusal("convert to-gguf c.json --output c.json").find("must not be the input"), std::string::npos);
  EXPECT_NE(refusal("convert to-gguf c.json").find("--output"), std::string::npos);
  EXPECT_NE(refusal("convert to-config c.json --output x").find("c.json"), std::string::npos);
}

TEST_F(Convert, RefusesWithOneLine) {
  const std::string pairing = "convert pairing model.safetensors ";
  EXPECT_NE(refusal("convert").find("subcommand"), std::string::npos);
  EXPECT_NE(refusal(pairing + "--to half").find("--output"), std::string::npos);
  EXPECT_NE(refusal(pairing + "--to half --output x").find("are half already"), std::string::npos);
  EXPECT_NE(refusal(pairing + "--to quarter --output x").find("quarter"), std::string::npos);
  EXPECT_NE(refusal(pairing + "--to half --output x --in-place").find("--in-place"), std::string::npos);
  EXPECT_NE(refusal(pairing + "--to interleaved --output model.safetensors").find("must not be the input"),
            std::string::npos);
  EXPECT_NE(refusal(pairing + "--to interleaved --output no/such/x").find("cannot create a temporary file"),
            std::string::npos);
  EXPECT_NE(refusal("convert pairing absent.gguf --to half --output x").find("absent.gguf"), std::string::npos);
  EXPECT_NE(refusal("convert table model.safetensors --tensor nope --to 8 --output x").find("has no tensor 'nope'"),
            std::string::npos);
  EXPECT_NE(refusal("convert table model.safetensors --tensor wpe.weight --to 2x4 --output x").find("--from"),
            std::string::npos);
}

// A limit on the size of files simulates a full disk: writing fails in the middle in the same way.
class ConvertOnFullDisk : public Convert {
 protected:
  void SetUp() override {
    const std::vector<float> q = counting(8 * 1536), k = counting(4 * 3);
    const auto bytes = [](const std::vector<float>& values) { return std::as_bytes(std::span(values)); };
    const std::string layer = "model.layers.0.self_attn.";
    const io::SafetensorsTensor query{layer + "q_proj.weight", SafetensorsType::f32, {8, 1536}, bytes(q)};
    const io::SafetensorsTensor key{layer + "k_proj.weight", SafetensorsType::f32, {4, 3}, bytes(k)};
    folder_.write("config.json", R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2,
                                     "num_key_value_heads": 1, "max_position_embeddings": 4})");
    io::write_safetensors(folder_ / "both.safetensors", std::vector{query, key});
    io::write_safetensors(folder_ / "large.safetensors", std::vector{query});
    io::write_safetensors(folder_ / "a.safetensors", std::vector{key});  // comes first and would fit
    folder_.write("model.safetensors.index.json", R"({"weight_map": {")" + key.name + R"(": "a.safetensors", ")" +
                                                      query.name + R"(": "large.safetensors"}})");
  }
  void expect_failure(const std::string& model) {
    const auto before = everything();
    const std::string script = std::string("trap '' XFSZ; ulimit -f 8; exec ") + LOCUS_COMMAND + " convert pairing " +
                               model + " --to interleaved --in-place";
    const CommandResult result = run_command("/bin/sh", {"-c", script}, folder_.path());
    EXPECT_EQ(result.exit_code, 2) << model;
    EXPECT_NE(result.err.find("cannot write"), std::string::npos) << result.err;
    EXPECT_EQ(everything(), before) << model;
  }
  std::map<std::string, std::string> everything() {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      files[name] = entry.is_directory() ? "a folder" : folder_.read(name);
    }
    return files;
  }
};

TEST_F(ConvertOnFullDisk, KeepsTheFile) { expect_failure("both.safetensors"); }
TEST_F(ConvertOnFullDisk, KeepsAllShards) { expect_failure("model.safetensors.index.json"); }

/// A conversion of a large file that is interrupted.
class ConvertInterrupted : public ::testing::Test {
 protected:
  void SetUp() override {
    // 512 MB that take no space on the disk: two sparse tensors of zeros.
    const std::string layer = "model.layers.0.self_attn.";
    const std::string header = "{\"" + layer + "q_proj.weight\":{\"dtype\":\"F32\",\"shape\":[8,8388608]," +
                               "\"data_offsets\":[0,268435456]},\"" + layer +
                               "k_proj.weight\":{\"dtype\":\"F32\",\"shape\":[8,8388608]," +
                               "\"data_offsets\":[268435456,536870912]}}";
    const std::uint64_t length = header.size();
    std::string start(reinterpret_cast<const char*>(&length), sizeof length);
    folder_.write("model.safetensors", start + header);
    std::filesystem::resize_file(folder_ / "model.safetensors", 8 + header.size() + 536870912);
    folder_.write("config.json", R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 2,
                                     "num_key_value_heads": 2, "max_position_embeddings": 4})");
  }

  /// Starts it and stops it (SIGSTOP) as soon as its temporary file exists.
  pid_t start_and_stop() {
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.path().c_str()) != 0) _exit(97);
      const int quiet = open("/dev/null", O_WRONLY);
      dup2(quiet, STDERR_FILENO);
      execl(LOCUS_COMMAND, "locus", "convert", "pairing", "model.safetensors", "--to", "interleaved", "--output",
            "out.safetensors", nullptr);
      _exit(98);
    }
    while (temporaries().empty() && waitpid(child, nullptr, WNOHANG) == 0) usleep(100);
    kill(child, SIGSTOP);
    int status = 0;
    waitpid(child, &status, WUNTRACED);
    EXPECT_TRUE(WIFSTOPPED(status)) << "it had ended already";
    return child;
  }
  std::vector<std::string> temporaries() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(".locus-")) names.push_back(name);
    }
    return names;
  }
  void end(pid_t child, int signal) {
    kill(child, signal);
    kill(child, SIGCONT);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
  }

  TemporaryFolder folder_;
};

TEST_F(ConvertInterrupted, SignalsLeaveNoTemporaryFiles) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = start_and_stop();
    ASSERT_EQ(temporaries().size(), 1u);
    end(child, signal);
    EXPECT_EQ(temporaries(), std::vector<std::string>{}) << strsignal(signal);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out.safetensors"));
  }
}

TEST_F(ConvertInterrupted, NextRunRemovesFilesOfAKilledRun) {
  const pid_t child = start_and_stop();
  ASSERT_EQ(temporaries().size(), 1u);
  // While it runs, its temporary file is not removed.
  run_locus(folder_, "bias --scheme alibi --set heads=1 --queries 2 --keys 2 --output b.npy");
  EXPECT_EQ(temporaries().size(), 1u);
  end(child, SIGKILL);
  EXPECT_EQ(temporaries().size(), 1u);
  run_locus(folder_, "bias --scheme alibi --set heads=1 --queries 2 --keys 2 --output b.npy");
  EXPECT_EQ(temporaries(), std::vector<std::string>{});
}

}  // namespace
}  // namespace locus::testing
