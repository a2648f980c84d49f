// SPDX-License-Identifier: Apache-2.0
// Image models with windows: which windows their stages and layers have, as the modeling code of transformers does it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/io/hf_config.h"

namespace locus::io {
namespace {

HfConfig read_picture_config(const std::string& keys) { return resolve_hf_config("{" + keys + "}", "c"); }

std::int64_t number_of(const LayerEncoding& layer, const char* name) { return layer.arguments.integer(name); }

// A stage that is smaller than the window is one window: 256 / 4 = 64 patches a side, then 32, 16 and 8.
TEST(HfPictures, WindowsOfSwinV2AreNoLargerThanTheStage) {
  const HfConfig config = read_picture_config(
      R"("model_type": "swinv2", "image_size": 256, "patch_size": 4, "window_size": 16, "num_heads": [3, 6, 12, 24])");
  ASSERT_EQ(config.layers.size(), 4u);
  const std::int64_t sides[] = {16, 16, 16, 8}, heads[] = {3, 6, 12, 24};
  for (std::size_t stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(number_of(config.layers[stage], "window_height"), sides[stage]) << stage;
    EXPECT_EQ(number_of(config.layers[stage], "window_width"), sides[stage]) << stage;
    EXPECT_EQ(number_of(config.layers[stage], "heads"), heads[stage]) << stage;
  }
}

// Swin pads its stages instead.
TEST(HfPictures, WindowsOfSwinStayTheSame) {
  const HfConfig config =
      read_picture_config(R"("model_type": "swin", "image_size": 32, "patch_size": 4, "window_size": [1, 7])");
  ASSERT_EQ(config.layers.size(), 4u);
  for (const LayerEncoding& layer : config.layers) {
    EXPECT_EQ(number_of(layer, "window_height"), 1);
    EXPECT_EQ(number_of(layer, "window_width"), 7);
  }
  EXPECT_EQ(number_of(read_picture_config(R"("model_type": "swin", "window_size": [7, 1])").layers[0], "window_width"),
            1);
  for (const char* wrong : {"[0, 7]", "[7, 0]", "[7]", "[7, 7, 7]"}) {
    EXPECT_THROW(read_picture_config(std::string(R"("model_type": "swin", "window_size": )") + wrong), Error) << wrong;
  }
}

// SAM: a table under the first layer, offsets inside windows of 14 x 14, and over 1024 / 16 = 64 x 64 patches.
TEST(HfPictures, SamHasWindowsAndGlobalLayers) {
  const HfConfig config = read_picture_config(R"("model_type": "sam_vision_model")");
  ASSERT_EQ(config.layers.size(), 3u);
  EXPECT_EQ(config.layers[0].layer_type, "patch embeddings");
  EXPECT_EQ(config.layers[0].scheme, "learned");
  EXPECT_EQ(config.layers[1].layer_type, "windows");
  EXPECT_EQ(number_of(config.layers[1], "grid_height"), 14);
  EXPECT_EQ(number_of(config.layers[1], "grid_width"), 14);
  EXPECT_EQ(config.layers[2].layer_type, "global");
  EXPECT_EQ(number_of(config.layers[2], "grid_height"), 64);
  EXPECT_EQ(number_of(config.layers[2], "head_dim"), 768 / 12);

  const HfConfig whole = read_picture_config(R"("model_type": "sam_vision_model", "window_size": 0)");
  ASSERT_EQ(whole.layers.size(), 2u) << "no windows";
  EXPECT_EQ(whole.layers[1].layer_type, "global");
  const HfConfig smallest = read_picture_config(R"("model_type": "sam_vision_model", "window_size": 1)");
  ASSERT_EQ(smallest.layers.size(), 3u);
  EXPECT_EQ(smallest.layers[1].layer_type, "windows");
  EXPECT_EQ(number_of(smallest.layers[1], "grid_width"), 1);
}

// transformers llama4: Llama4VisionRotaryEmbedding rotates neighbouring coordinates, the first half of the pairs by
// column + 1 and the second by row + 1, with theta^(-2i / (head_dim / 2)) in each half; the table of patches has a row for
// the class token. The sizes are those of Llama 4 Scout's vision_config.
TEST(HfPictures, Llama4HasATableAndRotatesByColumnAndRow) {
  const HfConfig config = read_picture_config(
      R"("model_type": "llama4_vision_model", "hidden_size": 1408, "num_attention_heads": 16, "image_size": 336,
         "patch_size": 14, "rope_theta": 10000)");
  ASSERT_EQ(config.layers.size(), 2u);
  EXPECT_EQ(config.layers[0].scheme, "learned");
  EXPECT_EQ(number_of(config.layers[0], "max_positions"), 24 * 24 + 1);
  EXPECT_EQ(number_of(config.layers[0], "dim"), 1408);
  const LayerEncoding& layer = config.layers[1];
  EXPECT_EQ(layer.scheme, "rope");
  const Encoding rope(layer.scheme, layer.arguments);
  const Rotation& rotation = rope.rotation();
  EXPECT_EQ(rotation.pairing, Pairing::interleaved);
  ASSERT_EQ(rotation.pairs(), 44);
  EXPECT_EQ(rotation.axes, 2);
  for (std::size_t i = 0; i < 44; ++i) {
    EXPECT_EQ(rotation.axis[i], i / 22) << i;
    EXPECT_NEAR(rotation.inv_freq[i], std::pow(10000.0, -static_cast<double>(i % 22) / 22), 1e-12) << i;
  }
}

TEST(HfPictures, Llama4NeedsHeadsThatAreFourTimesAWholeNumber) {
  EXPECT_THROW(
      read_picture_config(R"("model_type": "llama4_vision_model", "hidden_size": 96, "num_attention_heads": 16)"),
      Error);
}

}  // namespace
}  // namespace locus::io
