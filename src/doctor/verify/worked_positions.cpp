// SPDX-License-Identifier: Apache-2.0
// The ids of decoding, ids of text with images in parts, and ids beyond a table.
#include "doctor/verify/worked.h"
#include "locus/add.h"
#include "locus/error.h"

namespace locus::doctor {

Checks decode_goes_on(const std::function<PositionIds(std::int64_t, std::int64_t)>& decode) {
  const PositionIds ids = decode(12, 4);
  double wrong = ids.ids.size() == 4 ? 0 : 1;
  std::string note = "ids";
  for (std::size_t i = 0; i < ids.ids.size(); ++i) {
    note += ' ';
    note += std::to_string(ids.ids[i]);
    wrong += ids.ids[i] == 12 + static_cast<Position>(i) ? 0 : 1;
  }
  return {exactly("decode ids after a prefix of 12 are 12, 13, 14, 15", "positions", wrong, 0, note)};
}

// Two tokens of text, a picture of 2 x 3, a video of 2 frames of 1 x 2 that last 3 ids each, two tokens of sound, text.
Checks pictures_go_on() {
  using namespace positions;
  const std::vector<Segment> all{positions::Text{2}, Vision{1, 2, 3}, Vision{2, 1, 2, 3.0}, Audio{2},
                                 positions::Text{2}};
  const Multimodal whole = multimodal(all);
  const std::vector<Position> written{0, 1, 2, 2, 2, 2, 2, 2, 5, 5, 8, 8, 9, 10, 11, 12,   // time
                                      0, 1, 2, 2, 2, 3, 3, 3, 5, 5, 5, 5, 9, 10, 11, 12,   // height
                                      0, 1, 2, 3, 4, 2, 3, 4, 5, 6, 5, 6, 9, 10, 11, 12};  // width
  double wrong = whole.ids.ids == written && whole.decode_delta == -3 ? 0 : 1;
  Checks checks = {exactly("text, picture, video and sound have the ids written by hand", "positions", wrong, 0, "")};

  // Chunks that end inside a picture, the rest as another turn, and decoding after it.
  wrong = 0;
  const std::vector<Segment> first(all.begin(), all.begin() + 3), rest(all.begin() + 3, all.end());
  const Multimodal turn = multimodal(first);
  const MultimodalPrefix before{turn.ids.tokens, turn.decode_delta};
  const Multimodal next = multimodal_after(before, rest);
  wrong += next.ids.ids == chunk(whole.ids, 12, 4).ids && next.decode_delta == whole.decode_delta ? 0 : 1;
  for (const std::int64_t size : {1, 5}) {
    for (std::int64_t at = 0; at < 12; at += size) {
      const std::int64_t count = std::min<std::int64_t>(size, 12 - at);
      wrong += chunk(turn.ids, at, count).ids == chunk(whole.ids, at, count).ids ? 0 : 1;
    }
  }
  wrong += multimodal_decode({14, whole.decode_delta}, 2).ids == chunk(whole.ids, 14, 2).ids ? 0 : 1;
  checks.push_back(
      exactly("pictures in chunks, in turns and decoded have the ids of the whole", "positions", wrong, 0, ""));

  // 4 frames of one token that last 2 ids each and 6 tokens of sound, in pieces of 4 ids, after a token of text; then
  // another turn, and decoding after it.
  const VideoWithSound heard{.video = {4, 1, 1, 2.0}, .audio = {6}, .ids_per_chunk = 4};
  const Multimodal film = multimodal(std::vector<Segment>{positions::Text{1}, heard, positions::Text{2}});
  const Multimodal before_text = multimodal(std::vector<Segment>{positions::Text{1}, heard});
  const MultimodalPrefix seen{before_text.ids.tokens, before_text.decode_delta};
  const auto times = film.ids.axis(0);
  wrong = std::vector<Position>(times.begin(), times.end()) ==
                  std::vector<Position>{0, 1, 1, 2, 4, 2, 3, 4, 5, 6, 8, 6, 7, 8, 8, 9, 10}
              ? 0
              : 1;
  wrong +=
      multimodal_after(seen, std::vector<Segment>{positions::Text{2}}).ids.ids == chunk(film.ids, 15, 2).ids ? 0 : 1;
  wrong += multimodal_decode(seen, 2).ids == chunk(film.ids, 15, 2).ids ? 0 : 1;
  checks.push_back(exactly("a video with its sound has the ids written by hand, in turns and decoded too", "positions",
                           wrong, 0, ""));

  // Drafts after the sound: a root and two children; the accepted path has the ids of decoding.
  const std::vector<std::int64_t> parents{-1, 0, 0};
  const PositionIds drafts = multimodal_tree(parents, {14, whole.decode_delta});
  const bool depths = drafts.ids == std::vector<Position>{11, 12, 12, 11, 12, 12, 11, 12, 12};
  const bool path = accepted_path(parents, 2) == std::vector<std::int64_t>{0, 2};
  checks.push_back(
      exactly("drafts after pictures have the ids of decoding", "positions", depths && path ? 0 : 1, 0, ""));
  return checks;
}

Checks rows_beyond_the_table_are_refused(const std::function<void(Position id)>& add) {
  double wrong = 0;
  std::string message;
  for (const Position id : {Position{-1}, Position{0}, Position{7}, Position{8}, max_position}) {
    bool refused = false;
    try {
      add(id);
    } catch (const Error& error) {
      refused = true;
      message = error.what();
    }
    wrong += refused == (id < 0 || id > 7) ? 0 : 1;
  }
  return {exactly("a learned table of 8 rows serves 0 to 7 and refuses the rest", "learned", wrong, 0, message)};
}

Checks worked_positions() {
  const Encoding learned("learned", {{"max_positions", 8}, {"dim", 4}});
  Checks checks = decode_goes_on(positions::decode);
  const Checks more = rows_beyond_the_table_are_refused([&](Position id) {
    std::vector<float> hidden(4);
    const HiddenView view{.data = hidden.data(), .tokens = 1, .dim = 4, .batch_stride = 4, .token_stride = 4};
    add(learned, view, PositionIds{1, 1, 1, {id}});
  });
  checks.insert(checks.end(), more.begin(), more.end());
  const Checks pictures = pictures_go_on();
  checks.insert(checks.end(), pictures.begin(), pictures.end());
  return checks;
}

}  // namespace locus::doctor
