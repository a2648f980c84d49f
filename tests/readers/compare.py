# SPDX-License-Identifier: Apache-2.0
"""Compares the GGUF and safetensors readers of Locus with the strict readers in this folder, on files that are made here and
on the kept inputs of the fuzz targets: both must refuse a file, or both must find the same in it.

compare.py PROGRAM FUZZ_CORPUS [FILES [SEED]]: PROGRAM is contents.cpp.
"""
import json
import math
import random
import struct
import subprocess
import sys
from pathlib import Path

import files
import strict_gguf
import strict_safetensors

KINDS = {"gguf": (files.gguf, strict_gguf), "safetensors": (files.safetensors, strict_safetensors)}


def gguf_value(kind, value):
    """A value as contents.cpp prints it."""
    if kind == strict_gguf.ARRAY:
        element, values = value
        if element == 10:
            return [element, None]
        return [element, [gguf_value(element, one) for one in values]]
    if kind == strict_gguf.TEXT:
        return value.hex()
    if kind == 10 or isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def expected_gguf(read):
    metadata = [[key.hex(), kind, gguf_value(kind, value)] for key, kind, value in read["metadata"]]
    tensors = [{**one, "name": one["name"].hex()} for one in read["tensors"]]
    return {**read, "metadata": metadata, "tensors": tensors}


def expected_safetensors(read):
    in_hex = lambda text: text.encode().hex()
    metadata = {in_hex(key): in_hex(value) for key, value in read["metadata"].items()}
    tensors = [
        {**one, "name": in_hex(one["name"]), "offset": one["offset"] if one["bytes"] else None} for one in read["tensors"]
    ]
    return {"metadata": metadata, "tensors": sorted(tensors, key=lambda one: one["name"])}


def strictly(kind, data):
    """What the strict reader finds; None if it refuses the file."""
    reader = KINDS[kind][1]
    try:
        read = reader.read(data)
    except reader.Refused:
        return None
    return expected_gguf(read) if kind == "gguf" else expected_safetensors(read)


def by_locus(program, kind, inputs):
    framed = b"".join(kind[:1].encode() + struct.pack("<Q", len(data)) + data for data in inputs)
    lines = subprocess.run([program], input=framed, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    assert len(lines) == len(inputs), f"{len(lines)} lines for {len(inputs)} files"
    found = [json.loads(line) for line in lines]
    for one in found:
        if kind == "safetensors" and "tensors" in one:
            one["tensors"].sort(key=lambda tensor: tensor["name"])
    return found


def compare(program, kind, inputs):
    """Returns how many files both read, and how many both refuse."""
    read = refused = 0
    for data, locus in zip(inputs, by_locus(program, kind, inputs)):
        strict = strictly(kind, data)
        if (strict is None) != ("refused" in locus) or strict is not None and strict != locus:
            sys.exit(f"{kind}: the readers differ about {data.hex()}\nstrict: {strict or 'refused'}\nlocus:  {locus}")
        read, refused = read + (strict is not None), refused + (strict is None)
    return read, refused


def main():
    program, corpus = sys.argv[1], Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 4000
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    for kind, (make, _) in KINDS.items():
        chance = random.Random(f"{kind} {seed}")
        inputs = [path.read_bytes() for path in sorted((corpus / kind).iterdir())]
        inputs += [make(chance) for _ in range(count)]
        read, refused = compare(program, kind, inputs)
        print(f"{kind}: {read} files are read the same, {refused} are refused by both")
        # A comparison of refusals alone, or without any, would say little.
        assert min(read, refused) >= len(inputs) // 8, "the files are too good or too bad"


if __name__ == "__main__":
    main()
