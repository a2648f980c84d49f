// SPDX-License-Identifier: Apache-2.0
#include "run/heart.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>

namespace locus::lab {
namespace {

/// Several beats per lease. Progress on a terminal needs two a second; a shared database gets fewer.
std::chrono::duration<double> pause_between_beats(const StoredTrial& leased, bool shared) {
  const double lease = leased.expires - leased.heartbeat;
  return std::chrono::duration<double>(std::min(lease / 4, shared ? 5.0 : 0.5));
}

}  // namespace

Heart::Heart(std::string url, StoredTrial leased)
    : url_(std::move(url)), leased_(std::move(leased)), thread_([this] { beat_until_stopped(); }) {}

Heart::~Heart() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Heart::beat_until_stopped() {
  std::optional<Store> store;
  bool complained = false;
  const bool shared = !url_.starts_with("sqlite:");
  const auto pause = pause_between_beats(leased_, shared);
  for (std::unique_lock lock(mutex_); !wake_.wait_for(lock, pause, [&] { return stopped_; });) {
    lock.unlock();
    try {
      if (!store) store.emplace(url_);
      if (!store->keep(leased_, done_)) {
        lost_ = true;
        return;
      }
      complained = false;
    } catch (const std::exception& error) {
      if (!complained) std::cerr << "no heartbeat: " << error.what() << std::endl;
      complained = true;
    }
    lock.lock();
  }
}

}  // namespace locus::lab
