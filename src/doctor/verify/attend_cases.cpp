// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/attend_cases.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "doctor/verify/index.h"
#include "locus/error.h"
#include "locus/positions.h"

namespace locus::doctor {
namespace {

std::vector<std::int64_t> counted(std::int64_t first, std::int64_t end) {
  std::vector<std::int64_t> all(at(std::max<std::int64_t>(end - first, 0)));
  std::iota(all.begin(), all.end(), first);
  return all;
}

class AttendCases {
 public:
  AttendCases(const Encoding& encoding, const VerifyOptions& options)
      : encoding_(encoding), options_(options), shape_(attend_shape(encoding)), random_(options.seed) {}

  std::vector<AttendCase> all() {
    small_ones();
    packed_and_padded();
    long_ones();
    forks();
    groups();
    far_ones();
    if (options_.window > 0) windows(options_.window);
    if (options_.thorough) thorough_ones();
    return std::move(cases_);
  }

 private:
  // True if the encoding and the function accept these ids.
  bool served(const std::vector<Position>& ids) const {
    const auto [least, most] = std::minmax_element(ids.begin(), ids.end());
    const PositionRange range = encoding_.position_range();
    if (*least < range.first || *most > range.last) return false;
    if (options_.max_length && (*least < 0 || *most >= *options_.max_length)) return false;
    const auto* keys = std::get_if<RelativeKeys>(&encoding_.term());
    if (keys == nullptr || !keys->index) return true;
    try {
      keys->index(*most, *least);
      if (!options_.causal) keys->index(*least, *most);
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  Text random_text(std::int64_t tokens, const HeadCounts& heads) {
    const std::int64_t row = heads.heads * shape_.head_dim, key_row = heads.key_heads * shape_.head_dim;
    Text text{random_.elements(tokens * row), random_.elements(tokens * key_row), random_.elements(tokens * key_row)};
    for (double& x : text.query) x *= shape_.query_size;
    return text;
  }

  void add(AttendCase one, const HeadCounts* heads = nullptr) {
    if (!served(one.ids)) return;
    const HeadCounts& counts = heads == nullptr ? shape_.heads[0] : *heads;
    one.heads = counts.heads;
    one.key_heads = counts.key_heads;
    const std::int64_t row = counts.heads * shape_.head_dim, key_row = counts.key_heads * shape_.head_dim;
    one.texts.push_back(random_text(one.tokens(), counts));
    std::int64_t shared = 0;
    for (const AttendStep& step : one.steps) {
      if (step.forked_from >= 0) shared = step.cached;
    }
    if (std::any_of(one.steps.begin(), one.steps.end(), [](const AttendStep& s) { return s.branch == 1; })) {
      Text other = random_text(one.tokens(), counts);
      std::copy_n(one.texts[0].query.begin(), shared * row, other.query.begin());
      std::copy_n(one.texts[0].key.begin(), shared * key_row, other.key.begin());
      std::copy_n(one.texts[0].value.begin(), shared * key_row, other.value.begin());
      one.texts.push_back(std::move(other));
    }
    // For each key, the branch that wrote its slot last, step by step.
    std::vector<std::size_t> writer(one.ids.size(), 0);
    for (AttendStep& step : one.steps) {
      for (std::int64_t key = step.cached; key < step.keys; ++key) writer[at(key)] = step.branch;
      step.shared = shared;
      for (std::int64_t key = 0; shared > 0 && key < step.keys; ++key) {
        step.overwritten.push_back(key >= shared && writer[at(key)] != step.branch ? 1 : 0);
      }
      for (const std::int64_t query : step.queries) {
        const auto from = one.texts[step.branch].query.begin() + query * row;
        step.asked_query.insert(step.asked_query.end(), from, from + row);
        step.query_ids.push_back(one.ids[at(query)]);
      }
      choose_rows(one, step);
      step.sequence += 2 * static_cast<std::int64_t>(cases_.size());
      if (step.forked_from >= 0) step.forked_from += 2 * static_cast<std::int64_t>(cases_.size());
    }
    cases_.push_back(std::move(one));
  }

  // Selects all rows if there are few; otherwise the first, the last and those at page edges. Padding is not compared.
  static void choose_rows(const AttendCase& one, AttendStep& step) {
    const auto count = static_cast<std::int64_t>(step.queries.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t token = step.queries[at(i)];
      if (!one.mask.empty() && one.mask[at(token)] == 0) continue;
      const bool edge = token % 16 <= 1 || token % 16 == 15;
      if (count <= 40 || i < 8 || i >= count - 4 || edge) step.rows.push_back(i);
    }
  }

  // Consecutive calls with chunks of these lengths.
  static std::vector<AttendStep> chunks(const std::vector<std::int64_t>& lengths) {
    std::vector<AttendStep> steps;
    std::int64_t first = 0;
    for (const std::int64_t length : lengths) {
      steps.push_back({.queries = counted(first, first + length), .keys = first + length, .cached = first});
      first += length;
    }
    return steps;
  }
  static std::vector<AttendStep> whole(std::int64_t tokens) { return chunks({tokens}); }

  void small_ones() {
    const PositionRange range = encoding_.position_range();
    const std::int64_t tokens = std::min<std::int64_t>(12, range.last - std::max<Position>(range.first, 0) + 1);
    const std::vector<Position> plain = consecutive(tokens);
    add({.name = "prefill = exact", .ids = plain, .steps = whole(tokens)});
    const std::int64_t part = std::max<std::int64_t>(1, tokens * 5 / 12);
    add({.name = "chunked = exact", .ids = plain, .steps = chunks({part, part, tokens - 2 * part})});
    add({.name = "one token at a time = exact",
         .ids = plain,
         .steps = chunks(std::vector<std::int64_t>(at(tokens), 1))});
    add({.name = "positions from 100 = exact", .ids = consecutive(12, 100), .steps = chunks({9, 1, 1, 1})});
    add({.name = "ids with gaps = exact",
         .ids = {0, 1, 2, 5, 6, 9, 10, 11, 14, 15, 18, 19},
         .steps = chunks({10, 1, 1})});
    add({.name = "positions below 0 = exact",
         .ids = {-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6},
         .steps = chunks({5, 6, 1, 1, 1})});
  }

  void packed_and_padded() {
    const auto boundaries = [](const std::vector<std::int64_t>& lengths) {
      std::vector<std::int64_t> all{0};
      for (const std::int64_t length : lengths) all.push_back(all.back() + length);
      return all;
    };
    const auto packed = [&](const std::string& name, const std::vector<std::int64_t>& lengths,
                            const std::vector<Position>& starts) {
      AttendCase one{.name = name, .ids = {}, .steps = {}, .boundaries = boundaries(lengths)};
      for (std::size_t d = 0; d < lengths.size(); ++d) {
        for (std::int64_t t = 0; t < lengths[d]; ++t) one.ids.push_back((starts.empty() ? 0 : starts[d]) + t);
      }
      AttendStep step{.queries = counted(0, one.tokens()), .keys = one.tokens(), .query_boundaries = one.boundaries};
      one.steps.push_back(step);
      add(one);
      // One more token in each document: the queries are the last tokens.
      AttendStep decode{.queries = {}, .keys = one.tokens(), .query_boundaries = {0}};
      for (std::size_t d = 0; d < lengths.size(); ++d) {
        decode.queries.push_back(one.boundaries[d + 1] - 1);
        decode.query_boundaries.push_back(static_cast<std::int64_t>(d) + 1);
      }
      one.name.insert(one.name.find(" = "), ", decoded");
      one.steps = {decode};
      add(one);
    };
    packed("packed = exact", {5, 1, 6}, {});
    packed("long documents packed = exact", {17, 3, 70, 33, 16}, {});
    packed("packed from other positions = exact", {6, 9, 4, 11}, {0, 100, 37, 513});

    const auto padded = [&](const std::string& name, std::int64_t length, std::int64_t width, bool left) {
      const std::vector<std::int64_t> lengths{length};
      const positions::Padded pad =
          left ? positions::left_padded(lengths, width) : positions::right_padded(lengths, width);
      add({.name = name, .ids = pad.ids.ids, .steps = whole(width), .mask = pad.mask});
    };
    padded("left-padded = exact", 9, 12, true);
    padded("right-padded = exact", 9, 12, false);
    padded("left-padded by more than a page = exact", 41, 110, true);
    padded("right-padded by more than a page = exact", 41, 110, false);
    positions::Padded left = positions::left_padded(std::vector<std::int64_t>{30}, 50);
    AttendCase decode{.name = "left-padded, then decoded = exact", .ids = left.ids.ids, .steps = {}, .mask = left.mask};
    decode.steps = chunks({46, 1, 1, 1, 1});
    add(decode);
  }

  void long_ones() {
    add({.name = "prefill of 280 tokens = exact", .ids = consecutive(280), .steps = whole(280)});
    add({.name = "chunks of 16, 64 and 100 = exact",
         .ids = consecutive(230),
         .steps = chunks({16, 64, 100, 1, 1, 32, 16})});
    std::vector<std::int64_t> steps;
    std::int64_t done = 0;
    for (const std::int64_t page : {16, 32, 64, 128, 256}) {
      steps.push_back(page - 2 - done);
      for (int i = 0; i < 5; ++i) steps.push_back(1);
      done = page + 3;
    }
    add({.name = "decoded across pages = exact", .ids = consecutive(done), .steps = chunks(steps)});
    // Distances of thousands between few tokens, and over as many keys.
    std::vector<Position> sparse;
    for (Position distance = 8192; distance >= 8; distance /= 2) {
      for (const Position more : {1, 0, -1}) sparse.push_back(9000 - distance - more);
      sparse.push_back(9000 - distance * 3 / 4);
    }
    for (Position id = 8995; id <= 9003; ++id) sparse.push_back(id);
    const auto few = static_cast<std::int64_t>(sparse.size());
    add({.name = "keys thousands of positions away = exact", .ids = sparse, .steps = chunks({few - 3, 1, 1, 1})});
    add({.name = "4,200 keys = exact", .ids = consecutive(4200), .steps = last_of(4200)});
    add({.name = "1,100 keys = exact", .ids = consecutive(1100), .steps = last_of(1100)});
  }

  // The last few tokens of a long text, as a chunk and one by one. All earlier keys come in one call.
  static std::vector<AttendStep> last_of(std::int64_t tokens) {
    std::vector<AttendStep> steps;
    steps.push_back({.queries = counted(tokens - 5, tokens - 2), .keys = tokens - 2, .cached = 0});
    for (std::int64_t t = tokens - 2; t < tokens; ++t) {
      steps.push_back({.queries = {t}, .keys = t + 1, .cached = t});
    }
    return steps;
  }

  void forks() {
    for (const std::int64_t prefix : {20, 32}) {
      AttendCase one{.name = "forked after " + std::to_string(prefix) + " tokens = exact",
                     .ids = consecutive(prefix + 6),
                     .steps = chunks({prefix, 1, 1})};
      const auto step = [&](std::size_t branch, std::int64_t token, std::int64_t from) {
        one.steps.push_back({.queries = {token},
                             .keys = token + 1,
                             .branch = branch,
                             .sequence = static_cast<std::int64_t>(branch),
                             .cached = token,
                             .forked_from = from,
                             .forked = branch == 1});
      };
      step(1, prefix, 0);
      for (std::int64_t t = prefix + 1; t < prefix + 4; ++t) step(1, t, -1);
      step(0, prefix + 2, -1);
      step(0, prefix + 3, -1);
      step(1, prefix + 4, -1);
      step(1, prefix + 5, -1);
      add(one);
    }
  }

  void groups() {
    for (std::size_t i = 1; i < shape_.heads.size(); ++i) {
      const HeadCounts& heads = shape_.heads[i];
      add({.name = std::to_string(heads.heads) + " heads, " + std::to_string(heads.key_heads) + " key heads = exact",
           .ids = consecutive(19),
           .steps = chunks({16, 1, 1, 1})},
          &heads);
    }
  }

  void far_ones() {
    for (const int bits : {7, 8, 11, 12, 15, 16, 20, 24, 31}) {
      const Position edge = Position{1} << bits;
      const Position first = bits == 31 ? edge - 9 : edge - 5;
      add({.name = "positions around 2^" + std::to_string(bits) + " = exact",
           .ids = consecutive(9, first),
           .steps = chunks({6, 1, 1, 1})});
    }
    add({.name = "positions from 65521 = exact", .ids = consecutive(12, 65'521), .steps = whole(12)});
    // An id that wraps has a different distance from ids near 0. At such distances, numbers added to scores exceed
    // narrow types, and right code returns NaN.
    if (encoding_.site() != Site::query_key) return;
    std::vector<Position> both = consecutive(4);
    for (const Position id : consecutive(5, max_position - 4)) both.push_back(id);
    add({.name = "positions near 0 and 2^31 - 1 together = exact", .ids = both, .steps = chunks({6, 1, 1, 1})});
  }

  void windows(std::int64_t window) {
    const std::int64_t tokens = std::min<std::int64_t>(window, 300) + 20;
    add({.name = "prefill beyond the window = exact", .ids = consecutive(tokens), .steps = whole(tokens)});
    add({.name = "decoded beyond the window = exact", .ids = consecutive(window + 6), .steps = last_of(window + 6)});
    std::vector<Position> gaps;
    for (Position id = 0; id < 24; ++id) gaps.push_back(id * std::max<Position>(1, window / 8));
    add({.name = "ids with gaps across the window = exact", .ids = gaps, .steps = chunks({22, 1, 1})});
  }

  void thorough_ones() {
    for (const std::int64_t tokens : {97, 520, 1100}) {
      for (const HeadCounts& heads : shape_.heads) {
        const std::string shape = std::to_string(heads.heads) + "/" + std::to_string(heads.key_heads) + " heads";
        add({.name = "prefill of " + std::to_string(tokens) + " tokens, " + shape + " = exact",
             .ids = consecutive(tokens),
             .steps = whole(tokens)},
            &heads);
        std::vector<std::int64_t> lengths{tokens / 2};
        for (std::int64_t done = tokens / 2; done + 37 < tokens; done += 37) lengths.push_back(37);
        for (int i = 0; i < 12; ++i) lengths.push_back(1);
        const std::int64_t all = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
        add({.name = "chunks of 37 over " + std::to_string(tokens) + " tokens, " + shape + " = exact",
             .ids = consecutive(all),
             .steps = chunks(lengths)},
            &heads);
      }
    }
    for (int bits = 7; bits <= 30; ++bits) {
      add({.name = "positions around 2^" + std::to_string(bits) + ", longer = exact",
           .ids = consecutive(60, (Position{1} << bits) - 30),
           .steps = chunks({20, 1, 1, 1, 17, 1, 1, 1, 17})});
    }
    add({.name = "9,000 keys = exact", .ids = consecutive(9000), .steps = last_of(9000)});
  }

  const Encoding& encoding_;
  const VerifyOptions& options_;
  const AttendShape shape_;
  RandomNumbers random_;
  std::vector<AttendCase> cases_;
};

}  // namespace

std::int64_t AttendCase::cost() const {
  std::int64_t sum = 0;
  for (const AttendStep& step : steps) sum += (static_cast<std::int64_t>(step.rows.size()) + 4) * step.keys;
  return sum;
}

AttendShape attend_shape(const Encoding& encoding) {
  AttendShape shape;
  std::int64_t heads = 0;
  if (const auto* rotation = std::get_if<Rotation>(&encoding.term())) shape.head_dim = rotation->head_dim;
  if (const auto* bias = std::get_if<ScoreBias>(&encoding.term())) {
    heads = bias->heads;
    if (bias->softmax_scale) {
      const double usual = 1 / std::sqrt(static_cast<double>(shape.head_dim));
      shape.query_size = std::exp2(std::round(std::log2(usual / *bias->softmax_scale)));
    }
  }
  if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) {
    heads = keys->heads;
    shape.head_dim = keys->head_dim;
  }
  if (heads == 0) {
    shape.heads = {{4, 2}, {8, 2}, {6, 3}, {5, 1}, {3, 3}, {12, 4}};
    return shape;
  }
  // The encoding fixes the heads: try every number of key heads that divides them, the most common first.
  shape.heads = {{heads, heads % 2 == 0 ? heads / 2 : heads}};
  for (std::int64_t key_heads = 1; key_heads <= heads; ++key_heads) {
    if (heads % key_heads == 0 && key_heads != shape.heads[0].key_heads && shape.heads.size() < 6) {
      shape.heads.push_back({heads, key_heads});
    }
  }
  return shape;
}

std::vector<AttendCase> attend_cases(const Encoding& encoding, const VerifyOptions& options) {
  return AttendCases(encoding, options).all();
}

}  // namespace locus::doctor
