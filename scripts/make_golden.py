#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/golden.json: a small copy of the reference vectors, for checkouts that lie beside none.

    scripts/make_golden.py PATH_TO_ORACLE

Every entry names in `provenance` the code and version that made its numbers. Needs nothing but Python.
"""
import ast
import array
import itertools
import json
import pathlib
import struct
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "golden.json"
LARGEST = 600_000  # bytes
ROWS = (17, 4095)  # the positions kept of each table, beside the last one


def read_json(path):
    return json.loads(path.read_text())


def read_doubles(path):
    """The shape and the values of a float64 .npy file, version 1.0, in C order."""
    data = path.read_bytes()
    (header_size,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + header_size].decode())
    assert header["descr"] == "<f8" and not header["fortran_order"], path
    values = array.array("d")
    values.frombytes(data[10 + header_size :])
    return header["shape"], values


def runs(values):
    """[3, 3, 3, 4] as [[3, 3], [4, 1]]: value, count."""
    return [[value, len(list(group))] for value, group in itertools.groupby(values)]


def rope_entry(folder, name):
    case = read_json(folder / f"{name}.json")
    kept = ["case", "config", "pairing", "layer_type", "seq_len", "rotary_dim", "attention_factor", "inv_freq_f64"]
    entry = {"provenance": case["code"] + ": " + case["hf_function"], **{key: case[key] for key in kept}}
    positions = [p for p in case["positions"] if p in ROWS or p == case["positions"][-1]]
    entry["positions"] = positions
    pairs = case["rotary_dim"] // 2
    for table in ("cos", "sin"):
        (_, width), values = read_doubles(folder / case["files"][f"{table}_f64"])
        starts = [case["positions"].index(p) * width for p in positions]
        entry[table] = [list(values[start : start + pairs]) for start in starts]  # the halves are the same
    return entry


def main(oracle):
    slopes = read_json(oracle / "alibi" / "slopes.json")
    t5 = read_json(oracle / "t5" / "buckets.json")
    deberta = read_json(oracle / "deberta" / "log_buckets.json")
    swin = read_json(oracle / "swin" / "relative_position_index.json")
    parameters = ("num_buckets", "max_distance", "bidirectional", "bucket_size", "max_position")

    def buckets(peer, key):
        return {
            "provenance": peer["code"] + ": " + peer["hf"],
            "offsets": peer["offsets"],
            "cases": [
                {**{p: case[p] for p in parameters if p in case}, "runs": runs(case[key])} for case in peer["cases"]
            ],
        }

    golden = {
        "rope": [rope_entry(oracle / "rope", name) for name in read_json(oracle / "rope" / "index.json")],
        "alibi": {
            "provenance": slopes["code"][0],
            "slopes": {heads: entry["ofirpress_f64"] for heads, entry in slopes["heads"].items()},
        },
        "t5": buckets(t5, "buckets_f32"),
        "deberta": buckets(deberta, "buckets"),
        "swin": {"provenance": swin["code"] + ": " + swin["hf"], "cases": swin["cases"]},
    }
    text = json.dumps(golden, separators=(",", ":")) + "\n"
    if len(text) > LARGEST:
        sys.exit(f"golden.json would have {len(text)} bytes, more than {LARGEST}")
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(text)
    print(f"{GOLDEN.name}: {len(text)} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
