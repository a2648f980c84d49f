# SPDX-License-Identifier: Apache-2.0
"""A wheel, installed into a fresh virtual environment and tested there: wheel.py packed|built.

packed: with the module of the build tree, which PYTHONPATH names. built: from the source distribution, by CMake.
"""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SOURCE = Path(os.environ["LOCUS_SOURCE_DIR"])
TESTS = Path(__file__).parent.resolve()
TESTED = {"packed": ["numbers"], "built": ["apply", "attention", "doctor", "numbers", "registry", "torch"]}


def run(*command, **more):
    print("+", *command, flush=True)
    subprocess.run([str(one) for one in command], check=True, **more)


def copy_of_sources(folder: Path) -> Path:
    """Prepares what packing needs, without changing the source tree."""
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "CMakeLists.txt", "LICENSE", "README.md"):
        shutil.copy(SOURCE / name, folder / name)
    shutil.copytree(SOURCE / "bindings" / "python", folder / "bindings" / "python")
    shutil.copytree(SOURCE / "learn" / "exercises", folder / "learn" / "exercises")
    return folder


def source_distribution(folder: Path) -> Path:
    for name in ("bench", "cmake", "include", "lab", "src", "tools"):
        shutil.copytree(SOURCE / name, folder / name)
    run(sys.executable, "setup.py", "-q", "sdist", cwd=folder)
    (archive,) = (folder / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder / "unpacked")
    (unpacked,) = (folder / "unpacked").iterdir()
    return unpacked


def main(kind: str) -> int:
    for module in ("setuptools", "wheel", "pip", "venv", "numpy"):
        try:
            __import__(module)
        except ModuleNotFoundError:
            print(f"skipped: {module} is not installed for {sys.executable}")
            return 77
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "source").mkdir()
        sources = copy_of_sources(folder / "source")
        if kind == "packed":
            (module,) = (Path(os.environ["PYTHONPATH"]) / "locus").glob("_core.*.so")
            environment["LOCUS_PYTHON_MODULE"] = str(module)
            environment["LOCUS_COMMAND"] = os.environ["LOCUS_BUILT_COMMAND"]
        else:
            sources = source_distribution(sources)
        python = folder / "venv" / "bin" / "python"
        run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", folder / "venv")
        pip = (python, "-m", "pip", "-q", "--disable-pip-version-check")
        run(*pip, "wheel", ".", "--no-build-isolation", "--no-deps", "--no-index", "-w", folder / "wheels",
            cwd=sources, env=environment)
        (wheel,) = (folder / "wheels").glob("locus-*.whl")
        run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=folder, env=environment)
        where = "import locus, sys; sys.exit(not locus.__file__.startswith(sys.prefix))"
        run(python, "-c", where, cwd=folder, env=environment)
        command = folder / "venv" / "bin" / "locus"
        run(command, "show", "--scheme", "rope:head_dim=4,pairing=half", "--positions", "0,1", stdout=subprocess.DEVNULL)
        run(command, "learn", "start", folder / "exercises", stdout=subprocess.DEVNULL)
        for test in TESTED[kind]:
            code = subprocess.run([python, TESTS / "run.py", TESTS / f"{test}_test.py"], cwd=folder, env=environment)
            if code.returncode not in (0, 77):
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
