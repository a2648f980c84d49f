// SPDX-License-Identifier: Apache-2.0
#include "attention/problem.h"

#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/text.h"

namespace locus {
namespace {

// A wider window masks nothing; adding this one to a place does not overflow.
constexpr std::int64_t widest_window = 2 * max_position + 1;

bool advances(std::span<const Position> ids) {
  for (std::size_t i = 1; i < ids.size(); ++i) {
    if (ids[i] != ids[i - 1] + 1) return false;
  }
  return true;
}

// Whether the keys that a query sees form a range: places are sorted, and none precedes a prefix or sinks.
bool rise(const Mask& mask, std::span<const Position> places) {
  if (!mask.causal && mask.window == 0) return true;
  if (!std::is_sorted(places.begin(), places.end())) return false;
  return (mask.prefix == 0 && mask.sinks == 0) || places.empty() || places.front() >= 0;
}

template <class T>
std::span<const T> part(std::span<const T> all, std::int64_t first, std::int64_t count) {
  return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

template <class T>
std::int64_t count_of(std::span<T> values) {
  return static_cast<std::int64_t>(values.size());
}

// The values of a batch row, if there is one set per row or one for all.
template <class T>
std::span<const T> row_of(std::span<const T> all, std::int64_t batch, std::int64_t row_size) {
  return part(all, count_of(all) == row_size ? 0 : batch * row_size, row_size);
}

void check_rows(std::string_view what, std::int64_t given, std::int64_t batch, std::int64_t row_size) {
  require(given == 0 || given == row_size || given == batch * row_size, "attend: ", what, " must have ", row_size,
          " values, or that many per batch row (", batch, "), got ", given);
}

void check_boundaries(std::string_view what, std::span<const std::int64_t> boundaries, std::int64_t tokens) {
  require(boundaries.front() == 0 && boundaries.back() == tokens, "attend: ", what, " must run from 0 to ", tokens,
          " tokens, got ", boundaries.front(), " to ", boundaries.back());
  require(std::is_sorted(boundaries.begin(), boundaries.end()), "attend: ", what, " must not decrease");
}

void check_view(std::string_view what, const HeadsView& view, bool supplied = false) {
  require(view.batch >= 0 && view.tokens >= 0 && view.heads >= 0, "attend: extents of ", what, " must not be negative");
  require(view.head_dim >= 1 && view.head_dim <= 65536, "attend: head_dim of ", what, " must be 1 to 65536, got ",
          view.head_dim);
  require(supplied || view.data != nullptr || view.batch * view.tokens * view.heads == 0, "attend: ", what,
          " has no data");
}

}  // namespace

Problem::Problem(const AttentionCall& call, const RowSupply* supply, const std::optional<ShardOfKeys>& shard)
    : call_(call), supply_(supply), shard_(shard.value_or(ShardOfKeys{})), is_shard_(shard.has_value()) {
  prepare();
}

Problem::Problem(const AttentionCall& call, const RowSupply* supply, std::span<const Position> indices)
    : call_(call), supply_(supply), indices_(indices) {
  prepare();
}

void Problem::prepare() {
  check_views();
  check_masks();
  call_.mask.window = std::min(call_.mask.window, widest_window);
  take_encoding();
  check_numbers();
  make_documents();
  if (relative_ != nullptr && relative_->refuses) check_relative_rows();
  project_rows();
}

void Problem::check_views() const {
  const HeadsView &q = call_.query, &k = call_.key, &v = call_.value, &o = call_.output;
  check_view("query", q);
  check_view("key", k, supply_ != nullptr);
  check_view("value", v, supply_ != nullptr);
  check_view("output", o);
  require(q.batch == k.batch && k.batch == v.batch && v.batch == o.batch, "attend: batch must be the same, got ",
          q.batch, ", ", k.batch, ", ", v.batch, " and ", o.batch);
  require(q.type == k.type && k.type == v.type && v.type == o.type, "attend: element types must be the same, got ",
          name_of(q.type), ", ", name_of(k.type), ", ", name_of(v.type), " and ", name_of(o.type));
  require(q.head_dim == k.head_dim && k.head_dim == v.head_dim && v.head_dim == o.head_dim,
          "attend: head_dim must be the same, got ", q.head_dim, ", ", k.head_dim, ", ", v.head_dim, " and ",
          o.head_dim);
  require(q.tokens == o.tokens && q.heads == o.heads, "attend: output must have ", q.tokens, " tokens and ", q.heads,
          " heads as the query, got ", o.tokens, " and ", o.heads);
  require(k.tokens == v.tokens && k.heads == v.heads, "attend: value must have ", k.tokens, " tokens and ", k.heads,
          " heads as the key, got ", v.tokens, " and ", v.heads);
  require(k.heads >= 1 && q.heads % k.heads == 0, "attend: query heads must be a multiple of key heads, got ", q.heads,
          " and ", k.heads);
  require(call_.sink_logits.empty() || count_of(call_.sink_logits) == q.heads, "attend: sink_logits must have ",
          q.heads, " values, one per query head, got ", call_.sink_logits.size());
  require(std::isfinite(call_.soft_cap) && call_.soft_cap >= 0, "attend: soft_cap must be at least 0, got ",
          call_.soft_cap);
  for (const std::int64_t row : call_.rows_wanted) {
    require(row >= 0 && row < q.tokens, "attend: rows_wanted must be below ", q.tokens, ", got ", row);
  }
  require(call_.rows_wanted.empty() || call_.probabilities != nullptr, "attend: rows_wanted needs probabilities");
}

void Problem::check_masks() const {
  const std::int64_t batch = call_.query.batch, queries = call_.query.tokens, keys = call_.key.tokens;
  const Mask& mask = call_.mask;
  check_rows("query_ids", count_of(call_.query_ids), batch, queries);
  check_rows("key_ids", count_of(call_.key_ids), batch, keys);
  require(call_.query_ids.empty() || !call_.key_ids.empty() || keys == 0, "attend: query_ids need key_ids");
  require(call_.key_ids.empty() || !call_.query_ids.empty() || queries == 0, "attend: key_ids need query_ids");
  check_rows("query_places", count_of(shard_.query_places), batch, queries);
  check_rows("key_places", count_of(shard_.key_places), batch, keys);
  require(shard_.query_places.empty() || !shard_.key_places.empty() || keys == 0,
          "attend: query_places need key_places");
  require(shard_.key_places.empty() || !shard_.query_places.empty() || queries == 0,
          "attend: key_places need query_places");
  require(shard_.query_places.empty() || !mask.by_index, "attend: mask.by_index must be false with query_places");
  check_rows("mask.keys", count_of(mask.keys), batch, keys);
  check_rows("mask.pairs", count_of(mask.pairs), batch, queries * keys);
  require(mask.prefix >= 0 && mask.window >= 0 && mask.sinks >= 0,
          "attend: mask.prefix, mask.window and mask.sinks must be at least 0, got ", mask.prefix, ", ", mask.window,
          " and ", mask.sinks);
  require(mask.prefix == 0 || mask.causal, "attend: mask.prefix needs mask.causal");
  require(mask.sinks == 0 || mask.window > 0, "attend: mask.sinks needs mask.window");
  require(call_.query_boundaries.size() == call_.key_boundaries.size(),
          "attend: query_boundaries and key_boundaries must have the same documents, got ",
          call_.query_boundaries.size(), " and ", call_.key_boundaries.size(), " boundaries");
  if (!call_.query_boundaries.empty()) {
    check_boundaries("query_boundaries", call_.query_boundaries, queries);
    check_boundaries("key_boundaries", call_.key_boundaries, keys);
  }
  const auto check_range = [](std::string_view what, std::span<const Position> numbers) {
    for (const Position number : numbers) {
      require(number >= -max_position && number <= max_position, "attend: ", what, " must be from ", -max_position,
              " to ", max_position, ", got ", number);
    }
  };
  for (const auto& ids : {call_.query_ids, call_.key_ids}) check_range("ids", ids);
  for (const auto& places : {shard_.query_places, shard_.key_places}) check_range("places", places);
}

void Problem::take_encoding() {
  const Encoding* encoding = call_.encoding;
  double own = 1 / std::sqrt(static_cast<double>(head_dim()));
  if (encoding != nullptr) {
    encoding->check_positions(call_.query_ids);
    encoding->check_positions(call_.key_ids);
    bias_ = std::get_if<ScoreBias>(&encoding->term());
    relative_ = std::get_if<RelativeKeys>(&encoding->term());
    if (const auto* rotation = std::get_if<Rotation>(&encoding->term())) {
      own *= rotation->softmax_scale_factor;
      if (rotation->offsets) remapped_ = rotation;
    }
  }
  if (bias_ != nullptr) {
    require(bias_->heads == call_.query.heads, "attend: the encoding has ", bias_->heads, " heads, the query ",
            call_.query.heads);
    own = bias_->softmax_scale.value_or(own);
    decaying_ = encoding->claims().has(Claim::decaying);
  }
  if (relative_ != nullptr) {
    require(relative_->heads == call_.query.heads && relative_->head_dim == head_dim(), "attend: the encoding has ",
            relative_->heads, " heads of ", relative_->head_dim, ", the query ", call_.query.heads, " of ", head_dim());
    own = relative_->softmax_scale.value_or(own);
    require(!relative_->counted || shard_.gate_counts == nullptr || call_.rows_wanted.empty(),
            "attend: rows_wanted must be empty with gate_counts");
    require(!relative_->counted || call_.soft_cap == 0, "attend: soft_cap must be 0 with ", encoding->scheme().name,
            ", whose gates count uncapped scores, got ", call_.soft_cap);
  }
  scale_ = call_.scale.value_or(own) * call_.scale_factor;
  require(std::isfinite(scale_), "attend: the softmax scale must be finite, got ", scale_);
}

void Problem::check_numbers() const {
  const std::int64_t wanted = bias_ == nullptr ? 0 : bias_->token_numbers;
  const auto check = [&](std::string_view what, const HeadsView& view, const HeadsView& tokens) {
    if (wanted == 0) {
      require(view.data == nullptr, "attend: ", what, " must be absent: ",
              call_.encoding == nullptr ? std::string_view("no encoding") : call_.encoding->scheme().name,
              " takes no numbers from tokens");
      return;
    }
    const bool fits = view.batch == tokens.batch && view.tokens == tokens.tokens && view.heads == call_.query.heads &&
                      view.head_dim == wanted;
    require(fits && (view.data != nullptr || tokens.batch * tokens.tokens == 0), "attend: ", what, " must be ",
            tokens.batch, " x ", tokens.tokens, " x ", call_.query.heads, " x ", wanted,
            " (batch, tokens, query heads, numbers of ", call_.encoding->scheme().name, "), got ", [&] {
              return view.data == nullptr
                         ? std::string("none")
                         : concat(view.batch, " x ", view.tokens, " x ", view.heads, " x ", view.head_dim);
            });
    require(view.data == nullptr || view.type == ElementType::float32 || view.type == ElementType::float64,
            "attend: ", what, " must be float32 or float64, got ", name_of(view.type));
  };
  check("query_numbers", call_.query_numbers, call_.query);
  check("key_numbers", call_.key_numbers, call_.key);
}

void Problem::make_documents() {
  const std::int64_t queries = call_.query.tokens, keys = call_.key.tokens;
  const std::vector<std::int64_t> whole_queries{0, queries}, whole_keys{0, keys};
  const bool packed = !call_.query_boundaries.empty();
  const auto query_ends = packed ? call_.query_boundaries : std::span<const std::int64_t>(whole_queries);
  const auto key_ends = packed ? call_.key_boundaries : std::span<const std::int64_t>(whole_keys);

  // Indices within each document; the last query is aligned with the last key.
  for (std::size_t i = 1; i < query_ends.size(); ++i) {
    const std::int64_t n = query_ends[i] - query_ends[i - 1], m = key_ends[i] - key_ends[i - 1];
    for (std::int64_t j = 0; j < n; ++j) default_query_.push_back(m - n + j);
    for (std::int64_t j = 0; indices_.empty() && j < m; ++j) default_key_.push_back(j);
  }
  const std::span<const Position> query_index(default_query_);
  const auto key_index = indices_.empty() ? std::span<const Position>(default_key_) : part(indices_, 0, keys);
  const auto query_ids = call_.query_ids.empty() ? query_index : call_.query_ids;
  const auto key_ids = call_.key_ids.empty() ? key_index : call_.key_ids;
  if (call_.encoding != nullptr && call_.query_ids.empty()) {
    call_.encoding->check_positions(query_index);
    call_.encoding->check_positions(key_index);
  }

  const Mask& mask = call_.mask;
  for (std::int64_t batch = 0; batch < call_.query.batch; ++batch) {
    const auto query_row = row_of(query_ids, batch, queries);
    const auto key_row = row_of(key_ids, batch, keys);
    for (std::size_t i = 1; i < query_ends.size(); ++i) {
      Document s{.batch = batch,
                 .first_query = query_ends[i - 1],
                 .queries = query_ends[i] - query_ends[i - 1],
                 .first_key = key_ends[i - 1],
                 .keys = key_ends[i] - key_ends[i - 1]};
      if (s.queries == 0) continue;
      if (!mask.keys.empty()) {
        const auto padding = row_of(mask.keys, batch, keys);
        const auto at = [&](std::int64_t j) { return padding[static_cast<std::size_t>(j)]; };
        while (s.keys > 0 && at(s.first_key) == 0) ++s.first_key, --s.keys;
        while (s.keys > 0 && at(s.first_key + s.keys - 1) == 0) --s.keys;
        for (std::int64_t j = 0; j < s.keys; ++j) s.patchy |= at(s.first_key + j) == 0;
      }
      s.patchy |= !mask.pairs.empty() || mask.custom != nullptr;
      s.query_ids = part(query_row, s.first_query, s.queries);
      s.key_ids = part(key_row, s.first_key, s.keys);
      s.query_places = mask.by_index ? part(query_index, s.first_query, s.queries) : s.query_ids;
      s.key_places = mask.by_index ? part(key_index, s.first_key, s.keys) : s.key_ids;
      if (!shard_.query_places.empty()) {
        s.query_places = part(row_of(shard_.query_places, batch, queries), s.first_query, s.queries);
        s.key_places = part(row_of(shard_.key_places, batch, keys), s.first_key, s.keys);
      }
      const bool by_index = s.key_places.data() == key_index.data() + s.first_key;  // 0, 1, ...: known to rise
      s.ids_advance = call_.key_ids.empty() || (advances(s.query_ids) && advances(s.key_ids));
      s.places_rise = by_index || rise(mask, s.key_places);
      s.places_advance = by_index || advances(s.key_places);
      documents_.push_back(s);
    }
  }
}

void Problem::check_relative_rows() const {
  const std::int64_t heads =
      call_.mask.custom == nullptr ? 1 : call_.query.heads;  // only a custom condition depends on the head
  for (const Document& s : documents_) {
    for (std::int64_t query = 0; query < s.queries; ++query) {
      for (std::int64_t key = 0; key < s.keys; ++key) {
        for (std::int64_t head = 0; head < heads; ++head) {
          if (!sees(s, head, query, key)) continue;
          relative_->index(s.query_ids[static_cast<std::size_t>(query)], s.key_ids[static_cast<std::size_t>(key)]);
        }
      }
    }
  }
}

TypedRows Problem::rows(RowSupply::Part part, const Document& document, std::int64_t key_head, std::int64_t first,
                        std::int64_t count, std::vector<std::byte>& room) const {
  if (supply_ != nullptr) return supply_->rows(part, key_head, document.first_key + first, count, room);
  const HeadsView& view = part == RowSupply::Part::keys ? call_.key : call_.value;
  return {.rows = {.data = row(view, document.batch, document.first_key + first, key_head),
                   .stride = view.token_stride,
                   .rows = count,
                   .dim = view.head_dim},
          .type = view.type};
}

std::byte* Problem::row(const HeadsView& view, std::int64_t batch, std::int64_t token, std::int64_t head) {
  const std::int64_t index = batch * view.batch_stride + token * view.token_stride + head * view.head_stride;
  return static_cast<std::byte*>(view.data) + index * static_cast<std::int64_t>(size_of(view.type));
}

double Problem::element(const HeadsView& view, const std::byte* row, std::int64_t j) {
  switch (view.type) {
    case ElementType::float32:
      return static_cast<double>(reinterpret_cast<const float*>(row)[j]);
    case ElementType::float64:
      return reinterpret_cast<const double*>(row)[j];
    case ElementType::bfloat16:
      return static_cast<double>(to_float(reinterpret_cast<const BFloat16*>(row)[j]));
    case ElementType::float16:
      return static_cast<double>(to_float(reinterpret_cast<const Float16*>(row)[j]));
  }
  return 0;
}

float* Problem::log_sum_exp(std::int64_t batch, std::int64_t head, std::int64_t query) const {
  if (call_.log_sum_exp == nullptr) return nullptr;
  return call_.log_sum_exp + (batch * call_.query.heads + head) * call_.query.tokens + query;
}

double* Problem::gate_count(std::int64_t batch, std::int64_t head, std::int64_t query) const {
  return of_query(shard_.gate_counts, batch, head, query);
}

double* Problem::count_gradient(std::int64_t batch, std::int64_t head, std::int64_t query) const {
  return of_query(shard_.count_gradients, batch, head, query);
}

double* Problem::of_query(double* numbers, std::int64_t batch, std::int64_t head, std::int64_t query) const {
  return numbers == nullptr ? nullptr : numbers + (batch * call_.query.heads + head) * call_.query.tokens + query;
}

}  // namespace locus
