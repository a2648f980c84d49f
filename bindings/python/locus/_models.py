# SPDX-License-Identifier: Apache-2.0
"""The encodings that a model's files describe."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _core
from ._encoding import Encoding, Reading

PathLike = Union[str, "os.PathLike[str]"]


def _read(
    path: PathLike, layer_type: Optional[str], pairing: Optional[str], length: Optional[int]
) -> Tuple[List[Dict[str, Any]], Optional[str]]:
    file = Path(path)
    if file.suffix != ".gguf":
        return _core.read_config(file / "config.json" if file.is_dir() else file, layer_type, pairing, length)
    layers = _core.read_gguf(file, length)
    if layer_type is not None:
        kinds = [layer["layer_type"] for layer in layers]
        layers = [layer for layer in layers if layer["layer_type"] == layer_type]
        if not layers:
            raise ValueError(f"{file} has no layers of type {layer_type}; it has {', '.join(kinds)}")
    if pairing is not None:
        for layer in layers:
            layer["arguments"]["pairing"] = pairing
    return layers, None


def layers_from_config(
    path: PathLike,
    *,
    layer_type: Optional[str] = None,
    pairing: Optional[str] = None,
    length: Optional[int] = None,
    profile: Optional[str] = None,
    incomplete: bool = False,
) -> Dict[str, Encoding]:
    """The encoding of each kind of layer of a Hugging Face config.json, of a folder with one, or of a GGUF file. The
    key is "" where all layers are alike. What was read, defaulted or not understood is in each encoding's `reading`.
    `length` is the length of the sequence, for rules that depend on it; `profile` whose float32 arithmetic tables
    reproduce: exact, hf, ggml or vllm. A model that also does something which Locus does not apply is an error, since
    its numbers would not be the model's; `incomplete` takes it all the same, with the sentences in its `reading`."""
    layers, dtype = _read(path, layer_type, pairing, length)
    encodings = {}
    for layer in layers:
        if layer["not_applied"] and not incomplete:
            kind = f"{layer['layer_type']}: " if layer["layer_type"] else ""
            raise ValueError(f"{path}: {kind}{layer['not_applied'][0]}")
        arguments = dict(layer["arguments"])
        known = [one["name"] for one in _core.parameters(layer["scheme"], arguments.get("rule"))]
        if profile is not None and "profile" in known:
            arguments["profile"] = profile
            if profile in ("hf", "vllm") and "table_type" in known and dtype in ("bfloat16", "float16"):
                arguments["table_type"] = dtype
        encoding = Encoding(layer["scheme"], **arguments)
        encoding.reading = Reading(
            layer["layer_type"],
            tuple(layer["used"]),
            tuple(layer["defaulted"]),
            tuple(layer["unknown"]),
            layer["training_length"],
            tuple(layer["not_applied"]),
            tuple((other["reader"], other["what"]) for other in layer["alternatives"]),
            layer["softmax_scale"],
        )
        encodings[layer["layer_type"]] = encoding
    return encodings


def from_config(
    path: PathLike,
    *,
    layer_type: Optional[str] = None,
    pairing: Optional[str] = None,
    length: Optional[int] = None,
    profile: Optional[str] = None,
    incomplete: bool = False,
) -> Encoding:
    """The same where there is one kind of layer, or where layer_type names the one that is meant."""
    encodings = layers_from_config(
        path, layer_type=layer_type, pairing=pairing, length=length, profile=profile, incomplete=incomplete
    )
    if len(encodings) != 1:
        kinds = ", ".join(encodings)
        raise ValueError(f"{path} has several kinds of layers; choose one with layer_type ({kinds}), or take all with "
                         "locus.layers_from_config")
    return next(iter(encodings.values()))
