// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/equivalences.h"

#include <algorithm>
#include <string>

#include "doctor/verify/attention_error.h"
#include "doctor/verify/comparison.h"
#include "doctor/verify/differences.h"
#include "doctor/verify/neighbour_paths.h"
#include "doctor/verify/token_paths.h"
#include "doctor/verify/worst_checks.h"
#include "locus/doctor/example_encodings.h"
#include "locus/error.h"

namespace locus {
namespace {

using namespace doctor;

constexpr std::int64_t several_tiles = 136;  // more than two tiles of keys
constexpr std::int64_t several_pages = 280;  // more than one page of any common size
constexpr Position usual_shift = 997;

// Rows from neighbours: a token alone is not what it is among them, so that cutting changes it.
bool from_neighbours(const Encoding& encoding) {
  const auto* hidden = std::get_if<HiddenRows>(&encoding.term());
  return hidden != nullptr && hidden->neighbours;
}

// Returns how many tokens fit the encoding's range, with a third of it left for shifts; a multiple of eight if
// possible.
std::int64_t fitting_tokens(const Encoding& encoding, std::int64_t wanted) {
  const PositionRange range = encoding.position_range();
  const Position first = std::max<Position>(range.first, 0);
  std::int64_t tokens = std::min<std::int64_t>(wanted, std::max<std::int64_t>(1, (range.last - first + 1) * 2 / 3));
  if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) {
    tokens = tokens_in_reach(*keys, tokens);
    // The reference projects a sinusoid for each pair of tokens, so wide models get fewer tokens.
    const auto weights = static_cast<std::int64_t>(keys->w_r.data.size());
    while (tokens > 8 && weights * tokens * tokens > 1'000'000'000) --tokens;
  }
  return tokens >= 8 ? tokens / 8 * 8 : tokens;
}

Sample make_sample(const Encoding& encoding, std::int64_t wanted, RandomNumbers& random) {
  const std::int64_t tokens = fitting_tokens(encoding, wanted);
  std::int64_t key_heads = 1 + random.up_to(1), heads = key_heads * (1 + random.up_to(2));
  std::int64_t head_dim = 8 * (1 + random.up_to(4));
  const auto group = [&] {  // the encoding fixes the heads; any divisor may be the number of key heads
    do key_heads = 1 + random.up_to(heads - 1);
    while (heads % key_heads != 0);
  };
  if (const auto* rotation = std::get_if<Rotation>(&encoding.term())) {
    head_dim = rotation->head_dim;
    if (rotation->mix) {
      heads *= rotation->mix->heads;
      key_heads = rotation->mix->heads;
    }
  }
  if (const auto* bias = std::get_if<ScoreBias>(&encoding.term())) {
    heads = bias->heads;
    group();
  }
  if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) {
    heads = keys->heads;
    head_dim = keys->head_dim;
    group();
  }
  // If the numbers change with the length, half of the tokens come before that change.
  Position start = std::max<Position>(encoding.position_range().first, 0);
  if (const auto change = first_change(encoding)) start = std::max<Position>(*change - 1 - tokens / 2, 0);
  const Encoding table = encoding.at_length(start + tokens);
  return Sample(table, {tokens, heads, key_heads, head_dim}, start, random);
}

std::string shape_text(const Sample& sample) {
  return std::to_string(sample.tokens()) + " tokens, " + std::to_string(sample.heads()) + "/" +
         std::to_string(sample.key_heads()) + " heads of " + std::to_string(sample.head_dim());
}

// All checks of one shape in one type.
class Equivalences {
 public:
  Equivalences(WorstChecks& worst, const Sample& sample, const Sample::Exact& exact, ElementType type,
               RandomNumbers& random)
      : worst_(worst),
        sample_(sample),
        exact_(exact),
        type_(type),
        suffix_(" (" + std::string(name_of(type)) + ")"),
        error_(sample, sample.encoding(), exact, type),
        whole_(whole(sample, type)),
        random_(random) {}

  void run() {
    const auto exactly = [&](std::int64_t token, std::int64_t head, double want) {
      return error_.of_everything(token, head, want);
    };
    hold("prefill = exact reference", whole_, exact_.output, exactly, "the kernel itself, not how tokens were split");
    if (from_neighbours(sample_.encoding())) return verify_neighbours(worst_, sample_, type_);
    const std::int64_t n = sample_.tokens();
    same("chunked prefill = whole", chunked(sample_, type_, n / 2 + 1, n / 4 + 1),
         "the ids of a chunk do not continue the cached prefix");
    same("one token at a time = whole", chunked(sample_, type_, 1, 1), "off by one in decode");
    same("left-padded = whole", padded(sample_, type_, true), "ids count the padding, or the mask lets it through");
    same("right-padded = whole", padded(sample_, type_, false), "the mask lets padding through");
    same("packed = whole", packed(sample_, type_), "ids are not reset at the start of a document");
    const auto* keys = std::get_if<RelativeKeys>(&sample_.encoding().term());
    const bool counted = keys != nullptr && keys->counted;
    if (n > 1 && !counted) {  // a count is over all keys before the query, also a draft's siblings
      same("drafts verified as a tree = whole", drafted(sample_, type_),
           "a draft has the id of its index instead of its depth, or sees its siblings");
    }
    same("forked from a shared prefix = whole", forked(sample_, type_), "sequences write into shared pages");
    same("a random history of the cache = whole", with_history(sample_, type_, random_),
         "pages, sharing or moves change what a sequence holds");
    // A shard does not know what the keys of the others count.
    if (ranks_for(sample_) > 0 && !counted) {
      for (const auto& [kind, name] : {std::pair{positions::ShardKind::contiguous, "sharded contiguous"},
                                       std::pair{positions::ShardKind::striped, "sharded striped"},
                                       std::pair{positions::ShardKind::zigzag, "sharded zigzag"}}) {
        const auto bound = [&](std::int64_t token, std::int64_t head, double want) {
          return 2 * error_.of_attention(token, head, want) + error_.of_merge(token, head);
        };
        hold(std::string(name) + ", merged = whole", sharded(sample_, type_, kind), whole_.output, bound,
             "a shard counts its keys from 0 instead of from their positions");
      }
    }
  }

  void shifted(Position shift, const Sample::Exact& moved) {
    // Keys are rounded at the place where they were stored and when they are turned, and angles of both count.
    if (sample_.encoding().site() == Site::query_key && sample_.tokens() > 1 && keys_move(sample_.encoding())) {
      const AttentionError there(sample_, sample_.encoding(), moved, type_);
      const auto twice = [&](std::int64_t token, std::int64_t head, double want) {
        return 2 * error_.of_everything(token, head, want) + there.of_everything(token, head, want) +
               error_.of_angles(token, head, sample_.id(token)) +
               there.of_angles(token, head, sample_.id(token) + shift);
      };
      hold("stored elsewhere in the cache and moved = whole", moved_back(sample_, type_, shift, random_), whole_.output,
           twice, "moved keys are not turned by the difference of their positions");
    }
    const PathResult result = whole(sample_, type_, shift);
    if (!sample_.encoding().claims().has(Claim::relative)) {
      return expect_difference(worst_, sample_, type_,
                               {"shifted differs from whole" + suffix_, "shifted is what theory predicts" + suffix_},
                               {sample_.encoding(), moved, result}, {sample_.encoding(), exact_, whole_});
    }
    const AttentionError error(sample_, sample_.encoding(), moved, type_);
    const auto bound = [&](std::int64_t token, std::int64_t head, double want) {
      return error_.of_everything(token, head, want) + error.of_everything(token, head, want) +
             error_.of_angles(token, head, sample_.id(token)) + error.of_angles(token, head, sample_.id(token) + shift);
    };
    hold("shifted = whole", result, whole_.output, bound, "the numbers depend on more than the difference of ids");
  }

 private:
  using Bound = std::function<double(std::int64_t token, std::int64_t head, double want)>;

  // Inputs have the same bits on every path, so only attention and its rounding may differ.
  void same(const std::string& name, const PathResult& result, const std::string& cause) {
    hold(
        name, result, whole_.output,
        [&](std::int64_t token, std::int64_t head, double want) { return 2 * error_.of_attention(token, head, want); },
        cause);
  }

  void hold(const std::string& name, const PathResult& result, const std::vector<double>& want, const Bound& bound,
            const std::string& cause) {
    std::vector<double> expected;
    const std::int64_t row = sample_.heads() * sample_.head_dim();
    for (const std::int64_t token : result.tokens) {
      expected.insert(expected.end(), want.begin() + token * row, want.begin() + (token + 1) * row);
    }
    const auto token_of = [&](const Entry& entry) { return result.tokens[static_cast<std::size_t>(entry.row)]; };
    const Comparison comparison =
        compare(result.output, expected, sample_.heads(), sample_.head_dim(),
                [&](const Entry& entry, double value) { return bound(token_of(entry), entry.head, value); });
    const std::int64_t token = comparison.first ? token_of(*comparison.first) : 0;
    const std::string where = divergence(comparison, token, sample_.id(token), cause);
    worst_.at_most(name + suffix_, comparison.value, comparison.bound,
                   "worst of " + shape_text(sample_) + (where.empty() ? "" : "; " + where));
  }

  WorstChecks& worst_;
  const Sample& sample_;
  const Sample::Exact& exact_;
  ElementType type_;
  std::string suffix_;
  AttentionError error_;
  PathResult whole_;
  RandomNumbers& random_;
};

// Returns how far the sample can be shifted. The distance is odd, because grids with rows of even length keep their
// differences otherwise.
Position shift_of(const Sample& sample) {
  const Position room = sample.encoding().position_range(ElementType::float16).last - sample.id(sample.tokens() - 1);
  const Position shift = std::min(usual_shift, room);
  return shift > 1 && shift % 2 == 0 ? shift - 1 : shift;
}

bool one_axis(const Encoding& encoding) {
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  return rotation == nullptr || rotation->axes == 1;
}

// True if vectors are not changed and the term depends on the difference of ids: a shift then changes neither the exact
// result nor the sizes of its terms. (A rotation keeps the result, but not the sizes of the terms.)
bool sees_differences_only(const Encoding& encoding) {
  const auto* bias = std::get_if<ScoreBias>(&encoding.term());
  const bool by_difference = bias != nullptr ? bias->toeplitz : encoding.site() != Site::query_key;
  return encoding.claims().has(Claim::relative) && by_difference;
}

}  // namespace

std::vector<Check> verify_equivalences(const Encoding& encoding, const EquivalenceOptions& options) {
  require(options.shapes >= 1 && options.shapes <= 1000, "verify: shapes must be 1 to 1000, got ", options.shapes);
  RandomNumbers random(options.seed);
  WorstChecks worst{std::string(encoding.scheme().name)};
  const int shapes = options.thorough ? 8 * options.shapes : options.shapes;
  for (int i = 0; i < shapes; ++i) {
    const bool large = (i == 0 && shapes > 1) || (options.thorough && i % 8 == 7);
    const std::int64_t long_one = options.thorough ? several_pages : several_tiles;
    const Sample sample = make_sample(encoding, large ? long_one : 8 * (1 + random.up_to(3)), random);
    const Sample::Exact exact = sample.exact(sample.encoding());
    const Position shift = shift_of(sample);
    const Sample::Exact moved =
        shift > 0 && !sees_differences_only(encoding) ? sample.exact(sample.encoding(), shift) : exact;
    const bool with_costly_ones = i == 1 || options.shapes == 1;  // expensive checks run once, on few tokens
    for (const ElementType type : {ElementType::float32, ElementType::bfloat16, ElementType::float16}) {
      Equivalences checks(worst, sample, exact, type, random);
      checks.run();
      if (shift > 0) checks.shifted(shift, moved);
      if (!with_costly_ones) continue;
      if (encoding.length_dependent() && one_axis(encoding)) verify_growing(worst, sample, type);
      if (!encoding.claims().has(Claim::causal_only) && !from_neighbours(encoding))
        verify_bidirectional(worst, sample, type, exact);
    }
  }
  return worst.checks();
}

}  // namespace locus
