"""
What the model reports of processes that a program starts, with the platforms that its project speaks of.

The model knows no project: this is the place where both meet. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from torchlint.model.events import Event
from torchlint.model.events.data import LocalFunctionLoaded, WorkersStarted
from torchlint.project.index import ProjectIndex


def with_platforms(happened: Iterable[Event], project: ProjectIndex) -> list[Event]:
    """
    Parameters
    ----------
    happened
        All of it.
    project
        Whose metadata say where it runs; they are read only where processes are started.
    """
    return [
        replace(each, spawned=project.spawning) if isinstance(each, (LocalFunctionLoaded, WorkersStarted)) else each
        for each in happened
    ]
