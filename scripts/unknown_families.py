#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the model types of a transformers tree that the table of families (src/io/families) does not have.

    scripts/unknown_families.py PATH_TO_TRANSFORMERS

Reads the model type of every config class (`model_type = "..."` in src/transformers/models/*/configuration_*.py). Prints each
unknown one with the hints found in its modeling code: rotary, alibi, relative, table, none. Also prints a row if its sizes or
its base differ from the defaults of the class (`differs`). Exit code 1 if something is printed. Needs only Python.
"""
import ast
import pathlib
import re
import sys

FAMILIES = pathlib.Path(__file__).resolve().parent.parent / "src" / "io" / "families"
SIGNS = {
    "rotary": r"[Rr]otary|rotate_half",
    "alibi": r"[Aa]libi",
    "relative": r"relative_attention_bias|relative_position|rel_pos",
    "table": r"position_embeddings? = nn\.(Embedding|Parameter)|embed_positions",
}


def known_rows():
    """Returns name -> the text of its row."""
    rows = {}
    for file in sorted(FAMILIES.glob("*.inc")):
        for row in re.findall(r'\{\.name = "([^"]+)"(.*?)\},\n', file.read_text(), re.S):
            rows[row[0]] = row[1]
    return rows


def is_known(model_type, rows):
    return model_type in rows or any(
        model_type.endswith(suffix) and model_type[: -len(suffix)] in rows for suffix in ("_text", "_text_model")
    )


def config_classes(tree):
    """Yields (model type, folder, the numbers that its class assigns) of every config class."""
    for file in sorted((tree / "src" / "transformers" / "models").glob("*/configuration_*.py")):
        for node in ast.parse(file.read_text()).body:
            if not isinstance(node, ast.ClassDef):
                continue
            assigned = {}
            for line in node.body:
                target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
                value = getattr(line, "value", None)
                if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
                    assigned[target.id] = value.value
            if isinstance(assigned.get("model_type"), str) and assigned["model_type"]:
                yield assigned["model_type"], file.parent, assigned


def signs_of(folder):
    code = "".join(file.read_text() for file in folder.glob("modeling_*.py"))
    return [sign for sign, pattern in SIGNS.items() if re.search(pattern, code)] or ["none"]


def difference(row, assigned):
    """Returns how the row differs from the class, or nothing."""
    if ".family" in row and "HfFamily::falcon" not in row:
        return None
    for field, keys in (("base", ("default_theta",)), ("hidden_size", ("hidden_size",)), ("head_dim", ("head_dim",))):
        stated = re.search(rf"\.{field} = ([0-9.]+)", row)
        given = next((assigned[key] for key in keys if isinstance(assigned.get(key), (int, float))), None)
        if stated and given is not None and float(stated.group(1)) != float(given):
            return f"{field} is {stated.group(1)} in the table, {given} in the class"
    return None


def main(tree):
    rows = known_rows()
    types = list(config_classes(tree))
    if not types:
        sys.exit(f"{tree}: no config classes below src/transformers/models")
    found = 0
    for model_type, folder, assigned in sorted(types, key=lambda entry: entry[0]):
        if not is_known(model_type, rows):
            print(f"unknown  {model_type}  ({folder.name}: {', '.join(signs_of(folder))})")
            found += 1
        elif model_type in rows and (text := difference(rows[model_type], assigned)):
            print(f"differs  {model_type}  ({folder.name}: {text})")
            found += 1
    names = {entry[0] for entry in types}
    known = sum(is_known(name, rows) for name in names)
    print(f"{known} of {len(names)} model types are known; the table has {len(rows)} rows")
    return found > 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
