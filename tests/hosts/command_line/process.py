"""A process that ran, and how tests start one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Ran:
    """What a process left behind."""

    status: int
    out: str
    err: str


class Torchlint(Protocol):
    """Run `torchlint` with these arguments."""

    def __call__(self, *arguments: str, stdin: bytes = b"", **environment: str) -> Ran: ...
