# SPDX-License-Identifier: Apache-2.0
"""Packs the Python package and the command: CMake builds both, setuptools puts them into the wheel.

    pip wheel . --no-build-isolation --no-deps

needs cmake, a C++20 compiler, pybind11, Google Highway, nlohmann-json and CLI11. Without --no-deps, pip downloads NumPy.

Environment: LOCUS_JOBS, processes to build with; CMAKE_ARGS, more options for CMake. LOCUS_PYTHON_MODULE and
LOCUS_COMMAND, a module (<build>/python/locus/_core.*.so) and a command (<build>/bin/locus) that CMake has built already,
to be packed in place of building them.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Command, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.install_scripts import install_scripts

ROOT = Path(__file__).parent.resolve()


def build_by_cmake(folder, target):
    """Builds a target in a folder that both targets share."""
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "LOCUS_BUILD_PYTHON": "ON",
        "LOCUS_INSTALL": "OFF",
        "LOCUS_PYTHON": sys.executable,
        "LOCUS_UNITY_BUILD": "ON",
        "LOCUS_WARNINGS_AS_ERRORS": "OFF",
    }
    for part in ("C", "EXAMPLES", "LAB", "TESTS", "WEB"):
        options[f"LOCUS_BUILD_{part}"] = "OFF"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    defines = [f"-D{name}={value}" for name, value in options.items()]
    defines += shlex.split(os.environ.get("CMAKE_ARGS", ""))
    jobs = os.environ.get("LOCUS_JOBS") or str(os.cpu_count() or 1)
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *generator, *defines], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", target, "-j", jobs], check=True)
    return folder


class BuildModule(build_ext):
    def build_extension(self, ext):
        built = os.environ.get("LOCUS_PYTHON_MODULE")
        if not built:
            folder = build_by_cmake(Path(self.build_temp).resolve(), "locus_python_core")
            built = next((folder / "python" / "locus").glob("_core.*"))
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built, target)


class InstallCommand(install_scripts):
    """Puts the program `locus` where scripts go."""

    def run(self):
        built = os.environ.get("LOCUS_COMMAND")
        if not built:
            temporary = Path(self.get_finalized_command("build_ext").build_temp).resolve()
            built = build_by_cmake(temporary, "locus_cli") / "bin" / "locus"
        target = Path(self.install_dir) / "locus"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built, target)
        self.outfiles = [str(target)]


class NoScripts(Command):
    """There is no script to build: the command is a program."""

    user_options = []

    def initialize_options(self):
        pass

    def finalize_options(self):
        pass

    def run(self):
        pass

    def get_source_files(self):
        return []


def exercises():
    """What `locus learn` lays out, beside the command: (folder below the prefix, files). The solutions stay here."""
    found = {}
    root = ROOT / "learn" / "exercises"
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if path.is_file() and not {"answers", "__pycache__"} & set(inside.parts) and path.name != "README.md":
            found.setdefault(f"share/locus/exercises/{inside.parent}", []).append(str(path.relative_to(ROOT)))
    return list(found.items())


setup(
    version=re.search(r"project\(locus VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1),
    packages=["locus"],
    package_dir={"locus": "bindings/python/locus"},
    package_data={"locus": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("locus._core", sources=[])],
    scripts=["locus"],  # copied by InstallCommand
    data_files=exercises(),
    cmdclass={"build_ext": BuildModule, "install_scripts": InstallCommand, "build_scripts": NoScripts},
    zip_safe=False,
)
