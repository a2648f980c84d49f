#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes examples/data, the files that the examples of README.md and of `--help` use, but model.gguf and locus-lab.

Those two come from a lab, which trains a tiny model on book.txt; run it in examples/data:

    locus lab --preset quick --tasks text --text book.txt --schemes rope --seeds 1 --save-models gguf --no-speed --no-report
"""
import json
import struct
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "data"
HEADS, TOKENS, DIM, BASE = 8, 16, 128, 500000.0


def rotated_wrongly(q):
    """Pairs of neighbours, though the config of a Llama means halves: the fault that `locus diagnose` names."""
    angle = np.arange(TOKENS)[:, None] * BASE ** (-np.arange(0, DIM, 2) / DIM)
    a, b = q[..., 0::2].astype(np.float64), q[..., 1::2].astype(np.float64)
    turned = [a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)]
    return np.stack(turned, -1).reshape(q.shape).astype(np.float32)


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(24)

    def normal(*shape):
        return random.standard_normal(shape).astype(np.float32)

    q, k, v = (normal(HEADS, TOKENS, DIM) for _ in range(3))  # [heads, tokens, dim]
    for name, values in {"q": q, "k": k, "v": v, "mine": rotated_wrongly(q)}.items():
        np.save(FOLDER / f"{name}.npy", values)
    np.save(FOLDER / "vit.npy", normal(1 + 14 * 14, 8))  # a class token and a grid
    np.save(FOLDER / "bert.npy", normal(512, 8))
    llama = {
        "model_type": "llama",
        "hidden_size": HEADS * DIM,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "num_hidden_layers": 2,
        "head_dim": DIM,
        "max_position_embeddings": 8192,
        "rope_theta": BASE,
    }
    (FOLDER / "config.json").write_text(json.dumps(llama, indent=2) + "\n")
    gpt2 = FOLDER / "gpt2"
    gpt2.mkdir(exist_ok=True)
    (gpt2 / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_positions": 64, "n_embd": 8, "n_head": 2}) + "\n")
    write_safetensors(gpt2 / "model.safetensors", {"transformer.wpe.weight": normal(64, 8)})
    root = FOLDER.parent.parent
    words = " ".join((root / name).read_text() for name in ("docs/design.md", "docs/glossary.md")).split()
    (FOLDER / "book.txt").write_text(" ".join(words)[:12000] + "\n")


if __name__ == "__main__":
    main()
