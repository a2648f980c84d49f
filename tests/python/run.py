# SPDX-License-Identifier: Apache-2.0
"""Runs the unit tests of one file: run.py FILE. Exit code 77 if a required module is not installed."""
import importlib.util
import os
import sys
import unittest


def main(path: str) -> int:
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "torch"):
            raise
        print(f"skipped: {error.name} is not installed for {sys.executable}")
        return 77
    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromModule(module))
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
