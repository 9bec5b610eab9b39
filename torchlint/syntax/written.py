"""
What is written in a function: plain sets of words, that the lowering fills and the call graph reads.

Knows no tree.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False, init=False)
class Written:
    """
    What is written in the body of a function, in functions inside it too (see `features`).

    Attributes
    ----------
    words
        Identifiers (names, attributes, keywords), operators, and features.
    sliced
        What is called where the result is read by index: the last identifier of the callee.
    assigned
        The attributes that are assigned, and where calls are, what is called: the last identifier of the callee.
    plain
        The attributes that are given a container of numbers and texts at most, and are not read.
    """

    words: set[str]
    sliced: set[str]
    assigned: dict[str, set[str]]
    plain: set[str]

    def __init__(self, words: set[str], sliced: set[str], assigned: dict[str, set[str]], plain: set[str]) -> None:
        self.words = words
        self.sliced = sliced
        self.assigned = assigned
        self.plain = plain
