"""
Files that others are generated from: what runs is what was generated.

A generator writes into the head of a file what it made it from ("generated from …/modular_x.py"), and names the two
alike. Reads files beside one; says nothing of what is in them.
"""

from __future__ import annotations

import os
import re

from torchlint.project.index import ProjectIndex

_HEAD = 2000
"""Characters of a file in which its generator would have said so."""


def generated_from(path: str, project: ProjectIndex) -> str:
    """
    A file of the project that says that it was generated from this one.

    Parameters
    ----------
    path
        The file that may be a source of others.
    project
        The files around it.

    Returns
    -------
    str
        Its name; empty if there is none, and where the file is in no package.
    """
    folder, name = os.path.split(path)
    stem, ending = os.path.splitext(name)
    module, _, last = project.module.rpartition(".")
    if ending != ".py" or not module or last != stem:
        return ""
    says = re.compile(rf"\bgenerated\b[^\n]*\bfrom\b[^\n]*\b{re.escape(name)}\b", re.IGNORECASE)
    for other in _beside(folder, stem):
        text, _ = project.source(f"{module}.{other}")
        if says.search(text[:_HEAD]):
            return f"{other}.py"
    return ""


def _beside(folder: str, stem: str) -> list[str]:
    """The files of a folder that are named like one but for its first or its last word: `model_x` beside `source_x`."""
    try:
        names = sorted(name[:-3] for name in os.listdir(folder or ".") if name.endswith(".py"))
    except OSError:
        return []
    _, _, rest = stem.partition("_")
    start, _, _ = stem.rpartition("_")
    alike = [name for name in names if name != stem and name.isidentifier()]
    return [
        name
        for name in alike
        if (rest and name.partition("_")[2] == rest)
        or (start and name.rpartition("_")[0] == start)
        or name in (rest, start)
    ]
