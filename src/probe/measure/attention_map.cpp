// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/attention_map.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "locus/error.h"

namespace locus::probe {
namespace {

std::size_t bin_of(std::int64_t distance) {
  std::size_t bin = 0;
  for (std::int64_t end = 1; distance >= end; end *= 2) ++bin;
  return bin;
}

std::string label_of(const DistanceBin& bin) {
  return bin.end - bin.begin == 1 ? std::to_string(bin.begin)
                                  : std::to_string(bin.begin) + "-" + std::to_string(bin.end - 1);
}

/// Whether a position is one of the evenly spaced queries of [begin, end) that are measured.
bool is_chosen(std::int64_t position, const AttentionRange& range, std::int64_t queries) {
  const std::int64_t step = std::max<std::int64_t>(1, (range.end - range.begin) / queries);
  return position >= range.begin && position < range.end && (range.end - 1 - position) % step == 0;
}

void add_rows(const AttentionRows& rows, std::int64_t first, std::int64_t layers, AttentionMap& map) {
  const auto keys = rows.key_ids.size();
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    const std::int64_t query = first + rows.rows[r];
    AttentionRange& range = map.ranges[query < map.ranges[0].end ? 0 : 1];
    if (rows.layer + 1 == layers) ++range.queries;
    for (std::int64_t head = 0; head < rows.heads; ++head) {
      const float* weights = rows.probabilities.data() + (static_cast<std::size_t>(head) * rows.rows.size() + r) * keys;
      double* mass = range.mass.data() + static_cast<std::size_t>(rows.layer * rows.heads + head) * map.bins.size();
      for (std::size_t k = 0; k < keys && rows.key_ids[k] <= query; ++k) {
        const std::size_t bin = bin_of(query - rows.key_ids[k]);
        mass[bin] += static_cast<double>(weights[k]);
        if (rows.layer == 0 && head == 0) ++range.pairs[bin];
      }
    }
  }
}

}  // namespace

std::vector<DistanceBin> distance_bins(std::int64_t length) {
  std::vector<DistanceBin> bins = {{0, 1}};
  for (std::int64_t begin = 1; begin < length; begin *= 2) bins.push_back({begin, 2 * begin});
  return bins;
}

double AttentionRange::mean(std::int64_t row, std::size_t bin) const {
  return pairs[bin] == 0 ? 0.0
                         : mass[static_cast<std::size_t>(row) * pairs.size() + bin] / static_cast<double>(pairs[bin]);
}

AttentionMap measure_attention(const Model& model, const Encoding& encoding, std::span<const Token> tokens,
                               std::int64_t queries, const RunControl& control) {
  require(!tokens.empty() && queries >= 1, "attention needs at least one token and one query");
  const ModelConfig& config = model.config();
  const std::int64_t length = std::ssize(tokens), trained = std::min(config.trained_length, length);
  AttentionMap map{.layers = config.layers, .heads = config.heads, .bins = distance_bins(length), .ranges = {}};
  const auto add_range = [&](const char* name, std::int64_t begin, std::int64_t end) {
    const auto bins = map.bins.size();
    map.ranges.push_back({name, begin, end, 0, std::vector<std::int64_t>(bins),
                          std::vector<double>(static_cast<std::size_t>(config.layers * config.heads) * bins)});
  };
  add_range("in range", 0, trained);
  if (length > trained) add_range("beyond", trained, length);

  Cache cache(model, length, encoding.at_length(length));
  const SequenceId sequence = cache.create();
  for (std::int64_t at = 0; at < length; at += control.chunk) {
    if (control.interrupted()) {
      map.complete = false;
      break;
    }
    const std::int64_t size = std::min(control.chunk, length - at);
    std::vector<std::int64_t> wanted;
    for (std::int64_t i = 0; i < size; ++i) {
      const bool chosen = std::any_of(map.ranges.begin(), map.ranges.end(),
                                      [&](const AttentionRange& range) { return is_chosen(at + i, range, queries); });
      if (chosen) wanted.push_back(i);
    }
    const Segment segment{.sequence = sequence,
                          .tokens = tokens.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size))};
    ForwardCall call;
    call.segments = std::span(&segment, 1);
    call.attention_wanted = wanted;
    call.on_attention = [&](const AttentionRows& rows) { add_rows(rows, at, config.layers, map); };
    call.executor = control.executor;
    (void)model.forward(call, cache);
    control.on_tokens(size);
  }
  return map;
}

figures::Figure attention_figure(const std::string& model, const AttentionMap& map) {
  using figures::Json;
  Json rows = Json::array(), panels = Json::array(), labels = Json::array(), heads = Json::array();
  for (const DistanceBin& bin : map.bins) labels.push_back(label_of(bin));
  const auto head_name = [&](std::int64_t row) {
    return "layer " + std::to_string(row / map.heads) + " head " + std::to_string(row % map.heads);
  };
  for (std::int64_t row = 0; row < map.layers * map.heads; ++row) heads.push_back(head_name(row));
  constexpr double least = 1e-8;  // smaller values get the same colour
  for (const AttentionRange& range : map.ranges) {
    panels.push_back(range.name);
    for (std::int64_t row = 0; row < map.layers * map.heads; ++row) {
      for (std::size_t bin = 0; bin < map.bins.size(); ++bin) {
        if (range.pairs[bin] == 0) continue;
        const double mean = std::max(range.mean(row, bin), least);
        rows.push_back({{"range", range.name},
                        {"head", head_name(row)},
                        {"distance", labels[bin]},
                        {"mean", std::round(std::log10(mean) * 1e4) / 1e4}});
      }
    }
  }
  const Json encoding = {
      {"x", {{"field", "distance"}, {"type", "ordinal"}, {"title", "distance from query to key"}, {"sort", labels}}},
      {"y", {{"field", "head"}, {"type", "ordinal"}, {"title", nullptr}, {"sort", heads}}},
      {"color",
       {{"field", "mean"},
        {"type", "quantitative"},
        {"title", "log10 of the mean attention"},
        {"scale", {{"scheme", "viridis"}}}}}};
  return {.name = "attention-by-distance",
          .title = "Mean attention by distance, per layer and head: " + model,
          .caption =
              "Colour is the mean attention that one key at this distance gets (log10). A head that attends by "
              "distance has the same row in both panels; a head whose row changes beyond the trained length (" +
              std::to_string(map.ranges[0].end) +
              " positions in range here) attends to other distances than in training.",
          .spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
                   {"data", {{"values", rows}}},
                   {"facet", {{"field", "range"}, {"type", "nominal"}, {"title", nullptr}, {"sort", panels}}},
                   {"columns", 2},
                   {"spec", {{"mark", {{"type", "rect"}, {"tooltip", true}}}, {"encoding", encoding}}}}};
}

}  // namespace locus::probe
