#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the story model of the tests, tests/golden/story_model. Takes a few minutes; needs numpy and torch.

    scripts/make_story_model.py [--steps 600]

A model of the Llama architecture with grouped heads, in the format of llama2.c (version 0), with its tokenizer and with
the text that it tells greedily. It is trained on stories made up by the grammar below. The text is computed here by torch,
without Locus, so it is an independent result for the tests; every greedy choice must win by a clear margin."""
import argparse
import collections
import random
import re
import struct
from pathlib import Path

import torch

FOLDER = Path(__file__).resolve().parent.parent / "tests/golden/story_model"
DIM, HIDDEN, LAYERS, HEADS, KV_HEADS, VOCABULARY, LENGTH = 48, 96, 3, 6, 3, 512, 256
HEAD = DIM // HEADS
BEGINNING, FIRST_BYTE, FIRST_MERGE = 1, 3, 259
TOLD = 200  # tokens of the greedy text

NAMES = ["Ada", "Tom", "Mia", "Leo", "Eva", "Max"]
PLACES = ["in the garden", "by the river", "on the hill", "near the old mill"]
THINGS = ["red ball", "blue kite", "wooden boat", "little drum"]
ANIMALS = ["cat", "dog", "bird", "fox"]


def likely(source, choices):
    """One of the choices, each half as likely as the one before it, so that a greedy choice has a clear margin."""
    return source.choices(choices, [0.5 ** i for i in range(len(choices))])[0]


def story(source):
    """A story in which the names, the thing and the animal must be remembered from its beginning."""
    name = likely(source, NAMES)
    friend = likely(source, [other for other in NAMES if other != name])
    place, thing, animal = likely(source, PLACES), likely(source, THINGS), likely(source, ANIMALS)
    text = f"Once upon a time, {name} and {friend} played {place}. {name} had a {thing}. "
    middle = [f"A {animal} came and took the {thing}. \"Give it back!\" said {friend}. ",
              f"{friend} asked, \"May I have the {thing}?\" \"Yes,\" said {name}, \"but not for long.\" ",
              f"They lost the {thing} {place}. {friend} looked for it, and {name} looked for it too. "]
    for _ in range(2):
        part = likely(source, middle)
        middle.remove(part)
        text += part
    return text + f"In the evening {name} and {friend} went home with the {thing}. The {animal} slept {place}."


def pieces_of(text):
    return re.findall(r" [^ ]+", " " + text)


def make_vocabulary(corpus):
    """Byte-pair encoding: merges in the order of their counts, then single characters."""
    words = collections.Counter(pieces_of(corpus))
    words = {tuple(word): count for word, count in words.items()}
    characters = sorted({c for word in words for c in word})
    merges = []
    while len(merges) < VOCABULARY - FIRST_MERGE - len(characters):
        pairs = collections.Counter()
        for word, count in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += count
        if not pairs:  # every word is one piece: fill the rest with pieces that no text has
            merges.append(f"<unused {len(merges)}>")
            continue
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append("".join(best))
        words = {merged(word, best): count for word, count in words.items()}
    texts = ["<unk>", "\n<s>\n", "\n</s>\n"] + [f"<0x{byte:02X}>" for byte in range(256)] + merges + characters
    return texts


def merged(word, pair):
    """The word with each occurrence of the pair, from left to right, joined."""
    result, i = [], 0
    while i < len(word):
        joined = word[i:i + 2] == pair
        result.append("".join(pair) if joined else word[i])
        i += 2 if joined else 1
    return tuple(result)


def encoded(text, ids):
    """As llama2.c encodes: characters first, then the best merge again and again."""
    symbols = [ids[c] for c in " " + text]
    texts = {i: piece for piece, i in ids.items()}
    while True:
        best = None
        for i in range(len(symbols) - 1):
            found = ids.get(texts[symbols[i]] + texts[symbols[i + 1]])
            if found is not None and (best is None or found < best[1]):
                best = (i, found)
        if best is None:
            return symbols
        symbols[best[0]:best[0] + 2] = [best[1]]


class Llama(torch.nn.Module):
    def __init__(self):
        super().__init__()
        matrix = lambda *shape: torch.nn.Parameter(torch.randn(*shape) * 0.06)
        norm = lambda *shape: torch.nn.Parameter(torch.ones(*shape))
        self.embedding = matrix(VOCABULARY, DIM)
        self.attention_norm, self.ffn_norm, self.final_norm = norm(LAYERS, DIM), norm(LAYERS, DIM), norm(DIM)
        self.wq, self.wo = matrix(LAYERS, DIM, DIM), matrix(LAYERS, DIM, DIM)
        self.wk, self.wv = matrix(LAYERS, KV_HEADS * HEAD, DIM), matrix(LAYERS, KV_HEADS * HEAD, DIM)
        self.w1, self.w3 = matrix(LAYERS, HIDDEN, DIM), matrix(LAYERS, HIDDEN, DIM)
        self.w2 = matrix(LAYERS, DIM, HIDDEN)

    @staticmethod
    def normed(x, weight):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * weight

    @staticmethod
    def rotated(x):
        length = x.shape[1]
        frequency = 10000.0 ** (-torch.arange(0, HEAD, 2, dtype=torch.float64) / HEAD)
        angle = (torch.arange(length, dtype=torch.float64)[:, None] * frequency).to(x.dtype)
        cos, sin = torch.cos(angle)[None, :, None], torch.sin(angle)[None, :, None]
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)

    def forward(self, tokens):
        batch, length = tokens.shape
        hidden = self.embedding[tokens]
        future = torch.full((length, length), float("-inf")).triu(1)
        for layer in range(LAYERS):
            x = self.normed(hidden, self.attention_norm[layer])
            q = self.rotated((x @ self.wq[layer].T).view(batch, length, HEADS, HEAD))
            k = self.rotated((x @ self.wk[layer].T).view(batch, length, KV_HEADS, HEAD))
            v = (x @ self.wv[layer].T).view(batch, length, KV_HEADS, HEAD)
            k, v = (t.repeat_interleave(HEADS // KV_HEADS, 2) for t in (k, v))
            scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / HEAD ** 0.5 + future
            mixed = torch.einsum("bhqk,bkhd->bqhd", torch.softmax(scores, -1), v)
            hidden = hidden + mixed.reshape(batch, length, DIM) @ self.wo[layer].T
            x = self.normed(hidden, self.ffn_norm[layer])
            gate = torch.nn.functional.silu(x @ self.w1[layer].T) * (x @ self.w3[layer].T)
            hidden = hidden + gate @ self.w2[layer].T
        return self.normed(hidden, self.final_norm) @ self.embedding.T


def train(model, stream, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=steps)
    for step in range(steps):
        rows = [random.randrange(len(stream)) for _ in range(4)]
        batch = torch.stack([window(stream, row) for row in rows])
        logits = model(batch[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print(f"step {step + 1} of {steps}, loss {loss.item():.3f}", flush=True)


def window(stories, first):
    """A training example: stories one after another from `first` on."""
    tokens = [BEGINNING]
    while len(tokens) <= LENGTH:
        tokens += stories[first % len(stories)]
        first += 1
    return torch.tensor(tokens[:LENGTH + 1])


def told(model):
    """The greedy tokens after the beginning, and the smallest margin by which one won."""
    tokens, margin = [BEGINNING], float("inf")
    with torch.no_grad():
        for _ in range(TOLD):
            best = model(torch.tensor([tokens]))[0, -1].topk(2)
            margin = min(margin, (best.values[0] - best.values[1]).item())
            tokens.append(best.indices[0].item())
    return tokens[1:], margin


def text_of(tokens, texts):
    """As llama2.c prints: no space after the beginning, and a byte for <0x..>."""
    result, previous = "", BEGINNING
    for token in tokens:
        piece = texts[token]
        if previous == BEGINNING and piece.startswith(" "):
            piece = piece[1:]
        if FIRST_BYTE <= token < FIRST_MERGE:
            piece = chr(token - FIRST_BYTE)
        result += piece
        previous = token
    return result


def write(model, texts, text):
    FOLDER.mkdir(parents=True, exist_ok=True)
    weights = [model.embedding, model.attention_norm, model.wq, model.wk, model.wv, model.wo, model.ffn_norm, model.w1,
               model.w2, model.w3, model.final_norm]
    header = struct.pack("<7i", DIM, HIDDEN, LAYERS, HEADS, KV_HEADS, VOCABULARY, LENGTH)
    unused = bytes(4 * LENGTH * HEAD)  # once the tables of cosines and sines; readers skip them
    body = b"".join(weight.detach().numpy().astype("<f4").tobytes() for weight in weights)
    (FOLDER / "model.bin").write_bytes(header + body + unused)
    tokens = b""
    for i, piece in enumerate(texts):
        data = piece.encode()
        tokens += struct.pack("<fi", float(FIRST_MERGE - i) if i >= FIRST_MERGE else 0.0, len(data)) + data
    (FOLDER / "tokenizer.bin").write_bytes(struct.pack("<i", max(len(piece.encode()) for piece in texts)) + tokens)
    (FOLDER / "greedy.txt").write_text(text + "\n")


def main():
    parser = argparse.ArgumentParser(description="Train the story model of the tests.")
    parser.add_argument("--steps", type=int, default=600)
    steps = parser.parse_args().steps
    random.seed(1)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    stories = [story(random) for _ in range(4000)]
    texts = make_vocabulary(" ".join(stories))
    ids = {piece: i for i, piece in enumerate(texts) if i >= FIRST_MERGE}
    words = {word: encoded(word[1:], ids) for word in pieces_of(" ".join(stories))}  # merges never cross words
    stream = [[token for word in pieces_of(text) for token in words[word]] for text in stories]
    model = Llama()
    train(model, stream, steps)
    tokens, margin = told(model)
    text = text_of(tokens, texts)
    print(text)
    print(f"smallest margin {margin:.4f}")
    write(model, texts, text)
    if margin < 0.01:
        raise SystemExit("make_story_model.py: a greedy choice is too close; train with other --steps")


if __name__ == "__main__":
    main()
