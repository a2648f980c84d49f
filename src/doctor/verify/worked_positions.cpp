// SPDX-License-Identifier: Apache-2.0
// The ids of decoding, and ids beyond a table.
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
  return checks;
}

}  // namespace locus::doctor
