// SPDX-License-Identifier: Apache-2.0
// PoPE channel by channel: the product of a query and a key of length 1, by offset. A learned phase moves its top.
#include <cmath>

#include "figures/registry.h"
#include "figures/schemes/hidden_values.h"
#include "figures/spec.h"
#include "locus/error.h"
#include "locus/polar.h"
#include "locus/reference.h"

namespace locus::figures {
namespace {

Figure draw_phases(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const Polar* polar = polar_of(encoding);
  require(polar != nullptr, encoding.scheme().name, " makes no heads polar; the figure dot-product draws it");
  const Rotation& rotation = encoding.rotation();
  require(rotation.axes == 1, "the figure phases draws one axis of positions, got ", rotation.axes);
  const std::vector<std::int64_t> channels = request.pairs.empty() ? spread(polar->channels, 4) : request.pairs;
  const Thinned offsets = thinned(request.positions.empty() ? range(-32, 64) : request.positions,
                                  4096 / channels.size(), Message::thinned_offsets, words);
  std::vector<double> key_cos(static_cast<std::size_t>(rotation.pairs())), key_sin(key_cos.size());
  std::vector<double> cos(key_cos.size()), sin(key_cos.size());
  const Position at[] = {0};
  reference::rotation_row(rotation, Role::key, at, key_cos, key_sin);
  Json rows = Json::array();
  std::vector<std::string> names;
  for (const std::int64_t channel : channels) {
    require(channel >= 0 && channel < polar->channels, "pairs must be from 0 to ", polar->channels - 1, ", got ",
            channel);
    const auto c = static_cast<std::size_t>(channel);
    const double phase = polar->phases[c];
    names.push_back(words(Message::phases_channel,
                          {{"channel", std::to_string(channel)}, {"phase", words.digits(pretty(rounded(phase)))}}));
    for (const Position offset : offsets.values) {
      const Position query[] = {offset};
      reference::rotation_row(rotation, Role::query, query, cos, sin);
      const double x = std::cos(phase) * key_cos[c] - std::sin(phase) * key_sin[c],
                   y = std::cos(phase) * key_sin[c] + std::sin(phase) * key_cos[c];
      rows.push_back({{"offset", offset}, {"channel", names.back()}, {"product", rounded(cos[c] * x + sin[c] * y)}});
    }
  }
  Json facet = nominal("channel", "");
  facet["sort"] = names;
  const Json inner = {{"width", 240},
                      {"height", 110},
                      {"mark", {{"type", "line"}, {"tooltip", true}}},
                      {"encoding",
                       {{"x", snug("offset", words(Message::dot_offset))},
                        {"y", quantitative("product", words(Message::dot_product))}}}};
  return {.name = {},
          .title = words(Message::phases_title),
          .caption = words(Message::phases_caption) + offsets.note + random_weights_note(encoding, words),
          .spec = faceted(chart(std::move(rows)), facet, 2, inner)};
}

}  // namespace

const FigureKind& phases_figure();
const FigureKind& phases_figure() {
  static const FigureKind kind{
      .name = "phases",
      .meaning = "PoPE: the product of one channel by offset, moved by its learned phase (--positions: offsets)",
      .scheme = "pope",
      .arguments = {{"heads", std::int64_t{1}}, {"head_dim", std::int64_t{32}}, {"deviation", 0.8}},
      .uses = {"positions", "pairs"},
      .make = draw_phases};
  return kind;
}

}  // namespace locus::figures
