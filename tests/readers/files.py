# SPDX-License-Identifier: Apache-2.0
"""Makes GGUF and safetensors files for compare.py: valid ones, and ones with a fault.

A file is a list of pieces: a number with its form, or bytes. A fault changes one number or some bytes.
"""
import json
import struct

from strict_gguf import ARRAY, BLOCKS, BOOLEAN, NUMBERS, TEXT

SPECIAL = [0, 1, 2, 7, 8, 9, 12, 13, 31, 33, 64, 255, 65535, 65536, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63,
           2**64 - 1]  # fmt: skip


def joined(pieces):
    """Numbers are cut to the size of their form."""
    return b"".join(
        one if isinstance(one, bytes) else struct.pack(one[0], one[1] % 2 ** (8 * struct.calcsize(one[0])))
        for one in pieces
    )


def text(value):
    return [("<Q", len(value)), value]


def value_of(chance, kind, depth=0):
    if kind in NUMBERS:
        return [chance.randbytes(struct.calcsize(NUMBERS[kind]))]
    if kind == BOOLEAN:
        return [("<B", chance.randrange(2))]
    if kind == TEXT:
        return text(chance.randbytes(chance.randrange(5)))
    element = chance.choice([0, 4, 5, 6, BOOLEAN, TEXT, 12] + [ARRAY] * (depth < 3))
    count = chance.randrange(4)
    elements = [value_of(chance, element, depth + 1) for _ in range(count)]
    return [("<I", element), ("<Q", count), *sum(elements, [])]


def random_name(chance):
    return bytes(chance.choice(b"abc._0") for _ in range(chance.choice([1, 3, 9])))


def gguf_pieces(chance):
    """A file that is valid unless two of its random names are the same, or its alignment is 24."""
    alignment = chance.choice([None, None, 32, 64, 8, 1, 24])
    entries = [] if alignment is None else [text(b"general.alignment") + [("<I", 4), ("<I", alignment)]]
    for _ in range(chance.randrange(5)):
        kind = chance.choice([*NUMBERS, BOOLEAN, TEXT, ARRAY, ARRAY])
        entries.append(text(random_name(chance)) + [("<I", kind), *value_of(chance, kind)])
    tensors, end, step = [], 0, alignment or 32
    for _ in range(chance.randrange(4)):
        kind = chance.choice(list(BLOCKS))
        elements, size = BLOCKS[kind]
        lengths = [elements * chance.choice([1, 1, 2])] + [chance.randrange(3) for _ in range(chance.randrange(4))]
        lengths = lengths if elements > 1 or chance.randrange(4) else []
        for length in lengths:
            size *= length
        places = [("<Q", length) for length in lengths]
        tensors.append(text(random_name(chance)) + [("<I", len(lengths)), *places, ("<I", kind), ("<Q", end)])
        end += -(-(size // elements) // step) * step
    counts = [("<I", chance.choice([2, 3])), ("<Q", len(tensors)), ("<Q", len(entries))]
    pieces = [b"GGUF", *counts, *sum(entries, []), *sum(tensors, [])]
    padding = -len(joined(pieces)) % step
    return [*pieces, bytes(padding), bytes(end)]


def spoilt_pieces(chance, pieces):
    pieces = list(pieces)
    numbers = [i for i, one in enumerate(pieces) if not isinstance(one, bytes)]
    if numbers and chance.randrange(4):
        i = chance.choice(numbers)
        form, value = pieces[i]
        near = [value + 1, value - 1, value * 2, value ^ 1 << chance.randrange(8)]
        pieces[i] = (form, chance.choice(SPECIAL + 4 * near))
    else:  # a piece too many or too few
        i = chance.randrange(len(pieces))
        pieces[i : i + 1] = chance.choice([[], [pieces[i]] * 2])
    return pieces


def damaged(chance, data):
    """Cuts the end, adds bytes, or changes one."""
    kind = chance.randrange(3)
    if kind == 0:
        return data[: chance.randrange(len(data))]
    if kind == 1:
        return data + bytes(chance.randrange(1, 40))
    at = chance.randrange(min(len(data), 200))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def gguf(chance):
    pieces = gguf_pieces(chance)
    fault = chance.randrange(4)
    if fault == 1:
        pieces = spoilt_pieces(chance, pieces)
    data = joined(pieces)
    return damaged(chance, data) if fault == 2 else data


# Text that takes the place of a value of the header; each is a fault, or means the same.
SPOILT = ["-1", "-0", "1.0", "1e2", "00", "null", "true", '"x"', "[]", "{}", "[1,[2]]", "NaN", "1,2", '"F32"', '"\\ud800"',
          '"\\ud83d\\ude00"', '"\\u0041"', '{"dtype":"F32"}', "18446744073709551616", "9223372036854775808", "[ 1 , 2 ]",
          '{"a":"b","a":"c"}', '"a\tb"', "'x'", "[1,]", "// no"]  # fmt: skip


def safetensors_header(chance):
    """The header as a list of texts, each a value or what stands between values, and the number of bytes of data."""
    from strict_safetensors import SIZES

    texts, end = ["{"], 0
    if chance.randrange(2):
        texts += ['"__metadata__":', '{"format":', '"pt"', "}", ","]
    for number in range(chance.randrange(4)):
        kind = chance.choice(list(SIZES))
        shape = [chance.randrange(4) for _ in range(chance.randrange(4))]
        size = SIZES[kind]
        for length in shape:
            size *= length
        name = chance.choice([f"t{number}", "t0", "é" + str(number)]) if chance.randrange(5) == 0 else f"t{number}"
        texts += [json.dumps(name, ensure_ascii=bool(chance.randrange(2))), ":", '{"dtype":', json.dumps(kind), ',"shape":']
        texts += [json.dumps(shape), ',"data_offsets":', "[", str(end), ",", str(end + size), "]", "}", ","]
        end += size
    if texts[-1] == ",":
        texts.pop()
    return [*texts, "}"], end


def safetensors(chance):
    texts, size = safetensors_header(chance)
    fault = chance.randrange(4)
    if fault == 1:
        i = chance.randrange(len(texts))
        number = int(texts[i]) if texts[i].isdigit() else 0
        near = [str(number + 1), str(max(number - 1, 0)), texts[i] + " ", "\n" + texts[i], texts[i] * 2, ""]
        texts[i] = chance.choice(SPOILT + 3 * near)
    header = "".join(texts).encode() + b" " * chance.randrange(3)
    data = struct.pack("<Q", len(header)) + header + bytes(size)
    return damaged(chance, data) if fault == 2 else data
