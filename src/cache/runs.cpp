// SPDX-License-Identifier: Apache-2.0
// Runs: cuts, joins and extends them, and counts the users of pages.
#include <algorithm>

#include "cache/state.h"

namespace locus {

std::vector<Run> KvCache::State::cut(const Sequence& sequence, std::int64_t begin, std::int64_t end) const {
  std::vector<Run> runs;
  std::int64_t run_end = sequence.length;
  for (auto run = sequence.runs.rbegin(); run != sequence.runs.rend() && run_end > begin; ++run) {
    const std::int64_t run_begin = run_end - run->count;
    const std::int64_t from = std::max(begin, run_begin), to = std::min(end, run_end);
    if (from < to) {
      runs.push_back({run->page, static_cast<std::int32_t>(run->first + from - run_begin),
                      static_cast<std::int32_t>(to - from), run->moved});
    }
    run_end = run_begin;
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

void KvCache::State::replace(Sequence& sequence, std::vector<Run> runs) {
  std::vector<Run> joined;
  std::int64_t length = 0;
  for (Run& run : runs) {
    length += run.count;
    Run* last = joined.empty() ? nullptr : &joined.back();
    if (last != nullptr && last->page == run.page && last->end() == run.first && last->moved == run.moved) {
      last->count += run.count;
    } else {
      joined.push_back(std::move(run));
    }
  }
  for (const Run& run : joined) pages.retain(run.page);
  for (auto run = sequence.runs.rbegin(); run != sequence.runs.rend(); ++run) pages.release(run->page);
  sequence.runs = std::move(joined);
  sequence.length = length;
}

KvCache::State::Tail KvCache::State::tail_of(const Sequence& sequence, const Sequence& counted) const {
  if (sequence.runs.empty()) return {};
  const Run& last = sequence.runs.back();
  const std::int64_t room = shape.page_size - last.end();
  if (room == 0) return {};
  if (last.end() == pages.filled(last.page)) return {room, false};  // no sequence has written after it
  const auto own =
      std::count_if(counted.runs.begin(), counted.runs.end(), [&](const Run& run) { return run.page == last.page; });
  return {room, pages.users(last.page) > own};
}

std::int64_t KvCache::State::pages_for(const Tail& tail, std::int64_t tokens) const {
  if (tokens == 0) return 0;
  const std::int64_t rest = std::max<std::int64_t>(0, tokens - tail.room);
  return (tail.copies ? 1 : 0) + (rest + shape.page_size - 1) / shape.page_size;
}

std::int64_t KvCache::State::pages_to_keep(const Sequence& sequence, std::int64_t begin, std::int64_t count) const {
  const Sequence before{cut(sequence, 0, begin), begin};
  const std::vector<Run> dropped = cut(sequence, begin, sequence.length);
  // Pages that no other sequence uses and no token before `begin` is in become free first.
  std::int64_t released = 0;
  for (auto run = dropped.begin(); run != dropped.end();) {
    const PageId page = run->page;
    const auto end = std::find_if(run, dropped.end(), [&](const Run& other) { return other.page != page; });
    const bool stays = !before.runs.empty() && before.runs.back().page == page;
    if (!stays && pages.users(page) == end - run) ++released;
    run = end;
  }
  return std::max<std::int64_t>(0, pages_for(tail_of(before, sequence), count) - released);
}

std::vector<Run> KvCache::State::extend(Sequence& sequence, std::int64_t count) {
  const Tail tail = tail_of(sequence);
  if (tail.copies) {
    const PageId shared = sequence.runs.back().page, own = pages.take();
    std::vector<Run> runs = sequence.runs;
    for (auto run = runs.rbegin(); run != runs.rend() && run->page == shared; ++run) {
      pages.copy(pages, {shared, run->first}, {own, run->first}, run->count);
      run->page = own;
    }
    replace(sequence, std::move(runs));
    pages.release(own);  // take() had counted one user, replace() counts the runs
  }
  std::vector<Run> added;
  while (count > 0) {
    const bool in_last = added.empty() && tail.room > 0;
    const PageId page = in_last ? sequence.runs.back().page : pages.take();
    const std::int32_t first = in_last ? sequence.runs.back().end() : 0;
    const auto here = static_cast<std::int32_t>(std::min<std::int64_t>(count, shape.page_size - first));
    added.push_back({page, first, here, nullptr});
    pages.set_filled(page, first + here);
    pages.forget(page);
    if (in_last && sequence.runs.back().moved == nullptr) {
      sequence.runs.back().count += here;
    } else {
      if (in_last) pages.retain(page);
      sequence.runs.push_back(added.back());
    }
    sequence.length += here;
    count -= here;
  }
  return added;
}

void KvCache::State::share_full_pages(Sequence& sequence) {
  for (auto run = sequence.runs.rbegin(); run != sequence.runs.rend(); ++run) {
    if (run->count < shape.page_size || run->moved != nullptr) {
      if (run == sequence.runs.rbegin()) continue;  // the last page is still being filled
      return;
    }
    if (pages.entered(run->page) || pages.users(run->page) > 1) return;  // and so are those before it
    const std::optional<PageId> equal = pages.find_equal_or_enter(run->page);
    if (!equal) continue;
    pages.retain(*equal);
    pages.release(run->page);
    run->page = *equal;
  }
}

}  // namespace locus
