# SPDX-License-Identifier: Apache-2.0
"""One function per scheme and per RoPE frequency rule, with keywords, defaults and docstrings from the registry."""
from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional

from . import _core
from ._encoding import Encoding, Rule

_TYPES = {
    "boolean": "bool",
    "integer": "int",
    "real": "float",
    "choice": "str",
    "list": "Sequence[float]",
    "tensor": "ArrayLike",
}


def _range_text(parameter: Dict[str, Any]) -> str:
    if parameter["choices"]:
        return " or ".join(parameter["choices"])
    bounds = []
    if parameter["least"] is not None:
        bounds.append(("above " if parameter["above_least"] else "at least ") + f"{parameter['least']:.12g}")
    if parameter["most"] is not None:
        bounds.append(f"at most {parameter['most']:.12g}")
    return " and ".join(bounds)


def _docstring(entry: Dict[str, Any]) -> str:
    lines = [f"{entry['name']}: {entry['summary']}.", "", entry["paper"] or "", ""]
    for parameter in entry["parameters"]:
        notes = [note for note in (_range_text(parameter), "required" if parameter["required"] else "") if note]
        note = f" ({'; '.join(notes)})" if notes else ""
        lines.append(f"    {parameter['name']}: {parameter['meaning']}{note}")
    return "\n".join(lines).replace("\n\n\n", "\n\n").rstrip() + "\n"


def _signature(entry: Dict[str, Any], result: type) -> inspect.Signature:
    parameters = []
    for one in entry["parameters"]:
        default = inspect.Parameter.empty if one["required"] else one["default"]
        kind = f"Literal[{', '.join(map(repr, one['choices']))}]" if one["choices"] else _TYPES[one["kind"]]
        if entry.get("takes_rule") and one["name"] == "rule":
            kind = "Union[RuleName, Rule]"
        if default is None:
            kind = f"Optional[{kind}]"
        parameters.append(
            inspect.Parameter(one["name"], inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        )
    if entry.get("takes_rule"):
        parameters.append(inspect.Parameter("rule_arguments", inspect.Parameter.VAR_KEYWORD, annotation="Any"))
    return inspect.Signature(parameters, return_annotation=result.__name__)


def _check_keywords(owner: str, parameters: List[Dict[str, Any]], given: Dict[str, Any]) -> None:
    names = [parameter["name"] for parameter in parameters]
    for name in given:
        if name not in names:
            raise TypeError(f"{owner}() has no parameter {name!r}; known: {', '.join(names)}")
    for parameter in parameters:
        if parameter["required"] and given.get(parameter["name"]) is None:
            choices = f" ({_range_text(parameter)})" if _range_text(parameter) else ""
            raise TypeError(f"{owner}() needs {parameter['name']}: {parameter['meaning']}{choices}")


def _unfold_rule(owner: str, given: Dict[str, Any]) -> Optional[str]:
    """Adds the arguments of a Rule to the others and returns the rule's name."""
    rule = given.get("rule")
    if not isinstance(rule, Rule):
        return rule
    given["rule"] = rule.name
    for name, value in rule.arguments.items():
        if given.get(name) is not None:
            raise TypeError(f"{owner}() got {name} twice: directly and by rule={rule.name}")
        given[name] = value
    return rule.name


def _scheme_function(entry: Dict[str, Any]) -> Callable[..., Encoding]:
    name = entry["name"]

    def make(**arguments: Any) -> Encoding:
        rule = _unfold_rule(name, arguments) if entry["takes_rule"] else None
        if rule is not None and not isinstance(rule, str):
            raise TypeError(f"{name}() needs a rule such as locus.yarn(factor=4) or its name, got {rule!r}")
        _check_keywords(name, _core.parameters(name, rule), arguments)
        return Encoding(name, **arguments)

    return _dressed(make, entry, Encoding)


def _rule_function(entry: Dict[str, Any]) -> Callable[..., Rule]:
    name = entry["name"]

    def make(**arguments: Any) -> Rule:
        given = {key: value for key, value in arguments.items() if value is not None}
        _check_keywords(name, entry["parameters"], given)
        _core.check_rule(name, given)
        return Rule(name, given)

    return _dressed(make, entry, Rule)


def _dressed(function: Callable[..., Any], entry: Dict[str, Any], result: type) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = entry["name"]
    function.__module__ = "locus"
    function.__doc__ = _docstring(entry)
    function.__signature__ = _signature(entry, result)  # type: ignore[attr-defined]
    return function


__all__ = []
for _entry in _core.schemes():
    globals()[_entry["name"]] = _scheme_function(_entry)
    __all__.append(_entry["name"])
for _entry in _core.rules():
    globals()[_entry["name"]] = _rule_function(_entry)
    __all__.append(_entry["name"])
