// SPDX-License-Identifier: Apache-2.0
// Our own kernels, handed in as anyone's, must pass; what is not the encoding must fail.
#include "locus/doctor/verify_callable.h"

#include <gtest/gtest.h>

#include "locus/attention.h"
#include "locus/error.h"
#include "locus/rotate.h"

namespace locus {
namespace {

void expect_all_pass(const std::vector<Check>& checks) {
  EXPECT_GE(checks.size(), 5u);
  for (const Check& check : checks) {
    EXPECT_TRUE(check.pass) << check.scheme << ": " << check.name << ": " << check.value << " against " << check.bound
                            << ": " << check.note;
    EXPECT_GT(check.bound, 0) << check.name;
  }
}

RotateFunction our_rotate(const Encoding& encoding) {
  return [&encoding](const RotateRequest& r) {
    const std::vector<std::int64_t> extents{r.tokens, r.heads, r.head_dim};
    rotate(encoding, heads_view(r.data.data(), ElementType::float32, "thd", extents),
           {encoding.rotation().axes, 1, r.tokens, {r.ids.begin(), r.ids.end()}}, r.role);
  };
}

AttendFunction our_attend(const Encoding& encoding) {
  return [&encoding](const AttendRequest& r) {
    std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end()),
        v(r.value.begin(), r.value.end());
    const std::vector<std::int64_t> query{r.queries, r.heads, r.head_dim}, key{r.keys, r.key_heads, r.head_dim};
    AttentionCall call{.query = heads_view(q.data(), ElementType::float32, "thd", query),
                       .key = heads_view(k.data(), ElementType::float32, "thd", key),
                       .value = heads_view(v.data(), ElementType::float32, "thd", key),
                       .output = heads_view(r.output.data(), ElementType::float32, "thd", query)};
    if (encoding.site() == Site::query_key) {
      rotate(encoding, call.query, {1, 1, r.queries, {r.query_ids.begin(), r.query_ids.end()}}, Role::query);
      rotate(encoding, call.key, {1, 1, r.keys, {r.key_ids.begin(), r.key_ids.end()}}, Role::key);
    }
    call.encoding = &encoding;
    call.query_ids = r.query_ids;
    call.key_ids = r.key_ids;
    call.query_boundaries = r.query_boundaries;
    call.key_boundaries = r.key_boundaries;
    call.mask.causal = true;
    call.mask.keys = r.key_mask;
    attend(call);
  };
}

std::vector<Encoding> rotations() {
  return {Encoding("rope", {{"head_dim", 64}, {"pairing", "half"}}),
          Encoding("rope", {{"head_dim", 16}, {"pairing", "interleaved"}, {"output_order", "deinterleaved"}}),
          Encoding("rope", {{"head_dim", 24}, {"pairing", "half"}, {"rotary_dim", 16}, {"rotary_offset", 4}}),
          Encoding("rope",
                   {{"head_dim", 16}, {"pairing", "half"}, {"rule", "yarn"}, {"factor", 4}, {"original_length", 4096}}),
          Encoding("rope", {{"head_dim", 16}, {"pairing", "half"}, {"profile", "hf"}, {"table_type", "bfloat16"}}),
          Encoding("rope", {{"head_dim", 16}, {"pairing", "half"}, {"profile", "ggml"}}),
          Encoding("xpos", {{"head_dim", 16}, {"pairing", "interleaved"}}),
          Encoding("xpos", {{"head_dim", 16}, {"pairing", "half"}, {"centre", 100}})};
}

TEST(VerifyRotate, PassesWhatIsRight) {
  for (const Encoding& encoding : rotations()) {
    for (const std::uint64_t seed : {1u, 2u}) expect_all_pass(verify_rotate(encoding, our_rotate(encoding), seed));
  }
  const Encoding sections(
      "rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "mrope"}, {"sections", std::vector<double>{2, 3, 3}}});
  expect_all_pass(verify_rotate(sections, our_rotate(sections)));
  const Encoding grid(
      "rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "dinov3"}, {"grid_height", 3}, {"grid_width", 5}});
  expect_all_pass(verify_rotate(grid, our_rotate(grid)));
}

TEST(VerifyAttend, PassesWhatIsRight) {
  std::vector<Encoding> all = rotations();
  for (const Scheme* scheme : schemes()) {
    if (scheme->site != Site::hidden) all.emplace_back(scheme->name, scheme->example);
  }
  for (const Encoding& encoding : all) expect_all_pass(verify_attend(encoding, our_attend(encoding)));
}

// One encoding handed in for another.
void expect_cause(const std::vector<Check>& checks, const std::string& cause) {
  EXPECT_GT(failed(checks), 0);
  for (const Check& check : checks) {
    if (!check.pass) {
      EXPECT_TRUE(check.note.ends_with("likely cause: " + cause)) << check.name << ": " << check.note;
    }
  }
}

TEST(VerifyRotate, NamesWhatIsWrong) {
  const Encoding half("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const Encoding interleaved("rope", {{"head_dim", 16}, {"pairing", "interleaved"}});
  expect_cause(verify_rotate(half, our_rotate(interleaved)), "wrong pairing");
  expect_cause(verify_rotate(interleaved, our_rotate(half)), "wrong pairing");
  expect_cause(verify_rotate(half, [](const RotateRequest&) {}), "positions not applied");
  const Encoding other_base("rope", {{"head_dim", 16}, {"pairing", "half"}, {"base", 5e5}});
  expect_cause(verify_rotate(half, our_rotate(other_base)), "none of the known faults gives these numbers");
  const Encoding xpos("xpos", {{"head_dim", 16}, {"pairing", "half"}});
  expect_cause(verify_rotate(xpos,
                             [&](RotateRequest r) {
                               r.role = r.role == Role::query ? Role::key : Role::query;
                               our_rotate(xpos)(r);
                             }),
               "query and key scales exchanged");
}

TEST(VerifyAttend, NamesWhatIsWrong) {
  const Encoding rope("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const Encoding t5("t5", {{"heads", 4}, {"bidirectional", false}, {"deviation", 1.0}});
  for (const Encoding* encoding : {&rope, &t5}) {
    const AttendFunction ours = our_attend(*encoding);
    const auto decode = verify_attend(*encoding, [&](AttendRequest r) {
      const std::vector<Position> moved{r.query_ids[0] + 1};
      if (r.queries == 1) r.query_ids = moved;
      ours(r);
    });
    EXPECT_EQ(failed(decode), 1);
    expect_cause(decode, "off by one in decode");
  }
  // Relative schemes do not mind when left padding is counted; places in a window do.
  const Encoding learned_places("relative_bias",
                                {{"heads", 4}, {"index", "swin"}, {"window_height", 3}, {"window_width", 4}});
  const AttendFunction ours = our_attend(learned_places);
  expect_cause(verify_attend(learned_places,
                             [&](AttendRequest r) {
                               std::vector<Position> counted;
                               for (std::int64_t i = 0; i < r.keys; ++i) counted.push_back(i);
                               if (!r.key_mask.empty()) r.query_ids = r.key_ids = counted;
                               ours(r);
                             }),
               "padding counted as positions");
}

TEST(VerifyCallable, RefusesWhatItCannotAsk) {
  const Encoding rope("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const Encoding grid("rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "grid"}});
  const Encoding learned("learned", {{"max_positions", 32}, {"dim", 4}});
  EXPECT_THROW(verify_rotate(Encoding("nope"), [](const RotateRequest&) {}), Error);
  EXPECT_THROW(verify_rotate(rope, nullptr), Error);
  EXPECT_THROW(verify_attend(rope, nullptr), Error);
  EXPECT_THROW(verify_attend(learned, [](const AttendRequest&) {}), Error);
  EXPECT_THROW(verify_attend(grid, [](const AttendRequest&) {}), Error);
}

}  // namespace
}  // namespace locus
