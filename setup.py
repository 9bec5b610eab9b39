"""
What `pyproject.toml` cannot say: the model can be compiled.

With `TORCHLINT_COMPILED=1` a wheel holds the model (`COMPILED`) twice: as Python, and compiled by mypyc, the compiler
that mypy and black use on themselves; Python imports the compiled one. Both are the same source and report the same
findings, the compiled one in less time (`docs/speed.md`). Without, nothing is compiled; an editable installation never
is: there the source is what runs.
"""

from __future__ import annotations

import os
import sys
from glob import glob

from setuptools import Extension, setup

COMPILED = (
    "torchlint/truth.py",
    *(
        f"torchlint/syntax/{name}.py"
        for name in (
            *("argument_writes", "attention", "bindings", "children", "conditions", "dataflow", "expressions"),
            *("features", "for_effect", "kinds", "long_literals", "lowering", "mentions", "node_fields", "outline"),
            *("reading", "scopes", "spelling", "unread", "used", "written"),
        )
    ),
    "torchlint/syntax/ir/*.py",
    "torchlint/knowledge/**/*.py",
    *(
        f"torchlint/model/{room}/**/*.py"
        for room in ("state", "autograd", "torch", "python", "observers", "scheduling")
    ),
)
"""Events stay Python: they are what third-party rules see."""


def is_wanted() -> bool:
    """Whether this call of `setup.py` builds something that is to hold a compiled model."""
    builds = not {"bdist_wheel", "bdist", "install", "build", "build_ext"}.isdisjoint(sys.argv)
    return builds and os.environ.get("TORCHLINT_COMPILED") == "1"


def compiled() -> list[Extension]:
    """
    The extensions that the modules of `COMPILED` become, their C code written below `build/`.

    Raises
    ------
    ImportError, SystemExit
        if there is no mypyc, or it does not take the code.
    """
    from mypyc.build import mypycify
    from pybind11.setup_helpers import ParallelCompile

    ParallelCompile().install()
    paths = sorted(
        path for pattern in COMPILED for path in glob(pattern, recursive=True) if not path.endswith("__init__.py")
    )
    extensions = mypycify(
        ["--config-file=", *paths],
        opt_level="2",
        debug_level="0",
        multi_file=True,
        group_name="torchlint_model",
    )
    if sys.platform != "win32":  # where nothing is seen from outside but by name anyway
        for each in extensions:
            each.extra_compile_args.append("-fvisibility=hidden")  # a call within the model takes no table of symbols
    return extensions


setup(ext_modules=compiled() if is_wanted() else [])
