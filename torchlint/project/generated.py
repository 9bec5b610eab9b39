"""
Files that others are generated from: what runs is what was generated.

A generator writes into the head of a file what it made it from ("generated from …/modular_x.py"). Reads other files of
the project; says nothing of what is in them.
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
        Its path, as shown to people; empty if there is none.
    """
    name = os.path.basename(path)
    stem, ending = os.path.splitext(name)
    if ending != ".py" or not stem.isidentifier():
        return ""
    says = re.compile(rf"\bgenerated\b[^\n]*\bfrom\b[^\n]*\b{re.escape(name)}\b", re.IGNORECASE)
    return next((shown for shown, text in project.mentioning(stem) if says.search(text[:_HEAD])), "")
