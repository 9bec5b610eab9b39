"""
The build backend: setuptools, which is given a compiler of Python where one is asked for.

`TORCHLINT_COMPILED=1` compiles the model by mypyc (see `setup.py`). Only then are mypy and what goes with it
requirements of the build; everybody else's takes seconds and needs setuptools alone. `pyproject.toml` cannot say so.
"""

from __future__ import annotations

import os
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

# mypy reads the types of libcst
COMPILER = ["mypy[mypyc]==2.4.1", "pybind11>=2.12", "libcst>=1.8"]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """As PEP 517 asks; an editable installation is never compiled."""
    wanted = COMPILER if os.environ.get("TORCHLINT_COMPILED") == "1" else []
    return [*build_meta.get_requires_for_build_wheel(config_settings), *wanted]
