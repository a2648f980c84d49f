// SPDX-License-Identifier: Apache-2.0
// One small fixed case per kernel, for counting instructions. `fixed_case NAME` does the counted work inside
// measured().
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "locus/locus.h"

namespace {

/// callgrind counts only inside this function.
[[gnu::noinline]] void measured(const std::function<void()>& work) { work(); }

constexpr std::int64_t tokens = 64;
constexpr std::int64_t heads = 8;
constexpr std::int64_t dim = 128;

void rotate_case(const char* pairing, locus::ElementType type) {
  const locus::Encoding encoding("rope", {{"head_dim", dim}, {"pairing", std::string(pairing)}});
  std::vector<float> values(static_cast<std::size_t>(tokens * heads * dim), 0.5f);
  const auto view = locus::heads_view(values.data(), type, "thd", {{tokens, heads, dim}});
  const auto ids = locus::positions::prefill(tokens);
  locus::rotate(encoding, view, ids);  // builds the table before counting
  measured([&] { locus::rotate(encoding, view, ids); });
}

void add_case() {
  const locus::Encoding encoding("sinusoidal", {{"dim", 1024}});
  std::vector<float> values(static_cast<std::size_t>(tokens * 1024), 0.5f);
  const locus::HiddenView view{.data = values.data(), .tokens = tokens, .dim = 1024, .token_stride = 1024};
  const auto ids = locus::positions::prefill(tokens);
  locus::add(encoding, view, ids);
  measured([&] { locus::add(encoding, view, ids); });
}

void table_case() {
  const locus::Encoding encoding("rope", {{"head_dim", dim}, {"pairing", "half"}});
  std::vector<float> rows(static_cast<std::size_t>(1024 * dim));
  measured([&] { locus::rotation_rows(encoding.rotation(), 1000000, 1024, rows.data()); });
}

void attend_case() {
  std::vector<float> q(static_cast<std::size_t>(256 * 2 * 64), 0.1f), k = q, v = q, out = q;
  const auto view = [](std::vector<float>& x) {
    return locus::heads_view(x.data(), locus::ElementType::float32, "htd", {{2, 256, 64}});
  };
  const locus::Encoding alibi("alibi", {{"heads", 2}});
  locus::AttentionCall call{
      .query = view(q), .key = view(k), .value = view(v), .output = view(out), .encoding = &alibi};
  call.mask.causal = true;
  measured([&] { locus::attend(call); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> cases = {
      {"rotate_half_float32", [] { rotate_case("half", locus::ElementType::float32); }},
      {"rotate_interleaved_float32", [] { rotate_case("interleaved", locus::ElementType::float32); }},
      {"rotate_half_bfloat16", [] { rotate_case("half", locus::ElementType::bfloat16); }},
      {"rotate_half_float16", [] { rotate_case("half", locus::ElementType::float16); }},
      {"add_sinusoidal_float32", add_case},
      {"table_consecutive", table_case},
      {"attend_alibi_float32", attend_case},
  };
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const auto& [name, work] : cases) std::puts(name.c_str());
    return 0;
  }
  const auto found = cases.find(argc == 2 ? argv[1] : "");
  if (found == cases.end()) {
    std::fprintf(stderr, "usage: fixed_case NAME, one of --list\n");
    return 2;
  }
  found->second();
  return 0;
}
