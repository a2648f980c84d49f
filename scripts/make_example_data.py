#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes examples/data, the files that the examples of README.md and of `--help` use. Needs numpy.

model.gguf is the story model of the tests (tests/golden/story_model) as GGUF with float16 matrices."""
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


def gate_bias(log_f):
    """What a forgetting head adds for query i and key j: the logarithms of the gates after j, up to i."""
    bias = np.zeros((HEADS, TOKENS, TOKENS))
    for i in range(TOKENS):
        for j in range(i):
            bias[:, i, j] = log_f[:, j + 1 : i + 1].sum(-1)
    return bias.astype(np.float32)


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


GGUF_UINT32, GGUF_INT32, GGUF_FLOAT32, GGUF_STRING, GGUF_ARRAY = 4, 5, 6, 8, 9


def gguf_string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_entry(key, kind, value):
    """A key with its value; a list has the kind of its elements."""
    pack = {GGUF_UINT32: lambda one: struct.pack("<I", one), GGUF_INT32: lambda one: struct.pack("<i", one),
            GGUF_FLOAT32: lambda one: struct.pack("<f", one), GGUF_STRING: gguf_string}[kind]
    if isinstance(value, list):
        head = struct.pack("<IIQ", GGUF_ARRAY, kind, len(value))
        return gguf_string(key) + head + b"".join(map(pack, value))
    return gguf_string(key) + struct.pack("<I", kind) + pack(value)


def write_gguf(path, entries, tensors):
    """Tensors are aligned to 32 bytes; their lengths are written innermost first."""
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(entries)) + b"".join(entries)
    data = b""
    for name, values in tensors.items():
        kind = 1 if values.dtype == np.float16 else 0
        head += gguf_string(name) + struct.pack("<I", values.ndim)
        head += b"".join(struct.pack("<Q", length) for length in reversed(values.shape))
        head += struct.pack("<IQ", kind, len(data))
        data += values.tobytes() + b"\0" * (-values.nbytes % 32)
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)


def story_tokens(path):
    """Pieces and scores of llama2.c's tokenizer, as GGUF spells them: special tokens and bytes have kinds of their own."""
    data, at, pieces, scores = path.read_bytes(), 4, [], []
    while at < len(data):
        score, size = struct.unpack_from("<fi", data, at)
        pieces.append(data[at + 8 : at + 8 + size].decode())
        scores.append(score)
        at += 8 + size
    pieces[:3] = ["<unk>", "<s>", "</s>"]
    kinds = [2, 3, 3] + [6 if piece.startswith("<0x") else 1 for piece in pieces[3:]]
    return [piece.replace(" ", "\u2581") for piece in pieces], scores, kinds


def write_story_model(folder, path):
    data = (folder / "model.bin").read_bytes()
    dim, hidden, layers, heads, kv_heads, vocabulary, length = struct.unpack_from("<7i", data)
    values, at = np.frombuffer(data, "<f4", offset=28), 0

    def take(*shape):
        nonlocal at
        size = int(np.prod(shape))
        at += size
        return values[at - size : at].reshape(shape)

    kv = kv_heads * (dim // heads)
    tensors = {"token_embd.weight": take(vocabulary, dim).astype(np.float16)}
    stacks = {"attn_norm": (dim,), "attn_q": (dim, dim), "attn_k": (kv, dim), "attn_v": (kv, dim), "attn_output": (dim, dim),
              "ffn_norm": (dim,), "ffn_gate": (hidden, dim), "ffn_down": (dim, hidden), "ffn_up": (hidden, dim)}
    for name, shape in stacks.items():
        for layer, one in enumerate(take(layers, *shape)):
            tensors[f"blk.{layer}.{name}.weight"] = one if one.ndim == 1 else one.astype(np.float16)
    tensors["output_norm.weight"] = take(dim)
    pieces, scores, kinds = story_tokens(folder / "tokenizer.bin")
    entries = [
        gguf_entry("general.architecture", GGUF_STRING, "llama"),
        gguf_entry("general.name", GGUF_STRING, "story model"),
        gguf_entry("llama.context_length", GGUF_UINT32, length),
        gguf_entry("llama.embedding_length", GGUF_UINT32, dim),
        gguf_entry("llama.block_count", GGUF_UINT32, layers),
        gguf_entry("llama.feed_forward_length", GGUF_UINT32, hidden),
        gguf_entry("llama.attention.head_count", GGUF_UINT32, heads),
        gguf_entry("llama.attention.head_count_kv", GGUF_UINT32, kv_heads),
        gguf_entry("llama.attention.layer_norm_rms_epsilon", GGUF_FLOAT32, 1e-5),
        gguf_entry("llama.rope.dimension_count", GGUF_UINT32, dim // heads),
        gguf_entry("llama.rope.freq_base", GGUF_FLOAT32, 10000.0),
        gguf_entry("tokenizer.ggml.model", GGUF_STRING, "llama"),
        gguf_entry("tokenizer.ggml.tokens", GGUF_STRING, pieces),
        gguf_entry("tokenizer.ggml.scores", GGUF_FLOAT32, scores),
        gguf_entry("tokenizer.ggml.token_type", GGUF_INT32, kinds),
        gguf_entry("tokenizer.ggml.bos_token_id", GGUF_UINT32, 1),
        gguf_entry("tokenizer.ggml.eos_token_id", GGUF_UINT32, 2),
    ]
    write_gguf(path, entries, tensors)


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
    log_f = -np.logaddexp(0, -np.random.default_rng(20).normal(2, 1, (HEADS, TOKENS)))  # of a sigmoid
    np.save(FOLDER / "log_f.npy", log_f.astype(np.float32))
    np.save(FOLDER / "gate_bias.npy", gate_bias(log_f))
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
    stretched = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 256}
    story = {  # of model.gguf, with a longer context
        "model_type": "llama",
        "hidden_size": 48,
        "num_attention_heads": 6,
        "num_key_value_heads": 3,
        "num_hidden_layers": 3,
        "max_position_embeddings": 1024,
        "rope_theta": 10000.0,
        "rope_scaling": stretched,
    }
    (FOLDER / "longer.json").write_text(json.dumps(story, indent=2) + "\n")
    gpt2 = FOLDER / "gpt2"
    gpt2.mkdir(exist_ok=True)
    (gpt2 / "config.json").write_text(json.dumps({"model_type": "gpt2", "n_positions": 64, "n_embd": 8, "n_head": 2}) + "\n")
    write_safetensors(gpt2 / "model.safetensors", {"transformer.wpe.weight": normal(64, 8)})
    stories = FOLDER.parent.parent / "tests/golden/story_model"
    write_story_model(stories, FOLDER / "model.gguf")
    (FOLDER / "book.txt").write_text(" ".join([(stories / "greedy.txt").read_text().strip()] * 4) + "\n")


if __name__ == "__main__":
    main()
