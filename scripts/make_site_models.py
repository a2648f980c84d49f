#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Retrains the models of the site's page "A mini-GPT that breaks", site/public/models. Takes ten minutes on two cores.

    cmake --build build/release --target locus_cli locus_lab verbs_text
    scripts/make_site_models.py [build/release/bin [SCHEME ...]]

One model per scheme (absent: all of the lab's preset full), of the task verbs, seed 1, at the size of the preset standard;
its weights are stored in 16 bits, and its characters are its tokenizer. Beside them: index.json, which lists them with what the lab measured (guess: the
loss of the best fixed distribution of characters), and verbs.txt, sentences that no model saw in training. The lab's folder,
build/site-models, is kept: run the script again to continue. Training rounds differently on other machines."""
import json
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "site/public/models"
WORK = ROOT / "build/site-models"
ALIGNMENT = 32
UINT32, FLOAT32, STRING, ARRAY = 4, 6, 8, 9  # types of GGUF's values
F16 = 1  # a type of GGUF's tensors


def output(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def string(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


class Reader:
    """Reads the GGUF files of the lab: version 3, values that are numbers or strings, float32 tensors."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def text(self):
        size = self.number("Q")
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def entry(self):
        key, kind = self.text(), self.number("I")
        return key, kind, {UINT32: lambda: self.number("I"), FLOAT32: lambda: self.number("f"), STRING: self.text}[kind]()

    def tensor(self):
        name, axes = self.text(), self.number("I")
        return name, [self.number("Q") for _ in range(axes)], self.number("I"), self.number("Q")


def in_half(data, characters):
    """A model of the lab in GGUF, with its weights as float16 and its characters as the tokenizer."""
    reader = Reader(data)
    assert data[:4] == b"GGUF" and reader.number("I") and reader.number("I") == 3
    tensor_count, entry_count = reader.number("Q"), reader.number("Q")
    entries = [reader.entry() for _ in range(entry_count)]
    tensors = [reader.tensor() for _ in range(tensor_count)]
    start = -(-reader.at // ALIGNMENT) * ALIGNMENT
    head = b"GGUF" + struct.pack("<IQQ", 3, tensor_count, entry_count + 1)
    for key, kind, value in entries:
        value = "characters" if key == "tokenizer.ggml.model" else value
        head += string(key) + struct.pack("<I", kind)
        head += string(value) if kind == STRING else struct.pack("<I" if kind == UINT32 else "<f", value)
    head += string("tokenizer.ggml.tokens") + struct.pack("<IIQ", ARRAY, STRING, len(characters))
    head += b"".join(string(character) for character in characters)
    weights = b""
    for name, shape, kind, offset in tensors:
        assert kind == 0, f"{name} is not float32"
        numbers = np.frombuffer(data, np.float32, int(np.prod(shape)), start + offset)
        assert np.abs(numbers).max() < 65504, f"{name} has numbers that float16 does not hold"
        head += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, F16, len(weights))
        weights += numbers.astype(np.float16).tobytes()
        weights += bytes(-len(weights) % ALIGNMENT)
    return head + bytes(-len(head) % ALIGNMENT) + weights


def titles_of(schemes):
    """The titles of schemes in each language of the site: those that have no translation are names."""
    spanish = dict(re.findall(r'LOCUS_PHRASE\("([^"]*)",\s*"([^"]*)"\)', (ROOT / "src/messages/phrases.def").read_text()))
    return {one["name"]: {"en": one["title"], "es": spanish.get(one["title"], one["title"])} for one in schemes}


def write_index(schemes, titles, results):
    task = results["tasks"][0]
    measured = {(one["line"], one["name"], one["length"]): one["mean"] for one in results["numbers"]}
    index = {"trained_length": task["train_length"], "steps": task["steps"], "guess": task["majority"],
             "version": results["run"]["versions"]["locus"]}
    models = [{"scheme": scheme, "titles": titles[scheme], "bytes": (TARGET / f"{scheme}.gguf").stat().st_size,
               "loss": measured[scheme, "loss", task["train_length"]],
               "agreement": measured[scheme, "agreement", task["train_length"]]} for scheme in schemes]
    lines = ",\n".join(json.dumps(model, ensure_ascii=False) for model in models)
    (TARGET / "index.json").write_text(json.dumps(index)[:-1] + ', "models": [\n' + lines + "\n]}\n")


def main():
    programs = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release/bin"
    locus = str(programs / "locus")
    titles = titles_of(json.loads(output(locus, "list", "--json"))["schemes"])
    plan = json.loads(output(locus, "lab", "plan", "--preset", "full", "--tasks", "verbs", "--seeds", "1", "--json"))
    schemes = sys.argv[2:] or [trial["scheme"] for trial in plan["trials"]]
    options = ["--preset", "standard", "--tasks", "verbs", "--schemes", ",".join(schemes), "--seeds", "1"]
    options += ["--lengths", "1x", "--save-models", "gguf", "--no-report", "--no-speed", "--out", str(WORK)]
    subprocess.run([locus, "lab", *options], check=True)
    alphabet, text = output(str(programs / "verbs_text"), "8192").split("\n", 1)
    characters = list(alphabet.replace("\\n", "\n"))

    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    for scheme in schemes:
        model = (WORK / f"models/verbs-{scheme}-seed1.gguf").read_bytes()
        (TARGET / f"{scheme}.gguf").write_bytes(in_half(model, characters))
    write_index(schemes, titles, json.loads((WORK / "results.json").read_text()))
    (TARGET / "verbs.txt").write_text("\n".join(text.split("\n")[1:-1]) + "\n")  # without the parts at both ends


if __name__ == "__main__":
    main()
