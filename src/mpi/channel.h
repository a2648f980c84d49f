// SPDX-License-Identifier: Apache-2.0
// Messages between ranks that never wait longer than a limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "locus/mpi/ring_attention.h"

namespace locus::mpi {

/// Kinds of transfers, which are waited for separately. Messages of one kind between two ranks arrive in order.
/// `homecoming` receives what is sent `home`.
enum class Message : std::uint8_t { block, gradient, home, homecoming, setup };

/// Transfers on a communicator of the library's own, made once per communicator of the user and freed with it, so that
/// messages are never mixed up with the user's. Every wait polls and ends after the limit.
class Channel {
 public:
  /// Collective. Error: MPI that is not running, a null communicator.
  Channel(MPI_Comm users, double seconds_to_wait);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  /// Start transfers. The memory must stay until wait() returns.
  void send(int to, std::span<const std::byte> bytes, Message kind);
  void receive(int from, std::span<std::byte> bytes, Message kind);
  /// Lets transfers make progress; for the calling thread only.
  void poll();
  /// Waits for all transfers of a kind and returns the seconds it took. Error: a failed transfer; RankLost: the limit.
  double wait(Message kind);

  /// What every rank gives, in the order of ranks. Collective; the same number of bytes on every rank.
  std::vector<std::byte> gather(std::span<const std::byte> own);
  /// The same with another number of bytes from every rank.
  std::vector<std::vector<std::byte>> gather_lists(std::span<const std::byte> own);
  /// Sends the bytes of `root` to every rank, as a block; started here, finished by wait(). Collective.
  void broadcast(int root, std::span<std::byte> bytes);

  std::int64_t bytes_sent() const { return bytes_sent_; }

 private:
  void check(int code, const char* what) const;

  /// Transfers of a kind that are under way.
  struct Started {
    std::vector<MPI_Request> requests;
    std::vector<int> partners;  ///< of each request, for messages; -1: all ranks
  };
  MPI_Request& start(Message kind, int partner);
  /// What a collective reads and writes.
  struct Gathering {
    std::vector<std::byte> own, all;
    std::vector<int> sizes, starts;
  };
  std::vector<std::byte> gather_into(std::size_t total, std::span<const std::byte> own,
                                     const std::function<int(Gathering&)>& begin);
  Started& started(Message kind) { return started_[static_cast<std::size_t>(kind)]; }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  double seconds_to_wait_;
  int rank_ = 0, ranks_ = 1;
  std::array<Started, 5> started_;
  std::int64_t bytes_sent_ = 0;
  bool broadcasting_ = false;  ///< blocks are sent by collectives
};

}  // namespace locus::mpi
