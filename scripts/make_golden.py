#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the reference vectors of other projects into tests/golden/oracle, one archive per folder.

    scripts/make_golden.py PATH_TO_ORACLE

A checkout without the vectors is tested against these copies. Every case is kept, with the JSON that names the code and
version of its numbers. Float32 results are omitted from folders where tests compare only float64.
The archives are reproducible: the same input gives the same bytes. Needs only Python.
"""
import io
import json
import lzma
import pathlib
import sys
import tarfile

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "oracle"
LARGEST = 6_000_000  # bytes, all archives together
# Folders whose float32 results are compared too: they show the engine's own arithmetic.
WITH_FLOAT32 = {
    "alibi", "apply", "crosspeer", "ggml", "interpolate", "models", "rope", "shaw", "sinusoidal", "t5", "transformer_xl",
    "xpos",
}


def kept_files(folder):
    """Returns the files of a folder to pack: JSON first, so that similar content is adjacent for the compressor."""
    arrays = sorted(folder.glob("*.npy"))
    if folder.name not in WITH_FLOAT32:
        arrays = [path for path in arrays if "_f32" not in path.stem]
    return sorted(folder.glob("*.json")) + arrays


def content(path):
    data = path.read_bytes()
    if path.suffix != ".json":
        return data
    return json.dumps(json.loads(data), separators=(",", ":")).encode()


def pack(folder):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in kept_files(folder):
            data = content(path)
            member = tarfile.TarInfo(f"{folder.name}/{path.name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def main(oracle):
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for stale in GOLDEN.glob("*.tar.xz"):
        stale.unlink()
    total = 0
    for folder in sorted(path for path in oracle.iterdir() if path.is_dir()):
        packed = pack(folder)
        (GOLDEN / f"{folder.name}.tar.xz").write_bytes(packed)
        total += len(packed)
    print(f"{total:,} bytes in {GOLDEN}")
    if total > LARGEST:
        sys.exit(f"the archives must have at most {LARGEST:,} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
