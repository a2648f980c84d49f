# SPDX-License-Identifier: Apache-2.0
"""The encodings that a model's files describe."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Dict, Optional, Union

from . import _core
from ._core import Error
from ._encoding import Encoding, Reading

PathLike = Union[str, "os.PathLike[str]"]


def layers_from_config(
    path: PathLike,
    *,
    layer_type: Optional[str] = None,
    pairing: Optional[str] = None,
    length: Optional[int] = None,
    profile: Optional[str] = None,
    incomplete: bool = False,
) -> Dict[str, Encoding]:
    """Returns the encoding of each layer type of a Hugging Face config.json, of a folder with one, or of a GGUF file.
    The key is "" if all layers are alike. The `reading` of each encoding lists keys that were read, defaulted or not
    understood. `length` is the length of the sequence, for rules that depend on it. `profile` is the engine whose
    arithmetic tables reproduce: exact, hf, ggml or vllm. A model that does something in addition, which Locus does not
    apply, is an error, since its numbers would be wrong; `incomplete` accepts it, with the sentences in `reading`."""
    encodings = {}
    for layer in _core.model_encodings(Path(path), layer_type, pairing, profile, length, incomplete):
        encoding = Encoding(layer["scheme"], **layer["arguments"])
        encoding.reading = Reading(
            layer["layer_type"],
            tuple(layer["used"]),
            tuple(layer["defaulted"]),
            tuple(layer["unknown"]),
            layer["trained_length"],
            tuple(layer["not_applied"]),
            tuple(layer["alternatives"]),
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
    """Returns the encoding of a model with one layer type, or of the layer type `layer_type`."""
    encodings = layers_from_config(
        path, layer_type=layer_type, pairing=pairing, length=length, profile=profile, incomplete=incomplete
    )
    if len(encodings) != 1:
        kinds = ", ".join(encodings)
        raise Error(f"{path} has several layer types; choose one with layer_type ({kinds}), or take all with "
                         "locus.layers_from_config")
    return next(iter(encodings.values()))


def encoding(spelling: str) -> Encoding:
    """Returns the encoding of a spelling of the command line: "alibi:heads=8", "rope:head_dim=64,pairing=half",
    "@config.json"."""
    found = _core.parse_spelling(spelling)
    return from_config(found["config"]) if found["config"] else Encoding(found["scheme"], **found["arguments"])
