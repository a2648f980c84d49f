#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the peak memory of commands against the table of docs/security.md: at most 1.2 times what it says.

memory.py SOURCE LOCUS. Each command reads arrays of two sizes, so that neither the constant nor the factor can hide a fault
of the other. The time and the load of the machine do not matter.
"""
import array
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

source, locus = pathlib.Path(sys.argv[1]), sys.argv[2]
MB = 1_000_000


def write_array(path, shape):
    """Writes float32 numbers, a block of random ones repeated; returns the bytes of the array."""
    size = 4
    for extent in shape:
        size *= extent
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    generator = random.Random(1)
    block = array.array("f", (generator.uniform(-1, 1) for _ in range(65536))).tobytes()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        for begin in range(0, size, len(block)):
            file.write(block[: size - begin])
    return size


def write_model(path, rows, tensors=8):
    """Writes a safetensors file of query and key projections, and its config.json; returns the size of the former."""
    (path.parent / "config.json").write_text(
        f'{{"model_type":"llama","hidden_size":512,"head_dim":64,"num_attention_heads":{rows // 64},'
        f'"num_key_value_heads":{rows // 64},"num_hidden_layers":{tensors // 2}}}')
    names = [f"model.layers.{i // 2}.self_attn.{'qk'[i % 2]}_proj.weight" for i in range(tensors)]
    size = rows * 512 * 4
    entries = ",".join(f'"{name}":{{"dtype":"F32","shape":[{rows},512],"data_offsets":[{i * size},{(i + 1) * size}]}}'
                       for i, name in enumerate(names)).encode()
    header = b"{" + entries + b"}"
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for _ in range(tensors):
            file.write(bytes(size))
    return path.stat().st_size


def peak(folder, *arguments):
    """Runs the command; returns the peak of its resident memory in bytes."""
    process = subprocess.Popen([locus, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: a fault was found
        sys.exit(f"memory: locus {' '.join(arguments)}: exit code {process.returncode}\n{output.decode()}")
    return usage.ru_maxrss * 1024


def cases(folder, large):
    """Yields (row of the table, arguments, bytes of the arrays that the row counts)."""
    rope = ["--scheme", "rope:head_dim=128,pairing=half"]
    tokens = 16384 if large else 2048
    size = write_array(folder / "q.npy", (tokens, 8, 128))
    yield "apply", ["apply", *rope, "--input", "q.npy", "--output", "rotated.npy"], 2 * size
    tokens = 4096 if large else 1024
    size = write_array(folder / "q.npy", (tokens, 8, 128))
    yield "attend", ["attend", *rope, "--query", "q.npy", "--key", "q.npy", "--value", "q.npy", "--output", "a.npy"], 4 * size
    yield "apply", ["apply", *rope, "--input", "q.npy", "--output", "rotated.npy"], 2 * size
    yield "diagnose", ["diagnose", *rope, "--before", "q.npy", "--after", "rotated.npy"], 2 * size
    length = 2048 if large else 512
    alibi = ["--scheme", "alibi:heads=8"]
    bias = ["bias", *alibi, "--queries", str(length), "--keys", str(length), "--output", "bias.npy"]
    yield "bias", bias, 8 * length * length * 4
    length = 1024 if large else 512
    peak(folder, "bias", *alibi, "--queries", str(length), "--keys", str(length), "--output", "bias.npy")
    yield "diagnose --bias", ["diagnose", *alibi, "--bias", "bias.npy"], 8 * length * length * 4
    rows = 16384 if large else 2048
    size = write_array(folder / "table.npy", (rows, 768))
    yield ("resize", ["resize", "--table", "table.npy", "--from", str(rows), "--to", str(2 * rows), "--method", "linear",
                      "--output", "longer.npy"], 3 * size)
    size = write_model(folder / "model.safetensors", 4096 if large else 512)
    yield ("convert pairing", ["convert", "pairing", "model.safetensors", "--to", "interleaved", "--output", "other.safetensors"],
           2 * size)
    yield "verify", ["verify", "--scheme", "rope"], 0


def stated(page):
    """Returns {command: (constant, factor)} of the table."""
    rows = re.findall(r"^\| `locus ([a-z -]+)` \| ([0-9.]+) MB \| ([0-9.]+) \|", page, re.MULTILINE)
    return {command: (float(constant) * MB, float(factor)) for command, constant, factor in rows}


def main():
    bounds = stated((source / "docs" / "security.md").read_text())
    measured, failed = set(), 0
    with tempfile.TemporaryDirectory() as name:
        for large in (False, True):
            for command, arguments, size in cases(pathlib.Path(name), large):
                constant, factor = bounds[command]
                allowed = constant + factor * size
                used = peak(name, *arguments)
                measured.add(command)
                print(f"{command}: {size / MB:.1f} MB of arrays, {used / MB:.1f} MB used, {allowed / MB:.1f} MB stated")
                if used > 1.2 * allowed:
                    failed += 1
                    print(f"memory: locus {command} uses {used / allowed:.2f} times what docs/security.md says")
    if measured != set(bounds):
        sys.exit(f"memory: the table and the test differ in {sorted(measured ^ set(bounds))}")
    sys.exit(1 if failed else 0)


main()
