// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "locus/error.h"
#include "probe/memory.h"
#include "probe/network.h"

namespace locus::probe {
namespace {

/// Keys of a mixed cache are rotated before they are stored, so the cache must not rotate them again.
bool rotated_before(const Encoding& encoding, KeyTables tables) {
  return tables == KeyTables::mixed && encoding.site() == Site::query_key;
}

CacheShape checked_shape(const ModelConfig& config, std::int64_t capacity, const Encoding& encoding, KeyTables tables) {
  require(capacity >= 1, "a cache must hold at least one token, got ", capacity);
  const std::int64_t head_dim = attended_dim(config, encoding);
  const double bytes = 2.0 * sizeof(float) * static_cast<double>(config.layers * config.kv_heads * head_dim) *
                       static_cast<double>(capacity);
  require_memory("a cache of " + std::to_string(capacity) + " tokens", bytes);
  return {.capacity = capacity,
          .heads = config.kv_heads,
          .head_dim = head_dim,
          .form = tables == KeyTables::raw ? KeyForm::raw : KeyForm::rotated,
          .page_size = 16};
}

}  // namespace

Cache::Cache(const Model& model, std::int64_t capacity, const Encoding& encoding, KeyTables tables)
    : encoding_(encoding), tables_(tables), dim_(model.config().dim) {
  const CacheShape shape = checked_shape(model.config(), capacity, encoding, tables);
  layers_.reserve(static_cast<std::size_t>(model.config().layers));
  for (std::int64_t layer = 0; layer < model.config().layers; ++layer) {
    layers_.emplace_back(rotated_before(encoding, tables) ? Encoding("nope") : encoding, shape);
  }
}

Cache::Cache(const Model& model, std::int64_t capacity) : Cache(model, capacity, model.encoding()) {}

SequenceId Cache::create() {
  SequenceId sequence = 0;
  for (KvCache& layer : layers_) sequence = layer.create();
  return sequence;
}

SequenceId Cache::fork(SequenceId sequence) {
  SequenceId copy = 0;
  for (KvCache& layer : layers_) copy = layer.fork(sequence);
  if (const auto found = vectors_.find(sequence); found != vectors_.end()) vectors_[copy] = found->second;
  return copy;
}

void Cache::free(SequenceId sequence) {
  for (KvCache& layer : layers_) layer.free(sequence);
  vectors_.erase(sequence);
}

void Cache::truncate(SequenceId sequence, std::int64_t length) {
  const std::int64_t dropped = (this->length(sequence) - length) * dim_;
  for (KvCache& layer : layers_) layer.truncate(sequence, length);
  if (const auto found = vectors_.find(sequence); found != vectors_.end()) {
    found->second.resize(static_cast<std::size_t>(std::max<std::int64_t>(std::ssize(found->second) - dropped, 0)));
  }
}

std::span<const float> Cache::vectors(SequenceId sequence) const {
  const auto found = vectors_.find(sequence);
  return found == vectors_.end() ? std::span<const float>() : std::span<const float>(found->second);
}

void Cache::remember(SequenceId sequence, std::span<const float> vectors) {
  std::vector<float>& all = vectors_[sequence];
  all.insert(all.end(), vectors.begin(), vectors.end());
}

std::int64_t Cache::length(SequenceId sequence) const { return layers_.front().length(sequence); }

std::vector<Position> Cache::positions(SequenceId sequence) const { return layers_.front().positions(sequence); }

std::vector<Position> Cache::last_position(SequenceId sequence) const {
  return layers_.front().last_position(sequence);
}

void Cache::set_placement(const Placement& placement) {
  require(placement.first >= 0 && placement.query_ahead >= 0, "a placement must not be negative, got ", placement.first,
          " and ", placement.query_ahead);
  placement_ = placement;
}

void Cache::set_encoding(const Encoding& encoding) {
  require(encoding.site() == encoding_.site(), "cache: the new encoding acts at the site ", name_of(encoding.site()),
          ", the old one at ", name_of(encoding_.site()));
  if (!rotated_before(encoding, tables_)) {
    for (KvCache& layer : layers_) layer.set_encoding(encoding, true);
  }
  encoding_ = encoding;
}

}  // namespace locus::probe
