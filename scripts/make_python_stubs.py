# SPDX-License-Identifier: Apache-2.0
"""Prints locus/_schemes.pyi, made from the registry; a test compares. With the built package in PYTHONPATH:

    python3 scripts/make_python_stubs.py > bindings/python/locus/_schemes.pyi
"""
import inspect

from locus import _schemes


def signature_lines(name: str) -> list:
    signature = inspect.signature(getattr(_schemes, name))
    texts = []
    for one in signature.parameters.values():
        star = "**" if one.kind is inspect.Parameter.VAR_KEYWORD else ""
        default = "" if one.default is inspect.Parameter.empty else f" = {one.default!r}"
        texts.append(f"    {star}{one.name}: {one.annotation}{default},")
    if not texts:
        return ["", f"def {name}() -> {signature.return_annotation}: ..."]
    return ["", f"def {name}(", "    *,", *texts, f") -> {signature.return_annotation}: ..."]


def stub_text() -> str:
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# Made from the registry by scripts/make_python_stubs.py.",
        "from typing import Any, List, Optional, Sequence, Union",
        "",
        "from numpy.typing import ArrayLike",
        "",
        "from ._encoding import Encoding as Encoding",
        "from ._encoding import Rule as Rule",
        "",
        "__all__: List[str]",
    ]
    for name in _schemes.__all__:
        lines += signature_lines(name)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(stub_text(), end="")
