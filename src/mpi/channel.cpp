// SPDX-License-Identifier: Apache-2.0
#include "mpi/channel.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <sstream>
#include <thread>

#include "locus/error.h"

namespace locus::mpi {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t most_bytes = std::size_t{1} << 30;  // of one message: MPI counts in int

int tag_of(Message kind) { return static_cast<int>(kind == Message::homecoming ? Message::home : kind); }

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Called when the user frees the communicator that ours belongs to.
int free_ours(MPI_Comm, int, void* value, void*) {
  std::unique_ptr<MPI_Comm> ours(static_cast<MPI_Comm*>(value));
  return MPI_Comm_free(ours.get());
}

int attribute_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_ours, &made, nullptr);
    return made;
  }();
  return key;
}

}  // namespace

Channel::Channel(MPI_Comm users, double seconds_to_wait) : seconds_to_wait_(seconds_to_wait) {
  int running = 0, ended = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  require(running != 0 && ended == 0, "mpi: MPI must be running: call MPI_Init before, and MPI_Finalize after");
  require(users != MPI_COMM_NULL, "mpi: communicator must not be MPI_COMM_NULL");
  require(seconds_to_wait > 0, "mpi: seconds_to_wait must be above 0, got ", seconds_to_wait);
  MPI_Comm_rank(users, &rank_);
  MPI_Comm_size(users, &ranks_);
  void* found = nullptr;
  int is_there = 0;
  MPI_Comm_get_attr(users, attribute_key(), static_cast<void*>(&found), &is_there);
  if (is_there != 0) {
    communicator_ = *static_cast<MPI_Comm*>(found);
    return;
  }
  auto ours = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  check(MPI_Comm_idup(users, ours.get(), &start(Message::setup, -1)), "duplicating the communicator");
  wait(Message::setup);
  MPI_Comm_set_errhandler(*ours, MPI_ERRORS_RETURN);
  communicator_ = *ours;
  check(MPI_Comm_set_attr(users, attribute_key(), ours.release()), "keeping the communicator");
}

// Only an exception leaves transfers open, and their memory is about to go. Collectives cannot be cancelled: theirs is
// left to them (gather below).
Channel::~Channel() {
  for (const Message kind : {Message::gradient, Message::home, Message::homecoming, Message::block}) {
    for (std::size_t i = 0; i < started(kind).requests.size(); ++i) {
      MPI_Request& request = started(kind).requests[i];
      if (request == MPI_REQUEST_NULL || (broadcasting_ && kind == Message::block)) continue;
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }
}

MPI_Request& Channel::start(Message kind, int partner) {
  started(kind).partners.push_back(partner);
  return started(kind).requests.emplace_back(MPI_REQUEST_NULL);
}

void Channel::check(int code, const char* what) const {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail("mpi: ", what, " failed on rank ", rank_, ": ", text);
}

void Channel::send(int to, std::span<const std::byte> bytes, Message kind) {
  bytes_sent_ += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), most_bytes);
    check(MPI_Isend(bytes.data(), static_cast<int>(size), MPI_BYTE, to, tag_of(kind), communicator_, &start(kind, to)),
          "sending");
    bytes = bytes.subspan(size);
  }
}

void Channel::receive(int from, std::span<std::byte> bytes, Message kind) {
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), most_bytes);
    check(MPI_Irecv(bytes.data(), static_cast<int>(size), MPI_BYTE, from, tag_of(kind), communicator_,
                    &start(kind, from)),
          "receiving");
    bytes = bytes.subspan(size);
  }
}

void Channel::broadcast(int root, std::span<std::byte> bytes) {
  broadcasting_ = true;
  if (root == rank_) bytes_sent_ += static_cast<std::int64_t>(bytes.size()) * (ranks_ - 1);
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), most_bytes);
    check(MPI_Ibcast(bytes.data(), static_cast<int>(size), MPI_BYTE, root, communicator_, &start(Message::block, root)),
          "broadcasting");
    bytes = bytes.subspan(size);
  }
}

void Channel::poll() {
  for (Started& kind : started_) {
    if (kind.requests.empty()) continue;
    int done = 0;
    check(MPI_Testall(static_cast<int>(kind.requests.size()), kind.requests.data(), &done, MPI_STATUSES_IGNORE),
          "a transfer");
  }
}

double Channel::wait(Message kind) {
  const Clock::time_point begin = Clock::now();
  Started& own = started(kind);
  for (int polls = 0; !own.requests.empty(); ++polls) {
    int done = 0;
    check(MPI_Testall(static_cast<int>(own.requests.size()), own.requests.data(), &done, MPI_STATUSES_IGNORE),
          "a transfer");
    if (done != 0) break;
    if (polls < 200) continue;
    // Ranks may share a processor: leave it to the one that is waited for.
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (seconds_since(begin) < seconds_to_wait_) continue;
    int from = -1;
    for (std::size_t i = 0; i < own.requests.size(); ++i) {
      if (own.requests[i] != MPI_REQUEST_NULL) from = std::max(from, own.partners[i]);
    }
    std::ostringstream text;
    text << "mpi: rank " << rank_ << " waited " << seconds_to_wait_ << " s (the limit) for ";
    if (from < 0) text << "the other ranks, of which one may have died";
    if (from >= 0) text << "rank " << from << ", which may have died";
    throw RankLost(text.str());
  }
  own.requests.clear();
  own.partners.clear();
  return seconds_since(begin);
}

// The memory belongs to the collective until it ends. If a rank is lost, it never does.
std::vector<std::byte> Channel::gather_into(std::size_t total, std::span<const std::byte> own,
                                            const std::function<int(Gathering&)>& begin) {
  auto room = std::make_unique<Gathering>();
  room->own.assign(own.begin(), own.end());
  room->all.resize(total);
  check(begin(*room), "gathering");
  try {
    wait(Message::setup);
  } catch (...) {
    room.release();  // NOLINT(bugprone-unused-return-value): leaked on purpose
    throw;
  }
  return std::move(room->all);
}

std::vector<std::byte> Channel::gather(std::span<const std::byte> own) {
  const int size = static_cast<int>(own.size());
  return gather_into(own.size() * static_cast<std::size_t>(ranks_), own, [&](Gathering& room) {
    return MPI_Iallgather(room.own.data(), size, MPI_BYTE, room.all.data(), size, MPI_BYTE, communicator_,
                          &start(Message::setup, -1));
  });
}

std::vector<std::vector<std::byte>> Channel::gather_lists(std::span<const std::byte> own) {
  const int size = static_cast<int>(own.size());
  const std::vector<std::byte> gathered = gather(std::as_bytes(std::span(&size, 1)));
  std::vector<int> sizes(static_cast<std::size_t>(ranks_)), starts(sizes.size());
  std::copy(gathered.begin(), gathered.end(), std::as_writable_bytes(std::span(sizes)).begin());
  std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), 0);
  const auto total = static_cast<std::size_t>(starts.back() + sizes.back());
  const std::vector<std::byte> all = gather_into(total, own, [&](Gathering& room) {
    room.sizes = sizes;
    room.starts = starts;
    return MPI_Iallgatherv(room.own.data(), size, MPI_BYTE, room.all.data(), room.sizes.data(), room.starts.data(),
                           MPI_BYTE, communicator_, &start(Message::setup, -1));
  });
  std::vector<std::vector<std::byte>> lists;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    lists.emplace_back(all.begin() + starts[r], all.begin() + starts[r] + sizes[r]);
  }
  return lists;
}

}  // namespace locus::mpi
