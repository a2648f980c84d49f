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

/// An encoding to draw; `name` distinguishes the kinds of layers of one model.
struct Drawn {
  std::string name;
  Encoding encoding;
  std::optional<std::int64_t> trained_length = {};
};

/// What to draw. The figure chooses what is left empty.
struct Request {
  std::vector<Drawn> encodings;          ///< one; several only where the figure's `several` says so
  std::vector<Position> positions = {};  ///< ids of tokens, or offsets where the figure says so
  std::vector<std::int64_t> dims = {};   ///< columns of a row
  std::vector<std::int64_t> pairs = {};  ///< of a rotation
  std::vector<std::int64_t> heads = {};
  std::vector<std::string> rules = {};  ///< spellings: none, yarn, yarn:2, rope:rule=yarn,factor=2
  Language language = Language::english;
};

struct FigureKind {
  std::string_view name;
  std::string_view meaning;
  std::string_view scheme;             ///< drawn by default; empty: the figure chooses its own
  Arguments arguments;                 ///< its arguments by default
  std::vector<std::string_view> uses;  ///< which lists of Request it reads: positions, dims, pairs, heads, rules
  Figure (*make)(const Request&);
  bool several = false;  ///< draws several encodings together
};

/// All figures, in the order of the registry.
std::span<const FigureKind* const> figure_kinds();
/// Error naming the known figures.
const FigureKind& find_figure(std::string_view name);

/// Error where the request lacks what the figure needs or gives what it does not read.
Figure make_figure(const FigureKind& kind, const Request& request);
/// The figure without options.
Figure make_figure(const FigureKind& kind, Language language = Language::english);

/// The spec with title and description inside, for a separate file.
Json standalone_spec(const Figure& figure);

}  // namespace locus::figures
