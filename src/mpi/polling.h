// SPDX-License-Identifier: Apache-2.0
// Most MPI libraries move data only inside their calls: this executor makes one after every piece of work.
#pragma once

#include <thread>

#include "mpi/channel.h"

namespace locus::mpi {

class PollingExecutor : public Executor {
 public:
  /// `inner` may be null. MPI is called from the thread that made this object only.
  PollingExecutor(Channel& channel, Executor* inner) : channel_(channel), inner_(inner) {}

  std::int64_t concurrency() const override { return inner_ == nullptr ? 1 : inner_->concurrency(); }

  void run(std::int64_t count, const std::function<void(std::int64_t)>& piece) override {
    const auto polled = [&](std::int64_t i) {
      piece(i);
      if (std::this_thread::get_id() == owner_) channel_.poll();
    };
    if (inner_ != nullptr) return inner_->run(count, polled);
    for (std::int64_t i = 0; i < count; ++i) polled(i);
  }

 private:
  Channel& channel_;
  Executor* inner_;
  std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace locus::mpi
