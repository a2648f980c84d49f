#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/models.json: a small copy of the reference models, for checkouts without the originals.

    scripts/make_golden_models.py PATH_TO_ORACLE

Each entry keeps the config, the truth about its layers and its source. Of the frequencies six pairs are kept, as
{"pairs": n, "at": [...], "values": [...]}. Needs only Python.
"""
import json
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "models.json"
LARGEST = 700_000  # bytes


def sampled(frequencies):
    pairs = len(frequencies)
    at = sorted({i for i in (0, 1, 2, pairs // 2, pairs - 2, pairs - 1) if 0 <= i < pairs})
    return {"pairs": pairs, "at": at, "values": [frequencies[i] for i in at]}


def shortened(layer):
    layer = dict(layer)
    if layer.get("inv_freq"):
        layer["inv_freq"] = sampled(layer["inv_freq"])
    if layer.get("at_length"):
        layer["at_length"] = [{**entry, "inv_freq": sampled(entry["inv_freq"])} for entry in layer["at_length"]]
    return layer


def entry_of(case):
    truth = case["truth"]
    alternatives = [{**other, "layers": [shortened(layer) for layer in other["layers"]]} for other in truth["alternatives"]]
    return {
        "name": case["name"],
        "config": case["config"],
        "truth": {
            "kind": truth["kind"],
            "layers": [shortened(layer) for layer in truth["layers"]],
            "alternatives": alternatives,
            "must_mention": truth["must_mention"],
        },
        "source": case["source"][:2],
        "commit": case["commit"],
    }


def main(oracle):
    folder = oracle / "models"
    names = json.loads((folder / "index.json").read_text())
    cases = [entry_of(json.loads((folder / f"{name}.json").read_text())) for name in names]
    text = "[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n"
    if len(text) > LARGEST:
        sys.exit(f"models.json must have at most {LARGEST} bytes, got {len(text)}")
    GOLDEN.write_text(text)
    print(f"{GOLDEN.name}: {len(cases)} models, {len(text)} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
