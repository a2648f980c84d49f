// SPDX-License-Identifier: Apache-2.0
#include "mpi/verify_ring.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "locus/error.h"
#include "locus/reference_attention.h"

namespace locus::tools {
namespace {

/// Collects the comparisons of one rank.
class Comparing {
 public:
  explicit Comparing(int rank) : rank_(rank) {}

  void see(std::int64_t token, std::int64_t head, double got, double want, double bound) {
    ++compared_;
    const double share = std::fabs(got - want) / bound;
    if (!(share <= worst_)) worst_ = std::isnan(share) ? HUGE_VAL : share;
    if (share <= 1) return;
    if (first_ && std::pair(first_->token, first_->head) <= std::pair(token, head)) return;
    first_ = Divergence{rank_, token, head, got, want, bound};
  }

  /// Over all ranks: the first token, then the first head, then the first rank. Collective.
  RingComparison gathered(MPI_Comm communicator) const {
    struct Told {
      std::int64_t compared, token, head;
      double worst, got, want, bound;
    };
    const Told own{compared_,
                   first_ ? first_->token : -1,
                   first_ ? first_->head : 0,
                   worst_,
                   first_ ? first_->got : 0,
                   first_ ? first_->want : 0,
                   first_ ? first_->bound : 0};
    int ranks = 1;
    MPI_Comm_size(communicator, &ranks);
    std::vector<Told> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, communicator);
    RingComparison result;
    for (int rank = 0; rank < ranks; ++rank) {
      const Told& told = all[static_cast<std::size_t>(rank)];
      result.compared += told.compared;
      result.worst = std::max(result.worst, told.worst);
      if (told.token < 0) continue;
      if (result.first && std::pair(result.first->token, result.first->head) <= std::pair(told.token, told.head))
        continue;
      result.first = Divergence{rank, told.token, told.head, told.got, told.want, told.bound};
    }
    return result;
  }

 private:
  int rank_;
  std::int64_t compared_ = 0;
  double worst_ = 0;
  std::optional<Divergence> first_;
};

double largest(const TokenRows& rows) {
  double most = 0;
  for (std::int64_t t = 0; t < rows.tokens; ++t) {
    for (std::int64_t h = 0; h < rows.heads; ++h) {
      for (std::int64_t j = 0; j < rows.dim; ++j) most = std::max(most, std::fabs(rows.at(t, h, j)));
    }
  }
  return most;
}

double output_rounding(ElementType type) {
  return type == ElementType::bfloat16 ? 0x1p-8 : type == ElementType::float16 ? 0x1p-11 : 0x1p-24;
}

struct Ranks {
  explicit Ranks(MPI_Comm communicator) {
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &count);
  }
  int rank = 0, count = 1;
};

/// The mask of a rank: `keys` and `pairs` speak of own tokens.
struct OwnMask {
  OwnMask(const Mask& whole, const positions::DocumentShard& shard, std::int64_t all) : mask(whole) {
    if (!whole.keys.empty()) {
      for (const std::int64_t token : shard.tokens)
        keys.push_back(token < 0 ? 0 : whole.keys[static_cast<std::size_t>(token)]);
      mask.keys = keys;
    }
    if (whole.pairs.empty()) return;
    for (const std::int64_t token : shard.tokens) {
      for (std::int64_t k = 0; k < all; ++k) {
        pairs.push_back(token < 0 ? 0 : whole.pairs[static_cast<std::size_t>(token * all + k)]);
      }
    }
    mask.pairs = pairs;
  }
  std::vector<std::uint8_t> keys, pairs;
  Mask mask;
};

}  // namespace

std::string to_text(const Divergence& divergence) {
  std::ostringstream text;
  text.precision(9);
  text << "token " << divergence.token << ", head " << divergence.head << " on rank " << divergence.rank << ": got "
       << divergence.got << ", expected " << divergence.want;
  text.precision(3);
  text << " within " << divergence.bound;
  return text.str();
}

RingComparison compare_forward(MPI_Comm communicator, RingSample& sample, const RingCase& by, Sabotage sabotage) {
  const Ranks ranks(communicator);
  const std::int64_t tokens = sample.tokens(), heads = sample.shape().heads, dim = sample.shape().head_dim;
  AttentionCall whole = sample.whole(by.mask);
  TokenRows room(sample.query.type, tokens, heads, dim);
  whole.output = room.view();
  const reference::Attention exact = reference::attend(whole);

  RingSample::Share share;
  sample.make_share(by.kind, by.remainder, ranks.count, ranks.rank, share);
  const OwnMask own(by.mask, share.shard, tokens);
  share.call.communicator = communicator;
  share.call.mask = own.mask;
  share.call.skip_irrelevant_blocks = by.skip_irrelevant_blocks;
  if (sabotage != nullptr) sabotage(share, ranks.rank, ranks.count);
  const mpi::RingWork work = mpi::attend(share.call);

  double v = largest(sample.value);
  if (const auto* keys = std::get_if<RelativeKeys>(&sample.encoding().term())) {
    float row = 0;
    for (const float x : keys->value_table.data) row = std::max(row, std::fabs(x));
    v += static_cast<double>(row);
  }
  const double u = 0x1p-24, d = static_cast<double>(dim);
  const auto n = static_cast<double>(*std::max_element(sample.shape().lengths.begin(), sample.shape().lengths.end()));
  Comparing compare(ranks.rank);
  for (std::int64_t i = 0; i < share.output.tokens; ++i) {
    const std::int64_t token = share.shard.tokens[static_cast<std::size_t>(i)];
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto row = static_cast<std::size_t>(h * tokens + std::max<std::int64_t>(token, 0));
      const double s = token < 0 ? 0 : exact.magnitude[row];
      const double lse = token < 0 || std::isinf(exact.log_sum_exp[row]) ? 0 : std::fabs(exact.log_sum_exp[row]);
      const double attended = (2 * (d + 16) * s + 4 * n + 16) * u * v + u * v;
      const double bound = 2 * attended + u * v + (2 * lse + 2 * ranks.count + 8) * u * v;
      for (std::int64_t j = 0; j < dim; ++j) {
        const double want =
            token < 0 ? 0 : exact.output[row * static_cast<std::size_t>(dim) + static_cast<std::size_t>(j)];
        compare.see(std::max<std::int64_t>(token, 0), h, share.output.at(i, h, j), want,
                    bound + output_rounding(share.output.type) * std::fabs(want));
      }
      if (token < 0) continue;
      const double got = static_cast<double>(share.log_sum_exp[static_cast<std::size_t>(h * share.output.tokens + i)]);
      const double expected = exact.log_sum_exp[row];
      if (std::isinf(expected) && got == expected) continue;
      compare.see(token, h, got, expected, 2 * (((d + 16) * s + n + 16) * u + lse * u + 0x1p-25) + (lse + 4) * u);
    }
  }
  RingComparison result = compare.gathered(communicator);
  result.work = work;
  return result;
}

namespace {

/// Room for every learned gradient that the encoding has.
struct LearnedRoom {
  LearnedRoom(const Encoding& encoding, std::size_t sinks) {
    static const ScoreBias no_bias;
    static const RelativeKeys no_keys;
    const auto* bias = std::get_if<ScoreBias>(&encoding.term());
    const auto* keys = std::get_if<RelativeKeys>(&encoding.term());
    if (bias == nullptr) bias = &no_bias;
    if (keys == nullptr) keys = &no_keys;
    const auto add = [&](std::span<double> LearnedGradients::*member, std::size_t size) {
      rooms.emplace_back(size, 0.0);
      members.push_back(member);
    };
    add(&LearnedGradients::sink_logits, sinks);
    add(&LearnedGradients::bias_table, bias->table.data.size());
    add(&LearnedGradients::bias_parameters, static_cast<std::size_t>(bias->parameters * bias->heads));
    add(&LearnedGradients::bias_network, static_cast<std::size_t>(bias->network_weights));
    add(&LearnedGradients::key_table, keys->key_table.data.size());
    add(&LearnedGradients::query_table, keys->query_table.data.size());
    add(&LearnedGradients::column_table, keys->column_table.data.size());
    add(&LearnedGradients::value_table, keys->value_table.data.size());
    add(&LearnedGradients::u, keys->u.data.size());
    add(&LearnedGradients::v, keys->v.data.size());
    add(&LearnedGradients::w_r, keys->w_r.data.size());
    add(&LearnedGradients::gate_mix, keys->gate_mix.data.size());
    for (std::size_t i = 0; i < members.size(); ++i) spans.*members[i] = rooms[i];
  }
  std::vector<std::vector<double>> rooms;
  std::vector<std::span<double> LearnedGradients::*> members;
  LearnedGradients spans;
};

TokenRows as_doubles(const TokenRows& from) {
  TokenRows to(ElementType::float64, from.tokens, from.heads, from.dim);
  for (std::int64_t t = 0; t < from.tokens; ++t) {
    for (std::int64_t h = 0; h < from.heads; ++h) {
      for (std::int64_t j = 0; j < from.dim; ++j) to.set(t, h, j, from.at(t, h, j));
    }
  }
  return to;
}

/// The gradient of the output: any numbers will do, the same on every rank.
TokenRows output_gradient(std::int64_t tokens, std::int64_t heads, std::int64_t dim) {
  TokenRows rows(ElementType::float64, tokens, heads, dim);
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t j = 0; j < dim; ++j)
        rows.set(t, h, j,
                 static_cast<double>(static_cast<float>(std::sin(0.7 * static_cast<double>(t * 31 + h * 17 + j * 7)))));
    }
  }
  return rows;
}

/// All gradients of a call.
struct Gradients {
  Gradients(const TokenRows& q, const TokenRows& k, const TokenRows& numbers, ElementType type)
      : query(type, q.tokens, q.heads, q.dim),
        key(type, k.tokens, k.heads, k.dim),
        value(type, k.tokens, k.heads, k.dim) {
    if (numbers.tokens == 0) return;
    query_numbers = TokenRows(ElementType::float64, numbers.tokens, numbers.heads, numbers.dim);
    key_numbers = query_numbers;
  }
  TokenRows query, key, value, query_numbers, key_numbers;
};

/// The gradients in double, by one rank alone.
struct Exact {
  Exact(RingSample& sample, const Mask& mask, LearnedRoom& learned)
      : query(as_doubles(sample.query)),
        key(as_doubles(sample.key)),
        value(as_doubles(sample.value)),
        output(ElementType::float64, query.tokens, query.heads, query.dim),
        gradient(output_gradient(query.tokens, query.heads, query.dim)),
        gradients(query, key, sample.query_numbers, ElementType::float64) {
    AttentionCall whole = sample.whole(mask);
    whole.query = query.view();
    whole.key = key.view();
    whole.value = value.view();
    whole.output = output.view();
    locus::attend(whole);
    locus::attend_backward({.forward = whole,
                            .output_gradient = gradient.view(),
                            .query_gradient = gradients.query.view(),
                            .key_gradient = gradients.key.view(),
                            .value_gradient = gradients.value.view(),
                            .query_numbers_gradient = gradients.query_numbers.view(),
                            .key_numbers_gradient = gradients.key_numbers.view(),
                            .learned = learned.spans});
  }
  TokenRows query, key, value, output, gradient;
  Gradients gradients;
};

}  // namespace

RingComparison compare_backward(MPI_Comm communicator, RingSample& sample, const RingCase& by, double tolerance) {
  const Ranks ranks(communicator);
  LearnedRoom exact_learned(sample.encoding(), sample.sink_logits.size());
  Exact exact(sample, by.mask, exact_learned);

  RingSample::Share share;
  sample.make_share(by.kind, by.remainder, ranks.count, ranks.rank, share);
  const OwnMask own(by.mask, share.shard, sample.tokens());
  share.call.communicator = communicator;
  share.call.mask = own.mask;
  share.call.skip_irrelevant_blocks = by.skip_irrelevant_blocks;
  mpi::attend(share.call);
  TokenRows gradient(share.query.type, share.query.tokens, share.query.heads, share.query.dim);
  for (std::int64_t i = 0; i < gradient.tokens; ++i) {
    const std::int64_t token = share.shard.tokens[static_cast<std::size_t>(i)];
    for (std::int64_t h = 0; h < gradient.heads; ++h) {
      for (std::int64_t j = 0; j < gradient.dim; ++j)
        gradient.set(i, h, j, token < 0 ? 0 : exact.gradient.at(token, h, j));
    }
  }
  Gradients got(share.query, share.key, share.query_numbers, share.query.type);
  LearnedRoom learned(sample.encoding(), sample.sink_logits.size());
  const mpi::RingWork work = mpi::attend_backward({.forward = share.call,
                                                   .output_gradient = gradient.view(),
                                                   .query_gradient = got.query.view(),
                                                   .key_gradient = got.key.view(),
                                                   .value_gradient = got.value.view(),
                                                   .query_numbers_gradient = got.query_numbers.view(),
                                                   .key_numbers_gradient = got.key_numbers.view(),
                                                   .learned = learned.spans});
  Comparing compare(ranks.rank);
  const auto rows = [&](const TokenRows& mine, const TokenRows& theirs, double least = 0) {
    const double bound = tolerance * std::max({largest(theirs), least, 1e-3});
    for (std::int64_t i = 0; i < mine.tokens; ++i) {
      const std::int64_t token = share.shard.tokens[static_cast<std::size_t>(i)];
      for (std::int64_t h = 0; h < mine.heads; ++h) {
        for (std::int64_t j = 0; j < mine.dim; ++j) {
          compare.see(std::max<std::int64_t>(token, 0), h, mine.at(i, h, j), token < 0 ? 0 : theirs.at(token, h, j),
                      bound);
        }
      }
    }
  };
  rows(got.query, exact.gradients.query);
  rows(got.key, exact.gradients.key);
  rows(got.value, exact.gradients.value);
  // A number of a query moves all its scores alike, so its gradient is rounding only.
  rows(got.query_numbers, exact.gradients.query_numbers, largest(exact.gradients.key_numbers));
  rows(got.key_numbers, exact.gradients.key_numbers);
  for (std::size_t i = 0; i < learned.rooms.size(); ++i) {
    double most = 1e-3;
    for (const double x : exact_learned.rooms[i]) most = std::max(most, std::fabs(x));
    for (std::size_t j = 0; j < learned.rooms[i].size(); ++j) {
      compare.see(0, 0, learned.rooms[i][j], exact_learned.rooms[i][j], tolerance * most);
    }
  }
  RingComparison result = compare.gathered(communicator);
  result.work = work;
  return result;
}

}  // namespace locus::tools
