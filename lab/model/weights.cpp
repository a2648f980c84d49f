// SPDX-License-Identifier: Apache-2.0
#include "model/weights.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/random.h"
#include "locus/error.h"
#include "locus/initial_weights.h"

namespace locus::lab {

std::uint64_t mix_seed(std::int64_t seed, const std::string& words) {
  // FNV-1a over the words.
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : words) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return mixed_bits(hash + static_cast<std::uint64_t>(seed) * golden_step);
}

Weights::Weights(std::vector<Entry> entries, std::int64_t seed) : entries_(std::move(entries)) {
  std::stable_partition(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.decays; });
  const NoGradGuard no_gradients;
  const auto size = [](const Entry& entry) {
    return std::accumulate(entry.shape.begin(), entry.shape.end(), std::int64_t{1}, std::multiplies<>());
  };
  std::int64_t total = 0;
  for (const Entry& entry : entries_) {
    total += size(entry);
    if (entry.decays) decaying_ = total;
  }
  values_ = at::empty({total});
  gradients_ = at::zeros({total});
  std::int64_t first = 0;
  for (const Entry& entry : entries_) {
    const std::int64_t count = size(entry);
    const auto seed_of_entry = static_cast<std::int64_t>(mix_seed(seed, entry.name));
    const Tensor initial = normal_weights(entry.shape, seed_of_entry, entry.deviation);
    float* values = values_.data_ptr<float>() + first;
    std::transform(initial.data.begin(), initial.data.end(), values,
                   [&](float value) { return value + static_cast<float>(entry.mean); });
    at::Tensor tensor = values_.narrow(0, first, count).view(entry.shape).detach();
    tensor.set_requires_grad(true);
    tensor.mutable_grad() = gradients_.narrow(0, first, count).view(entry.shape);
    const bool fresh = tensors_.emplace(entry.name, std::move(tensor)).second;
    require(fresh, "two weights of the model are called ", entry.name);
    first += count;
  }
}

const at::Tensor& Weights::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  require(found != tensors_.end(), "the model has no weight called ", name);
  return found->second;
}

}  // namespace locus::lab
