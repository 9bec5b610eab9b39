"""
Events of loading data and of what makes a run repeatable: loaders, workers, samplers, generators.

Raised by the observers of `observers/data`.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from torchlint.model.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderRefused(Event):
    """
    `DataLoader` is given options that it raises for. `node` is the call.

    Attributes
    ----------
    call
        The call.
    option
        The option that is one too many.
    reason
        What it contradicts: "workers" (there are none), "iterable" (the dataset is an `IterableDataset`), "negative"
        (it is less than zero), or the name of another option.
    argument
        The argument that gives the option, if it is written as a keyword.
    void
        Whether the loader would be the same without it, were it not refused.
    late
        It raises only when the loader is iterated over.
    """

    call: cst.Call
    option: str
    reason: str
    argument: cst.Arg | None
    void: bool
    late: bool
