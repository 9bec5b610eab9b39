"""
Copies of torch itself inside another project: nobody who maintains that project wrote them.

Reads files beside one; says nothing of what is in them.
"""

from __future__ import annotations

from torchlint.project.index import ProjectIndex

_MARK = "_torch_docs"
"""A module that every release of torch has beside its others, and nobody else."""


def is_of_torch(project: ProjectIndex) -> bool:
    """
    Whether a file is of a copy of torch: what it names is in that copy, whatever other releases have, and what it does
    is what torch does.

    Parameters
    ----------
    project
        The files around it.
    """
    parts = project.module.split(".")
    for index, part in enumerate(parts):
        if part == "torch":  # a module of that name may lie anywhere in torch
            mark = ".".join((*parts[: index + 1], _MARK))
            if project.module == mark or project.source(mark)[0]:  # a file does not find itself
                return True
    return False
