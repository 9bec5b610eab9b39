"""
What `pyproject.toml` cannot say: the model is compiled.

A wheel built where there is a C compiler holds the model (`COMPILED`) twice: as Python, and compiled by mypyc, the
compiler that mypy and black use on themselves; Python imports the compiled one. Both are the same source and report
the same findings, the compiled one in less time (`docs/speed.md`). An editable installation is never compiled: there
the source is what runs.

The environment variable `TORCHLINT_COMPILED` says otherwise: `0` builds without, `1` refuses to build without, as a
release must. Where it is not set, a model that cannot be compiled stays Python.
"""

from __future__ import annotations

import os
import platform
import sys
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

COMPILED = ("torchlint/truth.py", "torchlint/knowledge/*.py", "torchlint/model/*.py", "torchlint/model/observers/*.py")
"""Events stay Python: they are what third-party rules see."""

ASKED = os.environ.get("TORCHLINT_COMPILED", "")


def is_wanted() -> bool:
    """Whether this call of `setup.py` builds something that is to hold a compiled model."""
    builds = not {"bdist_wheel", "bdist", "install", "build", "build_ext"}.isdisjoint(sys.argv)
    return builds and (ASKED == "1" or (ASKED != "0" and platform.python_implementation() == "CPython"))


def compiled() -> list[Extension]:
    """
    The extensions that the modules of `COMPILED` become, their C code written below `build/`.

    Raises
    ------
    ImportError, SystemExit
        if there is no mypyc, or it does not take the code, and `TORCHLINT_COMPILED` is 1.
    """
    paths = sorted(path for pattern in COMPILED for path in glob(pattern) if not path.endswith("__init__.py"))
    try:
        from mypyc.build import mypycify
        from pybind11.setup_helpers import ParallelCompile

        ParallelCompile().install()
        return mypycify(
            ["--config-file=", *paths],
            opt_level="2",
            debug_level="0",
            multi_file=True,
            group_name="torchlint_model",
        )
    except (ImportError, SystemExit) as error:
        if ASKED == "1":
            raise
        print(f"warning: the model stays Python: {type(error).__name__}: {error}", file=sys.stderr)
        return []


class BuildModel(build_ext):
    """Builds all of the model or nothing: one half of it would not fit the other."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:  # what a compiler that fails, or is not there, raises is said nowhere
            if ASKED == "1":
                raise
            for output in self.get_outputs():
                Path(output).unlink(missing_ok=True)
            self.extensions = []
            self.warn(f"the model stays Python: {type(error).__name__}: {error}")


setup(ext_modules=compiled() if is_wanted() else [], cmdclass={"build_ext": BuildModel})
