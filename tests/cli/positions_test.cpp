// SPDX-License-Identifier: Apache-2.0
// `locus positions`: every kind as text, as JSON and as a file.
#include <cmath>

#include "cli/locus_command.h"

namespace locus::testing {
namespace {

struct Kind {
  std::string line;
  std::string text;
  Json ids;
};

// Every row is worked out by hand.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"prefill 3 --start 100", "100,101,102\n", {100, 101, 102}},
      {"decode 12 3", "12,13,14\n", {12, 13, 14}},
      {"left-padded 1,3", "0,0,0\n0,1,2\n", Json::parse("[[0, 0, 0], [0, 1, 2]]")},
      {"left-padded 1,2 --width 3 --pad-id -1", "-1,-1,0\n-1,0,1\n", Json::parse("[[-1, -1, 0], [-1, 0, 1]]")},
      {"right-padded 1,3 --pad-id 9", "0,9,9\n0,1,2\n", Json::parse("[[0, 9, 9], [0, 1, 2]]")},
      {"mask 0011,1111", "0,0,0,1\n0,1,2,3\n", Json::parse("[[0, 0, 0, 1], [0, 1, 2, 3]]")},
      {"packed 3,0,2", "0,1,2,0,1\n", {0, 1, 2, 0, 1}},
      {"cumulative 0,3,5", "0,1,2,0,1\n", {0, 1, 2, 0, 1}},
      {"shards 8 --ranks 2", "0,1,2,3\n4,5,6,7\n", Json::parse("[[0, 1, 2, 3], [4, 5, 6, 7]]")},
      {"shards 8 --ranks 2 --kind striped", "0,2,4,6\n1,3,5,7\n", Json::parse("[[0, 2, 4, 6], [1, 3, 5, 7]]")},
      {"shards 8 --ranks 2 --kind zigzag", "0,1,6,7\n2,3,4,5\n", Json::parse("[[0, 1, 6, 7], [2, 3, 4, 5]]")},
      {"shards 8 --ranks 2 --kind zigzag --rank 1", "2,3,4,5\n", {2, 3, 4, 5}},
      {"shards 7,4 --ranks 2 --kind zigzag",
       "ids: 0,1,6,7,0,3\nids: 2,3,4,5,1,2\ntokens: 0,1,6,-1,7,10\ntokens: 2,3,4,5,8,9\n",
       Json::parse("[[0, 1, 6, 7, 0, 3], [2, 3, 4, 5, 1, 2]]")},
      {"shards 5 --pad --ranks 2 --rank 1", "ids: 3,4,5\ntokens: 3,4,-1\n", {3, 4, 5}},
      {"mrope text:2 image:1x1x2 --ranks 2 --kind zigzag",
       "time: 0,2\nheight: 0,2\nwidth: 0,3\ntokens: 0,3\ndecode_delta: 0\n",
       Json::parse("[[[0, 2]], [[0, 2]], [[0, 3]]]")},
      {"tree --parents -1,0,0,1 --prefix 10", "10,11,11,12\n", {10, 11, 11, 12}},
      {"tree --parents -1,0,0,2 --prefix 10 --accepted 3", "kept: 0,2,3\nids: 10,11,12\n", {10, 11, 12}},
      {"tree --parents -1,0,0 --prefix 7 --delta -2 --accepted 2", "kept: 0,2\ntime: 5,6\nheight: 5,6\nwidth: 5,6\n",
       Json::parse("[[[5, 6]], [[5, 6]], [[5, 6]]]")},
      {"sinks 10 --sinks 2 --window 3", "kept: 0,1,7,8,9\nids: 0,1,2,3,4\n", {0, 1, 2, 3, 4}},
      {"mrope text:2 image:1x2x2 text:1",
       "time: 0,1,2,2,2,2,4\nheight: 0,1,2,2,3,3,4\nwidth: 0,1,2,3,2,3,4\ndecode_delta: -2\n",
       Json::parse("[[[0, 1, 2, 2, 2, 2, 4]], [[0, 1, 2, 2, 3, 3, 4]], [[0, 1, 2, 3, 2, 3, 4]]]")},
      {"grid 2x3", "row: 0,0,0,1,1,1\ncolumn: 0,1,2,0,1,2\n",
       Json::parse("[[[0, 0, 0, 1, 1, 1]], [[0, 1, 2, 0, 1, 2]]]")},
      {"grid 2x4 --merge 2", "row: 0,0,1,1,0,0,1,1\ncolumn: 0,1,0,1,2,3,2,3\n",
       Json::parse("[[[0, 0, 1, 1, 0, 0, 1, 1]], [[0, 1, 0, 1, 2, 3, 2, 3]]]")},
  };
  return all;
}

void flatten(const Json& nested, std::vector<std::int64_t>& shape, std::vector<double>& values, std::size_t depth = 0) {
  if (nested.is_number()) {
    values.push_back(nested.get<double>());
    return;
  }
  if (shape.size() == depth) shape.push_back(static_cast<std::int64_t>(nested.size()));
  for (const Json& inner : nested) flatten(inner, shape, values, depth + 1);
}

TEST(Positions, PrintsSavesAndDescribesEveryKind) {
  const TemporaryFolder folder;
  for (const Kind& kind : kinds()) {
    const std::string line = "positions " + kind.line;
    EXPECT_EQ(output_of(folder, line), kind.text) << line;
    const Json json = json_of(folder, line);
    EXPECT_EQ(json["ids"], kind.ids) << line;
    EXPECT_EQ(json["kind"], words(kind.line)[0]);

    const CommandResult saved = run_locus(folder, line + " --output p.npy");
    EXPECT_EQ(saved.exit_code, 0) << line;
    EXPECT_EQ(saved.out, "") << line;
    EXPECT_EQ(saved.err.rfind("locus: wrote ", 0), 0u) << saved.err;
    std::vector<std::int64_t> shape;
    std::vector<double> ids;
    flatten(kind.ids, shape, ids);
    EXPECT_EQ(read_array(folder, "p.npy", io::NpyType::int64, shape), ids) << line;
  }
}

TEST(Positions, PrintsMasksKeptTokensAndTheDecodeDelta) {
  const TemporaryFolder folder;
  const Json padded = json_of(folder, "positions left-padded 1,3");
  EXPECT_EQ(padded["mask"], Json::parse("[[0, 0, 1], [1, 1, 1]]"));
  EXPECT_EQ(padded["batch"], 2);
  EXPECT_EQ(padded["tokens"], 3);
  EXPECT_EQ(padded["axes"], 1);
  EXPECT_EQ(json_of(folder, "positions sinks 10 --sinks 2 --window 3")["kept"], Json({0, 1, 7, 8, 9}));
  EXPECT_EQ(json_of(folder, "positions tree --parents -1,0,0")["sees"],
            Json::parse("[[1, 0, 0], [1, 1, 0], [1, 0, 1]]"));
  const Json mixed = json_of(folder, "positions mrope text:2 image:1x2x2 text:1");
  EXPECT_EQ(mixed["decode_delta"], -2);  // seven tokens so far, and the next one is at 5
  EXPECT_EQ(mixed["axis_names"], Json({"time", "height", "width"}));
}

// Frames last 2 ids and come in pieces of 4: frames 1 3, sound 1 2 3 4, frames 5 7, sound 5 6; two tokens begin and end it.
TEST(Positions, NumbersAVideoWithItsSound) {
  const TemporaryFolder folder;
  EXPECT_EQ(output_of(folder, "positions mrope video:4x1x1@2+audio:6 --ids-per-chunk 4"),
            "time: 0,0,1,3,1,2,3,4,5,7,5,6,7,7\nheight: 0,0,1,1,1,2,3,4,1,1,5,6,7,7\n"
            "width: 0,0,1,1,1,2,3,4,1,1,5,6,7,7\ndecode_delta: -6\n");
}

TEST(Positions, ReadsMasksFromFiles) {
  const TemporaryFolder folder;
  write_array<std::int64_t>(folder, "mask.npy", {2, 4}, {0, 0, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(output_of(folder, "positions mask mask.npy"), "0,0,0,1\n0,1,2,3\n");
}

TEST(Positions, ReadsWholeDecimalNumbersOnly) {
  const TemporaryFolder folder;
  EXPECT_EQ(output_of(folder, "positions prefill 010"), "0,1,2,3,4,5,6,7,8,9\n");
}

TEST(Positions, FeedsApply) {
  const TemporaryFolder folder;
  output_of(folder, "positions packed 2,1 --output p.npy");
  write_array<double>(folder, "x.npy", {3, 2}, {1, 0, 1, 0, 1, 0});
  json_of(folder,
          "apply --scheme rope --set head_dim=2 --set pairing=half --input x.npy --axes td --positions p.npy"
          " --output y.npy");
  expect_near(read_array(folder, "y.npy", io::NpyType::float64, {3, 2}), {1, 0, std::cos(1.0), std::sin(1.0), 1, 0},
              1e-15, "packed");
}

}  // namespace
}  // namespace locus::testing
