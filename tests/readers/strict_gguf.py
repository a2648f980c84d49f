# SPDX-License-Identifier: Apache-2.0
"""A strict reader of GGUF, written from ggml's description of the format. It shares nothing with Locus.

Beyond the description it has the limits of docs/security.md. Text is kept as bytes: files with tokens that are not UTF-8
exist. An alignment is a power of two, as ggml demands; the description asks only for a multiple of 8.
"""
import struct

ARRAY, TEXT, BOOLEAN = 9, 8, 7
NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 10: "<Q", 11: "<q", 12: "<d"}

# Of ggml's types: elements and bytes of a block.
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18), 42: (64, 18),
}


class Refused(Exception):
    pass


def demand(condition, rule):
    if not condition:
        raise Refused(rule)


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        demand(count <= len(self.data) - self.at, "the file is long enough")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self):
        return self.take(self.number("<Q"))

    def name(self):
        length = self.number("<Q")
        demand(length <= 65535, "names have at most 65535 bytes")
        return self.take(length)

    def value(self, kind, depth=0):
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind == BOOLEAN:
            byte = self.number("<B")
            demand(byte <= 1, "a boolean is 0 or 1")
            return byte == 1
        if kind == TEXT:
            return self.text()
        demand(kind == ARRAY, "a value has a type from 0 to 12")
        demand(depth < 8, "arrays are nested at most 8 deep")
        element, count = self.number("<I"), self.number("<Q")
        demand(element <= 12, "an element has a type from 0 to 12")
        demand(count <= len(self.data) - self.at, "an element has at least one byte")
        return [element, [self.value(element, depth + 1) for _ in range(count)]]


def read_tensor(cursor):
    name = cursor.name()
    axes = cursor.number("<I")
    demand(axes <= 4, "tensors have at most 4 axes")
    lengths = [cursor.number("<Q") for _ in range(axes)]  # the innermost first
    kind, offset = cursor.number("<I"), cursor.number("<Q")
    demand(kind in BLOCKS, "a tensor has a type of ggml")
    elements, per_block = BLOCKS[kind]
    demand((lengths[0] if lengths else 1) % elements == 0, "rows are whole blocks")
    size, product = per_block, 1
    for length in lengths:
        demand(length < 2**63, "lengths are below 2^63")
        size, product = size * length, product * max(length, 1)
    demand(product < 2**63, "the product of lengths does not overflow, even of an empty tensor")
    return {"name": name, "type": kind, "shape": lengths[::-1], "offset": offset, "bytes": size // elements}


def read(data):
    cursor = Cursor(data)
    demand(cursor.take(4) == b"GGUF", "the magic")
    version = cursor.number("<I")
    demand(version in (2, 3), "version 2 or 3")
    tensor_count, entry_count = cursor.number("<Q"), cursor.number("<Q")
    metadata, alignment = {}, 32
    for _ in range(entry_count):
        key, kind = cursor.name(), cursor.number("<I")
        demand(key and key not in metadata, "keys are not empty and occur once")
        metadata[key] = [kind, cursor.value(kind)]
    if b"general.alignment" in metadata:
        kind, alignment = metadata[b"general.alignment"]
        demand(kind == 4 and alignment > 0 and alignment & (alignment - 1) == 0, "the alignment is a power of two")
    tensors = [read_tensor(cursor) for _ in range(tensor_count)]
    demand(len({one["name"] for one in tensors}) == len(tensors), "names of tensors occur once")
    if tensors:
        cursor.take(-cursor.at % alignment)
    begin, end = cursor.at, 0
    for one in sorted(tensors, key=lambda one: one["offset"]):
        demand(one["offset"] % alignment == 0, "offsets are aligned")
        demand(one["offset"] + one["bytes"] <= len(data) - begin, "data lie in the file")
        if one["bytes"] > 0:
            demand(one["offset"] >= end, "data do not overlap")
            end = one["offset"] + one["bytes"]
    return {
        "version": version,
        "alignment": alignment,
        "metadata": [[key, *value] for key, value in metadata.items()],
        "tensors": [{**one, "offset": begin + one["offset"] if one["bytes"] else None} for one in tensors],
    }
