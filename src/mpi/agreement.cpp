// SPDX-License-Identifier: Apache-2.0
#include "mpi/agreement.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "locus/error.h"

namespace locus::mpi {
namespace {

class Hash {  // FNV-1a
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) hash_ = (hash_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  }
  void add(const std::string& text) { add(std::as_bytes(std::span(text))); }
  template <class Number>
  void add_all(const std::vector<Number>& numbers) {
    add(std::as_bytes(std::span(numbers)));
  }
  std::int64_t value() const { return static_cast<std::int64_t>(hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

std::int64_t hash_of(const Encoding* encoding) {
  if (encoding == nullptr) return 0;
  Hash hash;
  hash.add(std::string(encoding->scheme().name));
  for (const auto& [name, value] : encoding->arguments().all()) {
    hash.add(name);
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      hash.add_all(tensor->shape);
      hash.add_all(tensor->data);
    } else {
      hash.add(to_text(value));
    }
  }
  return hash.value();
}

std::int64_t hash_of(std::span<const float> numbers) {
  Hash hash;
  hash.add(std::as_bytes(numbers));
  return numbers.empty() ? 0 : hash.value();
}

std::int64_t bits_of(double number) { return std::bit_cast<std::int64_t>(number); }

void check_pieces(const positions::DocumentShard& shard, std::int64_t tokens) {
  std::int64_t next = 0;
  for (std::size_t i = 0; i < shard.pieces.size(); ++i) {
    const positions::Piece& piece = shard.pieces[i];
    require(piece.first >= next && piece.tokens >= 1 && piece.tokens <= tokens - piece.first && piece.step >= 1 &&
                piece.place >= 0 && piece.document >= 0,
            "mpi: shard.pieces[", i, "] must lie after the piece before it and within the ", tokens,
            " own tokens, got tokens ", piece.first, " + ", piece.tokens);
    require(i == 0 || shard.pieces[i - 1].document <= piece.document,
            "mpi: shard.pieces must be in the order of documents, got ", piece.document, " after ",
            shard.pieces[i - 1].document);
    next = piece.first + piece.tokens;
  }
}

void check_call(const RingCall& call, const Channel& channel) {
  require(call.shard != nullptr, "mpi: shard must be given");
  const positions::DocumentShard& shard = *call.shard;
  const std::int64_t tokens = call.query.tokens;
  require(shard.ranks == channel.ranks() && shard.rank == channel.rank(), "mpi: shard must be that of rank ",
          channel.rank(), " of ", channel.ranks(), ", got rank ", shard.rank, " of ", shard.ranks);
  for (const auto& [what, view] :
       {std::pair{"key", &call.key}, std::pair{"value", &call.value}, std::pair{"output", &call.output}}) {
    require(view->tokens == tokens, "mpi: query, key, value and output must have the same tokens, got ", tokens,
            " and ", view->tokens, " of the ", what);
  }
  const auto planned = static_cast<std::int64_t>(shard.tokens.size());
  require(planned == tokens, "mpi: the query must have the ", planned, " tokens of the shard, got ", tokens);
  require(call.ids.empty() || std::ssize(call.ids) == tokens, "mpi: ids must have ", tokens,
          " values, one per own token, got ", call.ids.size());
  check_pieces(shard, tokens);
  require(call.query.type != ElementType::float64, "mpi: tensors must be float32, bfloat16 or float16, got float64");
  const std::int64_t batch = call.query.batch, rows = std::ssize(call.mask.keys);
  require(rows == 0 || rows == tokens || rows == batch * tokens, "mpi: mask.keys must have ", tokens,
          " values, or that many per batch row, got ", rows);
  require(call.mask.pairs.empty() || tokens == 0 || std::ssize(call.mask.pairs) % tokens == 0,
          "mpi: mask.pairs must have a row per own token (", tokens, "), got ", call.mask.pairs.size(), " values");
  // Everything else is what attend() checks: it is asked about this rank's own tokens, without any.
  AttentionCall none{.query = call.query,
                     .key = call.key,
                     .value = call.value,
                     .output = call.output,
                     .encoding = call.encoding,
                     .query_numbers = call.query_numbers,
                     .key_numbers = call.key_numbers,
                     .scale = call.scale,
                     .scale_factor = call.scale_factor,
                     .soft_cap = call.soft_cap,
                     .sink_logits = call.sink_logits};
  none.mask = {.causal = call.mask.causal,
               .by_index = call.mask.by_index,
               .prefix = call.mask.prefix,
               .window = call.mask.window,
               .sinks = call.mask.sinks};
  for (HeadsView* view : {&none.query, &none.key, &none.value, &none.output, &none.query_numbers, &none.key_numbers}) {
    view->tokens = 0;
  }
  attend(none);
  for (const auto& [what, view] :
       {std::pair{"query_numbers", &call.query_numbers}, std::pair{"key_numbers", &call.key_numbers}}) {
    require(view->data == nullptr || view->tokens == tokens, "mpi: ", what, " must have ", tokens, " tokens, got ",
            view->tokens);
  }
  if (call.encoding == nullptr) return;
  const std::span<const Position> ids = call.ids.empty() ? std::span(shard.ids.ids) : call.ids;
  for (const positions::Piece& piece : shard.pieces) {  // padding may have any id
    call.encoding->check_positions(
        ids.subspan(static_cast<std::size_t>(piece.first), static_cast<std::size_t>(piece.tokens)));
  }
}

constexpr std::size_t message_size = 240;
/// The value of a rank that has no tokens to tell it from.
constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();

/// What must agree between ranks, in the same order on each; the first two are those of Agreement.
std::vector<Agreed> agreed_numbers(const RingCall& call) {
  const Mask& mask = call.mask;
  const std::int64_t tokens = call.query.tokens;
  return {
      {"rows of mask.keys", tokens == 0 ? unknown : std::ssize(mask.keys) / tokens},
      {"columns of mask.pairs", tokens == 0 ? unknown : std::ssize(mask.pairs) / tokens},
      {"plan", call.shard == nullptr ? 0 : static_cast<std::int64_t>(call.shard->plan), true},
      {"batch rows", call.query.batch},
      {"query heads", call.query.heads},
      {"key heads", call.key.heads},
      {"head_dim", call.query.head_dim},
      {"element type", static_cast<std::int64_t>(call.query.type)},
      {"encoding", hash_of(call.encoding), true},
      {"mask.causal", mask.causal},
      {"mask.by_index", mask.by_index},
      {"mask.prefix", mask.prefix},
      {"mask.window", mask.window},
      {"mask.sinks", mask.sinks},
      {"presence of mask.custom", mask.custom != nullptr},
      {"scale", bits_of(call.scale.value_or(-1)), true},
      {"scale_factor", bits_of(call.scale_factor), true},
      {"soft_cap", bits_of(call.soft_cap), true},
      {"sink_logits", hash_of(call.sink_logits), true},
      {"skip_irrelevant_blocks", call.skip_irrelevant_blocks},
  };
}

}  // namespace

std::string local_error(const RingCall& call, const Channel& channel) {
  try {
    check_call(call, channel);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Agreement agree(Channel& channel, const RingCall& call, std::int64_t gradients, const std::string& own_error) {
  std::vector<Agreed> numbers = agreed_numbers(call);
  numbers.push_back({"pass (and gradients asked for)", gradients, true});
  const std::vector<std::int64_t> agreed = agree_on(channel, numbers, own_error);
  return {std::max<std::int64_t>(agreed[0], 0), std::max<std::int64_t>(agreed[1], 0)};
}

std::vector<std::int64_t> agree_on(Channel& channel, const std::vector<Agreed>& numbers, const std::string& own_error) {
  const std::size_t message_at = numbers.size() * sizeof(std::int64_t);
  std::vector<std::byte> own(message_at + message_size, std::byte{0});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::memcpy(own.data() + i * sizeof(std::int64_t), &numbers[i].value, sizeof(std::int64_t));
  }
  std::memcpy(own.data() + message_at, own_error.data(), std::min(own_error.size(), message_size - 1));
  const std::vector<std::byte> all = channel.gather(own);
  const auto of_rank = [&](int rank) { return all.data() + static_cast<std::size_t>(rank) * own.size(); };
  require(own_error.empty(), own_error);
  for (int rank = 0; rank < channel.ranks(); ++rank) {
    const auto* message = reinterpret_cast<const char*>(of_rank(rank) + message_at);
    require(*message == 0, "mpi: rank ", rank, " refused its call: ", message);
  }
  std::vector<std::int64_t> agreed(numbers.size(), unknown);
  std::vector<int> by(numbers.size(), 0);  // the rank that an agreed number is from
  for (int rank = 0; rank < channel.ranks(); ++rank) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::int64_t value = 0;
      std::memcpy(&value, of_rank(rank) + i * sizeof value, sizeof value);
      if (agreed[i] == unknown) by[i] = rank;
      if (agreed[i] == unknown) agreed[i] = value;
      if (value == unknown || value == agreed[i]) continue;
      require(!numbers[i].is_hash, "mpi: every rank must have the same ", numbers[i].name, ", rank ", rank,
              " has another than rank ", by[i]);
      fail("mpi: every rank must have the same ", numbers[i].name, ", rank ", by[i], " has ", agreed[i], " and rank ",
           rank, " has ", value);
    }
  }
  return agreed;
}

}  // namespace locus::mpi
