from __future__ import annotations

from torchlint.model.events import Event
from torchlint.source import Source


def interpret(source: Source) -> list[Event]:
    return []
