# SPDX-License-Identifier: Apache-2.0
"""Figures that display themselves in a notebook."""
from __future__ import annotations

import html
import json
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Dict, List, Literal, Mapping, Sequence, Tuple, Union

from . import _core
from ._core import Error
from ._encoding import Encoding


@dataclass(frozen=True)
class Figure:
    """A Vega-Lite chart with its data inside."""

    name: str
    title: str
    caption: str
    spec: Mapping[str, Any]

    def save(self, path: Union[str, PathLike[str]]) -> None:
        """Writes the figure: .html, a page that draws it offline; .vl.json, the chart; .txt, drawn in characters."""
        name = fspath(path)
        if name.endswith(".html"):
            text = _core.figure_page(*self._parts())
        elif name.endswith(".vl.json"):
            text = json.dumps(self.spec, indent=1) + "\n"
        elif name.endswith(".txt"):
            text = _core.draw_figure(*self._parts())
        else:
            raise Error(f"a figure is saved as .html, .vl.json or .txt, got {name}")
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    def _parts(self) -> Tuple[str, str, str, str]:
        return self.name, self.title, self.caption, json.dumps(self.spec)

    def _repr_html_(self) -> str:
        """A frame that holds all that it needs to draw itself; in characters if this build cannot write pages."""
        if not _core.can_write_pages():
            return f"<pre>{html.escape(_core.draw_figure(*self._parts()))}</pre>"
        page = html.escape(_core.figure_page(*self._parts()), quote=True)
        return (
            f'<iframe srcdoc="{page}" title="{html.escape(self.title, quote=True)}" width="100%" height="520" '
            'style="border: 0" sandbox="allow-scripts allow-downloads"></iframe>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        return {
            "application/vnd.vegalite.v5+json": dict(self.spec),
            "text/html": self._repr_html_(),
            "text/plain": repr(self),
        }

    def __repr__(self) -> str:
        return f"<figure {self.name}: {self.title}>"


def _available() -> None:
    if not hasattr(_core, "make_figure"):
        raise NotImplementedError("this build of locus has no figures")


def figures() -> Dict[str, str]:
    """Returns the available figures and what each shows."""
    _available()
    return {one["name"]: one["meaning"] for one in _core.figures()}


def figure(
    name: str,
    *encodings: Encoding,
    positions: Sequence[int] = (),
    dims: Sequence[int] = (),
    pairs: Sequence[int] = (),
    heads: Sequence[int] = (),
    rules: Sequence[str] = (),
) -> Figure:
    """Draws a figure of figures() for these encodings, or for the figure's own example. The figure chooses values for
    empty arguments. Arguments that it does not use are errors."""
    _available()
    drawn = [(encoding.scheme, encoding._core) for encoding in encodings]
    integers = {"positions": positions, "dims": dims, "pairs": pairs, "heads": heads}
    choices: Dict[str, List[Any]] = {one: [int(value) for value in values] for one, values in integers.items()}
    choices["rules"] = list(rules)
    found, title, caption, spec = _core.make_figure(name, drawn, choices)
    return Figure(found, title, caption, json.loads(spec))


def results(path: Union[str, PathLike[str]]) -> Dict[str, Any]:
    """Reads the results of a lab run, from results.json or its folder, and checks the format. `ranking` orders the
    lines by their mean gain over tasks, as in the report and on the terminal."""
    _available()
    found: Dict[str, Any] = json.loads(_core.read_results(fspath(path)))
    return found


def results_figures(path: Union[str, PathLike[str]], language: Literal["en", "es"] = "en") -> List[Figure]:
    """Returns the charts of a lab's results, in the order of the report; `language` is "en" or "es"."""
    _available()
    return [
        Figure(name, title, caption, json.loads(spec))
        for name, title, caption, spec in _core.results_figures(fspath(path), language)
    ]
