// SPDX-License-Identifier: Apache-2.0
#include "support/story_model.h"

#include "support/paths.h"

namespace locus::testing {

std::vector<StoryModel> story_models() {
  const std::filesystem::path ours = source_dir() / "tests" / "golden" / "story_model";
  std::vector<StoryModel> models{{.name = "Ours",
                                  .model = ours / "model.bin",
                                  .tokenizer = ours / "tokenizer.bin",
                                  .told = ours / "greedy.txt",
                                  .trained_length = 256,
                                  .layers = 3,
                                  .heads = 6,
                                  .kv_heads = 3,
                                  .head_dim = 8,
                                  .cut = " played",
                                  .sentence = "in the garden",
                                  .stop = " garden."}};
  const std::filesystem::path published = source_dir().parent_path() / "shared" / "models" / "stories260K";
  if (std::filesystem::exists(published / "stories260K.bin")) {
    models.push_back({.name = "Stories260K",
                      .model = published / "stories260K.bin",
                      .tokenizer = published / "tok512.bin",
                      .told = published / "greedy-200.txt",
                      .trained_length = 512,
                      .layers = 5,
                      .heads = 8,
                      .kv_heads = 4,
                      .head_dim = 8,
                      .cut = " Lily",
                      .sentence = "in the park",
                      .stop = "."});
  }
  return models;
}

std::string told_text(const StoryModel& model) {
  std::string text = text_of(model.told);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace locus::testing
