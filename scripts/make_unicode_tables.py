# SPDX-License-Identifier: Apache-2.0
"""Writes the Unicode tables of src/probe/tokenizers from utf8proc (Debian: libutf8proc2).

    python3 scripts/make_unicode_tables.py [FOLDER]

Locus keeps tables of its own because the WebAssembly module cannot link the library; tests/probe/unicode_test.cpp compares
them with it. unicode_tables.h has general categories, normalization_tables.h decompositions and compositions.
"""
import ctypes
import ctypes.util
import sys
from pathlib import Path

LIBRARY = ctypes.CDLL(ctypes.util.find_library("utf8proc"))
LIBRARY.utf8proc_category_string.restype = ctypes.c_char_p
LIBRARY.utf8proc_unicode_version.restype = ctypes.c_char_p
LIBRARY.utf8proc_get_property.restype = ctypes.POINTER(ctypes.c_int16)  # the second member is the combining class
LIBRARY.utf8proc_decompose_char.restype = ctypes.c_ssize_t
STABLE, COMPAT, COMPOSE, DECOMPOSE = 1 << 1, 1 << 2, 1 << 3, 1 << 4
HANGUL = range(0xAC00, 0xAC00 + 11172)  # composed by arithmetic
CODES = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
CLASSES = {"letters": b"L", "marks": b"M", "numbers": b"N", "punctuation": b"P", "symbols": b"S"}


def category(code):
    return LIBRARY.utf8proc_category_string(code)[:1]


def combining_class(code):
    return LIBRARY.utf8proc_get_property(code)[1]


def decomposed(code, options):
    """The full decomposition of one character."""
    out, state = (ctypes.c_int32 * 32)(), ctypes.c_int(0)
    count = LIBRARY.utf8proc_decompose_char(code, out, 32, options, ctypes.byref(state))
    assert 0 < count <= 32, hex(code)
    return list(out[:count])


def composed(codes):
    """The form NFC of characters."""
    out = (ctypes.c_int32 * 64)(*codes)
    count = LIBRARY.utf8proc_normalize_utf32(out, len(codes), STABLE | COMPOSE)
    assert count > 0
    return list(out[:count])


def ranges(codes, value=lambda code: True):
    """Ranges of consecutive codes with the same value."""
    found = []
    for code in codes:
        if found and found[-1][1] == code - 1 and found[-1][2] == value(code):
            found[-1][1] = code
        else:
            found.append([code, code, value(code)])
    return found


def table(kind, name, rows):
    """A constexpr array, in lines of at most 120 columns."""
    lines, line = [], " "
    for row in rows:
        text = f" {row},"
        if len(line) + len(text) > 120:
            lines.append(line)
            line = " "
        line += text
    lines.append(line.rstrip(","))
    body = "\n".join(lines)
    brackets = ("{{", "}}") if kind != "std::uint32_t" else ("{", "}")
    return f"inline constexpr std::array<{kind}, {len(rows)}> {name} = {brackets[0]}\n{body}\n{brackets[1]};\n"


def header(what, structs, tables):
    version = LIBRARY.utf8proc_unicode_version().decode()
    return f"""// SPDX-License-Identifier: Apache-2.0
// {what} Unicode {version}.
// Written by scripts/make_unicode_tables.py from utf8proc.
#pragma once

#include <array>
#include <cstdint>

namespace locus::probe::unicode {{

{structs}
// clang-format off
{"".join(tables)}// clang-format on

}}  // namespace locus::probe::unicode
"""


def category_tables():
    structs = "struct Range {\n  std::uint32_t first, last;\n};\n"
    tables = []
    for name, letter in CLASSES.items():
        found = ranges([code for code in CODES if category(code) == letter])
        tables.append(table("Range", name, [f"{{0x{first:X}, 0x{last:X}}}" for first, last, _ in found]))
    return header("General categories as ranges of code points, both ends included:", structs, tables)


def mappings(name, changed, sequences):
    """Rows of a code and the place of its decomposition in `sequences`, which grows."""
    rows = []
    for code, codes in changed.items():
        at = next((i for i in range(len(sequences) - len(codes) + 1) if sequences[i] == codes[0]
                   and sequences[i : i + len(codes)] == codes), None) if len(codes) < 3 else None  # fmt: skip
        if at is None:
            at = len(sequences)
            sequences += codes
        rows.append(f"{{0x{code:X}, {at}, {len(codes)}}}")
    return table("Decomposition", name, rows)


def normalization_tables():
    structs = """struct ClassRange {
  std::uint32_t first, last;
  std::uint8_t combining_class;
};
/// The full decomposition of a code: `size` entries of `decomposed` from `begin` on. Hangul is left out.
struct Decomposition {
  std::uint32_t code;
  std::uint16_t begin, size;
};
struct Composition {
  std::uint32_t first, second, composed;
};
"""
    canonical, compatible, pairs, sequences = {}, {}, [], []
    for code in CODES:
        if code in HANGUL:
            continue
        plain, compat = decomposed(code, DECOMPOSE), decomposed(code, DECOMPOSE | COMPAT)
        if plain != [code]:
            canonical[code] = plain
            if composed(plain) == [code]:
                (first,) = composed(plain[:-1])
                pairs.append((first, plain[-1], code))
        if compat != plain:
            compatible[code] = compat
    classes = ranges([code for code in CODES if combining_class(code)], combining_class)
    tables = [
        table("ClassRange", "combining_classes", [f"{{0x{a:X}, 0x{b:X}, {c}}}" for a, b, c in classes]),
        mappings("canonical_decompositions", canonical, sequences),
        mappings("compatible_decompositions", compatible, sequences),
        table("Composition", "compositions", [f"{{0x{a:X}, 0x{b:X}, 0x{c:X}}}" for a, b, c in sorted(pairs)]),
        table("std::uint32_t", "decomposed", [f"0x{code:X}" for code in sequences]),
    ]
    return header("Normalization, sorted by code:", structs, tables)


def main():
    default = Path(__file__).resolve().parent.parent / "src/probe/tokenizers"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    (folder / "unicode_tables.h").write_text(category_tables())
    (folder / "normalization_tables.h").write_text(normalization_tables())


if __name__ == "__main__":
    main()
