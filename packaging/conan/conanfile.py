# SPDX-License-Identifier: Apache-2.0
"""A recipe for Conan 2 that packs this checkout: conan create packaging/conan"""
import re
from os.path import join
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Locus(ConanFile):
    name = "locus"
    description = "Positional encodings for transformers, exact at any position"
    license = "Apache-2.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}

    def _checkout(self):
        return Path(self.recipe_folder).parent.parent

    def set_version(self):
        text = (self._checkout() / "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(locus VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md"):
            copy(self, pattern, self._checkout(), self.export_sources_folder)
        for folder in ("bindings", "cmake", "include", "src"):
            copy(self, "*", self._checkout() / folder, join(self.export_sources_folder, folder))

    def requirements(self):
        self.requires("highway/[>=1.0 <2]")
        self.requires("nlohmann_json/[>=3.11 <4]")
        self.requires("zlib/[>=1.2 <2]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TOOLS", "TESTS", "EXAMPLES", "LAB", "PYTHON", "WEB"):
            toolchain.cache_variables[f"LOCUS_BUILD_{part}"] = "OFF"
        toolchain.cache_variables["LOCUS_INSTALL"] = "ON"
        toolchain.cache_variables["LOCUS_WARNINGS_AS_ERRORS"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the installed locusConfig.cmake
        self.cpp_info.builddirs = [join("lib", "cmake", "locus")]
