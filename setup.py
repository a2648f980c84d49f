# SPDX-License-Identifier: Apache-2.0
"""Packs the Python package: CMake builds locus._core, setuptools puts it into the wheel.

    pip wheel . --no-build-isolation       needs cmake, a C++20 compiler, pybind11, Google Highway, nlohmann-json

Environment: LOCUS_JOBS, processes to build with; CMAKE_ARGS, more options for CMake; LOCUS_PYTHON_MODULE, a module that
CMake has built already (<build>/python/locus/_core.*.so), to be packed in place of building one.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent.resolve()


class CMakeBuild(build_ext):
    def build_extension(self, ext):
        built = os.environ.get("LOCUS_PYTHON_MODULE") or self.build_by_cmake()
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built, target)

    def build_by_cmake(self):
        folder = Path(self.build_temp).resolve()
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "LOCUS_BUILD_PYTHON": "ON",
            "LOCUS_INSTALL": "OFF",
            "LOCUS_PYTHON": sys.executable,
            "LOCUS_UNITY_BUILD": "ON",
            "LOCUS_WARNINGS_AS_ERRORS": "OFF",
        }
        for part in ("C", "EXAMPLES", "LAB", "TESTS", "TOOLS", "WEB"):
            options[f"LOCUS_BUILD_{part}"] = "OFF"
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        defines = [f"-D{name}={value}" for name, value in options.items()]
        defines += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        jobs = os.environ.get("LOCUS_JOBS") or str(os.cpu_count() or 1)
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, *generator, *defines], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "locus_python_core", "-j", jobs], check=True)
        return next((folder / "python" / "locus").glob("_core.*"))


setup(
    version=re.search(r"project\(locus VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1),
    packages=["locus"],
    package_dir={"locus": "bindings/python/locus"},
    package_data={"locus": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("locus._core", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    zip_safe=False,
)
