# SPDX-License-Identifier: Apache-2.0
"""What can be checked of packaging/ offline: versions, options and dependencies. recipes.py SOURCE"""
import json
import re
import sys
import types
from pathlib import Path


def known_options(source):
    """The options that CMake declares, with their names as users write them."""
    texts = [path.read_text() for path in [source / "CMakeLists.txt", *sorted((source / "cmake").glob("*.cmake"))]]
    return set(re.findall(r"^\s*(?:option|set)\((LOCUS_[A-Z_]+)[^\n]*", "\n".join(texts), re.MULTILINE))


def conan_stub():
    """Enough of Conan to load a recipe and ask it for its options."""
    recorded = {}

    class Toolchain:
        def __init__(self, recipe):
            self.cache_variables = recorded

        def generate(self):
            pass

    class Quiet:
        def __init__(self, *ignored):
            pass

        def generate(self):
            pass

    modules = {
        "conan": {"ConanFile": object},
        "conan.tools": {},
        "conan.tools.build": {"check_min_cppstd": lambda recipe, least: recorded.update(cppstd=least)},
        "conan.tools.cmake": {"CMake": Quiet, "CMakeDeps": Quiet, "CMakeToolchain": Toolchain, "cmake_layout": Quiet},
        "conan.tools.files": {"copy": lambda recipe, pattern, src, dst: recorded.setdefault("copied", []).append(src)},
    }
    for name, members in modules.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
    return recorded


def check_conan(source, version, options):
    recorded = conan_stub()
    path = source / "packaging/conan/conanfile.py"
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    recipe = scope["Locus"]()
    recipe.recipe_folder = str(path.parent)
    recipe.export_sources_folder = "exported"
    required = []
    recipe.requires = required.append
    recipe.set_version()
    assert recipe.version == version, recipe.version
    recipe.export_sources()
    for folder in recorded.pop("copied"):
        assert Path(folder).is_dir(), f"{folder} does not exist"
    recipe.validate()
    assert recorded.pop("cppstd") == 20
    recipe.requirements()
    assert {text.split("/")[0] for text in required} == {"highway", "nlohmann_json", "zlib"}, required
    recipe.generate()
    assert recorded and set(recorded) <= options, set(recorded) - options


def check_vcpkg(source, version, options):
    port = source / "packaging/vcpkg/locus"
    manifest = json.loads((port / "vcpkg.json").read_text())
    assert manifest["version"] == version, manifest["version"]
    names = {one if isinstance(one, str) else one["name"] for one in manifest["dependencies"]}
    assert {"highway", "nlohmann-json", "zlib"} <= names, names
    text = (port / "portfile.cmake").read_text()
    used = set(re.findall(r"LOCUS_[A-Z_]+", text))
    assert used and used <= options, used - options
    features = re.findall(r"FEATURES (\w+) (LOCUS_\w+)", text)
    assert [name for name, _ in features] == list(manifest["features"]), features


def check_container(source):
    text = (source / "packaging/Containerfile").read_text()
    verbs = re.findall(r"\./bootstrap (\w+)", text)
    known = re.findall(r"^do_(\w+)\(\)", (source / "bootstrap").read_text(), re.MULTILINE)
    assert verbs and set(verbs) <= set(known), verbs
    assert "CPackConfig.cmake" in text and "dpkg-dev" in text


def check_changelog(source, version):
    text = (source / "CHANGELOG.md").read_text()
    assert re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", text, re.MULTILINE), f"no {version} in CHANGELOG.md"


def main():
    source = Path(sys.argv[1])
    version = re.search(r"project\(locus VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text()).group(1)
    options = known_options(source)
    check_conan(source, version, options)
    check_vcpkg(source, version, options)
    check_container(source)
    check_changelog(source, version)
    print(f"the recipes agree with version {version} and its options")


if __name__ == "__main__":
    main()
