#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Retrains the model of lesson 6, learn/models/passkey-rope. Takes a minute on one core.

    scripts/make_lesson_model.py [build/release/bin/locus]

The model of the lab's task passkey with RoPE, seed 1, preset standard; its weights are stored in 16 bits. Training rounds
differently on other machines, so review the numbers of lesson 6 afterwards."""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def in_half(data):
    """Converts every float32 tensor of a safetensors file to float16."""
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    new, weights = {"__metadata__": header.pop("__metadata__", {})}, b""
    for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = tensor["data_offsets"]
        half = np.frombuffer(body[begin:end], np.float32).astype(np.float16).tobytes()
        place = [len(weights), len(weights) + len(half)]
        new[name] = {"dtype": "F16", "shape": tensor["shape"], "data_offsets": place}
        weights += half
    text = json.dumps(new, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + weights


def main():
    locus = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/bin/locus")
    target = ROOT / "learn/models/passkey-rope"
    with tempfile.TemporaryDirectory() as folder:
        options = ["--preset", "standard", "--tasks", "passkey", "--schemes", "rope", "--seeds", "1"]
        options += ["--save-models", "safetensors", "--no-report", "--no-speed", "--out", folder]
        subprocess.run([locus, "lab", *options], check=True)
        source = Path(folder) / "models/passkey-rope-seed1"
        target.mkdir(parents=True, exist_ok=True)
        config = (source / "config.json").read_text().replace('"torch_dtype": "float32"', '"torch_dtype": "float16"')
        (target / "config.json").write_text(config)
        (target / "model.safetensors").write_bytes(in_half((source / "model.safetensors").read_bytes()))


if __name__ == "__main__":
    main()
