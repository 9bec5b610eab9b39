"""
Copies of torch itself inside another project, which nobody who maintains that project wrote, and what imitates torch.

Reads files beside one; says nothing of what is in them.
"""

from __future__ import annotations

from torchlint.project.index import ProjectIndex

TORCH = "torch"
_MARK = "_torch_docs"
"""A module that every release of torch has beside its others, and nobody else."""


def is_of_torch(project: ProjectIndex) -> bool:
    """
    Whether a file is of a copy of torch, by whatever name: what it names is in that copy, whatever other releases have,
    and what it does is what torch does.

    Parameters
    ----------
    project
        The files around it.
    """
    parts = project.module.split(".")
    for index, part in enumerate(parts):
        # a module of that name may lie anywhere in torch, and a package may be a copy under another name
        if part == TORCH or (not index and len(parts) > 1):
            mark = ".".join((*parts[: index + 1], _MARK))
            if project.module == mark or project.source(mark)[0]:  # a file does not find itself
                return True
    return False


def is_imitated(project: ProjectIndex) -> bool:
    """
    Whether the project has a package named `torch` of its own that its files import in place of PyTorch: what it does,
    and which names it has, nobody knows.

    Parameters
    ----------
    project
        The files around a file of it.
    """
    parts = project.module.split(".")
    if TORCH in parts[1:] or not project.offers(TORCH):
        return False
    # What lies in the file's own package is found only by who runs the file as a script.
    inside = project.source(".".join((*parts[:-1], TORCH)))[1] if len(parts) > 1 and parts[0] != TORCH else False
    return not inside and project.source(TORCH)[1]
