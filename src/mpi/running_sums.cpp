// SPDX-License-Identifier: Apache-2.0
// Every rank sums each of its pieces and tells the others; what stands before (backward: after) a piece is the sum of the
// pieces of its document there.
#include "locus/mpi/running_sums.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "locus/error.h"
#include "locus/text.h"
#include "mpi/agreement.h"
#include "mpi/block.h"
#include "mpi/pair.h"

namespace locus::mpi {
namespace {

/// A piece and the sums of its tokens, [batch, heads, n].
struct PieceTotal {
  std::int64_t document = 0;
  Position place = 0;
  std::vector<double> sums = {};
};

std::string error_of(const ShardNumbers& own, const Channel& channel) {
  const auto check = [&] {
    require(own.shard != nullptr, "mpi: running_sums: shard must be given");
    require(own.shard->ranks == channel.ranks() && own.shard->rank == channel.rank(),
            "mpi: running_sums: shard must be that of rank ", channel.rank(), " of ", channel.ranks(), ", got rank ",
            own.shard->rank, " of ", own.shard->ranks);
    const std::int64_t tokens = std::ssize(own.shard->tokens);
    require(own.numbers.tokens == tokens, "mpi: running_sums: numbers must have the ", tokens,
            " tokens of the shard, got ", own.numbers.tokens);
    require(own.numbers.data != nullptr || tokens * own.numbers.batch * own.numbers.heads * own.numbers.head_dim == 0,
            "mpi: running_sums: numbers have no data");
    for (const positions::Piece& piece : own.shard->pieces) {
      require(piece.step == 1 && piece.first >= 0 && piece.first + piece.tokens <= tokens,
              "mpi: running_sums: shards must be contiguous or zigzag, not striped");
    }
  };
  try {
    check();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// The totals of all ranks, by document and place, or in the opposite order.
std::vector<PieceTotal> all_totals(Channel& channel, const std::vector<PieceTotal>& own, std::size_t width,
                                   bool backward) {
  std::vector<std::byte> bytes;
  const auto put = [&](const void* from, std::size_t size) {
    bytes.resize(bytes.size() + size);
    std::memcpy(bytes.data() + bytes.size() - size, from, size);
  };
  for (const PieceTotal& total : own) {
    put(&total.document, sizeof total.document);
    put(&total.place, sizeof total.place);
    put(total.sums.data(), width * sizeof(double));
  }
  std::vector<PieceTotal> all;
  for (const std::vector<std::byte>& list : channel.gather_lists(bytes)) {
    const std::byte* from = list.data();
    const auto take = [&](void* to, std::size_t size) {
      std::memcpy(to, from, size);
      from += size;
    };
    while (from != list.data() + list.size()) {
      PieceTotal& total = all.emplace_back();
      total.sums.resize(width);
      take(&total.document, sizeof total.document);
      take(&total.place, sizeof total.place);
      take(total.sums.data(), width * sizeof(double));
    }
  }
  std::sort(all.begin(), all.end(), [](const PieceTotal& a, const PieceTotal& b) {
    return std::tie(a.document, a.place) < std::tie(b.document, b.place);
  });
  if (backward) std::reverse(all.begin(), all.end());
  return all;
}

/// Collective. `sums_of(piece)` gives the running sums [batch, tokens, heads, n] within a piece. Returns those over all
/// ranks, of the own tokens, from the first token of a document on, or `backward` from the last.
template <class SumsOf>
std::vector<double> over_ranks(const ShardNumbers& own, bool backward, const std::string& further_error,
                               const SumsOf& sums_of) {
  Channel channel(own.communicator, own.seconds_to_wait);
  const std::string error = error_of(own, channel);
  agree_on(channel,
           {{"plan", own.shard == nullptr ? 0 : static_cast<std::int64_t>(own.shard->plan), true},
            {"batch rows", own.numbers.batch},
            {"heads", own.numbers.heads},
            {"numbers per head", own.numbers.head_dim},
            {"pass of running_sums", backward}},
           error.empty() ? further_error : error);
  const std::int64_t batch = own.numbers.batch, row = own.numbers.heads * own.numbers.head_dim;
  std::vector<double> result(static_cast<std::size_t>(batch * own.numbers.tokens * row), 0.0);
  const auto at = [&](std::int64_t b, std::int64_t token) {
    return result.begin() + (b * own.numbers.tokens + token) * row;
  };
  std::vector<PieceTotal> totals;
  for (const positions::Piece& piece : own.shard->pieces) {
    const std::vector<double> sums = sums_of(piece);
    PieceTotal& total = totals.emplace_back(PieceTotal{piece.document, piece.place});
    for (std::int64_t b = 0; b < batch; ++b) {
      std::copy_n(sums.begin() + b * piece.tokens * row, piece.tokens * row, at(b, piece.first));
      const auto whole = at(b, piece.first + (backward ? 0 : piece.tokens - 1));
      total.sums.insert(total.sums.end(), whole, whole + row);
    }
  }
  const std::vector<PieceTotal> all = all_totals(channel, totals, static_cast<std::size_t>(batch * row), backward);
  for (const positions::Piece& piece : own.shard->pieces) {
    std::vector<double> others(static_cast<std::size_t>(batch * row), 0.0);
    for (const PieceTotal& total : all) {
      if (total.document != piece.document) continue;
      if (total.place == piece.place) break;
      for (std::size_t i = 0; i < others.size(); ++i) others[i] += total.sums[i];
    }
    for (std::int64_t i = 0; i < batch * piece.tokens * row; ++i) {
      const std::int64_t b = i / (piece.tokens * row), within = i % (piece.tokens * row);
      at(b, piece.first)[within] += others[static_cast<std::size_t>(b * row + within % row)];
    }
  }
  return result;
}

}  // namespace

std::vector<double> running_sums(const ShardNumbers& own) {
  return over_ranks(own, false, {}, [&](const positions::Piece& piece) {
    return locus::running_sums(part_of(own.numbers, piece.first, piece.tokens));
  });
}

void running_sums_backward(std::span<double> gradients, const ShardNumbers& own) {
  const HeadsView& like = own.numbers;
  const std::int64_t row = like.heads * like.head_dim, size = like.batch * like.tokens * row;
  std::string error;
  if (std::ssize(gradients) != size) {
    error = concat("mpi: running_sums_backward: gradients must have ", size, " values, got ", gradients.size());
  }
  const std::vector<double> sums = over_ranks(own, true, error, [&](const positions::Piece& piece) {
    std::vector<double> part;
    for (std::int64_t b = 0; b < like.batch; ++b) {
      const auto from = gradients.begin() + (b * like.tokens + piece.first) * row;
      part.insert(part.end(), from, from + piece.tokens * row);
    }
    locus::running_sums_backward(part, part_of(like, piece.first, piece.tokens));
    return part;
  });
  std::copy(sums.begin(), sums.end(), gradients.begin());
}

}  // namespace locus::mpi
