# SPDX-License-Identifier: Apache-2.0
"""A strict reader of safetensors, written from the format's description. It shares nothing with Locus.

Beyond the description it has the limits of docs/security.md.
"""
import json
import struct

SIZES = {
    "F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U64": 8, "U32": 4, "U16": 2,
    "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1,
}


class Refused(Exception):
    pass


def demand(condition, rule):
    if not condition:
        raise Refused(rule)


def once(pairs):
    demand(len(dict(pairs)) == len(pairs), "keys occur once")
    return dict(pairs)


def unsigned(token):
    demand(not token.startswith("-"), "numbers are not negative")
    return int(token)


def no_constant(token):
    raise Refused(f"{token} is no JSON")


def is_list_of_lengths(value):
    return (
        isinstance(value, list)
        and len(value) <= 64
        and all(isinstance(one, int) and not isinstance(one, bool) and one < 2**63 for one in value)
    )


def read_header(text):
    demand(text.startswith(b"{"), "the header begins with {")
    try:
        header = json.loads(
            text.decode("utf-8", "strict"), object_pairs_hook=once, parse_int=unsigned, parse_constant=no_constant
        )
        json.dumps(header, ensure_ascii=False).encode("utf-8", "strict")  # escapes of half a surrogate pair
    except (ValueError, RecursionError):
        raise Refused("the header is JSON in UTF-8") from None
    return header


def read(data):
    demand(len(data) >= 8, "the length of the header")
    (length,) = struct.unpack("<Q", data[:8])
    demand(length <= len(data) - 8, "the header lies in the file")
    header = read_header(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    demand(isinstance(metadata, dict), "the metadata are an object")
    demand(all(isinstance(value, str) for value in metadata.values()), "the metadata are strings")
    begin, tensors = 8 + length, []
    for name, entry in header.items():
        demand(isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"}, "the keys of a tensor")
        kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        demand(isinstance(kind, str) and kind in SIZES, "a known type")
        demand(is_list_of_lengths(shape), "the shape is a list of lengths")
        demand(is_list_of_lengths(offsets) and len(offsets) == 2, "two offsets")
        size, product = SIZES[kind], 1
        for axis in shape:
            size, product = size * axis, product * max(axis, 1)
        demand(product < 2**63, "the product of lengths does not overflow, even of an empty tensor")
        demand(offsets[1] - offsets[0] == size, "as many bytes as the shape needs")
        tensors.append({"name": name, "type": kind, "shape": shape, "offset": offsets[0], "bytes": size})
    end = 0
    for one in sorted(tensors, key=lambda one: (one["offset"], one["bytes"])):
        demand(one["offset"] == end, "no gap and no overlap")
        end += one["bytes"]
    demand(end == len(data) - begin, "the tensors fill the data")
    for one in tensors:
        one["offset"] += begin
    return {"metadata": metadata, "tensors": sorted(tensors, key=lambda one: one["name"])}
