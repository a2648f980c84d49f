// SPDX-License-Identifier: Apache-2.0
// Renews a lease in a separate thread with a separate connection: a busy worker must not lose its lease.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "run/store.h"

namespace locus::lab {

class Heart {
 public:
  /// Renews the lease until it is destroyed or the lease is lost. Retries an unreachable store at every beat.
  Heart(std::string url, StoredTrial leased);
  ~Heart();
  Heart(const Heart&) = delete;
  Heart& operator=(const Heart&) = delete;

  void report(double done) { done_ = done; }  ///< the share that the next beat sends
  bool lease_is_lost() const { return lost_; }

 private:
  void beat_until_stopped();

  std::string url_;
  StoredTrial leased_;
  std::atomic<double> done_ = 0;
  std::atomic<bool> lost_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace locus::lab
