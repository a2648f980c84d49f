// SPDX-License-Identifier: Apache-2.0
// A decode loop for many users of one layer; `project` stands for the model.
#include <cmath>
#include <cstdio>
#include <vector>

#include "locus/locus.h"
constexpr std::int64_t query_heads = 4, heads = 2, dim = 32;

static std::vector<float> project(const std::vector<int>& tokens, std::int64_t count, float seed) {
  std::vector<float> rows(tokens.size() * static_cast<std::size_t>(count * dim));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = std::sin(seed * static_cast<float>(tokens[i * tokens.size() / rows.size()]) + static_cast<float>(i % 97));
  }
  return rows;
}

struct User {
  locus::SequenceId sequence;
  std::vector<int> tokens;  // not computed yet: a chunk of the prompt, or the last token
  std::vector<float> query, output = {};
};

static locus::HeadsView view(std::vector<float>& rows, std::int64_t count) {
  return locus::heads_view(rows.data(), locus::ElementType::float32, "thd",
                           {{std::ssize(rows) / (count * dim), count, dim}});
}

// One step of all users: appends their new tokens, then attends for all of them in one call.
static void step(locus::KvCache& cache, std::vector<User>& users, locus::Executor& pool) {
  std::vector<locus::CachedQueries> batch;
  for (User& user : users) {
    if (cache.length(user.sequence) > 96) cache.slide(user.sequence, 4, 64, true);  // sinks and a window, renumbered
    const std::vector<locus::Position> last = cache.last_position(user.sequence);
    const auto ids = locus::positions::prefill(std::ssize(user.tokens), last.empty() ? 0 : last[0] + 1);
    std::vector<float> k = project(user.tokens, heads, 0.3f), v = project(user.tokens, heads, 0.7f);
    user.query = user.output = project(user.tokens, query_heads, 0.5f);
    locus::rotate(cache.encoding(), view(user.query, query_heads), ids);
    cache.append(user.sequence, view(k, heads), view(v, heads), ids.ids, &pool);  // rotates the keys
    batch.push_back({user.sequence, view(user.query, query_heads), view(user.output, query_heads)});
  }
  cache.attend({.queries = batch, .executor = &pool});
  for (User& user : users) user.tokens = {static_cast<int>(std::lround(user.output.back() * 50))};  // sampled
}

int main() {
  const locus::Encoding rope("rope", {{"head_dim", dim}, {"pairing", "half"}});
  locus::KvCache cache(rope, {.capacity = 4096, .heads = heads, .head_dim = dim, .page_size = 16});
  locus::ThreadPool pool(2);
  std::vector<User> users{{cache.create(), std::vector<int>(40, 1), {}}};  // the system prompt
  step(cache, users, pool);
  for (int i = 1; i < 8; ++i) users.push_back({cache.fork(users[0].sequence), {i}, {}});  // shares its pages
  users.push_back({cache.create(), std::vector<int>(50, 2), {}});                         // a separate prompt
  for (int i = 0; i < 100; ++i) step(cache, users, pool);
  const bool slid = cache.length(users[0].sequence) <= 97 && cache.last_position(users[0].sequence)[0] < 97;
  for (const User& user : users) cache.free(user.sequence);
  std::printf("9 users, 100 steps, %lld pages free at the end\n", static_cast<long long>(cache.free_pages()));
  return slid && cache.free_pages() == 256 ? 0 : 1;
}
