// SPDX-License-Identifier: Apache-2.0
// The figures of schemes: what can be drawn, from what, and with which options. `locus plot` and the report iterate
// over it; a figure is one file and one line of registry.def.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "figures/figure.h"
#include "locus/encoding.h"
#include "messages/language.h"

namespace locus::figures {

/// An encoding to draw; `name` distinguishes the layer types of one model.
struct Drawn {
  std::string name;
  Encoding encoding;
  std::optional<std::int64_t> trained_length = {};
};

/// What to draw. The figure chooses a value for each empty field.
struct Request {
  std::vector<Drawn> encodings;          ///< one; more only if the figure's `several` is true
  std::vector<Position> positions = {};  ///< ids of tokens, or offsets, as the figure's meaning states
  std::vector<std::int64_t> dims = {};   ///< columns of a row
  std::vector<std::int64_t> pairs = {};  ///< of a rotation
  std::vector<std::int64_t> heads = {};
  std::vector<std::string> rules = {};  ///< spellings: none, yarn, yarn:2, rope:rule=yarn,factor=2
  Language language = Language::english;
};

struct FigureKind {
  std::string_view name;
  std::string_view meaning;
  std::string_view scheme;             ///< drawn by default; empty: the figure takes no encoding
  Arguments arguments;                 ///< its default arguments
  std::vector<std::string_view> uses;  ///< which lists of Request it reads: positions, dims, pairs, heads, rules
  Figure (*make)(const Request&);
  bool several = false;  ///< draws several encodings together
};

/// Returns all figures, in the order of the registry.
std::span<const FigureKind* const> figure_kinds();
/// Error: an unknown name; the message lists the known ones.
const FigureKind& find_figure(std::string_view name);

/// Error: the request lacks a list that the figure needs, or has one that the figure does not read.
Figure make_figure(const FigureKind& kind, const Request& request);
/// Draws the figure with its defaults.
Figure make_figure(const FigureKind& kind, Language language = Language::english);

/// Returns the spec with title and description inside, for a separate file.
Json standalone_spec(const Figure& figure);

}  // namespace locus::figures
