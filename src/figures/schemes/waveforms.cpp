// SPDX-License-Identifier: Apache-2.0
// Single dimensions of the rows that are added to the hidden state, as curves over the position.
#include <algorithm>

#include "figures/schemes/hidden_values.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

std::vector<std::int64_t> dims_of(const Request& request, std::int64_t dim) {
  std::vector<std::int64_t> dims = request.dims;
  if (dims.empty()) {
    for (const std::int64_t usual : {0, 1, 10, 20, 50}) {
      if (usual < dim) dims.push_back(usual);
    }
  }
  require(dims.size() <= 32, "waveforms draws at most 32 dims, got ", dims.size());
  for (const std::int64_t one : dims) {
    require(one >= 0 && one < dim, "dims must be from 0 to ", dim - 1, ", got ", one);
  }
  return dims;
}

Figure draw_waveforms(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const std::vector<std::int64_t> dims = dims_of(request, encoding.hidden().dim);
  const Thinned positions = thinned(positions_or(request, 128), 4096 / dims.size(), Message::thinned_positions, words);
  const std::vector<std::vector<double>> values = hidden_rows(encoding, positions.values);
  Json rows = Json::array();
  std::vector<std::string> names;
  for (const std::int64_t dim : dims) {
    names.push_back(words(Message::waveforms_dim, {{"dim", std::to_string(dim)}}));
    for (std::size_t i = 0; i < values.size(); ++i) {
      rows.push_back({{"position", positions.values[i]},
                      {"dimension", names.back()},
                      {"value", rounded(values[i][static_cast<std::size_t>(dim)])}});
    }
  }
  // One panel per dimension: fast waves would cover slow ones.
  Json facet = nominal("dimension", "");
  facet["sort"] = names;
  const Json inner = {{"width", 480},
                      {"height", 56},
                      {"mark", {{"type", "line"}, {"tooltip", true}}},
                      {"encoding",
                       {{"x", snug("position", words(Message::axis_position))},
                        {"y", quantitative("value", words(Message::waveforms_added))}}}};
  Json spec = faceted(chart(std::move(rows)), facet, 1, inner);
  return {.name = {},
          .title = words(encoding.hidden().waves.empty() ? Message::waveforms_title : Message::waveforms_title_waves),
          .caption = words(Message::waveforms_caption, {{"scheme", std::string(encoding.scheme().name)},
                                                        {"dim", words.grouped(encoding.hidden().dim)}}) +
                     positions.note + random_weights_note(encoding, words),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& waveforms_figure();
const FigureKind& waveforms_figure() {
  static const FigureKind kind{.name = "waveforms",
                               .meaning = "single dimensions of those rows, by position (0, 1, 10, 20, 50)",
                               .scheme = "sinusoidal",
                               .arguments = {{"dim", std::int64_t{128}}},
                               .uses = {"positions", "dims"},
                               .make = draw_waveforms};
  return kind;
}

}  // namespace locus::figures
