// SPDX-License-Identifier: Apache-2.0
// Wavelengths: the number of positions in which each pair of a rotation, or each sine, completes one turn.
#include <algorithm>
#include <numbers>

#include "figures/registry.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

/// Returns the radians per position of each pair, or of each sine of a row.
std::vector<double> frequencies_of(const Encoding& encoding) {
  if (encoding.site() == Site::query_key) return encoding.rotation().inv_freq;
  std::vector<double> frequencies;
  for (const Wave& wave : encoding.hidden().waves) {
    if (!wave.cosine && !wave.silent) frequencies.push_back(wave.inv_freq);
  }
  require(!frequencies.empty(), encoding.scheme().name, " has no wavelengths: its rows are not sinusoids");
  return frequencies;
}

struct Ladder {
  Json rows = Json::array();
  double shortest = 0, longest = 0;
  std::size_t pairs = 0, still = 0,
              partial = 0;  ///< all, those with frequency 0, those with a wavelength above the trained length

  void add(const Drawn& drawn) {
    const std::vector<double> frequencies = frequencies_of(drawn.encoding);
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      ++pairs;
      if (frequencies[i] == 0) {
        ++still;
        continue;
      }
      const double wavelength = 2 * std::numbers::pi / frequencies[i];
      shortest = shortest == 0 ? wavelength : std::min(shortest, wavelength);
      longest = std::max(longest, wavelength);
      if (drawn.trained_length && wavelength > static_cast<double>(*drawn.trained_length)) ++partial;
      rows.push_back({{"pair", i}, {"layers", drawn.name}, {"wavelength", rounded(wavelength)}});
    }
  }
};

/// Draws a dashed line at each known trained length.
Json length_rule(const std::vector<Drawn>& encodings, const std::string& y_title) {
  Json values = Json::array();
  for (const Drawn& drawn : encodings) {
    if (drawn.trained_length) values.push_back({{"length", *drawn.trained_length}});
  }
  if (values.empty()) return {};
  return {{"data", {{"values", values}}},
          {"mark", {{"type", "rule"}, {"strokeDash", {6, 4}}, {"color", "#8C8C8C"}, {"tooltip", true}}},
          {"encoding", {{"y", logarithmic(quantitative("length", y_title))}}}};
}

Figure draw_wavelengths(const Request& request) {
  const Words words(request.language);
  const std::string y_title = words(Message::wavelengths_axis);
  Ladder ladder;
  std::vector<std::string> names;
  for (const Drawn& drawn : request.encodings) {
    ladder.add(drawn);
    names.push_back(drawn.name);
  }
  require(ladder.rows.size() > 0, "this encoding rotates no pair, so it has no wavelengths");
  const bool known_length = request.encodings.front().trained_length.has_value();
  Json spec = chart(std::move(ladder.rows));
  spec["height"] = 300;
  Json points = {{"mark", {{"type", "point"}, {"filled", true}, {"size", 28}, {"tooltip", true}}},
                 {"encoding",
                  {{"x", snug("pair", words(Message::wavelengths_pair))},
                   {"y", logarithmic(quantitative("wavelength", y_title))}}}};
  if (names.size() > 1)
    points["encoding"]["color"] = category_colour("layers", words(Message::wavelengths_layers), names);
  spec["layer"] = Json::array({points});
  const Json rule = length_rule(request.encodings, y_title);
  if (!rule.is_null()) spec["layer"].push_back(rule);

  std::string title = words(Message::wavelengths_title, {{"shortest", words.digits(pretty(ladder.shortest))},
                                                         {"longest", words.digits(pretty(ladder.longest))}});
  std::string caption =
      words(Message::wavelengths_caption, {{"scheme", std::string(request.encodings.front().encoding.scheme().name)}});
  if (known_length) {
    title += words(Message::wavelengths_partial,
                   {{"partial", std::to_string(ladder.partial)}, {"pairs", std::to_string(ladder.pairs)}});
    caption += words(Message::wavelengths_length);
  }
  if (ladder.still > 0) caption += words(Message::wavelengths_still, {{"pairs", std::to_string(ladder.still)}});
  return {.name = {}, .title = title, .caption = caption, .spec = std::move(spec)};
}

}  // namespace

const FigureKind& wavelengths_figure();
const FigureKind& wavelengths_figure() {
  static const FigureKind kind{.name = "wavelengths",
                               .meaning = "wavelengths of rope, xpos or sinusoidal; --config for a model's",
                               .scheme = "rope",
                               .arguments = {{"head_dim", std::int64_t{128}}, {"pairing", std::string("half")}},
                               .uses = {},
                               .make = draw_wavelengths,
                               .several = true};
  return kind;
}

}  // namespace locus::figures
